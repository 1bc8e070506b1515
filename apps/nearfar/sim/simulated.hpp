/// \file
/// A cluster of a described machine, for the subcommands of `nearfar sim`.
#pragma once

#include <CLI/CLI.hpp>
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

/// Where the ranks of a cluster of this machine are: in blocks over its cores, as even as possible. Throws
/// `usage_error` for a shape that the machine does not have.
[[nodiscard]] locality locality_of(const simulation::machine& machine, cluster_shape shape);

/// Memory that each rank of a run needs for this many locks at once.
[[nodiscard]] std::size_t bytes_for_locks(int count);

/// A seed that has nothing in common with that of any other repetition.
[[nodiscard]] std::uint64_t seed_of(std::uint64_t seed, int repetition);

// The subcommands of `sim` besides the benchmarks.
void add_sim_fit(CLI::App& sim, int& status);
void add_sim_compare(CLI::App& sim, int& status);

}  // namespace nearfar::command
