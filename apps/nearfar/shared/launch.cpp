#include "apps/nearfar/shared/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/transport.hpp"

namespace nearfar::command {

namespace {

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

[[noreturn]] void refuse_launcher(int started, const std::string& library) {
  throw usage_error(fmt::format(
      "started as {} ranks that do not find each other: the launcher is not that of {}, which this "
      "program was built with; use its mpirun, or scripts/run-mpi",
      started, library.substr(0, library.find(','))));
}

/// Hydra, MPICH's launcher, leaves each process of Open MPI alone. To be called before MPI_Init, in which
/// Open MPI then starts a daemon for each process: their daemons race for one folder, and the loser ends the
/// program with pages of errors.
void refuse_hydra_with_open_mpi() {
  const int started = launch::from_environment().ranks;
  const bool by_hydra = std::getenv("HYDI_CONTROL_FD") != nullptr &&
                        std::getenv("OMPI_COMM_WORLD_RANK") == nullptr && std::getenv("PMIX_RANK") == nullptr;
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
  if (same == 0) throw usage_error("the ranks were not given the same arguments");
}

}  // namespace

launch launch::from_environment() {
  for (const auto& [rank, ranks] : {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                    {"PMI_RANK", "PMI_SIZE"},
                                    {"PMIX_RANK", "SLURM_NTASKS"}})
    if (std::getenv(rank) != nullptr) return {true, number_in(rank, 0), number_in(ranks, 1)};
  return {};
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
