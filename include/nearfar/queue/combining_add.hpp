/// \file
/// Fetch-and-add on a far word that combines the additions of a node's ranks.
///
/// Source: the idea from A. Gottlieb, B. Lubachevsky, L. Rudolph, "Basic techniques for the efficient
/// coordination of very large numbers of cooperating sequential processors", 1983, doi 10.1145/69624.357206,
/// section 2, where switches of the network combine additions. The line of ranks whose first does the work of
/// all is from P. Fatourou, N. Kallimanis, "Revisiting the combining synchronization technique", PPoPP 2012,
/// doi 10.1145/2145816.2145849 (CC-Synch). Here the next rank waits only while the addition of those before
/// it is under way, and not until others have done its work.
///
/// Ranks that come while their node has an addition under way form a line in near memory. When that addition
/// is complete, the first of the line adds the sum of all in line. It then tells each rank what the word was
/// before that rank's own part, as if each had added alone, in the order of the line.
///
/// Linearization point: the far addition. Progress: a rank waits for the ranks of its node that came before
/// it; a rank that stops in between stops its node.
///
/// Cost: 1 far addition for all ranks in line. Cache-line transfers: alone, the line's end from its last
/// user, twice; in line, the end once, the predecessor's record for registering, and the rank's own record
/// for the result. Memory: 128 bytes of near memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"

namespace nearfar {

/// One rank's part in its node's additions to one word. See the file's comment.
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

  /// Adds `sum` to the word and returns the word from before. `far_add(all)` must add `all` to the word and
  /// return the word from before once the addition is complete. One rank of each node at a time calls it, for
  /// all ranks in line.
  template <typename FarAdd>
  [[nodiscard]] std::uint64_t operator()(std::uint64_t sum, const FarAdd& far_add) {
    mine_->sum.store(sum, std::memory_order_relaxed);
    mine_->next.store(nobody, std::memory_order_relaxed);
    mine_->state.store(in_line, std::memory_order_relaxed);
    // (1) Releases the three stores above. The next rank in line acquires that of `next` here.
    const rank_word before_me = end_->exchange(self_, std::memory_order_acq_rel);
    if (before_me != nobody) {
      // (2) Releases what this rank has done so far to (3).
      records_.at(to_rank(before_me)).next.store(self_, std::memory_order_release);
      // Pairs with (4).
      if (world_->await(mine_->state, [](std::uint8_t now) { return now != in_line; }) == served)
        return mine_->before.load(std::memory_order_relaxed);
    }

    // Ends, because each rank is in line once and stays there until it is served.
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
    alignas(cache_line) typename W::template near<rank_word> end{};  ///< of the line; only the leader's is
                                                                     ///< used
  };

  [[nodiscard]] record& record_of(rank_word who) { return records_.at(to_rank(who)); }
  // (3) Acquires from (2) what that rank did before it joined the line.
  [[nodiscard]] rank_word next_of(rank_word who) {
    return record_of(who).next.load(std::memory_order_acquire);
  }

  /// Lets the rank behind `last`, if there is one, add for the ranks that have come meanwhile. Must be called
  /// before `last` is served, because then `last` may use its record again.
  void hand_on_from(rank_word last) {
    rank_word next = next_of(last);
    if (next == nobody) {
      rank_word expected = last;
      if (end_->compare_exchange(expected, nobody, std::memory_order_relaxed, std::memory_order_relaxed))
        return;
      next = world_->await(record_of(last).next, [](rank_word who) { return who != nobody; });  // as (3)
    }
    // Relaxed: the next rank needs nothing that was done here.
    record_of(next).state.store(adds, std::memory_order_relaxed);
  }
  /// Tells the ranks behind this one, up to `last`, what the word was before their parts.
  void serve_to(rank_word last, std::uint64_t before) {
    rank_word next = self_ == last ? nobody : next_of(self_);
    while (next != nobody) {
      record& its = record_of(next);
      next = next == last ? nobody : next_of(next);  // before it is served: then it may use its record again
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
