#include "carc/core/error.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "carc/core/json.hpp"

namespace carc {
namespace {

TEST(Error, IsTheBaseOfAllErrors) {
  EXPECT_THROW(throw IllegalAction("x"), Error);
  EXPECT_THROW(throw NotationError("x"), Error);
  EXPECT_THROW(throw RecordError("x"), Error);
  EXPECT_THROW(throw RulesError("x"), Error);
  EXPECT_THROW(throw TileSetError("x"), Error);
  EXPECT_THROW(throw DeckError("x"), Error);
  EXPECT_STREQ(DeckError("what was found").what(), "what was found");
}

TEST(Error, QuoteShortensAndCleansNames) {
  EXPECT_EQ(quote("D"), "'D'");
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote(std::string("a\0\n\x7F\xC3\xA9", 6)), "'a????\?'");
  EXPECT_EQ(quote(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(quote(std::string(1'000'000, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Error, EditDistanceCountsInsertionsDeletionsAndChanges) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("players", "player"), 1u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Error, EditDistanceOfHugeNamesLooksAtTheirBeginning) {
  EXPECT_LE(edit_distance(std::string(10'000'000, 'a'), std::string(10'000'000, 'b')), 64u);
}

TEST(Error, NearestIsTheFirstOfTheClosest) {
  const std::vector<std::string> names = {"river", "river_turns", "rivet"};
  EXPECT_EQ(nearest("rivr", names), "river");
  EXPECT_EQ(nearest("rivex", names), "river");
  EXPECT_EQ(nearest("", std::array<const char*, 0>{}), "");
}

// --- Reading JSON ---------------------------------------------------------------------------------------------------

TEST(Json, NestingIsBounded) {
  EXPECT_NO_THROW(parse_json<RecordError>(std::string(30, '[') + std::string(30, ']'), "text"));
  EXPECT_THROW(parse_json<RecordError>(std::string(40, '[') + std::string(40, ']'), "text"), RecordError);
  EXPECT_THROW(parse_json<RecordError>(std::string(1'000'000, '['), "text"), RecordError);
}

TEST(Json, FaultsAreErrorsOfTheKindAskedFor) {
  for (const char* text : {"", "{", "nul", "1e999", "\"\xff\"", "{\"a\":1}}", "[1,]", "\"\\ud800\""}) {
    EXPECT_THROW(parse_json<DeckError>(text, "text"), DeckError) << text;
  }
}

TEST(Json, IntegersAreReadWithinTheirLimitsOnly) {
  const auto reads = [](const Json& value, int low, int high) {
    try {
      require_int<Error>(value, low, high, "value");
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(reads(-40, -40, 40));
  EXPECT_TRUE(reads(40u, -40, 40));
  EXPECT_FALSE(reads(41, -40, 40));
  EXPECT_FALSE(reads(-41, -40, 40));
  EXPECT_FALSE(reads(0, -5, -1));
  EXPECT_FALSE(reads(1ull << 63, -1, 40));
  EXPECT_FALSE(reads(~0ull, -1, 40));
  EXPECT_FALSE(reads(INT64_MIN, -1, 40));
  EXPECT_FALSE(reads(1ull << 32, 0, 40));
  for (const Json& odd : {Json(1.0), Json("1"), Json(true), Json(), Json::array({1})}) EXPECT_FALSE(reads(odd, 0, 40)) << odd;
}

TEST(Json, ShownValuesStayShort) {
  EXPECT_EQ(shown(Json(std::string("\xff"))), "\"\\ufffd\"");
  EXPECT_LE(shown(Json(std::string(100'000, 'x'))).size(), 63u);
}

}  // namespace
}  // namespace carc
