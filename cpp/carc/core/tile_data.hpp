// The standard tile table (python/carc/data/tiles.json), embedded when the core is built.
#pragma once

#include <string_view>

namespace carc {

extern const std::string_view kTilesJson;

}  // namespace carc
