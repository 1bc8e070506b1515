/// \file
/// The world that the MPI tests share, as making one takes long between nodes.
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

/// A topology of several nodes that fits any machine: two nodes made of one, or else a node for each rank.
[[nodiscard]] std::string virtual_nodes();

/// How often to do what takes a microsecond on one node. Few times where ranks have a processor each: they
/// wait without yielding, so that whatever else runs on the machine costs them its time slice. Fewer between
/// nodes, where a contended far operation may take 20 ms (MPICH waits for it without yielding).
[[nodiscard]] int often(const mpi::world& w);

}  // namespace nearfar::testing
