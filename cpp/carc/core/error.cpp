#include "carc/core/error.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace carc {
namespace {

// Length of the UTF-8 sequence at the front of `text`, 0 if there is none. Overlong forms and surrogates are none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
  return length;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(std::string_view(text).substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7F)
      out += '?', ++i;
    else
      out += text.substr(i, length), i += length;
  }
  return out;
}

std::string quote(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  std::string out = "'";
  for (const char c : name.substr(0, kLongest)) {
    out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F ? '?' : c;
  }
  if (name.size() > kLongest) out += "...";
  return out + "'";
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  constexpr std::size_t kLongest = 64;  // names are short; hostile input must not cost time
  const std::size_t rows = std::min(a.size(), kLongest), columns = std::min(b.size(), kLongest);
  std::vector<std::size_t> row(columns + 1);
  for (std::size_t j = 0; j <= columns; ++j) row[j] = j;
  for (std::size_t i = 1; i <= rows; ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= columns; ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[columns];
}

}  // namespace carc
