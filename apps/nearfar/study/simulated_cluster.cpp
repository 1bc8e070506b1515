#include "apps/nearfar/study/simulated_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::command {

std::string topology_text(const simulation::node_shape& node, int nodes) {
  std::string text = fmt::format("node:{}", nodes);
  if (node.package > 0) text += fmt::format(" package:{}", node.package);
  if (node.numa > 0) text += fmt::format(" numa:{}", node.numa);
  if (node.cache > 0) text += fmt::format(" cache:{}", node.cache);
  return text + fmt::format(" core:{}", node.core);
}

locality locality_of(const simulation::machine& machine, cluster_shape shape) {
  constexpr int most_ranks = 1 << 20;
  if (shape.nodes < 1) throw usage_error(fmt::format("--nodes must be 1 or more, not {}", shape.nodes));
  if (shape.ranks_per_node < 1)
    throw usage_error(fmt::format("--ranks-per-node must be 1 or more, not {}", shape.ranks_per_node));
  const int cores = topology_spec::parse(topology_text(machine.node, 1)).places();
  if (shape.ranks_per_node > cores)
    throw usage_error(fmt::format("--ranks-per-node {} does not fit machine '{}', which has {} cores a node",
                                  shape.ranks_per_node, machine.name, cores));
  if (shape.nodes > most_ranks / shape.ranks_per_node)
    throw usage_error(fmt::format("{} nodes of {} ranks are more than {} ranks", shape.nodes,
                                  shape.ranks_per_node, most_ranks));
  const locality nodes = topology_spec::parse(topology_text(machine.node, shape.nodes))
                             .place(shape.nodes * shape.ranks_per_node);
  const unsigned in_island = machine.network.nodes_per_island;
  // The simulation refuses larger numbers.
  return in_island == 0 || !std::in_range<int>(in_island) ? nodes
                                                          : nodes.with_islands(static_cast<int>(in_island));
}

std::size_t bytes_for_locks(int count) {
  constexpr std::size_t at_least = std::size_t{1} << 20U;
  constexpr std::size_t of_one_lock = std::size_t{4} << 10U;
  return std::max(at_least, static_cast<std::size_t>(count) * of_one_lock);
}

std::uint64_t seed_of(std::uint64_t seed, int repetition) {
  // SplitMix64's output function.
  std::uint64_t mixed = seed + 0x9E3779B97F4A7C15ULL * (static_cast<std::uint64_t>(repetition) + 1);
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31U);
}

}  // namespace nearfar::command
