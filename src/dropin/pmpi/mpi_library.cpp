#include "mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

#ifdef OPEN_MPI
/// Whether Open MPI has opened the component, separately or as a part of its library. Open MPI does not open
/// what its settings rule out, so this covers the settings, too. MPI's tools interface, in contrast, would
/// open all components to list them.
[[nodiscard]] bool has_pt2pt() {
  if (dlsym(RTLD_DEFAULT, "mca_osc_pt2pt_component") != nullptr) return true;
  const auto is_pt2pt = [](dl_phdr_info* object, std::size_t /*size*/, void* /*nothing*/) {
    return object->dlpi_name != nullptr && std::strstr(object->dlpi_name, "mca_osc_pt2pt") != nullptr ? 1 : 0;
  };
  return dl_iterate_phdr(is_pt2pt, nullptr) != 0;
}
#endif

}  // namespace

checks checks_of_epochs([[maybe_unused]] bool several_threads) {
#ifdef OPEN_MPI
  static const bool is_excluded = !has_pt2pt();
  return is_excluded ? checks::are_skipped : checks::are_as_given;
#else
  return several_threads ? checks::are_made : checks::are_skipped;
#endif
}

const mpi_library_functions& mpi_library() {
  static const mpi_library_functions all = find_all();
  return all;
}

}  // namespace nearfar::pmpi
