/// \file
/// MPI's own reader-writer lock, made to block: `MPI_Win_lock` with `MPI_LOCK_SHARED` for readers and
/// `MPI_LOCK_EXCLUSIVE` for writers.
///
/// Source: MPI 3.1, section 11.5.3, which lets MPI_Win_lock return before the lock is held, shared or not; so
/// the lock completes a read after it, as in `mpi_win_lock`. P. Schmid, M. Besta, T. Hoefler compare with it
/// ("High-Performance Distributed RMA Locks", HPDC 2016, doi 10.1145/2907294.2907323: foMPI-RW).
///
/// Fairness and progress: the library's; MPI does not promise readers or writers that they get in while
/// others come. Cost: the library's; at least 1 lock request, 1 get and 1 unlock at home, for readers and
/// writers alike. Memory: a window of its own for each lock. Windows are scarce (MPICH 4.0 allows fewer than
/// 5,000), and making one is slow.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/shared_lockable.hpp"

namespace nearfar {

/// Reader-writer lock for all ranks of a world whose transport has lock epochs. See the file's comment.
template <has_lock_epochs W>
class mpi_rw_lock : public shared_lockable<mpi_rw_lock<W>, W> {
 public:
  using world_type = W;

  /// Collective. `home` is the rank whose window is locked.
  explicit mpi_rw_lock(W& w, int home = 0)
      : mpi_rw_lock::shared_lockable(w, {{"home", home}}), epoch_(w, home) {}
  ~mpi_rw_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    epoch_.begin();
    return handover::unknown;
  }
  void release() { epoch_.end(); }

  handover acquire_shared() {
    epoch_.begin_shared();
    return handover::unknown;
  }
  void release_shared() { epoch_.end(); }

 private:
  typename W::lock_epoch epoch_;
};

}  // namespace nearfar
