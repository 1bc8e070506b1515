// Programs in which ranks compete for a registered reader-writer lock.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/case_names.hpp"

namespace nearfar::test {

/// The lowest thresholds that limit anything, so that short programs reach them.
[[nodiscard]] inline bench::rw_lock_parameters reached_by_few() {
  bench::rw_lock_parameters low;
  low.max_local_passes = 1;
  low.turns.max_writer_passes = 1;
  low.turns.max_readers = 1;
  return low;
}

/// The optional functions of a registered lock.
[[nodiscard]] inline bench::any_rw_lock<engine::world>::abilities abilities_of(const std::string& lock) {
  bench::any_rw_lock<engine::world>::abilities all;
  const auto& factory = bench::rw_catalogue::instance().find(lock)->factory<engine::world>();
  const auto asks = [&](engine::world& w, checker::monitor&) {
    all = factory(w, 0, reached_by_few())->can();
  };
  const checker::program what{
      .where = topology_spec::parse("node:1").place(1), .body = asks, .bytes = std::size_t{16} << 10U};
  const checker::report result = checker::check(what, {});
  if (result.found) throw error(result.found->text);
  return all;
}

/// The scripts without the letters of functions that the lock lacks. rw_lock_test.cpp lists these functions.
[[nodiscard]] inline std::vector<checker::rw_script> within_abilities(
    const std::string& lock, std::vector<checker::rw_script> scripts) {
  const auto can = abilities_of(lock);
  const auto lacks = [&can](char letter) {
    return (letter == 'W' && !can.tries) || (letter == 'R' && !can.tries_shared) ||
           (letter == 'T' && !can.tries_until) || (letter == 't' && !can.tries_shared_until) ||
           (letter == 'd' && !can.downgrades) || (letter == 'u' && !can.upgrades);
  };
  for (checker::rw_script& one : scripts) std::erase_if(one, lacks);
  return scripts;
}

/// A program of the scripts without the functions that the lock lacks.
[[nodiscard]] inline checker::program rw_program_of(
    const std::string& lock, const std::string& nodes, const std::vector<checker::rw_script>& scripts,
    const checker::overtaking_limits& limits = {},
    const bench::rw_lock_parameters& parameters = reached_by_few()) {
  const bench::rw_lock_entry& entry = *bench::rw_catalogue::instance().find(lock);
  const auto& factory = entry.factory<engine::world>();
  return checker::rw_program(
      topology_spec::parse(entry.one_node_only ? "node:1" : nodes).place(static_cast<int>(scripts.size())),
      within_abilities(lock, scripts),
      [&factory, parameters](engine::world& w) { return factory(w, 0, parameters); }, limits);
}

/// The locks that are meant to be right.
[[nodiscard]] inline std::vector<std::string> sound_rw_names() {
  std::vector<std::string> names;
  for (const bench::rw_lock_entry& entry : bench::rw_catalogue::instance().sound_entries())
    names.push_back(entry.name);
  return names;
}

/// A reader that comes twice, alone at its counter, beside two writers, one of which may wait for the other.
/// If the limit of a readers' turn, 1, counts always, only one of the reads overtakes the waiting writer: the
/// other one would be in the same turn.
[[nodiscard]] inline checker::program reads_past_a_writer(const std::string& lock) {
  return rw_program_of(lock, "node:3", {"w", "w", "rr"}, {.readers_past_writer = 1});
}

/// Rank 0 holds exclusively and then, without a gap, shared; the others write once. Throws if one of them
/// writes in between.
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

/// The locks for which every schedule of four ranks can be searched. `cohort_rw.late` and `near_rw.fissile`
/// consist of two parts each, which are searched apart: late_rw_lock_test.cpp has the one, fissile_test.cpp
/// the other.
[[nodiscard]] inline std::vector<std::string> rw_names_for_every_schedule() {
  std::vector<std::string> names = sound_rw_names();
  std::erase_if(
      names, [](const std::string& name) { return name == "cohort_rw.late" || name == "near_rw.fissile"; });
  return names;
}

}  // namespace nearfar::test
