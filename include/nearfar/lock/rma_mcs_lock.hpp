/// \file
/// RMA-MCS: a hierarchical MCS lock with any number of levels (default two), in which every step to another
/// rank is an RMA operation, also within a node.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, after M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance locks for
/// multi-level NUMA systems", PPoPP 2015. A. Uffmann's master thesis, LMU Munich, 2022, section 3.3, adds the
/// flushes and the progress calls that the lock lacks on MPI libraries other than the authors'. The published
/// form hands over by accumulate, the thesis by put (section 3.4); both reset words whose last write need not
/// be complete, and hang (`far_queue.hpp`, `far_handover.hpp`). The default has queues with words in turn and
/// hands over by sum. nearfar keeps this lock as the rival of `cohort_lock`.
///
/// Fairness: at most `max_local_passes` ranks of a node in a row overtake a waiting rank of another node,
/// once the first of that node has registered it at home. Progress: an acquiring rank waits for its
/// predecessors only.
///
/// Cost in far operations, each completed by a flush ("near" ones included, as they are RMA too):
///  - uncontended: lock 1 put and 1 swap in the node, 1 put at the leader and 1 swap at home; unlock 2 gets
///    and 1 compare-and-swap in the node, 1 get at the leader and 1 compare-and-swap at home;
///  - contended within a node: lock 1 put, 1 swap and 1 put to the predecessor; unlock 1 get and 1 accumulate
///    to the successor;
///  - with `handover_by::accumulate` or `put` the status is kept in the word, by RMA: uncontended 3 puts and
///  1
///    get more, contended 1 put and 1 get;
///  - the published form also reads and resets a rank's own words in memory (`node_access::direct`):
///    contended within a node 1 swap, 1 accumulate to the predecessor and 1 to the successor.
/// Memory: 384 bytes of far memory for each rank.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/rma_mcs_tree.hpp"

namespace nearfar {

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, handover_by By = handover_by::sum, node_access Own = node_access::rma>
class rma_mcs_lock : public lockable<rma_mcs_lock<W, By, Own>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the queue of nodes; `max_local_passes` is the threshold T_L of the
  /// paper. Throws `misuse` unless `max_local_passes` is 1 to 254.
  explicit rma_mcs_lock(W& w, int home = 0, int max_local_passes = default_max_local_passes)
      : rma_mcs_lock(w, home, lock_tree::arguments_of_nodes(max_local_passes),
                     [max_local_passes] { return lock_tree(max_local_passes); }) {}
  /// The same with other levels, or more of them.
  rma_mcs_lock(W& w, int home, const lock_tree& shape)
      : rma_mcs_lock(w, home, shape.arguments(), [&shape] { return shape; }) {}
  ~rma_mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() { return queues_.acquire(); }
  [[nodiscard]] bool try_acquire() { return queues_.try_acquire(); }
  void release() { queues_.release(); }

 private:
  /// Makes the ranks compare their arguments before any rank's arguments are refused.
  template <typename Shape>
  rma_mcs_lock(W& w, int home, const lock_tree::named_levels& levels, Shape shape)
      : rma_mcs_lock::lockable(
            w, {{"home", home}, levels[0], levels[1], levels[2], levels[3], levels[4], levels[5]}),
        queues_(w, home, shape()) {}

  rma_mcs_tree<W, By, false, Own> queues_;
};

}  // namespace nearfar
