// Programs in which ranks compete for a registered reader-writer lock.
#pragma once

#include <string>
#include <vector>

#include "bench/rw_catalogue.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/case_names.hpp"

namespace nearfar::test {

/// The lowest thresholds that are not "none", so that they are reached.
[[nodiscard]] inline bench::rw_lock_parameters reached_by_few() {
  bench::rw_lock_parameters low;
  low.max_local_passes = 1;
  low.turns.max_writer_passes = 1;
  low.turns.max_readers = 1;
  return low;
}

[[nodiscard]] inline checker::program rw_program_of(
    const std::string& lock, const std::string& nodes, const std::vector<checker::rw_script>& scripts,
    const checker::overtaking_limits& limits = {},
    const bench::rw_lock_parameters& parameters = reached_by_few()) {
  const auto& factory = bench::rw_catalogue::instance().find(lock)->factory<engine::world>();
  return checker::rw_program(
      topology_spec::parse(nodes).place(static_cast<int>(scripts.size())), scripts,
      [&factory, parameters](engine::world& w) { return factory(w, 0, parameters); }, limits);
}

/// The locks that are meant to be right.
[[nodiscard]] inline std::vector<std::string> sound_rw_names() {
  std::vector<std::string> names;
  for (const bench::rw_lock_entry& entry : bench::rw_catalogue::instance().sound_entries())
    names.push_back(entry.name);
  return names;
}

}  // namespace nearfar::test
