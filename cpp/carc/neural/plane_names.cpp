// Names of the inputs of planes.hpp, for people and for Python.
#include <cassert>

#include "carc/neural/planes.hpp"

namespace carc {
namespace {

using Names = std::vector<std::string>;

const Names kSides = {"north", "east", "south", "west"};
const Names kHalves = {"0", "1", "2", "3", "4", "5", "6", "7"};
const Names kSeats = {"0", "1", "2", "3", "4"};

// Every combination, the last varying fastest, joined by dots.
void add(Names& out, const std::string& what, const Names& first, const Names& second = {""}) {
  for (const std::string& a : first) {
    for (const std::string& b : second) out.push_back(what + "." + a + (b.empty() ? "" : "." + b));
  }
}

void add_tile(Names& out, const std::string& what) {
  Names classes;
  for (int i = 0; i < kTileClasses; ++i) classes.push_back("class" + std::to_string(i));
  add(out, what, classes);
  add(out, what, {"monasteries", "gardens", "shields", "river"});
}

}  // namespace

const Names& plane_names() {
  static const Names kNames = [] {
    Names out = {"laid", "open"};
    add(out, "edge", kSides, {"field", "road", "city", "river"});
    add(out, "line", kSides, {"tiles", "shields", "open", "complete"});
    add(out, "line_figures", kSides, kSeats);
    add(out, "line_owner", kSides, kSeats);
    add(out, "field_owner", kHalves, kSeats);
    add(out, "field_cities", kHalves);
    add(out, "field_open_cities", kHalves);
    out.insert(out.end(), {"monastery", "garden", "missing"});
    add(out, "building_owner", kSeats);
    add(out, "figure", kSeats);
    out.insert(out.end(), {"abbot", "last"});
    add(out, "placement", {"0", "1", "2", "3"});
    out.insert(out.end(), {"fits", "fit_share", "dead", "river_end"});
    assert(out.size() == kPlanes);
    return out;
  }();
  return kNames;
}

const Names& plane_global_names() {
  static const Names kNames = [] {
    Names out;
    for (const char* what : {"seat", "score", "projected", "meeples", "abbots"}) add(out, what, kSeats);
    out.insert(out.end(), {"tiles_left", "near_end", "draw", "place", "figure"});
    add(out, "rule",
        {"farmers", "city_2000", "transitional", "small_city_2", "river_2021", "river_2014", "no_double_curve",
         "start_tile_shuffled", "abbot", "join_cities", "farmer_recall", "split_ties"});
    add_tile(out, "bag");
    add_tile(out, "hand");
    assert(out.size() == kPlaneGlobals);
    return out;
  }();
  return kNames;
}

}  // namespace carc
