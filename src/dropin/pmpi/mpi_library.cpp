#include "mpi_library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace nearfar::pmpi {

namespace {

template <typename Function>
void find(Function*& function, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "libnearfar_pmpi: no %s after this library: it must come before the MPI library\n",
                 name);
    std::abort();
  }
  function = reinterpret_cast<Function*>(found);
}

[[nodiscard]] mpi_library_functions find_all() {
  mpi_library_functions all{};
  find(all.win_create, "PMPI_Win_create");
  find(all.win_allocate, "PMPI_Win_allocate");
  find(all.win_allocate_shared, "PMPI_Win_allocate_shared");
  find(all.win_create_dynamic, "PMPI_Win_create_dynamic");
#if MPI_VERSION >= 4
  find(all.win_create_c, "PMPI_Win_create_c");
  find(all.win_allocate_c, "PMPI_Win_allocate_c");
  find(all.win_allocate_shared_c, "PMPI_Win_allocate_shared_c");
#endif
  find(all.win_free, "PMPI_Win_free");
  find(all.win_lock, "PMPI_Win_lock");
  find(all.win_unlock, "PMPI_Win_unlock");
  find(all.win_lock_all, "PMPI_Win_lock_all");
  find(all.win_unlock_all, "PMPI_Win_unlock_all");
  find(all.finalize, "PMPI_Finalize");
  return all;
}

}  // namespace

const mpi_library_functions& mpi_library() {
  static const mpi_library_functions all = find_all();
  return all;
}

}  // namespace nearfar::pmpi
