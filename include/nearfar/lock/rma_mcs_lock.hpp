/// \file
/// RMA-MCS: a hierarchical MCS lock of two levels in which everything, also within a node, is an RMA
/// operation.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, after M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance locks for
/// multi-level NUMA systems", PPoPP 2015; with the flushes and the progress calls that it lacks on MPI
/// libraries other than the authors' (A. Uffmann's master thesis, LMU Munich, 2022, section 3.3). Handed over
/// by accumulate in its published form, by put in the thesis (section 3.4); both reset words whose last write
/// need not be complete, and hang (`far_queue.hpp`, `far_handover.hpp`). The default has queues with words in
/// turn and hands over by sum; it is kept as the rival of `cohort_lock`.
///
/// Fairness: at most `max_local_passes` ranks of a node in a row overtake a waiting rank of another node.
/// Progress: an acquiring rank waits for its predecessors only.
///
/// Cost in far operations, each completed by a flush ("near" ones included, as they are RMA too):
///  - uncontended: lock 1 put and 1 swap in the node, 1 put at the leader and 1 swap at home; unlock 2 gets
///  and
///    1 compare-and-swap in the node, 1 get at the leader and 1 compare-and-swap at home;
///  - contended within a node: lock 1 put, 1 swap and 1 put to the predecessor; unlock 1 get and 1 accumulate
///    to the successor;
///  - the published forms keep the status in the word, by RMA: uncontended 3 puts and 1 get more, contended 1
///    put and 1 get.
/// Memory: 384 bytes of far memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, handover_by By = handover_by::sum>
class rma_mcs_lock : public lockable<rma_mcs_lock<W, By>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the queue of nodes; `max_local_passes` is the threshold T_L of the
  /// paper. Throws `misuse` unless that is 0 to 254.
  explicit rma_mcs_lock(W& w, int home = 0, int max_local_passes = default_max_local_passes)
      : rma_mcs_lock::lockable(w, {{"home", home}, {"max_local_passes", max_local_passes}}),
        max_passes_(static_cast<std::uint64_t>(checked_local_passes(max_local_passes))),
        ranks_(w, owner_of<participant::node>(w), w.rank()),
        nodes_(w, home, owner_of<participant::node>(w)),
        rank_status_(w),
        node_status_(w) {}
  ~rma_mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    rank_status_.prepare();
    const bool waited = ranks_.enqueue() != nobody;
    if (waited) {
      passes_ = rank_status_.await();
      if (passes_ != acquire_parent) return handover::local;
    }
    keep_passes(first_pass);
    node_status_.prepare();
    if (nodes_.enqueue() == nobody) return waited ? handover::waited : handover::uncontended;
    static_cast<void>(node_status_.await());
    return handover::remote;
  }

  void release() {
    const std::uint64_t passes = kept_passes();
    if (passes < first_pass + max_passes_)
      if (const rank_word successor = ranks_.leave_if_followed(); successor != nobody)
        return rank_status_.give(to_rank(successor), passes + 1);
    if (const rank_word successor = nodes_.leave(); successor != nobody)
      node_status_.give(to_rank(successor), first_pass);
    if (const rank_word successor = ranks_.leave(); successor != nobody)
      rank_status_.give(to_rank(successor), acquire_parent);
  }

 private:
  static constexpr std::uint64_t acquire_parent = 1;
  static constexpr std::uint64_t first_pass = 2;

  [[nodiscard]] static constexpr far_queue_policy queue_of(participant queued) {
    return {.queued = queued,
            .words = By == handover_by::sum ? next_words::in_turn : next_words::single,
            .reads = node_access::rma,
            .resets = node_access::rma};
  }
  /// The paper polls the rank's own status in memory; all else is RMA. The node's status is the leader's
  /// word, which any rank of the node may have to poll.
  [[nodiscard]] static constexpr far_handover_policy status_of(participant queued) {
    return {.queued = queued,
            .by = By,
            .waits = queued == participant::rank ? node_access::direct : node_access::rma,
            .writes = node_access::rma};
  }

  // As published, the count of passes is where it was handed over.
  void keep_passes(const std::uint64_t& passes) {
    if constexpr (By == handover_by::sum)
      passes_ = passes;
    else
      rank_status_.write(passes);
  }
  [[nodiscard]] std::uint64_t kept_passes() {
    if constexpr (By == handover_by::sum)
      return passes_;
    else
      return rank_status_.read();
  }

  std::uint64_t max_passes_;
  std::uint64_t passes_ = 0;
  far_queue<W, queue_of(participant::rank)> ranks_;
  far_queue<W, queue_of(participant::node)> nodes_;
  far_handover<W, status_of(participant::rank)> rank_status_;
  far_handover<W, status_of(participant::node)> node_status_;
};

}  // namespace nearfar
