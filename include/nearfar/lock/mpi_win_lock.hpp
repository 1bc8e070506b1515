/// \file
/// MPI's own lock, made to block: `MPI_Win_lock` with `MPI_LOCK_EXCLUSIVE`.
///
/// Source: MPI 3.1, section 11.5.3, which lets MPI_Win_lock return before the lock is held; so the lock
/// completes a read after it, as in A. Uffmann's master thesis, LMU Munich, 2022, sections 3.1 and 4.2.
///
/// Fairness and progress: the library's. Cost: the library's; at least 1 lock request, 1 get and 1 unlock at
/// home. Memory: a window of its own for each lock. Windows are scarce (MPICH 4.0 allows fewer than 5,000),
/// and making one is slow.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// Exclusive lock for all ranks of a world whose transport has lock epochs. See the file's comment.
template <has_lock_epochs W>
class mpi_win_lock : public lockable<mpi_win_lock<W>, W> {
 public:
  using world_type = W;

  /// Collective. `home` is the rank whose window is locked.
  explicit mpi_win_lock(W& w, int home = 0) : mpi_win_lock::lockable(w, {{"home", home}}), epoch_(w, home) {}
  ~mpi_win_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    epoch_.begin();
    return handover::unknown;
  }
  void release() { epoch_.end(); }

 private:
  typename W::lock_epoch epoch_;
};

}  // namespace nearfar
