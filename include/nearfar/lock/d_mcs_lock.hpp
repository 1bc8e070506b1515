/// \file
/// D-MCS: MCS over RMA with a home rank. The hand-over is a far write to a word that the successor polls.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323 (after W. Gropp, T. Hoefler, R. Thakur, E. Lusk, "Using Advanced MPI", 2014,
/// section 4.7). The flushes that MPI requires and the hand-over by a put of one byte are those of A.
/// Uffmann's master thesis, LMU Munich, 2022, sections 3.4 and 4.3.1; the first published form has no flush
/// after its two accumulates. The published forms reset words whose last write need not be complete, and hang
/// (`far_queue.hpp`, `far_handover.hpp`). The default has a queue with words in turn and hands over by sum,
/// with the same far operations.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
///
/// Cost in far operations, each completed by a flush:
///  - uncontended: lock 1 swap at home, unlock 1 compare-and-swap at home;
///  - contended: lock 1 swap at home and 1 write to the predecessor, unlock 1 write to the successor.
/// Memory: 192 bytes of far memory for each rank.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// The parameters of a `d_mcs_lock`.
struct d_mcs_policy {
  /// The far write that hands the lock over. The published ones come with the published queue.
  handover_by by = handover_by::sum;
  /// Whether the writes to the predecessor and to the successor are flushed at once.
  bool flushes = true;
  /// `participant::node` makes it the global lock of a cohort: one rank of a node may release what another
  /// acquired.
  participant queued = participant::rank;
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, d_mcs_policy Policy = d_mcs_policy{}>
class d_mcs_lock : public lockable<d_mcs_lock<W, Policy>, W> {
 public:
  using world_type = W;
  static constexpr participant queued = Policy.queued;

  /// Collective. `home` is the rank that keeps the end of the queue.
  explicit d_mcs_lock(W& w, int home = 0)
      : d_mcs_lock::lockable(w, {{"home", home}}),
        locality_(&w.locality()),
        ranks_(w.size()),
        owner_(owner_of<queued>(w)),
        queue_(w, home, owner_),
        grants_(w) {}
  ~d_mcs_lock() noexcept(!checked_build) {
    this->expect_not_held();
    if constexpr (!Policy.flushes) complete_everywhere();
  }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    grants_.prepare();
    const rank_word predecessor = queue_.enqueue();
    if (predecessor == nobody) return handover::uncontended;
    static_cast<void>(grants_.await());
    return locality_->same(level::node, owner_, to_rank(predecessor)) ? handover::local : handover::remote;
  }

  [[nodiscard]] bool try_acquire() { return queue_.enqueue_if_empty(); }

  void release() {
    if (const rank_word successor = queue_.leave(); successor != nobody)
      grants_.give(to_rank(successor), one);
  }

  /// Whether another participant has registered behind this one.
  [[nodiscard]] bool is_wanted() { return queue_.look() != nobody; }

 private:
  using grants =
      far_handover<W, far_handover_policy{.queued = queued, .by = Policy.by, .flushes = Policy.flushes}>;

  // An origin of far operations, so it must be an object.
  static constexpr typename grants::value_type one = 1;

  static constexpr far_queue_policy queue_policy() {
    return {
        .queued = queued,
        .words = Policy.by == handover_by::sum ? next_words::in_turn : next_words::single,
        .registers_by = Policy.by == handover_by::accumulate ? registration::accumulate : registration::put,
        .flushes_registration = Policy.flushes};
  }

  /// The memory of the lock must not be lent to another object before these writes are complete.
  void complete_everywhere() {
    for (int rank = 0; rank < ranks_; ++rank) queue_.complete_at(rank);
  }

  const locality* locality_;
  int ranks_;
  int owner_;
  far_queue<W, queue_policy()> queue_;
  grants grants_;
};

}  // namespace nearfar
