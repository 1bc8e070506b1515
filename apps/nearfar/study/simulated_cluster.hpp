/// \file
/// A cluster of a described machine, which the benchmarks and `nearfar sim` run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "nearfar/simulation/machine.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

/// The one that is simulated if nothing else is said.
inline constexpr const char* default_machine = "coolmuc2";

/// How many ranks there are.
struct cluster_shape {
  int nodes = 2;
  int ranks_per_node = 2;
};

/// Where the ranks of a cluster of this machine are: in blocks over its cores, as even as possible, and the
/// nodes in islands if the machine has islands. Throws `usage_error` for a shape that the machine does not
/// have.
[[nodiscard]] locality locality_of(const simulation::machine& machine, cluster_shape shape);

/// The text for `--topology` that describes this many nodes.
[[nodiscard]] std::string topology_text(const simulation::node_shape& node, int nodes);

/// Memory that each rank of a run needs for this many locks at once.
[[nodiscard]] std::size_t bytes_for_locks(int count);

/// A seed that has nothing in common with that of any other repetition.
[[nodiscard]] std::uint64_t seed_of(std::uint64_t seed, int repetition);

}  // namespace nearfar::command
