/// \file
/// How this process was started, and MPI for as long as a subcommand needs it.
#pragma once

#include <string>
#include <vector>

namespace nearfar::command {

/// Whether a launcher such as mpirun started this process, as far as its environment tells before MPI is
/// initialised.
struct launch {
  bool under_mpi = false;
  int rank = 0;
  int ranks = 1;

  [[nodiscard]] static launch from_environment();
};

/// The words of the command line, the program's own name first.
[[nodiscard]] std::vector<std::string> command_line();

/// MPI_Init to MPI_Finalize, or, within another one, nothing; while an exception passes, whoever catches it
/// decides between MPI_Finalize and MPI_Abort.
class mpi_session {
 public:
  /// Throws `usage_error`, on all ranks, if the launcher is another MPI library's, which starts as many
  /// worlds of one rank, or if the ranks' arguments are not the same.
  mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;
  ~mpi_session();

 private:
  bool is_outermost_;
};

}  // namespace nearfar::command
