#include "apps/nearfar/shared/launch.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string_view>

#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/transport.hpp"

namespace nearfar::command {

namespace {

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

/// Whether the descriptor is a socket whose other end is held by another process.
bool is_connected(int descriptor) {
  struct stat about {};
  pollfd ends{descriptor, POLLIN, 0};
  return fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode) && poll(&ends, 1, 0) >= 0 &&
         (ends.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

/// Whether the launcher that speaks PMI is still there: Hydra and Slurm give each rank a socket, others the
/// address of a server.
bool serves_pmi() {
  if (is_set("PMI_FD")) return is_connected(number_in("PMI_FD", -1));
  return is_set("PMI_PORT") || is_set("PMI_CONTROL_PORT");
}

/// Whether a server answers at `address`, such as "prte.1@0.0;tcp4://127.0.0.1:4711". One of another kind
/// counts as there.
bool answers(std::string_view address) {
  constexpr std::string_view kind = "tcp4://";
  const std::size_t begin = address.find(kind);
  const std::size_t port = address.rfind(':');
  if (begin == std::string_view::npos || port < begin + kind.size()) return true;
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port =
      htons(static_cast<std::uint16_t>(std::atoi(std::string(address.substr(port + 1)).c_str())));
  const std::string host(address.substr(begin + kind.size(), port - begin - kind.size()));
  if (inet_pton(AF_INET, host.c_str(), &server.sin_addr) != 1) return true;
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return true;
  // A server of this machine accepts or refuses at once. An address that says neither counts as there.
  const bool is_refused =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0 &&
      errno != EINPROGRESS;
  int error = 0;
  socklen_t length = sizeof error;
  const bool is_later_refused =
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == ECONNREFUSED;
  close(descriptor);
  return !is_refused && !is_later_refused;
}

/// Whether the launcher that speaks PMIx is still there. Its folder is no sign: a launcher that is killed
/// leaves the folder behind.
bool serves_pmix() {
  if (!is_set("PMIX_NAMESPACE")) return false;
  for (char** each = environ; *each != nullptr; ++each)
    if (const std::string_view entry = *each; entry.starts_with("PMIX_SERVER_URI")) return answers(entry);
  return false;
}

launch read_environment() {
  struct launcher {
    const char* rank;
    const char* ranks;
    bool (*is_there)();
  };
  launch result;
  for (const launcher& each : {launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", serves_pmix},
                               {"PMI_RANK", "PMI_SIZE", serves_pmi},
                               {"PMIX_RANK", "SLURM_NTASKS", serves_pmix}}) {
    if (!is_set(each.rank)) continue;
    if (each.is_there()) return {true, number_in(each.rank, 0), number_in(each.ranks, 1)};
    if (result.left_behind.empty())
      result.left_behind = fmt::format("{}={}", each.rank, std::getenv(each.rank));
  }
  return result;
}

[[noreturn]] void refuse_launcher(int started, const std::string& library) {
  throw ranks_apart(
      fmt::format("started as {} ranks that do not find each other: the launcher does not belong to {}, the "
                  "library of this program; use its mpirun, or scripts/run-mpi",
                  started, library.substr(0, library.find(','))));
}

/// Hydra, MPICH's launcher, leaves each process of Open MPI alone. To be called before MPI_Init, in which
/// Open MPI then starts a daemon for each process: their daemons race for one folder, and the loser ends the
/// program with pages of errors.
void refuse_hydra_with_open_mpi() {
  const int started = launch::from_environment().ranks;
  const bool by_hydra = is_set("HYDI_CONTROL_FD") && !is_set("OMPI_COMM_WORLD_RANK") && !is_set("PMIX_RANK");
  if (started <= 1 || !by_hydra) return;
  const std::string library = mpi::library_version();
  if (library.starts_with("Open MPI")) refuse_launcher(started, library);
}

/// A launcher that speaks another language than this program's library leaves each process alone.
void refuse_other_launcher() {
  int ranks = 1;
  mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const int started = launch::from_environment().ranks;
  if (ranks == 1 && started > 1) refuse_launcher(started, mpi::library_version());
}

/// MPI_Init fails where it looks for a launcher that is gone.
void forget_launcher() {
  constexpr std::array of_launchers{"PMI_",           "PMIX_",        "HYDI_",        "OMPI_COMM_",
                                    "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix"};
  std::vector<std::string> names;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (std::ranges::any_of(of_launchers, [&](const char* begin) { return entry.starts_with(begin); }))
      names.emplace_back(entry.substr(0, entry.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

void refuse_different_arguments() {
  const std::vector<std::string> words = command_line();
  const std::string mine = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), "\n"));
  unsigned long long length = mine.size();
  mpi::check(MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD), "MPI_Bcast");
  std::string of_first = mine;
  of_first.resize(length);
  mpi::check(MPI_Bcast(of_first.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  int same = of_first == mine ? 1 : 0;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  if (same == 0)
    throw usage_error("the ranks have different arguments; give all ranks the same command line");
}

}  // namespace

launch launch::from_environment() {
  static const launch found = read_environment();
  return found;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

mpi_session::mpi_session() {
  int is_there = 0;
  mpi::check(MPI_Initialized(&is_there), "MPI_Initialized");
  is_outermost_ = is_there == 0;
  if (!is_outermost_) return;
  if (!launch::from_environment().left_behind.empty()) forget_launcher();
  refuse_hydra_with_open_mpi();
  int provided = MPI_THREAD_SINGLE;
  mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  refuse_other_launcher();
  refuse_different_arguments();
}

mpi_session::~mpi_session() {
  if (is_outermost_ && std::uncaught_exceptions() == 0) MPI_Finalize();
}

}  // namespace nearfar::command
