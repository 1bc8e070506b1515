// Programs in which ranks compete for a registered lock, and mutants of it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/case_names.hpp"
#include "tests/checker/mutants.hpp"

namespace nearfar::test {

/// Limit of hand-overs within a node in these programs: the lowest that limits anything, so that short
/// programs reach it.
inline constexpr int local_passes = 1;

struct shape {
  int ranks;
  int acquisitions;
  int nodes;
  checker::attempts by = checker::attempts::lock;
  int nodes_per_island = 0;  ///< 0: no islands
};

/// The program in which ranks compete for a registered lock. The program's limit may differ from the lock's
/// own.
[[nodiscard]] inline checker::program program_of(const bench::lock_entry& entry, const shape& of,
                                                 int lock_passes = local_passes) {
  const int nodes = entry.one_node_only ? 1 : of.nodes;
  bench::lock_parameters parameters;
  parameters.max_local_passes = lock_passes;
  const locality on_nodes = topology_spec::parse("node:" + std::to_string(nodes) + " numa:2").place(of.ranks);
  return checker::lock_program(
      of.nodes_per_island == 0 ? on_nodes : on_nodes.with_islands(of.nodes_per_island), of.acquisitions,
      [&entry, parameters](engine::world& w) { return entry.factory<engine::world>()(w, 0, parameters); },
      entry.bypass, local_passes, entry.can_try ? of.by : checker::attempts::lock);
}

/// The locks that are meant to be right.
[[nodiscard]] inline std::vector<std::string> sound_names() {
  std::vector<std::string> names;
  for (const bench::lock_entry& entry : bench::catalogue::instance().sound_entries())
    names.push_back(entry.name);
  return names;
}

[[nodiscard]] inline std::vector<checker::program> programs_of(const bench::lock_entry& entry,
                                                               const std::vector<shape>& shapes) {
  std::vector<checker::program> result;
  for (const shape& one : shapes) result.push_back(program_of(entry, one));
  return result;
}

/// Every mutant of the lock's own code that some shape reaches.
[[nodiscard]] inline std::set<checker::mutation> mutants_of(const bench::lock_entry& entry,
                                                            const std::vector<shape>& shapes) {
  return mutants_in(programs_of(entry, shapes));
}

}  // namespace nearfar::test
