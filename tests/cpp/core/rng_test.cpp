#include "carc/core/rng.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace carc {
namespace {

// xoshiro256** as its authors publish it (prng.di.unimi.it/xoshiro256starstar.c).
struct Reference {
  std::array<std::uint64_t, 4> s;
  static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t next() {
    const std::uint64_t result = rotl(s[1] * 5, 7) * 9;
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
  }
};

// SplitMix64's outputs from a state (prng.di.unimi.it/splitmix64.c).
struct SplitMix {
  std::uint64_t x;
  std::uint64_t next() {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

TEST(Rng, ReferenceGeneratorGivesThePublishedVector) {
  Reference reference{{1, 2, 3, 4}};
  for (const std::uint64_t value : {std::uint64_t{11520}, std::uint64_t{0}, std::uint64_t{1509978240},
                                    std::uint64_t{1215971899390074240}, std::uint64_t{1216172134540287360},
                                    std::uint64_t{607988272756665600}}) {
    EXPECT_EQ(reference.next(), value);
  }
}

TEST(Rng, Mix64IsOneStepOfSplitMix) {
  constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15u;
  std::uint64_t state = 1234567;
  for (const std::uint64_t value : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                    4593380528125082431u, 16408922859458223821u}) {
    EXPECT_EQ(mix64(state), value);
    state += kGamma;
  }
}

TEST(Rng, SeedIsExpandedBySplitMix) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{42}, ~std::uint64_t{0}}) {
    SplitMix words{seed};
    Reference reference{};
    for (auto& word : reference.s) word = words.next();
    Rng rng(seed);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(rng.next(), reference.next()) << "seed " << seed << ", number " << i;
  }
}

TEST(Rng, SameSeedGivesSameNumbersAtCompileTime) {
  constexpr std::uint64_t kFirst = Rng(7).next();
  EXPECT_EQ(Rng(7).next(), kFirst);
}

TEST(Rng, BelowStaysBelowEveryBound) {
  Rng rng(1);
  for (std::uint32_t bound : {1u, 2u, 3u, 7u, 71u, 1000u, 0x80000000u, 0x80000001u, 0xFFFFFFFFu}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(rng.below(bound), bound);
  }
}

TEST(Rng, BelowOneIsZero) {
  Rng rng(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0u);
}

TEST(Rng, BelowReachesEveryValue) {
  Rng rng(3);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 2000; ++i) seen.insert(rng.below(71));
  EXPECT_EQ(seen.size(), 71u);
}

// Chi-square with 2 degrees of freedom: above 27.6 with probability 1e-6. A bound of 3 * 2^30 leaves a quarter of all
// 32-bit numbers over, so a biased method would give one third of the values twice the weight of the others.
TEST(Rng, BelowIsUnbiasedForALargeBound) {
  constexpr std::uint32_t kThird = 1u << 30;
  Rng rng(4);
  std::array<int, 3> counts{};
  constexpr int kDraws = 300'000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(3 * kThird) / kThird];
  double chi = 0;
  for (const int n : counts) chi += (n - kDraws / 3.0) * (n - kDraws / 3.0) / (kDraws / 3.0);
  EXPECT_LT(chi, 27.6);
}

TEST(Rng, UniformLiesBetweenZeroAndOneWithMeanOneHalf) {
  Rng rng(5);
  constexpr int kDraws = 100'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  // Standard error 0.2887 / sqrt(100000) = 0.00091; five of them are passed with probability 6e-7.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0046);
}

TEST(Rng, ShuffleKeepsTheItems) {
  Rng rng(6);
  std::vector<int> items(83);
  std::iota(items.begin(), items.end(), 0);
  rng.shuffle(std::span(items));
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 83; ++i) EXPECT_EQ(items[static_cast<std::size_t>(i)], i);
}

TEST(Rng, ShuffleOfNothingOrOneItemDrawsNoNumber) {
  Rng rng(7), untouched(7);
  std::vector<int> none, one{3};
  rng.shuffle(std::span(none));
  rng.shuffle(std::span(one));
  EXPECT_EQ(one[0], 3);
  EXPECT_EQ(rng.next(), untouched.next());
}

// Chi-square over the 24 orders of four items, 23 degrees of freedom: above 70.6 with probability 1e-6.
TEST(Rng, ShuffleGivesEveryOrderEquallyOften) {
  Rng rng(8);
  std::map<std::vector<int>, int> counts;
  constexpr int kShuffles = 48'000;
  for (int i = 0; i < kShuffles; ++i) {
    std::vector<int> items{0, 1, 2, 3};
    rng.shuffle(std::span(items));
    ++counts[items];
  }
  ASSERT_EQ(counts.size(), 24u);
  double chi = 0;
  for (const auto& [order, n] : counts) chi += (n - kShuffles / 24.0) * (n - kShuffles / 24.0) / (kShuffles / 24.0);
  EXPECT_LT(chi, 70.6);
}

TEST(Rng, SplitSeedsAreAllDifferent) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t run = 0; run < 100; ++run) {
    for (std::uint64_t index = 0; index < 100; ++index) seeds.insert(split(run, index));
  }
  EXPECT_EQ(seeds.size(), 10'000u);
}

TEST(Rng, SplitIsNotSymmetric) { EXPECT_NE(split(1, 2), split(2, 1)); }

}  // namespace
}  // namespace carc
