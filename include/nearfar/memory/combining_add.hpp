/// \file
/// Fetch-and-add on a far word for which the ranks of a node go together.
///
/// Source: the idea from A. Gottlieb, B. Lubachevsky, L. Rudolph, "Basic techniques for the efficient
/// coordination of very large numbers of cooperating sequential processors", 1983, doi 10.1145/69624.357206,
/// section 2, where switches of the network combine additions; the line of those that want something done,
/// of whom the first does it for all, from P. Fatourou, N. Kallimanis, "Revisiting the combining
/// synchronization technique", PPoPP 2012, doi 10.1145/2145816.2145849 (CC-Synch). Here the one that comes
/// next does not wait until others did its work, but while the addition of those before it is on its way.
///
/// Ranks that come while their node has an addition under way form a line in near memory. When that is back,
/// the first of them adds the sum of all in line, and tells each what the word was before its own part, as if
/// each had added alone, in the order of the line.
///
/// Linearization point: the far addition. Progress: a rank waits for those of its node that came before; one
/// that stops in between stops its node.
///
/// Cost: 1 far addition for all that are in line. Cache-line transfers: alone, the line's end from its last
/// user, twice; in line, that once, the record before for registering, and one's own for the result. Memory:
/// 128 bytes of near memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"

namespace nearfar {

/// One rank's part in additions to one word, of its node. See the file's comment.
template <world W>
class combining_add {
 public:
  /// Collective.
  explicit combining_add(W& w)
      : world_(&w),
        records_(w),
        self_(to_word(w.rank())),
        mine_(&records_.at(w.rank())),
        end_(&records_.at(w.locality().leader(level::node, w.rank())).end) {}

  /// What the word was before `sum` was added to it. `far_add(all)` adds to it, and returns what it was
  /// before when that is complete; it is called by one rank of each node at a time, for all.
  template <typename FarAdd>
  [[nodiscard]] std::uint64_t operator()(std::uint64_t sum, const FarAdd& far_add) {
    mine_->sum.store(sum, std::memory_order_relaxed);
    mine_->next.store(nobody, std::memory_order_relaxed);
    mine_->state.store(in_line, std::memory_order_relaxed);
    // (1) Releases the three above, of which the one that comes next acquires `next` here.
    const rank_word before_me = end_->exchange(self_, std::memory_order_acq_rel);
    if (before_me != nobody) {
      // (2) Releases what this rank has done so far to (3).
      records_.at(to_rank(before_me)).next.store(self_, std::memory_order_release);
      // Pairs with (4).
      if (world_->await(mine_->state, [](std::uint8_t now) { return now != in_line; }) == served)
        return mine_->before.load(std::memory_order_relaxed);
    }

    // Each rank is in line once and stays until it is served, so that this comes to an end.
    rank_word last = self_;
    std::uint64_t all = sum;
    for (rank_word next = next_of(last); next != nobody; next = next_of(last)) {
      last = next;
      all += record_of(next).sum.load(std::memory_order_relaxed);
    }
    const std::uint64_t before = far_add(all);
    hand_on_from(last);
    serve_to(last, before + sum);
    return before;
  }

 private:
  enum state : std::uint8_t { in_line, adds, served };
  struct alignas(cache_line) record {
    typename W::template near<std::uint64_t> sum{};
    typename W::template near<std::uint64_t> before{};
    typename W::template near<rank_word> next{};
    typename W::template near<std::uint8_t> state{};
    alignas(cache_line) typename W::template near<rank_word> end{};  ///< of the line; the leader's counts
  };

  [[nodiscard]] record& record_of(rank_word who) { return records_.at(to_rank(who)); }
  // (3) Acquires from (2) what that rank did before it came.
  [[nodiscard]] rank_word next_of(rank_word who) {
    return record_of(who).next.load(std::memory_order_acquire);
  }

  /// Lets the one behind `last`, if there is one, go for those that have come meanwhile. Before `last` is
  /// served, from when on its record is its own again.
  void hand_on_from(rank_word last) {
    rank_word next = next_of(last);
    if (next == nobody) {
      rank_word expected = last;
      if (end_->compare_exchange(expected, nobody, std::memory_order_relaxed, std::memory_order_relaxed))
        return;
      next = world_->await(record_of(last).next, [](rank_word who) { return who != nobody; });  // as (3)
    }
    // Who goes next needs nothing of what was done here.
    record_of(next).state.store(adds, std::memory_order_relaxed);
  }
  /// Tells all behind this rank, up to `last`, what the word was before their part.
  void serve_to(rank_word last, std::uint64_t before) {
    rank_word next = self_ == last ? nobody : next_of(self_);
    while (next != nobody) {
      record& its = record_of(next);
      next = next == last ? nobody : next_of(next);  // while it is in line: its record is its own afterwards
      const std::uint64_t sum = its.sum.load(std::memory_order_relaxed);
      its.before.store(before, std::memory_order_relaxed);
      before += sum;
      // (4) Releases the result to that rank's wait.
      its.state.store(served, std::memory_order_release);
    }
  }

  W* world_;
  typename W::template near_segment<record> records_;
  rank_word self_;
  record* mine_;
  typename W::template near<rank_word>* end_;
};

}  // namespace nearfar
