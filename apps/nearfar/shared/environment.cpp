#include "apps/nearfar/shared/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"

namespace nearfar::command {

namespace {

// Not a std::array, whose functions may not be called where it is read first: see below.
// NOLINTNEXTLINE(*-avoid-c-arrays)
constexpr const char* binding_variables[]{"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
constexpr std::string_view bound_early = "OpenMP binds the first thread before the program begins";

// docs/performance.md says what each one does.
constexpr std::array table{
    influence{binding_variables[0], bound_early, treatment::ignored},
    influence{binding_variables[1], bound_early, treatment::ignored},
    influence{binding_variables[2], bound_early, treatment::ignored},
    influence{binding_variables[3], bound_early, treatment::ignored},
    influence{"OMP_THREAD_LIMIT", "OpenMP may give loops fewer threads", treatment::refused},
    influence{"OMP_MAX_ACTIVE_LEVELS", "OpenMP may give loops fewer threads", treatment::refused},
    influence{"OMP_WAIT_POLICY", "how threads wait between loops", treatment::kept},
    influence{"GOMP_SPINCOUNT", "how threads wait between loops", treatment::kept},
    influence{"KMP_BLOCKTIME", "how threads wait between loops", treatment::kept},
    influence{"HWLOC_SYNTHETIC", "describes another machine", treatment::kept},
    influence{"HWLOC_XMLFILE", "describes another machine", treatment::kept},
    influence{"HWLOC_FSROOT", "describes another machine", treatment::kept},
    influence{"HWLOC_THISSYSTEM", "whether the machine counts as another", treatment::kept},
    influence{"HWLOC_COMPONENTS", "what hwloc sees of the machine", treatment::kept},
    influence{"NEARFAR_ISLAND", "names the island of each node", treatment::kept},
    influence{"LD_PRELOAD", "replaces functions of libraries", treatment::kept},
    influence{"LD_AUDIT", "makes calls into libraries dearer", treatment::kept},
    influence{"GLIBC_TUNABLES", "how the C library copies, waits and allocates", treatment::kept},
    influence{"MALLOC_PERTURB_", "malloc writes to pages before the threads that work on them",
              treatment::kept},
    influence{"MALLOC_*", "where and how malloc allocates", treatment::kept},
    influence{"OMPI_MCA_orte_*", "", treatment::launchers},
    influence{"OMPI_MCA_ess*", "", treatment::launchers},
    influence{"OMPI_MCA_pmix*", "", treatment::launchers},
    influence{"OMPI_MCA_plm*", "", treatment::launchers},
    influence{"OMPI_MCA_ras*", "", treatment::launchers},
    influence{"OMPI_MCA_initial_wdir", "", treatment::launchers},
    influence{"OMPI_MCA_shmem_RUNTIME_QUERY_hint", "", treatment::launchers},
    influence{"OMPI_MCA_rmaps_base_oversubscribe", "", treatment::launchers},
    influence{"OMPI_MCA_mpi_oversubscribe", "", treatment::launchers},
    influence{"OMPI_MCA_*", "a setting of Open MPI", treatment::setting},
    influence{"PRTE_MCA_*", "a setting of Open MPI's launcher", treatment::setting},
    influence{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "", treatment::launchers},
    influence{"MPIR_CVAR_*", "a setting of MPICH", treatment::setting},
    influence{"HYDRA_*", "a setting of MPICH's launcher", treatment::setting},
    influence{"I_MPI_*", "a setting of Intel MPI", treatment::setting},
    influence{"UCX_*", "a setting of UCX", treatment::setting},
    influence{"FI_*", "a setting of libfabric", treatment::setting},
};

// ---- before anything else runs ----------------------------------------------------------------------------

// OpenMP's library binds the first thread when it is loaded, and reads its variables then. Only what is in
// the program's .preinit_array runs before that. Neither sanitizers nor, for certain, the C library are ready
// by then, so that this code calls nothing and is not instrumented. A C library without that section (musl)
// leaves the variables in effect.

constexpr std::size_t most_removed = 8;
const char* removed[most_removed];  // NOLINT(*-avoid-c-arrays)
std::size_t removed_count = 0;

/// Whether `entry` is "NAME=VALUE" of a variable that binds. OMP_PROC_BIND=false binds nothing.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool binds(const char* entry) {
  for (const char* const name : binding_variables) {
    std::size_t length = 0;
    while (name[length] != '\0' && entry[length] == name[length]) ++length;
    if (name[length] != '\0' || entry[length] != '=') continue;
    const char first = entry[length + 1];
    return first != 'f' && first != 'F';
  }
  return false;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) void remove_what_binds(int /*argc*/,
                                                                                      char** /*argv*/,
                                                                                      char** variables) {
  char** kept = variables;
  for (char** each = variables; *each != nullptr; ++each) {
    if (removed_count < most_removed && binds(*each)) {
      removed[removed_count++] = *each;
    } else {
      *kept++ = *each;
    }
  }
  *kept = nullptr;
}

using initialiser = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] const initialiser before_libraries = remove_what_binds;

// ---- afterwards -------------------------------------------------------------------------------------------

bool fits(const influence& of, std::string_view name) {
  return of.name.ends_with('*') ? name.starts_with(of.name.substr(0, of.name.size() - 1)) : name == of.name;
}

void add_if_known(std::vector<found_variable>& found, const char* text, bool is_ignored) {
  const std::string_view entry = text;
  const std::string_view name = entry.substr(0, entry.find('='));
  const auto what =
      std::find_if(table.begin(), table.end(), [&](const influence& each) { return fits(each, name); });
  if (what == table.end() || what->does == treatment::launchers || entry.size() <= name.size() + 1) return;
  if (what->does == treatment::ignored && !binds(text)) return;
  found.push_back({&*what, std::string(name), std::string(entry.substr(name.size() + 1)), is_ignored});
}

}  // namespace

std::vector<found_variable> variables_found() {
  std::vector<found_variable> found;
  for (const char* each : std::span(removed, removed_count)) add_if_known(found, each, true);
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) add_if_known(found, *each, false);
  // In the order of the table, whatever the shell's is.
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return std::pair(a.what, a.name) < std::pair(b.what, b.name);
  });
  return found;
}

nlohmann::ordered_json variables_record() {
  nlohmann::ordered_json record = nlohmann::ordered_json::object();
  for (const found_variable& each : variables_found()) record[each.name] = each.value;
  return record;
}

void say_ignored_variables() {
  static bool is_said = false;
  if (std::exchange(is_said, true) || launch::from_environment().rank != 0) return;
  std::vector<std::string> names;
  for (const found_variable& each : variables_found())
    if (each.is_ignored) names.push_back(each.name);
  if (names.empty()) return;
  remark(
      "{} ignored: OpenMP would bind the first thread before the program begins; bind "
      "threads with --pin, ranks by mpirun's options",
      fmt::join(names, ", "));
}

std::string other_machine_text() {
  for (const found_variable& each : variables_found())
    if (each.name.starts_with("HWLOC_")) return each.name + " describes another machine";
  return "the environment describes another machine";
}

}  // namespace nearfar::command
