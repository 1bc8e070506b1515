/// \file
/// What is known of this MPI library before it is used, and what is refused on account of it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "nearfar/core/language.hpp"

namespace nearfar {
class hardware;
}

namespace nearfar::mpi {

/// All that MPI_Get_library_version tells. Open MPI counts the terminating zero as text.
[[nodiscard]] std::string full_library_version();

/// Its first line, with single blanks.
[[nodiscard]] std::string library_version();

/// How messages and one-sided operations travel, as far as the library tells: Open MPI's components, MPICH's
/// device.
[[nodiscard]] std::string transport_text();

/// Throws `transport_error` where this library is known to crash, or to have no windows at all, since no test
/// can be run for that.
void require_transport(MPI_Comm comm, bool one_node);

/// Throws `transport_error` when /dev/shm cannot hold `bytes_per_rank` for each rank of this machine; too
/// small a file system does not fail when the window is made but kills the rank that touches it.
void require_shared_memory(MPI_Comm machine, std::size_t bytes_per_rank);

/// How many busy ranks of `comm` the kernel under this rank has, and processors for them. Containers and
/// network namespaces that share a kernel count as one machine here, although they are several nodes.
struct processor_share {
  int ranks = 1;
  int processors = 1;
  [[nodiscard]] bool oversubscribed() const noexcept { return ranks > processors; }
};

/// Collective. A rank that is bound to one core counts that core only; the union over the ranks is what they
/// have.
[[nodiscard]] processor_share count_processors(MPI_Comm comm, const hardware& here);
/// The same for callers that have no use for `hardware` themselves.
[[nodiscard]] processor_share count_processors(MPI_Comm comm);

}  // namespace nearfar::mpi
