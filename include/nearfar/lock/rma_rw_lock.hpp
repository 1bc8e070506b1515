/// \file
/// RMA-RW: a reader-writer lock over RMA. Writers queue in a tree of MCS queues; counters on several nodes
/// count the readers.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323. The three structures and the thresholds are those of the paper: distributed
/// queues (DQ, T_L,i) in a distributed tree (DT, T_R), and the distributed counter (DC, T_DC). Queues and
/// hand-over are those of `rma_mcs_lock`; the counter's phases (`distributed_counter.hpp`) and their turns
/// (`phase_fair_lock.hpp`) are nearfar's.
///
/// Choosing the thresholds: `docs/readers-writers.md`. With a larger T_DC there are fewer counters, so
/// writers get in sooner and readers reach farther. A larger T_R gives readers longer turns at the writers'
/// cost. Larger T_L,i keep the lock nearer, and let other writers and all readers wait longer.
///
/// T_R is the limit of consecutive readers at one counter. As published it counts always, and so it does in
/// `consecutive_rma_rw_lock`: a reader that comes after T_R others looks whether a writer waits, and begins
/// the count anew if none does. In the default T_R counts only in a turn that begins while writers wait.
/// Readers then need not look for writers: a writer that finds no other writer shuts the counters at once, so
/// no limit is needed until it comes. If T_R is below the number of ranks that share a counter, the lock
/// raises it to that number; `max_readers()` returns the limit in effect.
///
/// Fairness: writers as in `rma_mcs_lock`. A waiting reader is overtaken by the writers of one turn, at most
/// the product of all T_L,i + 1. A waiting writer is overtaken by max_readers at each counter in each turn
/// before its own. It is also overtaken by the readers that come while a writer before it is on its way to
/// the counters: any number by default, and at most max_readers more at each counter with
/// `consecutive_rma_rw_lock`. Progress: an acquiring writer waits for its predecessors and for the readers of
/// one phase, a reader for the writers of one turn. With `consecutive_rma_rw_lock` a reader that begins a
/// count anew also tries again whenever another rank comes or leaves at its counter meanwhile.
///
/// Cost in far operations, each completed by a flush:
///  - reader without a writer: 1 fetch-and-add at its counter, 1 accumulate there when it leaves. A waiting
///    reader polls in place if its counter is on its node, by fetch otherwise;
///  - writer, uncontended: as `rma_mcs_lock`, and 1 fetch-and-add and 1 accumulate at each counter, each of
///    the two at all counters at once; 1 get more at the root;
///  - writer that gets the lock by hand-over inside a turn: as `rma_mcs_lock`;
///  - with `consecutive_rma_rw_lock`: a reader that finds the count used up 1 fetch at home and 1
///    compare-and-swap at its counter more, and another fetch at home if a writer is in the queue. A writer
///    that leaves the queue empty 1 fetch at each counter more, at all counters at once, and 1
///    compare-and-swap at each counter where a reader has seen it.
/// Memory: 448 bytes of far memory for each rank with a tree of one level, 192 more for each further one.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/distributed_counter.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"
#include "nearfar/lock/rma_mcs_tree.hpp"

namespace nearfar {

/// The parameters of an `rma_rw_lock`.
struct rma_rw_parameters {
  lock_tree tree{};
  rw_thresholds turns{};
  /// Nodes that share one counter: T_DC.
  int nodes_per_counter = 1;
};

/// Reader-writer lock for all ranks of a world. See the file's comment.
template <world W, counted_readers Counted>
class basic_rma_rw_lock
    : public phase_fair_lock<basic_rma_rw_lock<W, Counted>, rma_mcs_tree<W, handover_by::sum, true>,
                             distributed_counter<W, Counted>> {
  using writers = rma_mcs_tree<W, handover_by::sum, true>;
  using gate = distributed_counter<W, Counted>;

 public:
  /// Collective. `home` keeps the end of the outermost queue. Throws `misuse` for parameters out of range.
  explicit basic_rma_rw_lock(W& w, int home = 0, const rma_rw_parameters& of = {})
      : basic_rma_rw_lock(w, home, of, of.tree.arguments()) {}
  ~basic_rma_rw_lock() noexcept(!checked_build) { this->expect_not_held(); }

 private:
  basic_rma_rw_lock(W& w, int home, const rma_rw_parameters& of,
                    const std::array<named_value, level_count>& levels)
      : basic_rma_rw_lock::phase_fair_lock(
            w,
            {{"home", home},
             levels[0],
             levels[1],
             levels[2],
             levels[3],
             levels[4],
             levels[5],
             {"max_writer_passes", of.turns.max_writer_passes},
             {"max_readers", of.turns.max_readers},
             {"nodes_per_counter", of.nodes_per_counter}},
            of.turns, rw_preference::fair, [&] { return writers(w, home, of.tree); },
            [&] { return gate(w, of.nodes_per_counter, of.turns.max_readers); }) {}
};

/// The recommended setting: T_R limits the readers' turns that begin while writers wait.
template <world W>
using rma_rw_lock = basic_rma_rw_lock<W, counted_readers::while_writers_wait>;

/// The same where T_R limits all consecutive readers, as published.
template <world W>
using consecutive_rma_rw_lock = basic_rma_rw_lock<W, counted_readers::always>;

}  // namespace nearfar
