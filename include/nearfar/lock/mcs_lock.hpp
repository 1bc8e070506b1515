/// \file
/// MCS in near memory, for the ranks of one node: alone, or as the local lock of a cohort.
///
/// Source: J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory
/// multiprocessors", 1991, doi 10.1145/103727.103729; the pass count inside the status byte as in
/// near_lockable.hpp.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
///
/// Cost: no far operations. Cache-line transfers: uncontended, the tail's line from its last user; contended,
/// the tail's line, the predecessor's node for registering, and one's own node for the hand-over. Memory: 128
/// bytes of near memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W>
class mcs_lock : public near_lockable<mcs_lock<W>, W> {
  using base = near_lockable<mcs_lock<W>, W>;
  using cell = typename base::rank_cell;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. `home` keeps the end of the queue; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node.
  explicit mcs_lock(W& w, int home = 0, near_scope scope = near_scope::world)
      : base(w, {{"home", home}, {"scope", static_cast<std::int64_t>(scope)}}),
        world_(&w),
        nodes_(w),
        self_(base::to_cell(w.rank())),
        mine_(&nodes_.at(w.rank())),
        tail_(&nodes_.at(detail::home_of_near(w, home, scope)).tail) {}
  /// Collective. A lock between the elements of a level.
  mcs_lock(W& w, const near_seat& seat)
      : base(w, {}),
        world_(&w),
        nodes_(w),
        self_(base::to_cell(seat.participant)),
        mine_(&nodes_.at(seat.participant)),
        tail_(&nodes_.at(seat.owner).tail) {}
  ~mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    mine_->next.store(none, std::memory_order_relaxed);
    // (1) Acquires from (4) of the last holder if the queue was empty; releases the reset of `next`.
    const cell predecessor = tail_->exchange(self_, std::memory_order_acq_rel);
    if (predecessor == none) return {};
    mine_->passed.store(waiting, std::memory_order_relaxed);
    // (2) Releases the two resets above to the predecessor's (3).
    nodes_.at(to_rank(predecessor)).next.store(self_, std::memory_order_release);
    // Pairs with (5).
    return {world_->await(mine_->passed, [](status passed) { return passed != waiting; }), true};
  }

  [[nodiscard]] bool try_acquire_local() {
    mine_->next.store(none, std::memory_order_relaxed);
    cell expected = none;
    return tail_->compare_exchange(expected, self_, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// Whether no rank of the node is behind this one (cohort detection). Also looks at the end of the queue: a
  /// rank that is in the queue but has not registered yet is worth the short wait, because a local hand-over
  /// spares both ranks the lock above. Leaving the queue would need that cache line anyway.
  [[nodiscard]] bool alone() const {
    return mine_->next.load(std::memory_order_relaxed) == none &&
           tail_->load(std::memory_order_relaxed) == self_;
  }

  /// Whether no rank holds this lock or waits for it.
  [[nodiscard]] bool is_free() const { return tail_->load(std::memory_order_relaxed) == none; }

  void release_local(status passes) {
    cell successor = mine_->next.load(std::memory_order_acquire);  // (3)
    if (successor == none) {
      cell expected = self_;
      // (4) Releases the critical section to (1) of the next rank.
      if (tail_->compare_exchange(expected, none, std::memory_order_release, std::memory_order_relaxed))
        return;
      successor = world_->await(mine_->next, [](cell next) { return next != none; });  // as (3)
    }
    // (5) Releases the critical section to the successor's wait.
    nodes_.at(to_rank(successor)).passed.store(passes, std::memory_order_release);
  }

 private:
  static constexpr cell none = base::no_rank;
  static constexpr status waiting = base::held;

  struct alignas(cache_line) node {
    typename W::template near<cell> next{};
    typename W::template near<status> passed{};
    alignas(cache_line) typename W::template near<cell> tail{};
  };

  W* world_;
  typename W::template near_segment<node> nodes_;
  cell self_;
  node* mine_;
  typename W::template near<cell>* tail_;
};

}  // namespace nearfar
