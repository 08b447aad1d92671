// Replays games and cases written as JSON, comparing every value they state with the engine's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "carc/core/record.hpp"

namespace carc {

struct Findings {
  int games = 0;
  int turns = 0;
  long values = 0;                       // compared
  std::vector<std::string> differences;  // each names the turn, what was found in the file and what the engine says
};

// Replays a record or golden game (tests/data/GOLDEN.md) and adds what it found. Differences in values are collected;
// damage and illegal moves throw RecordError, since nothing after them can be compared.
GameRecord replay_game(const nlohmann::json& json, Findings& findings);

// Replays a case (tests/data/CASES.md) with all its variants. Throws RecordError as above.
void replay_case(const nlohmann::json& json, Findings& findings);

// One document, game or case by its keys; never throws for bad content, but reports it as a difference.
Findings verify_document(std::string_view text);

}  // namespace carc
