// Mutants of the registered locks, told by the text of the line that is broken.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/catalogue.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::test {

/// Limit of passes within a node in these programs: the lowest that is not "none", so that it is reached.
inline constexpr int local_passes = 1;

struct shape {
  int ranks;
  int acquisitions;
  int nodes;
  checker::attempts by = checker::attempts::lock;
};

/// The program in which ranks compete for a registered lock; the lock's own limit may differ from the one it
/// is held to.
[[nodiscard]] inline checker::program program_of(const bench::lock_entry& entry, const shape& of,
                                                 int lock_passes = local_passes) {
  const int nodes = entry.one_node_only ? 1 : of.nodes;
  bench::lock_parameters parameters;
  parameters.max_local_passes = lock_passes;
  return checker::lock_program(
      topology_spec::parse("node:" + std::to_string(nodes)).place(of.ranks), of.acquisitions,
      [&entry, parameters](engine::world& w) { return entry.factory<engine::world>()(w, 0, parameters); },
      entry.bypass, local_passes, of.by);
}

/// The locks that are meant to be right.
[[nodiscard]] inline std::vector<std::string> sound_names() {
  std::vector<std::string> names;
  for (const bench::lock_entry& entry : bench::catalogue::instance().sound_entries())
    names.push_back(entry.name);
  return names;
}

/// "dash.published" as GoogleTest allows it.
[[nodiscard]] inline std::string name_of_case(const testing::TestParamInfo<std::string>& named) {
  std::string name = named.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// The line of nearfar's own text at a site.
[[nodiscard]] inline std::string line_at(const checker::site& where) {
  std::ifstream file(std::string(NEARFAR_SOURCE_DIR) + "/include/" + where.file);
  std::string line;
  for (unsigned i = 0; i < where.line; ++i) std::getline(file, line);
  return line;
}

/// Every mutant of the lock's own code that any of the shapes reaches.
[[nodiscard]] inline std::set<checker::mutation> mutants_of(const bench::lock_entry& entry,
                                                            const std::vector<shape>& shapes) {
  std::set<checker::mutation> result;
  for (const shape& one : shapes) {
    const checker::program program = program_of(entry, one);
    const std::vector<checker::mutation> found = checker::mutations_of(program, {}, "nearfar/lock/");
    result.insert(found.begin(), found.end());
  }
  return result;
}

}  // namespace nearfar::test
