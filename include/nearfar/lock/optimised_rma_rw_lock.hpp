/// \file
/// RMA-RW with the optimisations that were found for RMA-MCS: writers in a hemlock on each node and in a
/// queue of nodes that hands over by put; readers in counters on several nodes.
///
/// Source: the outlook of A. Uffmann's master thesis, LMU Munich, 2022, chapter 6, asks whether its
/// optimisations apply to the RMA-RW of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA
/// Locks", HPDC 2016, doi 10.1145/2907294.2907323. The optimisations, and their places here:
///  - put in place of accumulate (section 3.4): a writer's registration (`far_queue.hpp`), and its grant
///    (`put_grants.hpp`);
///  - ranks of a node reach its queue node in place (section 5.4.1): `far_queue.hpp`;
///  - Hemlock as the local lock (section 5.4.4), with the count of passes inside its word: `hemlock.hpp`.
/// Readers are those of `rma_rw_lock`: each of their operations changes a word that ranks of other nodes
/// change, too, so it remains an atomic of RMA.
///
/// Fairness: as `rma_rw_lock` with one level of queues, that of the ranks of a node. Progress: as
/// `rma_rw_lock`; a writer that releases also waits until its local successor, which is awake, has taken the
/// lock.
///
/// Cost in far operations, each completed by a flush:
///  - reader: as `rma_rw_lock`;
///  - writer, uncontended: 1 swap and 1 compare-and-swap at home, and 1 fetch-and-add and 1 accumulate at
///  each
///    counter, each of the two at all counters at once;
///  - writer that gets the lock by hand-over inside a turn: none within a node; between nodes 1 swap at home,
///    1 put to the predecessor node, 1 put to the successor.
/// Memory: 192 bytes of far memory for each rank and 8 for each node, 192 of near memory.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_tree.hpp"
#include "nearfar/lock/distributed_counter.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"
#include "nearfar/lock/put_grants.hpp"

namespace nearfar {

/// The parameters of an `optimised_rma_rw_lock`.
struct optimised_rma_rw_parameters {
  /// Consecutive writers within a node: T_L of nodes.
  int max_local_passes = published_local_passes;
  rw_thresholds turns{};
  /// Nodes that share one counter: T_DC.
  int nodes_per_counter = 1;
};

/// Reader-writer lock for all ranks of a world. See the file's comment.
template <world W>
class optimised_rma_rw_lock
    : public phase_fair_lock<optimised_rma_rw_lock<W>, cohort_tree<W, hemlock<W>, put_grants<W>>,
                             distributed_counter<W>> {
  using writers = cohort_tree<W, hemlock<W>, put_grants<W>>;
  using gate = distributed_counter<W>;

 public:
  /// Collective. `home` keeps the end of the queue of nodes. Throws `misuse` for parameters out of range.
  explicit optimised_rma_rw_lock(W& w, int home = 0, const optimised_rma_rw_parameters& of = {})
      : optimised_rma_rw_lock::phase_fair_lock(
            w,
            {{"home", home},
             {"max_local_passes", of.max_local_passes},
             {"max_writer_passes", of.turns.max_writer_passes},
             {"max_readers", of.turns.max_readers},
             {"nodes_per_counter", of.nodes_per_counter}},
            of.turns, rw_preference::fair, [&] { return writers(w, home, of.max_local_passes); },
            [&] { return gate(w, of.nodes_per_counter, of.turns.max_readers); }) {}
  ~optimised_rma_rw_lock() noexcept(!checked_build) { this->expect_not_held(); }
};

}  // namespace nearfar
