/// \file
/// The registry of all reader-writer locks.
#pragma once

#include "bench/any_rw_lock.hpp"
#include "bench/axis.hpp"
#include "bench/registry.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"

namespace nearfar::bench {

/// One set of values for all reader-writer locks; each takes those it has.
struct rw_lock_parameters {
  int max_local_passes = published_local_passes;
  rw_thresholds turns{};
  int nodes_per_counter = 1;
  backoff pause{};

  /// Those that the point names, and the defaults of the others.
  [[nodiscard]] static rw_lock_parameters at(const point& where);
};

/// What the model checker holds a lock to.
struct rw_bypass {
  /// Writers queue, and one that waits is overtaken by no more writers than its queues allow, which is
  /// checked for exclusive locks; a reader that waits by one turn of the writers at most.
  bool bounds_writers_past_reader = false;
  /// A writer that waits is overtaken by no more than the readers of the turns before its own.
  bool bounds_readers_past_writer = false;
};

/// Reader-writer locks, as a kind of what is registered.
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

// One function for each family, in bench/rw_locks/.
void add_rma_rw(rw_catalogue& to);
void add_cohort_rw(rw_catalogue& to);
void add_near_rw(rw_catalogue& to);
void add_rw_ticket(rw_catalogue& to);
void add_rw_spin(rw_catalogue& to);
void add_mpi_rw(rw_catalogue& to);

}  // namespace nearfar::bench
