/// \file
/// The registry of all reader-writer locks.
#pragma once

#include "bench/axis.hpp"
#include "bench/kinds/rw_locks/any_rw_lock.hpp"
#include "bench/registry.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"

namespace nearfar::bench {

/// One set of values for all reader-writer locks. Each lock takes the values that it uses.
struct rw_lock_parameters {
  int max_local_passes = published_local_passes;
  /// Of a NUMA domain, in a lock with queues there; `as_nodes` for that of nodes.
  int max_numa_passes = as_nodes;
  static constexpr int as_nodes = -1;
  /// The same of an island.
  int max_island_passes = as_nodes;
  rw_thresholds turns{};
  int nodes_per_counter = 1;
  backoff pause{};

  /// The values of the point, and defaults for the others.
  [[nodiscard]] static rw_lock_parameters at(const point& where);
};

/// The bounds that the model checker enforces for a lock.
struct rw_bypass {
  /// Writers queue. A waiting writer is overtaken by no more writers than the queues allow, which the checker
  /// tests on exclusive locks. A waiting reader is overtaken by at most one turn of the writers.
  bool bounds_writers_past_reader = false;
  /// Levels of queues whose hand-overs are limited by `max_local_passes` in such a turn.
  int levels = 1;
  /// A waiting writer is overtaken only by the readers of the turns before its own.
  bool bounds_readers_past_writer = false;
  /// The limit of a readers' turn counts always, also while a writer is on its way to shut the readers out.
  bool counts_all_readers = false;
};

/// Reader-writer locks, as a kind of registered objects.
struct shared_locks {
  template <typename W>
  using any = any_rw_lock<W>;
  using parameters = rw_lock_parameters;
  using bypass = rw_bypass;
};

/// One registered reader-writer lock.
using rw_lock_entry = entry<shared_locks>;

/// All registered reader-writer locks.
class rw_catalogue : public registry<rw_lock_entry> {
 public:
  /// The one catalogue, made at first use.
  static const rw_catalogue& instance();

 private:
  rw_catalogue();
};

}  // namespace nearfar::bench
