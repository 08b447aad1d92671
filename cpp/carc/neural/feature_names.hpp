// Which numbers the feature net sees, in their order, with the factors that bring them to about 0 to 1.
#pragma once

#include <array>
#include <cstdint>

#include "carc/neural/feature_inputs.hpp"

namespace carc::feature_names {

inline constexpr float kFlag = 1;

// Roads and cities. "Cells" are the open cells at which the feature ends, the hardest first: those that fewest tiles
// close the feature at, then those that fewest fit.
enum LineInput : std::uint8_t {
  kTiles,
  kShields,
  kSize,
  kMainFigures,
  kRivalFigures,
  kTied,
  kLeadsByOne,
  kOpenEdges,
  kCells,
  kOneCell,
  kTwoCells,
  kThreeCells,
  kFits1,
  kFits2,
  kFits3,
  kClosers1,
  kClosers2,
  kClosers3,
  kDeadCells,
  kClosersSum,
  kNoCloser,
  kOneCloser,
  kTwoClosers,
  kFixedEdges,
  kExtraEdges,
  kJoinable,
  kJoinMain,
  kJoinOther,
  kJoinSize,
  kJoinGains,
  kJoinLosses,
  kJoiners,
  kTilesLeft,
  kMainWait,
  kRivalWait,
  kMorePlayers,
  kMainTurns,
  kSmallCity,
  kSplitTies,
  kNoJoins,
  kLineInputs
};
inline constexpr std::array<InputInfo, kLineInputs> kLineInfo = {{
    {"tiles", 0.125F},         {"shields", 0.25F},    {"size", 0.1F},          {"figures_main", 0.5F},
    {"figures_rival", 0.5F},   {"is_tied", kFlag},    {"leads_by_one", kFlag}, {"open_edges", 0.25F},
    {"cells", 0.25F},          {"one_cell", kFlag},   {"two_cells", kFlag},    {"three_cells", kFlag},
    {"fits_1", 0.05F},         {"fits_2", 0.05F},     {"fits_3", 0.05F},       {"closers_1", 0.1F},
    {"closers_2", 0.1F},       {"closers_3", 0.1F},   {"dead_cells", 0.5F},    {"closers_sum", 0.05F},
    {"no_closer", kFlag},      {"one_closer", kFlag}, {"two_closers", kFlag},  {"fixed_edges", 0.33F},
    {"extra_edges", 0.5F},     {"joinable", 0.5F},    {"join_main", 0.5F},     {"join_other", 0.5F},
    {"join_size", 0.1F},       {"join_gains", 0.5F},  {"join_losses", 0.5F},   {"joiners", 0.1F},
    {"tiles_left", 1.0F / 72}, {"main_wait", 0.5F},   {"rival_wait", 0.5F},    {"more_players", 0.33F},
    {"main_turns", 1.0F / 36}, {"small_city", kFlag}, {"split_ties", kFlag},   {"no_joins", kFlag},
}};

// Monasteries and gardens. "Missing" cells are those of the eight round it without a tile; those next to no tile at all
// are out of reach for now.
enum BuildingInput : std::uint8_t {
  kMissing,
  kMissing1,
  kMissing2,
  kMissing3,
  kIsGarden,
  kIsAbbot,
  kReachable,
  kDead,
  kHard,
  kFair,
  kFewest1,
  kFewest2,
  kFewest3,
  kOutOfReach,
  kFitsSum,
  kBuildingTilesLeft,
  kBuildingWait,
  kBuildingMorePlayers,
  kBuildingTurns,
  kFixedMuch,
  kBuildingInputs
};
inline constexpr std::array<InputInfo, kBuildingInputs> kBuildingInfo = {{
    {"missing", 0.125F},  {"missing_1", kFlag},    {"missing_2", kFlag},      {"missing_3", kFlag},
    {"is_garden", kFlag}, {"is_abbot", kFlag},     {"reachable", 0.125F},     {"dead", 0.5F},
    {"hard", 0.5F},       {"fair", 0.33F},         {"fewest_1", 0.05F},       {"fewest_2", 0.05F},
    {"fewest_3", 0.05F},  {"out_of_reach", 0.25F}, {"fits_sum", 0.02F},       {"tiles_left", 1.0F / 72},
    {"main_wait", 0.5F},  {"more_players", 0.33F}, {"main_turns", 1.0F / 36}, {"fixed_much", 0.33F},
}};

// Fields. Cities are counted once each.
enum FieldInput : std::uint8_t {
  kFieldMain,
  kFieldRival,
  kFieldTied,
  kFieldLeadsByOne,
  kCompleteCities,
  kEasyCities,
  kPossibleCities,
  kBlockedCities,
  kTwoCellCities,
  kThreeCellCities,
  kFarCities,
  kFieldCells,
  kFieldLiveCells,
  kFieldJoinable,
  kFieldRivals,
  kFieldJoinMain,
  kFieldJoinOther,
  kFieldJoinGains,
  kFieldJoinLosses,
  kJoinCities,
  kGainCities,
  kFieldTilesLeft,
  kFieldMainWait,
  kFieldRivalWait,
  kFieldMorePlayers,
  kFieldMainTurns,
  kCity2000,
  kTransitional,
  kFieldSplitTies,
  kFarmerRecall,
  kFieldInputs
};
inline constexpr std::array<InputInfo, kFieldInputs> kFieldInfo = {{
    {"figures_main", 0.5F},     {"figures_rival", 0.5F},     {"is_tied", kFlag},         {"leads_by_one", kFlag},
    {"complete_cities", 0.25F}, {"easy_cities", 0.5F},       {"possible_cities", 0.5F},  {"blocked_cities", 0.5F},
    {"two_cell_cities", 0.5F},  {"three_cell_cities", 0.5F}, {"far_cities", 0.5F},       {"cells", 0.1F},
    {"live_cells", 0.1F},       {"joinable", 0.25F},         {"joinable_claimed", 0.5F}, {"join_main", 0.5F},
    {"join_other", 0.5F},       {"join_gains", 0.5F},        {"join_losses", 0.5F},      {"join_cities", 0.25F},
    {"gain_cities", 0.25F},     {"tiles_left", 1.0F / 72},   {"main_wait", 0.5F},        {"rival_wait", 0.5F},
    {"more_players", 0.33F},    {"main_turns", 1.0F / 36},   {"city_2000", kFlag},       {"transitional", kFlag},
    {"split_ties", kFlag},      {"farmer_recall", kFlag},
}};

enum PlayerInput : std::uint8_t {
  kHand,
  kHandNone,
  kHandOne,
  kHandTwo,
  kHandTimesLeft,
  kHandAbbot,
  kFarmersOut,
  kPlayerTilesLeft,
  kUndrawnBuildings,
  kPlayerWait,
  kPlayerMorePlayers,
  kPlayerTurns,
  kOthersHand,
  kOthersMost,
  kOthersNone,
  kOthersFarmers,
  kHasFarmers,
  kHasAbbot,
  kOpenCells,
  kOthersHandTimesLeft,
  kPlayerSmallCity,
  kPlayerSplitTies,
  kPlayerNoJoins,
  kAllPlayerInputs
};
inline constexpr std::array<InputInfo, kAllPlayerInputs> kPlayerInfo = {{
    {"hand", 1.0F / 7},
    {"hand_none", kFlag},
    {"hand_one", kFlag},
    {"hand_two", kFlag},
    {"hand_times_left", 1.0F / 64},
    {"hand_abbot", kFlag},
    {"farmers_out", 0.33F},
    {"tiles_left", 1.0F / 72},
    {"undrawn_buildings", 1.0F / 6},
    {"wait", 0.5F},
    {"more_players", 0.33F},
    {"turns", 1.0F / 36},
    {"others_hand", 1.0F / 28},
    {"others_most", 1.0F / 7},
    {"others_none", kFlag},
    {"others_farmers", 0.33F},
    {"has_farmers", kFlag},
    {"has_abbot", kFlag},
    {"open_cells", 1.0F / 32},
    {"others_hand_times_left", 1.0F / 64},
    {"small_city", kFlag},
    {"split_ties", kFlag},
    {"no_joins", kFlag},
}};

static_assert(kAllPlayerInputs == kPlayerInputs && kLineInputs <= kMostInputs);
}  // namespace carc::feature_names
