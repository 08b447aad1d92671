// The nodes of a search tree in one block of memory with a hard limit.
//
// A node is a position with its actions (or, where a tile is drawn, its outcomes). It is stored as a header and arrays
// over its actions, each padded to whole vectors of eight, so that selection runs over arrays. Nodes are named by their
// offset; nothing is freed but the whole tree.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "carc/core/action.hpp"
#include "carc/core/options.hpp"
#include "carc/core/types.hpp"

namespace carc {

// Which arrays a node has.
struct NodeLayout {
  int players = 2;
  bool judged = false;  // the evaluator judges all actions of a position at once
  bool spread = false;  // sums of squares of the mover's values, for UCB1-tuned
  bool amaf = false;    // all-moves-as-first counts and means
  bool first = false;   // utilities judged of unvisited actions, for first_play = judged

  int arrays() const { return 4 + players + (spread ? 1 : 0) + (amaf ? 2 : 0) + (first ? 1 : 0); }
};

class Tree {
 public:
  using Offset = std::uint32_t;  // in units of 32 bytes; 0 = no node

  struct alignas(32) Node {
    std::int32_t size;      // actions
    std::int32_t capacity;  // a multiple of 8
    std::int32_t visits;
    std::int8_t player;  // who decides; kChancePlayer: a tile is drawn
    std::int8_t tile;    // in hand, or -1

    // Arrays over actions.
    Action* actions() { return reinterpret_cast<Action*>(array(0)); }
    Offset* children() { return reinterpret_cast<Offset*>(array(1)); }
    std::int32_t* counts() { return reinterpret_cast<std::int32_t*>(array(2)); }  // visits of each action
    float* priors() { return reinterpret_cast<float*>(array(3)); }
    // Mean utility by action; of one that was not visited yet, where actions are judged, the points it is expected to
    // bring.
    float* means(int player) { return reinterpret_cast<float*>(array(4 + player)); }
    float* spread(const NodeLayout& l) { return reinterpret_cast<float*>(array(4 + l.players)); }
    float* first(const NodeLayout& l) { return reinterpret_cast<float*>(array(4 + l.players + (l.spread ? 1 : 0))); }
    std::int32_t* amaf_counts(const NodeLayout& l) { return reinterpret_cast<std::int32_t*>(array(l.arrays() - 2)); }
    float* amaf_means(const NodeLayout& l) { return reinterpret_cast<float*>(array(l.arrays() - 1)); }

   private:
    std::byte* array(int i) {
      return reinterpret_cast<std::byte*>(this) + sizeof(Node) + static_cast<std::ptrdiff_t>(i) * capacity * 4;
    }
  };
  static_assert(sizeof(Node) == 32);

  // At most `bytes` of memory, which becomes resident as the tree grows; but there is always room for a root, which
  // takes less than 60 kB. Throws OptionError if the system gives none.
  Tree(std::size_t bytes, const NodeLayout& layout)
      : layout_(layout),
        limit_(std::clamp(bytes / kUnit, 1 + bytes_of(ActionList::kCapacity) / kUnit, kLargest)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(64, (limit_ * kUnit + 63) / 64 * 64))) {
    if (!memory_)
      throw OptionError("memory_mb: the system has no " + std::to_string(limit_ * kUnit) + " bytes for a tree");
  }

  void clear() { used_ = 1, nodes_ = 0; }

  // A node for so many actions, its arrays not yet filled but for children and counts; 0 if the memory is used up.
  Offset add(int size, int player, int tile) {
    const int capacity = (size + 7) / 8 * 8;
    const std::size_t units = bytes_of(capacity) / kUnit;
    if (units > limit_ - used_) return 0;
    const auto at = static_cast<Offset>(used_);
    used_ += units;
    ++nodes_;
    Node& node = *new (memory_.get() + std::size_t{at} * kUnit)
                     Node{size, capacity, 0, static_cast<std::int8_t>(player), static_cast<std::int8_t>(tile)};
    for (int i = 0; i < capacity; ++i) node.children()[i] = 0, node.counts()[i] = 0;
    if (layout_.spread) std::fill_n(node.spread(layout_), capacity, 0.0F);
    if (layout_.amaf) {
      std::fill_n(node.amaf_counts(layout_), capacity, 0);
      std::fill_n(node.amaf_means(layout_), capacity, 0.0F);
    }
    return at;
  }

  Node& operator[](Offset at) {
    assert(at && at < used_);
    return *std::launder(reinterpret_cast<Node*>(memory_.get() + std::size_t{at} * kUnit));
  }

  const NodeLayout& layout() const { return layout_; }
  std::size_t bytes_of(int capacity) const {
    return sizeof(Node) + static_cast<std::size_t>(layout_.arrays() * capacity) * 4;
  }
  std::size_t bytes() const { return used_ * kUnit; }
  std::int64_t nodes() const { return nodes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  static constexpr std::size_t kUnit = 32;
  static constexpr std::size_t kLargest = 0xFFFFFFFF;

  NodeLayout layout_;
  std::size_t limit_;
  std::size_t used_ = 1;  // unit 0 stays empty
  std::int64_t nodes_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace carc
