/// \file
/// How this process was started, and MPI for as long as a subcommand needs it.
#pragma once

#include <string>
#include <vector>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

/// Whether a launcher such as mpirun started this process, as far as its environment tells before MPI is
/// initialised.
struct launch {
  bool under_mpi = false;
  int rank = 0;
  int ranks = 1;
  /// "NAME=VALUE" of a rank that a launcher gave which is no more, as in a shell that was opened under it;
  /// empty otherwise. Such a process is alone.
  std::string left_behind{};

  [[nodiscard]] static launch from_environment();
};

/// The launcher has started several ranks, and each of them is alone in its MPI. There may be no first one to
/// say so.
struct ranks_apart : usage_error {
  using usage_error::usage_error;
};

/// The words of the command line, the program's own name first.
[[nodiscard]] std::vector<std::string> command_line();

/// MPI_Init to MPI_Finalize, or, within another one, nothing. While an exception passes, the code that
/// catches it decides between MPI_Finalize and MPI_Abort.
class mpi_session {
 public:
  /// Throws, on all ranks, `ranks_apart` if the launcher is another MPI library's, which starts as many
  /// worlds of one rank, and `usage_error` if the ranks' arguments are not the same.
  mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;
  ~mpi_session();

 private:
  bool is_outermost_;
};

}  // namespace nearfar::command
