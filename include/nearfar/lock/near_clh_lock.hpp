/// \file
/// CLH in near memory, for the ranks of one node: alone, or as the local lock of a cohort.
///
/// Source: T. Craig, "Building FIFO and priority-queuing spin locks from atomic swap", TR 93-02-02,
/// University of Washington, 1993; P. Magnusson, A. Landin, E. Hagersten, "Queue locks on cache coherent
/// multiprocessors", IPPS 1994, doi 10.1109/IPPS.1994.288305. Its use as a local lock is from A. Uffmann's
/// master thesis, LMU Munich, 2022, sections 5.3.1 and 5.4.4.
///
/// Each rank waits at the queue node of its predecessor, and keeps that node for its next acquisition,
/// because it cannot know when its own node has been read for the last time. So the lock has one queue node
/// more than there are ranks, which lies at the home, and any rank may come to use it.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
/// There is no `try_acquire`: a rank that looks at the node at the end of the queue cannot tell whether that
/// node still belongs to the holder that it saw leaving it.
///
/// Cost: no far operations. Cache-line transfers: uncontended the end of the queue, the predecessor's node
/// and, if another rank had used it, the own node; contended the same, and the node once more at the release.
/// A release never waits for a successor that is about to register. Memory: 192 bytes of near memory for each
/// rank.
#pragma once

#include <cstdint>
#include <utility>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W>
class near_clh_lock : public near_lockable<near_clh_lock<W>, W> {
  using base = near_lockable<near_clh_lock<W>, W>;
  /// The name of a queue node: the rank that has it in its memory, or `spare` for the additional one.
  using cell = typename base::rank_cell;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. `home` keeps the end of the queue; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node.
  explicit near_clh_lock(W& w, int home = 0, near_scope scope = near_scope::world)
      : base(w, {{"home", home}, {"scope", static_cast<std::int64_t>(scope)}}),
        world_(&w),
        nodes_(w),
        lock_(&nodes_.at(detail::home_of_near(w, home, scope))),
        mine_(base::to_cell(w.rank())) {}
  ~near_clh_lock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    node_named(mine_).store(base::held, std::memory_order_relaxed);
    // (1) Releases that store to the successor, which acquires it here.
    before_ = lock_->tail.exchange(mine_, std::memory_order_acq_rel);
    auto& before = node_named(before_);
    const status at_once = before.load(std::memory_order_acquire);  // (2) pairs with (3)
    if (at_once != base::held) return {at_once, false};
    return {world_->await(before, [](status passed) { return passed != base::held; }), true};  // as (2)
  }

  [[nodiscard]] bool alone() const { return lock_->tail.load(std::memory_order_relaxed) == mine_; }

  void release_local(status passes) {
    const cell left = std::exchange(mine_, before_);
    node_named(left).store(passes, std::memory_order_release);  // (3)
  }

 private:
  static constexpr cell spare = base::no_rank;

  struct alignas(cache_line) words {
    typename W::template near<status> passed{};
    alignas(cache_line) typename W::template near<status> spare_passed{};
    alignas(cache_line) typename W::template near<cell> tail{};
  };

  [[nodiscard]] auto& node_named(cell name) {
    return name == spare ? lock_->spare_passed : nodes_.at(to_rank(name)).passed;
  }

  W* world_;
  typename W::template near_segment<words> nodes_;
  words* lock_;
  cell mine_;
  cell before_ = spare;  ///< the predecessor's queue node
};

}  // namespace nearfar
