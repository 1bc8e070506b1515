/// \file
/// RMA-MCS: a hierarchical MCS lock of two levels in which everything, also within a node, is an RMA
/// operation.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, after M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance locks for
/// multi-level NUMA systems", PPoPP 2015; with the flushes and the progress calls that it lacks on MPI
/// libraries other than the authors' (A. Uffmann's master thesis, LMU Munich, 2022, section 3.3). Kept in its
/// published form as the rival of `cohort_lock`; handed over by put, or by accumulate, which the published
/// locks use (thesis, section 3.4).
///
/// Fairness: at most `max_local_passes` ranks of a node in a row overtake a waiting rank of another node.
/// Progress: an acquiring rank waits for its predecessors only.
///
/// Cost in far operations, each completed by a flush ("near" ones included, as they are RMA too):
///  - uncontended: lock 3 puts and 1 swap in the node, 2 puts at the leader and 1 swap at home; unlock 3 gets
///    and 1 compare-and-swap in the node, 1 get at the leader and 1 compare-and-swap at home;
///  - contended within a node: lock 2 puts, 1 swap and 1 put to the predecessor; unlock 2 gets and 1 put to
///  the
///    successor.
/// Memory: 384 bytes of far memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// The far write by which the lock is handed over.
enum class rma_mcs_handover : std::uint8_t { put, accumulate };

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, rma_mcs_handover By = rma_mcs_handover::put>
class rma_mcs_lock : public lockable<rma_mcs_lock<W, By>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the queue of nodes; `max_local_passes` is the threshold T_L of the
  /// paper. Throws `misuse` unless that is 0 to 254.
  explicit rma_mcs_lock(W& w, int home = 0, int max_local_passes = default_max_local_passes)
      : rma_mcs_lock::lockable(w, {{"home", home}, {"max_local_passes", max_local_passes}}),
        world_(&w),
        leader_(w.locality().leader(level::node, w.rank())),
        max_passes_(static_cast<std::uint64_t>(checked_local_passes(max_local_passes))),
        ranks_(w, leader_, w.rank(), w.rank()),
        nodes_(w, home, leader_, leader_),
        rank_status_(w),
        node_status_(w) {}
  ~rma_mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    const int rank = world_->rank();
    write(rank_status_, rank, wait);
    const bool waited = ranks_.enqueue() != nobody;
    // The paper polls the rank's own status in memory; all else is RMA.
    if (waited && await_own(rank) != acquire_parent) return handover::local;
    write(rank_status_, rank, first_pass);
    write(node_status_, leader_, wait);
    if (nodes_.enqueue() == nobody) return waited ? handover::waited : handover::uncontended;
    await_above();
    return handover::remote;
  }

  void release() {
    const std::uint64_t passes = read(rank_status_, world_->rank());
    if (passes < first_pass + max_passes_)
      if (const rank_word successor = ranks_.look(); successor != nobody)
        return hand_over(rank_status_, to_rank(successor), passes + 1);
    if (const rank_word successor = nodes_.leave(); successor != nobody)
      hand_over(node_status_, to_rank(successor), first_pass);
    if (const rank_word successor = ranks_.leave(); successor != nobody)
      hand_over(rank_status_, to_rank(successor), acquire_parent);
  }

 private:
  struct alignas(slot_bytes) status {
    far<std::uint64_t> value;
  };
  using statuses = typename W::template far_segment<status>;

  static constexpr std::uint64_t wait = 0;
  static constexpr std::uint64_t acquire_parent = 1;
  static constexpr std::uint64_t first_pass = 2;
  static constexpr far_queue_policy by_rma{.reads = node_access::rma, .resets = node_access::rma};

  void write(statuses& at, int rank, const std::uint64_t& value) {
    at.put(rank, &status::value, value);
    at.flush(rank);
  }
  void hand_over(statuses& at, int rank, const std::uint64_t& value) {
    if constexpr (By == rma_mcs_handover::put) {
      write(at, rank, value);
    } else {
      at.accumulate(rank, &status::value, value, far_op::replace);
      at.flush(rank);
    }
  }
  [[nodiscard]] std::uint64_t read(statuses& at, int rank) {
    std::uint64_t value = 0;
    at.get(rank, &status::value, value);
    at.flush(rank);
    return value;
  }
  /// The node's status is the leader's word, which any rank of the node may have to poll.
  void await_above() {
    const auto is_given = [](std::uint64_t value) { return value != wait; };
    if constexpr (By == rma_mcs_handover::put)
      world_->await_get(node_status_, leader_, &status::value, is_given);
    else
      world_->await_fetch(node_status_, leader_, &status::value, is_given);
  }
  [[nodiscard]] std::uint64_t await_own(int rank) {
    return world_->await_direct(rank_status_, rank, &status::value,
                                [](std::uint64_t value) { return value != wait; });
  }

  W* world_;
  int leader_;
  std::uint64_t max_passes_;
  far_queue<W, by_rma> ranks_;
  far_queue<W, by_rma> nodes_;
  statuses rank_status_;
  statuses node_status_;
};

}  // namespace nearfar
