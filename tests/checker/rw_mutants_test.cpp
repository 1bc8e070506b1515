// Every reader-writer lock broken at every operation: the checker must notice each time.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/checker/mutants.hpp"
#include "tests/checker/rw_lock_programs.hpp"

namespace nearfar::test {
namespace {

using checker::change;
using checker::fault;
using checker::program;

/// `writers_past_reader` is the number of later writers that may overtake a reader at most.
struct rw_shape {
  std::vector<checker::rw_script> scripts;
  const char* nodes = "node:2";
  int nodes_per_counter = 1;
  int max_local_passes = 1;
  int writers_past_reader = 4;  // a turn of (1 + 1) * (1 + 1)
};

/// Up to some thousand executions each.
const std::vector<rw_shape>& small_shapes() {
  static const std::vector<rw_shape> all{
      {{"w", "r"}},
      {{"ww", "rr"}},
      {{"wr", "rw"}},
      {{"w", "w", "r"}},
      {{"w", "r", "r"}},
      {{"dr", "wr"}},
      {{"Wt", "rw"}},
      {{"TW", "tR"}},
      {{"wT", "Tw"}},
      {{"W", "w", "R"}},
      // An attempt meets what the first acquisition left behind.
      {{"wW", "ww"}, "node:1"},
      // The counter is on another node than its readers.
      {{"w", "r"}, "node:2", 2},
      {{"Wt", "rw"}, "node:2", 2},
      {{"wR", "Rw"}, "node:2", 2},
      // A node uses its count of hand-overs at once if no rank of it may be next. The reader finds one of a
      // turn's two writers inside.
      {{"ww", "r", "w"}, "node:2", 1, 0, 1},
      {{"uw", "ur"}},
      {{"ww", "w", "r"}},
      {{"wwww", "rr"}},
  };
  return all;
}

/// For schedules drawn at random.
const std::vector<rw_shape>& crowds() {
  static const std::vector<rw_shape> all{
      // A word that is used in turn is reset for the third acquisition, and shows in the fourth if it was
      // not.
      {{"wwww", "rrr", "www", "rr"}},
      {{"wwr", "rrw", "wdr", "tru", "WRr"}},
  };
  return all;
}

/// Many thousands.
const std::vector<rw_shape>& large_shapes() {
  static const std::vector<rw_shape> all{
      {{"www", "r", "ww"}, "node:2", 1, 0, 1},
  };
  return all;
}

const bench::rw_lock_entry& lock_named(const std::string& name) {
  return *bench::rw_catalogue::instance().find(name);
}

std::vector<program> programs_of(const std::string& lock, const std::vector<rw_shape>& shapes) {
  std::vector<program> result;
  for (const rw_shape& of : shapes) {
    bench::rw_lock_parameters parameters = reached_by_few();
    parameters.nodes_per_counter = of.nodes_per_counter;
    parameters.max_local_passes = of.max_local_passes;
    checker::overtaking_limits limits;
    const bench::rw_bypass& promised = lock_named(lock).bypass;
    if (promised.bounds_writers_past_reader) limits.writers_past_reader = of.writers_past_reader;
    for (int i = 1; i < promised.levels; ++i) *limits.writers_past_reader *= of.max_local_passes + 1;
    result.push_back(rw_program_of(lock, of.nodes, of.scripts, limits, parameters));
  }
  return result;
}

/// A reader that asks while a writer is in and another one, of another node, waits for it, is to come last.
program asks_within_a_turn(const std::string& lock) {
  program result = rw_program_of(lock, "node:3", {"", "", ""}, {.readers_past_writer = 0});
  result.body = [&entry = lock_named(lock)](engine::world& w, checker::monitor& watch) {
    const auto all = entry.factory<engine::world>()(w, 0, reached_by_few());
    engine::world::signal_channel is_in(w);
    if (w.rank() == 2) {
      watch.ask_shared();  // by the step that finds the writer in
      is_in.await_signal(0);
      all->lock_shared();
      watch.enter_shared();
      watch.leave_shared();
      all->unlock_shared();
      return;
    }
    watch.ask();
    all->lock();
    watch.enter();
    if (w.rank() == 0) is_in.signal(2);
    watch.leave();
    all->unlock();
  };
  return result;
}

const std::set<checker::mutation>& all_mutants_of(const std::string& lock) {
  static std::map<std::string, std::set<checker::mutation>> known;
  if (const auto found = known.find(lock); found != known.end()) return found->second;
  std::vector<program> programs;
  for (const auto& shapes : {small_shapes(), crowds(), large_shapes()})
    for (program& one : programs_of(lock, shapes)) programs.push_back(std::move(one));
  return known[lock] = mutants_in(programs);
}

constexpr harmless harmless_changes[] = {
    {"lock/cohort_tree.hpp", "node_passes_->store(passes", change::dropped,
     "each writer's turn is its own, whatever the count", "cohort_rw.readers"},
    {"lock/cohort_tree.hpp", "node_passes_->store(passes", change::postponed,
     "each writer's turn is its own, whatever the count", "cohort_rw.readers"},
    {"lock/cohort_tree.hpp", "node_passes_->store(passes", change::postponed,
     "comes before the count is read all the same, as the look for a local successor is between",
     "cohort_rw.writers"},
    {"lock/far_handover.hpp", "words_.accumulate(owner, &words::status", change::postponed,
     "comes after the look for a local successor, which is still before the local lock is left",
     "cohort_rw*"},
    {"lock/participant.hpp", "access_.write(words, element(owner), field, value)", change::postponed,
     "comes before the local lock is left all the same, and nothing reads it at once", "cohort_rw*"},
    {"lock/put_grants.hpp", "words_.put(element{rank, node_}", change::postponed,
     "comes after the look for a local successor, which is still before the local lock is left",
     "rma_rw.optimised"},
    {"lock/participant.hpp", "access_.write(words, element(owner), field, value)", change::postponed,
     "comes before the local lock is left all the same, and nothing reads it at once", "rma_rw.optimised"},
    {"lock/hemlock.hpp", "word.store(nothing", change::postponed,
     "the predecessor waits for it before it uses the word again", "rma_rw.optimised"},
    {"lock/hemlock.hpp", "mine.store(given", change::postponed,
     "the lock is handed over after the look for a successor, as in the other variants", "rma_rw.optimised"},
    {"lock/mcs_lock.hpp", "if (tail_->compare_exchange(expected, none, std::memory_order_release",
     change::relaxed, "the lock at home has been released before, and orders what follows",
     "rw_ticket.cohort"},
    {"lock/near_rw_lock.hpp", "readers_->store(0", change::postponed,
     "comes before the turnstile is left all the same", "near_rw"},
    {"lock/node_flags.hpp", "world_->await_direct_until(deadline, gates_", change::unaware,
     "ends at its deadline at the latest"},
    {"lock/distributed_counter.hpp", "at_mine_.await_until(deadline, words_", change::unaware,
     "ends at its deadline at the latest"},
};

/// The first violation of a lock, or of a mutant of it. Most mutants show soon at random, others in small
/// programs.
std::optional<checker::violation> search(const std::string& lock,
                                         const std::optional<checker::mutation>& mutant) {
  const auto search_in = [&](const std::vector<program>& among, checker::options how) {
    how.broken = mutant;
    return violation_in(among, how, checker::testing::modes_of(lock_named(lock)));
  };
  const auto search_crowds = [&](std::uint64_t executions) {
    return search_in(programs_of(lock, crowds()),
                     {.by = checker::search::random, .most_executions = executions});
  };
  if (auto found = search_crowds(50)) return found;
  if (auto found = search_in(programs_of(lock, small_shapes()), {})) return found;
  if (lock_named(lock).bypass.bounds_readers_past_writer)
    if (auto found = search_in({asks_within_a_turn(lock)}, {})) return found;
  if (lock_named(lock).bypass.counts_all_readers)
    if (auto found = search_in({reads_past_a_writer(lock)}, {.most_executions = 30'000})) return found;
  if (auto found = search_crowds(1000)) return found;
  return search_in(programs_of(lock, large_shapes()), {.most_executions = 10'000});
}

class rw_mutants : public testing::TestWithParam<std::string> {};

TEST_P(rw_mutants, are_all_caught) {
  const std::set<checker::mutation>& all = all_mutants_of(GetParam());
  // A generator without mutants would make this test pass.
  ASSERT_GE(all.size(), 6U);
  for (const checker::mutation& mutant : all) {
    if (is_known_harmless(harmless_changes, GetParam(), mutant)) continue;
    // Where all words are near no rank needs another's progress.
    if (lock_named(GetParam()).one_node_only && mutant.how == change::unaware) continue;
    EXPECT_TRUE(search(GetParam(), mutant).has_value())
        << "not caught: " << mutant.text() << "\n  " << line_at(mutant.where);
  }
}

// A check that refuses the unchanged lock would catch every mutant.
TEST_P(rw_mutants, are_all_that_is_caught) {
  const std::optional<checker::violation> found = search(GetParam(), std::nullopt);
  EXPECT_FALSE(found) << found->text;
}

TEST_P(rw_mutants, include_every_kind_that_matters) {
  const std::string family = lock_named(GetParam()).family();
  const std::set<checker::mutation>& all = all_mutants_of(GetParam());
  const auto has = [&](change how, const char* operation) { return changes(all, how, operation); };
  if (family == "near_rw") {
    EXPECT_TRUE(has(change::dropped, "await load")) << "no reader is awaited";
    EXPECT_TRUE(has(change::split, "add")) << "readers are not counted";
    EXPECT_TRUE(has(change::relaxed, "add")) << "no reader releases";
    return;
  }
  EXPECT_TRUE(has(change::dropped, "flush"));
  if (family == "mpi_rw") {
    EXPECT_TRUE(has(change::dropped, "begin shared") && has(change::dropped, "begin exclusive"));
    return;
  }
  EXPECT_EQ(family != "rw_ticket", has(change::split, "swap"));
  EXPECT_TRUE(has(change::dropped, "accumulate(sum)")) << "nobody is let in";
  if (family == "cohort_rw") {
    EXPECT_TRUE(has(change::dropped, "write_direct")) << "no reader shows itself";
    EXPECT_TRUE(has(change::dropped, "await get")) << "no reader is awaited";
    EXPECT_TRUE(has(change::relaxed, "exchange"));
  } else {
    EXPECT_TRUE(has(change::split, "fetch_add")) << "readers are not counted";
    EXPECT_TRUE(has(change::dropped, "await fetch")) << "no reader is awaited";
  }
  EXPECT_EQ(family != "rw_spin" && family != "rw_ticket", has(change::blind, "compare_and_swap"));
}

INSTANTIATE_TEST_SUITE_P(of, rw_mutants, testing::ValuesIn(rw_names_for_every_schedule()), &name_of_case);

TEST(harmless_changes, are_all_met) {
  for (const harmless& known : harmless_changes) {
    bool is_met = false;
    for (const std::string& lock : rw_names_for_every_schedule())
      for (const checker::mutation& mutant : all_mutants_of(lock)) is_met = is_met || known.is(lock, mutant);
    EXPECT_TRUE(is_met) << known.file << ": " << known.text;
  }
}

TEST(turns_of_writers, do_not_end_where_readers_come_first_instead) {
  const auto found = violation_in({asks_within_a_turn("cohort_rw.readers")}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, fault::bypass);
}

}  // namespace
}  // namespace nearfar::test
