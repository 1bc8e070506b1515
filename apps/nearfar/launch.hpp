/// \file
/// How this process was started, and MPI for as long as a subcommand needs it.
#pragma once

#include <mpi.h>

#include <cstdlib>
#include <exception>

namespace nearfar::command {

/// Whether a launcher such as mpirun started this process, as far as its environment tells before MPI is
/// initialised.
struct launch {
  bool under_mpi = false;
  int rank = 0;

  [[nodiscard]] static launch from_environment() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
      if (const char* text = std::getenv(variable)) return {true, std::atoi(text)};
    return {};
  }
};

/// MPI_Init to MPI_Finalize; while an exception passes, whoever catches it decides between MPI_Finalize and
/// MPI_Abort.
class mpi_session {
 public:
  mpi_session() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;
  ~mpi_session() {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
};

}  // namespace nearfar::command
