#include "nearfar/memory/mpi/transport.hpp"

#include <mpi.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/topology/cgroup.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::mpi {

std::string full_library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(text.find('\0'));
  return text;
}

std::string library_version() {
  std::istringstream line(full_library_version());
  std::string text;
  std::getline(line, text);
  std::istringstream words(text);
  text.clear();
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

namespace {

/// The value of a string-valued control variable, while MPI_T is initialised. Empty if the library has no
/// such variable.
std::string control_variable(const char* name) {
  std::string value;
  int index = 0;
  MPI_T_cvar_handle handle = nullptr;
  int count = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS)
    return value;
  value.resize(static_cast<std::size_t>(count) + 1);
  const bool is_read = count > 1 && MPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS;
  value.resize(is_read ? value.find('\0') : 0);
  MPI_T_cvar_handle_free(&handle);
  return value;
}

/// Open MPI's choices of components; empty with other libraries.
struct components {
  std::string pml;
  std::string osc;
  std::string btl;
  std::string single_copy;
};

components read_components() {
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  int provided = 0;
  // Asking for a lower thread level than MPI has makes Open MPI 4.1 forget its level.
  if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return {};
  components chosen{control_variable("pml"), control_variable("osc"), control_variable("btl"),
                    control_variable("btl_vader_single_copy_mechanism")};
  MPI_T_finalize();
  return chosen;
}

/// Read once, because the values do not change after MPI_Init. Open MPI 4.1 loads every component to answer,
/// which takes 0.2 s if one of them is libinfinipath.
const components& chosen_components() {
  static const components chosen = read_components();
  return chosen;
}

}  // namespace

std::string transport_text() {
  std::string result;
  const components& chosen = chosen_components();
  for (const auto& [name, value] :
       {std::pair("pml ", chosen.pml), {"osc ", chosen.osc}, {"btl ", chosen.btl}})
    if (!value.empty()) result += (result.empty() ? "" : ", ") + (name + value);
  if (!result.empty()) return result;
  const std::string version = full_library_version();
  for (const std::string key : {"MPICH Device:", "MPICH Custom Information:"}) {
    const std::size_t at = version.find(key);
    if (at == std::string::npos) continue;
    const std::size_t begin = version.find_first_not_of(" \t", at + key.size());
    return version.substr(begin, version.find('\n', begin) - begin);
  }
  return "library defaults";
}

void require_transport(MPI_Comm comm, bool one_node) {
  int ranks = 1;
  check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::array<int, 3> version{};
  if (one_node || std::sscanf(library_version().c_str(), "Open MPI v%d.%d.%d", version.data(),
                              version.data() + 1, version.data() + 2) != 3)
    return;
  const components& chosen = chosen_components();
  const auto may_choose = [&osc = chosen.osc](const char* component) {
    const bool is_named = osc.find(component) != std::string::npos;
    return osc.empty() || (osc.front() == '^' ? !is_named : is_named);
  };
  // open-mpi/ompi PR 10513: MPI_Compare_and_swap of osc/rdma over vader's single-copy path crashes
  // before 4.1.5.
  const bool has_faulty_rdma = version < std::array{4, 1, 5};
  if (has_faulty_rdma && may_choose("rdma") && chosen.single_copy != "none")
    throw transport_error(
        "compare-and-swap between nodes crashes in this Open MPI (before 4.1.5) with osc/rdma: run with "
        "'--mca osc sm,pt2pt'");
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  const bool has_pt2pt = version < std::array{5, 0, 0};
  if (has_pt2pt && level == MPI_THREAD_MULTIPLE && may_choose("pt2pt") && !may_choose("rdma") &&
      !may_choose("ucx"))
    throw transport_error(
        "osc/pt2pt of this Open MPI, which serves windows over several nodes, refuses MPI_THREAD_MULTIPLE: "
        "ask MPI_Init_thread for MPI_THREAD_SERIALIZED, or use osc/ucx or Open MPI 5");
}

void require_shared_memory(MPI_Comm machine, std::size_t bytes_per_rank, const char* cure) {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0) return;
  int ranks = 1;
  check(MPI_Comm_size(machine, &ranks), "MPI_Comm_size");
  const std::size_t needed = bytes_per_rank * static_cast<std::size_t>(ranks);
  const std::size_t available = static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
  if (available < needed)
    throw transport_error("/dev/shm has " + std::to_string(available >> 20U) + " MiB free but " +
                          std::to_string(ranks) + (ranks == 1 ? " rank needs " : " ranks need ") +
                          std::to_string((needed >> 20U) + 1) +
                          " MiB: enlarge it (mount -o remount,size=..., docker run --shm-size=...), start "
                          "fewer ranks, or " +
                          cure);
}

processor_share count_processors(MPI_Comm comm, const hardware& here) {
  constexpr std::size_t words = 64;  // 4,096 processors
  std::array<std::uint64_t, words + 2> mine{};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  mine[words] = std::hash<std::string>{}(boot);
  mine[words + 1] = static_cast<std::uint64_t>(cgroup_cpu_quota().value_or(1 << 20));
  for (const int cpu : here.this_thread_binding().allowed_cpus)
    if (const auto bit = static_cast<std::size_t>(cpu); bit < words * 64)
      mine[bit / 64] |= std::uint64_t{1} << bit % 64;

  int ranks = 1;
  check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(ranks));
  const int count = static_cast<int>(mine.size());
  check(MPI_Allgather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, comm),
        "MPI_Allgather");
  processor_share result{0, 0};
  std::array<std::uint64_t, words> united{};
  for (std::size_t first = 0; first < all.size(); first += mine.size()) {
    if (all[first + words] != mine[words]) continue;
    ++result.ranks;
    for (std::size_t w = 0; w < words; ++w) united[w] |= all[first + w];
  }
  for (const std::uint64_t word : united) result.processors += std::popcount(word);
  result.processors = std::max(1, std::min(result.processors, static_cast<int>(mine[words + 1])));
  return result;
}

processor_share count_processors(MPI_Comm comm) { return count_processors(comm, hardware()); }

}  // namespace nearfar::mpi
