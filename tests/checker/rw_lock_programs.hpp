// Programs in which ranks compete for a registered reader-writer lock.
#pragma once

#include <string>
#include <utility>
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
  const bench::rw_lock_entry& entry = *bench::rw_catalogue::instance().find(lock);
  const auto& factory = entry.factory<engine::world>();
  return checker::rw_program(
      topology_spec::parse(entry.one_node_only ? "node:1" : nodes).place(static_cast<int>(scripts.size())),
      scripts, [&factory, parameters](engine::world& w) { return factory(w, 0, parameters); }, limits);
}

/// The locks that are meant to be right.
[[nodiscard]] inline std::vector<std::string> sound_rw_names() {
  std::vector<std::string> names;
  for (const bench::rw_lock_entry& entry : bench::rw_catalogue::instance().sound_entries())
    names.push_back(entry.name);
  return names;
}

/// Rank 0 holds exclusively and then, without a gap, shared; the others write once. Throws where one of them
/// did so in between. Of a lock that cannot nothing is asked.
template <typename Make>
[[nodiscard]] checker::program downgrading(const char* nodes, int ranks, Make make) {
  return {.where = topology_spec::parse(nodes).place(ranks),
          .body =
              [make = std::move(make)](engine::world& w, checker::monitor& watch) {
                struct alignas(slot_bytes) word {
                  far<std::uint64_t> writes;
                };
                engine::world::far_segment<word> memory(w);
                const auto writes = [&] {
                  std::uint64_t count = 0;
                  memory.get(0, &word::writes, count);
                  memory.flush(0);
                  return count;
                };
                const auto lock = make(w);
                if constexpr (requires { lock->can(); })
                  if (!lock->can().downgrades) return;
                lock->lock();
                const std::uint64_t before = writes();
                if (w.rank() != 0) {
                  const std::uint64_t one_more = before + 1;
                  memory.put(0, &word::writes, one_more);
                  memory.flush(0);
                  lock->unlock();
                  return;
                }
                lock->unlock_and_lock_shared();
                watch.expect_complete("unlock_and_lock_shared()");
                if (writes() != before) throw error("a writer came in between");
                lock->unlock_shared();
              },
          .bytes = std::size_t{16} << 10U};
}

/// Those of which every schedule of four ranks can be looked at. `cohort_rw.late` and `near_rw.fissile` are
/// of two parts of which each can; late_rw_lock_test.cpp is about the one, fissile_test.cpp about the
/// other's.
[[nodiscard]] inline std::vector<std::string> rw_names_for_every_schedule() {
  std::vector<std::string> names = sound_rw_names();
  std::erase_if(
      names, [](const std::string& name) { return name == "cohort_rw.late" || name == "near_rw.fissile"; });
  return names;
}

}  // namespace nearfar::test
