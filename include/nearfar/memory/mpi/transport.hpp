/// \file
/// The facts that nearfar finds out about this MPI library before it uses it, and the faults that make it
/// refuse to run.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "nearfar/language.hpp"

namespace nearfar {
class hardware;
}

namespace nearfar::mpi {

/// The full text of MPI_Get_library_version. Open MPI counts the terminating zero as text.
[[nodiscard]] std::string full_library_version();

/// The first line of that text, with single blanks.
[[nodiscard]] std::string library_version();

/// How messages and one-sided operations travel, as far as the library tells: Open MPI's components, MPICH's
/// device.
[[nodiscard]] std::string transport_text();

/// Throws `transport_error` if this library is known to crash, or to have no windows at all. No test could
/// detect these.
void require_transport(MPI_Comm comm, bool one_node);

/// Throws `transport_error` if /dev/shm cannot hold `bytes_per_rank` for each rank of this machine. If the
/// file system is too small, making the window succeeds, but a rank that touches it is killed. `cure`: how
/// the caller's program needs less.
void require_shared_memory(MPI_Comm machine, std::size_t bytes_per_rank,
                           const char* cure = "lower near_bytes and far_bytes of nearfar::mpi::options");

/// The number of busy ranks of `comm` on this rank's kernel, and of processors for them. Containers and
/// network namespaces that share a kernel count as one machine here, although they are several nodes.
struct processor_share {
  int ranks = 1;
  int processors = 1;
  [[nodiscard]] bool oversubscribed() const noexcept { return ranks > processors; }
};

/// Collective. A rank that is bound to one core counts that core only; the processors are the union over the
/// ranks.
[[nodiscard]] processor_share count_processors(MPI_Comm comm, const hardware& here);
/// The same for callers that do not need a `hardware` themselves.
[[nodiscard]] processor_share count_processors(MPI_Comm comm);

}  // namespace nearfar::mpi
