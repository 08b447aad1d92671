#include "carc/core/error.hpp"

#include <algorithm>
#include <vector>

namespace carc {

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
