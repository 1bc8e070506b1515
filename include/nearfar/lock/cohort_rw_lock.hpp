/// \file
/// Cohort reader-writer lock: writers queue in a near lock on each node and in a queue of nodes; readers
/// enter without a far operation.
///
/// Source: I. Calciu, D. Dice, Y. Lev, V. Luchangco, V. Marathe, N. Shavit, "NUMA-aware reader-writer locks",
/// PPoPP 2013, doi 10.1145/2442516.2442532. The outlook of A. Uffmann's master thesis, LMU Munich, 2022, asks
/// for this lock. Two techniques are the thesis's: ranks reach queue nodes through shared memory, and the
/// local lock's hand-over counts passes. Writers: `cohort_tree.hpp`; readers: `node_flags.hpp`; turns:
/// `phase_fair_lock.hpp`.
///
/// Fairness with `rw_preference::fair`:
///  - writers: among each other as in `cohort_lock`;
///  - a waiting reader: overtaken by the writers of one turn, at most (max_local_passes + 1) *
///    (max_writer_passes + 1);
///  - a waiting writer: overtaken by max_readers entries of each reader in each turn before its own, and by
///    the readers that come while a writer before it is on its way to the gates.
/// `rw_preference::writers` admits no reader while writers wait; `rw_preference::readers` admits no writer
/// while a reader is in. Progress: an acquiring writer waits for its predecessors and for the readers of one
/// phase, a reader for the writers of one turn.
///
/// Cost in far operations, each completed by a flush:
///  - reader: none; 2 writes and 1 read in place, in a line that 8 ranks of the node share. A waiting reader
///    polls in place;
///  - writer, uncontended: 1 swap and 1 compare-and-swap at home; at each node, all nodes at once, 1
///    accumulate, 1 get, 1 accumulate;
///  - writer that gets the lock by hand-over: none within a node; between nodes 1 swap at home, 1 put to the
///    predecessor node, 1 accumulate to the successor.
/// Memory: 256 bytes of far memory for each rank and 8 for each rank of the largest node, 192 of near memory.
#pragma once

#include <cstdint>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_tree.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/node_flags.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"

namespace nearfar {

/// The parameters of a `cohort_rw_lock`.
struct cohort_rw_parameters {
  int max_local_passes = published_local_passes;
  /// `max_readers` counts the entries of each reader separately.
  rw_thresholds turns{};
  rw_preference prefers = rw_preference::fair;
};

/// Reader-writer lock for all ranks of a world. See the file's comment.
template <world W>
class cohort_rw_lock : public phase_fair_lock<cohort_rw_lock<W>, cohort_tree<W>, node_flags<W>> {
 public:
  /// Collective. `home` keeps the end of the queue of nodes. Throws `misuse` for parameters out of range.
  explicit cohort_rw_lock(W& w, int home = 0, const cohort_rw_parameters& of = {})
      : cohort_rw_lock::phase_fair_lock(
            w,
            {{"home", home},
             {"max_local_passes", of.max_local_passes},
             {"max_writer_passes", of.turns.max_writer_passes},
             {"max_readers", of.turns.max_readers},
             {"prefers", static_cast<std::int64_t>(of.prefers)}},
            of.turns, of.prefers, [&] { return cohort_tree<W>(w, home, local_passes(of)); },
            [&] { return node_flags<W>(w, of.turns.max_readers); }) {}
  ~cohort_rw_lock() noexcept(!checked_build) { this->expect_not_held(); }

 private:
  /// Where readers come first each writer's turn is its own.
  [[nodiscard]] static int local_passes(const cohort_rw_parameters& of) noexcept {
    return of.prefers == rw_preference::readers ? 0 : of.max_local_passes;
  }
};

}  // namespace nearfar
