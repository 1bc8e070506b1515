/// \file
/// The MPI library's own functions, behind those that this library replaces.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace nearfar::pmpi {

struct mpi_library_functions {
  decltype(&PMPI_Win_create) win_create;
  decltype(&PMPI_Win_allocate) win_allocate;
  decltype(&PMPI_Win_allocate_shared) win_allocate_shared;
  decltype(&PMPI_Win_create_dynamic) win_create_dynamic;
#if MPI_VERSION >= 4
  decltype(&PMPI_Win_create_c) win_create_c;
  decltype(&PMPI_Win_allocate_c) win_allocate_c;
  decltype(&PMPI_Win_allocate_shared_c) win_allocate_shared_c;
#endif
  decltype(&PMPI_Win_free) win_free;
  decltype(&PMPI_Win_lock) win_lock;
  decltype(&PMPI_Win_unlock) win_unlock;
  decltype(&PMPI_Win_lock_all) win_lock_all;
  decltype(&PMPI_Win_unlock_all) win_unlock_all;
  decltype(&PMPI_Finalize) finalize;
};

/// Looked up, since this library also has functions of their names.
[[nodiscard]] const mpi_library_functions& mpi_library();

/// How to treat MPI_MODE_NOCHECK, given that all epochs are shared and none conflicts with another.
enum class checks : std::uint8_t {
  are_skipped,
  /// With Open MPI 4, a put of more than 8 KiB waits for ever if osc/pt2pt carries it in an epoch without a
  /// check; so only the program may ask for such an epoch.
  are_as_given,
  /// With MPICH, an epoch without a check waits for its target when it ends, and meanwhile no other thread
  /// can do anything in MPI; and epochs with a check and epochs without one must not be mixed.
  are_made,
};
[[nodiscard]] checks checks_of_epochs(bool several_threads);

}  // namespace nearfar::pmpi
