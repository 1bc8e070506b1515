/// \file
/// Tests mutual exclusion by counters that are right only if the lock excludes.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"

namespace nearfar::bench {

/// Two counters that are read, incremented and written back without an atomic read-modify-write. Only the
/// holder of the lock under test may touch them. A lost increment proves that two ranks held the lock at
/// once.
///
/// One counter is in the home rank's memory, which far operations reach if the world has several nodes; it
/// comes with the name of the last holder. The other is in each node's near memory and costs one cache-line
/// transfer.
template <world W>
class exclusion_check {
 public:
  /// Collective. `home` is the rank that stores the counter of all ranks.
  explicit exclusion_check(W& w, int home = 0)
      : world_(&w),
        far_(w),
        near_(w),
        home_(home),
        one_node_(w.locality().groups(level::node) == 1),
        node_(&near_.at(one_node_ ? home : w.locality().leader(level::node, w.rank()))) {}

  /// Counts one acquisition among all ranks. Returns whether another rank held the lock before. The caller
  /// must hold the lock.
  bool count_everywhere() {
    ++counted_everywhere_;
    const rank_word me = to_word(world_->rank());
    rank_word last = nobody;
    if (one_node_) {
      last = node_->last.load(std::memory_order_relaxed);
      node_->everywhere.store(node_->everywhere.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
      node_->last.store(me, std::memory_order_relaxed);
    } else {
      std::uint64_t count = 0;
      far_.get(home_, &far_words::count, count);
      far_.get(home_, &far_words::last, last);
      far_.flush(home_);
      ++count;
      far_.put(home_, &far_words::count, count);
      far_.put(home_, &far_words::last, me);
      far_.flush(home_);
    }
    return last != nobody && last != me;
  }

  /// Counts one acquisition among the ranks of this node. The caller must hold the lock.
  void count_in_node() {
    ++counted_in_node_;
    node_->in_node.store(node_->in_node.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Whether both counters are right, over all calls so far. Collective; the lock must be free.
  [[nodiscard]] bool holds() { return lost() == 0; }

  /// Number of increments that both counters lack. Collective; the lock must be free.
  [[nodiscard]] std::int64_t lost() {
    world_->barrier();
    const bool is_leader = one_node_
                               ? world_->rank() == home_
                               : world_->rank() == world_->locality().leader(level::node, world_->rank());
    std::int64_t everywhere = 0;
    if (world_->rank() == home_) {
      everywhere = static_cast<std::int64_t>(one_node_ ? node_->everywhere.load(std::memory_order_relaxed)
                                                       : far_.read_direct(home_, &far_words::count));
    }
    const auto in_node = is_leader ? static_cast<std::int64_t>(node_->in_node.load(std::memory_order_relaxed))
                                   : std::int64_t{0};
    const auto lost = world_->sum_over_ranks({static_cast<std::int64_t>(counted_everywhere_) - everywhere,
                                              static_cast<std::int64_t>(counted_in_node_) - in_node});
    return lost[0] + lost[1];
  }

 private:
  struct alignas(slot_bytes) far_words {
    far<std::uint64_t> count;
    far<rank_word> last;
  };
  // On one line, so that a check costs one transfer.
  struct alignas(cache_line) near_words {
    typename W::template near<std::uint64_t> everywhere{};
    typename W::template near<rank_word> last{};
    typename W::template near<std::uint64_t> in_node{};
  };

  W* world_;
  typename W::template far_segment<far_words> far_;
  typename W::template near_segment<near_words> near_;
  int home_;
  bool one_node_;
  near_words* node_;
  std::uint64_t counted_everywhere_ = 0;
  std::uint64_t counted_in_node_ = 0;
};

}  // namespace nearfar::bench
