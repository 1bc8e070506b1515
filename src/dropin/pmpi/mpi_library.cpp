#include "mpi_library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

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
/// The value of a setting, as MPI's tools interface has it; nothing if that has none.
[[nodiscard]] std::optional<std::string> setting(const char* name) {
  // Open MPI takes the level that is asked for here for that of MPI_Init_thread.
  int level = MPI_THREAD_SINGLE;
  if (PMPI_Query_thread(&level) != MPI_SUCCESS || MPI_T_init_thread(level, &level) != MPI_SUCCESS)
    return std::nullopt;
  std::optional<std::string> result;
  int number = 0;
  int length = 0;
  MPI_T_cvar_handle handle{};
  if (MPI_T_cvar_get_index(name, &number) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(number, nullptr, &handle, &length) == MPI_SUCCESS) {
    std::string value(static_cast<std::size_t>(length) + 1, '\0');
    if (MPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS) result = value.c_str();
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return result;
}

/// Whether its list of components, to be taken or with a ^ to be left, rules one out. An empty one leaves the
/// choice.
[[nodiscard]] bool rules_out(std::string_view list, std::string_view component) {
  const bool are_left = list.starts_with('^');
  if (are_left) list.remove_prefix(1);
  if (list.empty()) return false;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = list.find(',');
    is_last = end == std::string_view::npos;
    if (list.substr(0, end) == component) return are_left;
    if (!is_last) list.remove_prefix(end + 1);
  }
  return !are_left;
}

/// The library that runs, which need not be that which this one was built with.
[[nodiscard]] bool has_pt2pt() {
  std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  int major = 0;
  return std::sscanf(version.c_str(), "Open MPI v%d", &major) != 1 || major < 5;
}
#endif

}  // namespace

bool can_skip_checks() {
#ifdef OPEN_MPI
  static const bool result = [] {
    if (!has_pt2pt()) return true;
    const std::optional<std::string> components = setting("osc");
    return components && rules_out(*components, "pt2pt");
  }();
  return result;
#else
  return true;
#endif
}

const mpi_library_functions& mpi_library() {
  static const mpi_library_functions all = find_all();
  return all;
}

}  // namespace nearfar::pmpi
