// The legal placements of one tile as a bit set in the fixed order of actions: by y, then x, then rotation.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include "carc/core/action.hpp"
#include "carc/core/types.hpp"

namespace carc {

// Position of the n-th set bit of a word, 0 <= n < popcount.
inline int nth_bit(std::uint64_t word, int n) {
#if defined(__BMI2__)
  return std::countr_zero(_pdep_u64(std::uint64_t{1} << n, word));
#else
  while (n-- > 0) word &= word - 1;
  return std::countr_zero(word);
#endif
}

// Bit 4 i + r = open cell i (of the sorted list) takes the tile with rotation r. Refers to the cell list of the state
// that made it: use it before the state changes.
class PlacementSet {
 public:
  static constexpr int kWords = 12;  // 16 cells a word

  int count() const {
    int n = 0;
    for (int w = 0; w < words_; ++w) n += std::popcount(bits_[static_cast<std::size_t>(w)]);
    return n;
  }
  bool empty() const {
    std::uint64_t any = 0;
    for (int w = 0; w < words_; ++w) any |= bits_[static_cast<std::size_t>(w)];
    return any == 0;
  }

  // The n-th placement, 0 <= n < count().
  Action operator[](int n) const {
    for (int w = 0;; ++w) {
      assert(w < words_);
      const std::uint64_t word = bits_[static_cast<std::size_t>(w)];
      const int here = std::popcount(word);
      if (n < here) return at(w, nth_bit(word, n));
      n -= here;
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (int w = 0; w < words_; ++w) {
      for (std::uint64_t word = bits_[static_cast<std::size_t>(w)]; word; word &= word - 1) {
        visit(at(w, std::countr_zero(word)));
      }
    }
  }

  bool contains(int cell_index, unsigned rotation) const {
    const unsigned bit = static_cast<unsigned>(cell_index) * 4 + rotation;
    return static_cast<int>(bit / 64) < words_ && (bits_[bit / 64] >> bit % 64 & 1);
  }

 private:
  friend class GameState;

  Action at(int word, int bit) const {
    return Action::place(keys_[word * 16 + bit / 4], static_cast<unsigned>(bit) & 3);
  }

  const CellKey* keys_ = nullptr;
  int words_ = 0;
  std::array<std::uint64_t, kWords> bits_;
};

}  // namespace carc
