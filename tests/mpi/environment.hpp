/// \file The world that the MPI tests share, since making one takes long between nodes.
#pragma once

#include <mpi.h>

#include <string>

#include "nearfar/memory/mpi/world.hpp"

namespace nearfar::testing {

/// Collective; called by main().
void make_common_world();
void destroy_common_world();

/// The world of all ranks on the machine's own topology.
[[nodiscard]] mpi::world& common_world();

/// A topology of several nodes that fits any machine: one node divided into two, or else a node for each
/// rank.
[[nodiscard]] std::string virtual_nodes();

/// How often to repeat an operation that takes a microsecond on one node. The number is small where each rank
/// has a processor of its own: such ranks wait without yielding, so any other program on the machine costs
/// them its time slice. It is smaller between nodes, where a contended far operation may take 20 ms (MPICH
/// waits for it without yielding).
[[nodiscard]] int often(const mpi::world& w);

}  // namespace nearfar::testing
