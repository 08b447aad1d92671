// What is said to programs that play, and what they answer: one JSON object a line. docs/protocol.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "carc/core/json.hpp"
#include "carc/core/record.hpp"

namespace carc {

inline constexpr int kProtocolVersion = 1;

// {"id": "0", "action": "hello", "protocol": 1, ...}
std::string hello_request(const std::string& id);

// What a decision may take.
struct Allowance {
  double seconds = 1;
  std::int64_t visits = 0;  // of a search; 0 = no limit
  std::uint64_t seed = 0;   // below 2^53, which every reader of JSON keeps
};

// The requests of one game: each says all of it.
class GameRequests {
 public:
  explicit GameRequests(const GameRecord& game);
  // For the decision that the game has come to.
  std::string move_request(const std::string& id, const Allowance& allowance);

 private:
  const GameRecord* game_;
  OrderedJson fixed_;  // what is the same in all of them
  TurnTexts texts_;
};

class ProtocolError : public Error {
  using Error::Error;
};  // a line that is no answer
class StaleAnswer : public Error {
  using Error::Error;
};  // an answer to something else
class ErrorAnswer : public Error {
  using Error::Error;
};  // the program says that it cannot answer

struct Answer {
  std::string move;
  std::int64_t visits = 0;  // as rootInfo says
};

// Throw one of the errors above.
void read_hello(std::string_view line, const std::string& id);
Answer read_answer(std::string_view line, const std::string& id);

}  // namespace carc
