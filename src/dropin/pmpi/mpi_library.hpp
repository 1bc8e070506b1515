/// \file
/// The MPI library's own functions, behind those that this library replaces.
#pragma once

#include <mpi.h>

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

/// Not by their names, which are this library's, too.
[[nodiscard]] const mpi_library_functions& mpi_library();

/// Whether epochs can be opened with MPI_MODE_NOCHECK whatever is done in them. With Open MPI 4 a put of more
/// than 8 KiB waits for ever after it where osc/pt2pt carries it, so that its settings must rule that out.
[[nodiscard]] bool can_skip_checks();

}  // namespace nearfar::pmpi
