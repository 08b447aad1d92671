// One decision: a drawn tile (chance), a placement, or what is done with a figure.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "carc/core/types.hpp"

namespace carc {

// Bits  1..0  what: 0 draw, 1 place, 2 figure
//       3..2  place: rotation, quarter turns clockwise
//       5..4  figure: 0 none, 1 meeple, 2 abbot, 3 take back
//      15..8  draw: tile type; meeple, abbot: index in the tile's feature list
//      31..16 place, take back: cell key
class Action {
 public:
  enum class What : std::uint8_t { kDraw, kPlace, kFigure };
  enum class Figure : std::uint8_t { kNone, kMeeple, kAbbot, kBack };

  Action() = default;  // no value, like an int: lists of actions cost nothing to make
  static constexpr Action draw(TypeId type) { return Action(static_cast<std::uint32_t>(type) << 8); }
  static constexpr Action place(CellKey cell, unsigned rotation) {
    return Action(1u | rotation << 2 | static_cast<std::uint32_t>(cell) << 16);
  }
  static constexpr Action no_figure() { return Action(2u); }
  static constexpr Action meeple(unsigned feature) { return Action(2u | 1u << 4 | feature << 8); }
  static constexpr Action abbot(unsigned feature) { return Action(2u | 2u << 4 | feature << 8); }
  static constexpr Action back(CellKey cell) { return Action(2u | 3u << 4 | static_cast<std::uint32_t>(cell) << 16); }

  constexpr What what() const { return static_cast<What>(bits_ & 3); }
  constexpr TypeId type() const { return static_cast<TypeId>(bits_ >> 8); }
  constexpr unsigned rotation() const { return bits_ >> 2 & 3; }
  constexpr Figure figure() const { return static_cast<Figure>(bits_ >> 4 & 3); }
  constexpr unsigned feature() const { return bits_ >> 8 & 0xFF; }
  constexpr CellKey key() const { return static_cast<CellKey>(bits_ >> 16); }
  constexpr Cell cell() const { return key_cell(key()); }

  constexpr std::uint32_t bits() const { return bits_; }
  static constexpr Action from_bits(std::uint32_t bits) { return Action(bits); }
  constexpr bool operator==(const Action&) const = default;

 private:
  explicit constexpr Action(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_;
};

// A list of actions without heap, as long as any position can need.
class ActionList {
 public:
  static constexpr int kCapacity = kMaxOpenCells * 4;

  ActionList() {}  // not '= default', which would clear the items

  void clear() { size_ = 0; }
  void push_back(Action a) {
    assert(size_ < kCapacity);
    items_[static_cast<std::size_t>(size_++)] = a;
  }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Action operator[](int i) const {
    assert(i >= 0 && i < size_);
    return items_[static_cast<std::size_t>(i)];
  }
  const Action* begin() const { return items_.data(); }
  const Action* end() const { return items_.data() + size_; }

 private:
  int size_ = 0;
  std::array<Action, kCapacity> items_;
};

}  // namespace carc
