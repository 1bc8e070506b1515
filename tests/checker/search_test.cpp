// Compares the searches with one another, and checks what callers rely on in each.
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "tests/adversarial/broken_locks.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/random_programs.hpp"

namespace nearfar::checker::testing {
namespace {

using nearfar::testing::flaw;
using nearfar::testing::flawed_mcs_lock;

// ---- searches that must agree -----------------------------------------------------------------------------

constexpr std::uint64_t limit = 20000;

/// How many programs were compared, and how many of them were in order.
struct tally {
  int compared = 0;
  int right = 0;
};

/// Two searches by traces and, of sequential cells, one by states.
void compare(std::uint64_t seed, const ingredients& from, options how, tally& count) {
  const random_program program = drawn(seed, from);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", mode " + std::to_string(static_cast<int>(how.mode)) +
               "\n" + text_of(program));
  how.most_executions = limit;
  how.keep_traces = how.keep_end_states = true;
  const search_result quick = searched(program, how);
  how.reduce = reduction::sleep_sets_only;
  const search_result plain = searched(program, how);
  const auto is_cut_short = [](const search_result& one) { return !one.found.complete && !one.found.found; };
  if (is_cut_short(quick) || is_cut_short(plain)) return;
  ++count.compared;
  ASSERT_EQ(quick.found.found.has_value(), plain.found.found.has_value());
  if (!quick.found.found) {
    ++count.right;
    EXPECT_EQ(quick.seen, plain.seen);
    EXPECT_LE(quick.found.executions, plain.found.executions);
  }
  if (how.near != near_model::sequential) return;
  if (!quick.found.found) {
    EXPECT_EQ(quick.found.traces, plain.found.traces);
    EXPECT_EQ(quick.found.executions, quick.found.traces.size()) << "a trace was visited twice";
  }
  how.by = search::hash;
  const search_result states = searched(program, how);
  ASSERT_EQ(states.found.found.has_value(), quick.found.found.has_value());
  if (states.found.found) return;
  EXPECT_EQ(states.found.end_states, quick.found.end_states);
  EXPECT_EQ(states.seen, quick.seen);
}

tally compare_all(int programs, const ingredients& from, near_model near,
                  std::initializer_list<delivery_mode> modes, conflicts conflict = conflicts::reported) {
  tally count;
  for (int seed = 1; seed <= programs; ++seed)
    for (const delivery_mode mode : modes) {
      options how = by(near, mode);
      how.conflict = conflict;
      compare(static_cast<std::uint64_t>(seed), from, how, count);
    }
  return count;
}

TEST(random_programs, of_near_cells_have_the_same_traces_and_states_by_every_search) {
  EXPECT_EQ(compare_all(60, {.ranks = 2, .length = 4}, strong, {lazy}).right, 60);
  EXPECT_EQ(compare_all(60, {.ranks = 3, .length = 3}, strong, {lazy}).right, 60);
  EXPECT_GE(compare_all(60, {.ranks = 3, .length = 3, .waits = true}, strong, {lazy}).right, 50);
}

TEST(random_programs, of_near_cells_have_the_same_outcomes_in_weak_memory) {
  // The search by source sets leaves out stale loads and early stores that it meets in another order.
  EXPECT_EQ(compare_all(200, {.ranks = 2, .length = 4}, weak, {lazy}).right, 200);
  EXPECT_GE(compare_all(200, {.ranks = 3, .length = 3}, weak, {lazy}).right, 190);
  EXPECT_GE(compare_all(200, {.ranks = 3, .length = 3, .waits = true}, weak, {lazy}).right, 190);
}

TEST(random_programs, of_rma_have_the_same_traces_and_states_by_every_search) {
  const auto modes = {eager, lazy, progress};
  EXPECT_EQ(compare_all(30, {.ranks = 2, .length = 3, .near = false, .far = true}, strong, modes).right, 90);
  EXPECT_EQ(compare_all(30, {.ranks = 3, .length = 2, .near = false, .far = true}, strong, modes).right, 90);
  EXPECT_GE(
      compare_all(30, {.ranks = 3, .length = 2, .near = false, .far = true, .waits = true}, strong, modes)
          .right,
      60);
}

TEST(random_programs, whose_writes_come_again_have_the_same_traces_and_states_by_every_search) {
  const auto modes = {eager, lazy, progress};
  const ingredients two{.ranks = 2, .length = 3, .near = false, .far = true, .conflicts = true};
  const ingredients three{.ranks = 3, .length = 2, .near = false, .far = true, .conflicts = true};
  EXPECT_GE(compare_all(30, two, strong, modes, conflicts::enacted).right, 80);
  EXPECT_GE(compare_all(30, three, strong, modes, conflicts::enacted).right, 80);
}

TEST(random_programs, a_trace_that_only_true_initials_lead_to_is_found) {
  // The one of some 2000 programs on which it shows when a step that does not begin the reversed order is
  // taken for one that does.
  tally count;
  for (const delivery_mode mode : all_modes)
    compare(166, {.ranks = 3, .length = 2, .near = false, .far = true}, by(near_model::sequential, mode),
            count);
  EXPECT_EQ(count.right, 3);
}

TEST(random_programs, of_both_have_the_same_outcomes_by_every_search) {
  const ingredients both{.ranks = 2, .length = 3, .far = true, .waits = true};
  const auto modes = {eager, lazy, progress};
  EXPECT_GE(compare_all(100, both, near_model::sequential, modes).right, 250);
  EXPECT_GE(compare_all(100, both, near_model::release_acquire, modes).right, 250);
}

TEST(random_programs, that_may_deadlock_do_so_by_every_search) {
  ingredients from{.ranks = 3, .length = 3, .waits = true, .may_deadlock = true};
  for (const auto near : {near_model::sequential, near_model::release_acquire}) {
    const tally near_only = compare_all(100, from, near, {lazy});
    EXPECT_GE(near_only.compared - near_only.right, 30);
    EXPECT_GE(near_only.right, 5);
  }
  from.far = true;
  from.ranks = 2;
  from.length = 4;
  const tally both = compare_all(60, from, near_model::sequential, {eager, lazy, progress});
  EXPECT_GE(both.compared - both.right, 60);
  EXPECT_GE(both.right, 15);
}

/// Ranks that compete for a registered lock on two nodes.
program competing_for(const bench::lock_entry& entry, int ranks, int acquisitions) {
  return lock_program(
      topology_spec::parse(entry.one_node_only ? "node:1" : "node:2").place(ranks), acquisitions,
      [&entry](engine::world& w) { return entry.factory<engine::world>()(w, 0, {}); }, bypass_bound::none, 0);
}

TEST(locks, have_the_same_traces_and_states_by_every_search) {
  for (const char* name : {"mcs", "d_mcs", "dash", "tas", "cohort", "mpi_win"})
    for (const auto& [ranks, acquisitions] : {std::pair(2, 2), std::pair(3, 1)}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(ranks) + "x" + std::to_string(acquisitions));
      const program what = competing_for(*bench::catalogue::instance().find(name), ranks, acquisitions);
      for (const auto mode : all_modes) {
        options how = by(near_model::sequential, mode);
        how.keep_traces = how.keep_end_states = true;
        const report quick = check(what, how);
        ASSERT_TRUE(quick.complete);
        EXPECT_EQ(quick.executions, quick.traces.size());
        how.by = search::hash;
        const report states = check(what, how);
        ASSERT_TRUE(states.complete);
        EXPECT_EQ(quick.end_states, states.end_states);
        how.by = search::exhaustive;
        how.reduce = reduction::sleep_sets_only;
        how.most_executions = limit;
        const report plain = check(what, how);
        if (!plain.complete) continue;
        EXPECT_EQ(quick.traces, plain.traces);
        EXPECT_EQ(quick.end_states, plain.end_states);
      }
    }
}

// ---- random schedules -------------------------------------------------------------------------------------

program flawed_program(int ranks, int nodes) {
  return lock_program(
      topology_spec::parse("node:" + std::to_string(nodes)).place(ranks), 2,
      [](engine::world& w) { return std::make_unique<flawed_mcs_lock<engine::world, flaw::torn_swap>>(w); });
}

options random_search(std::uint64_t seed, std::uint64_t executions) {
  options how = by(near_model::release_acquire, lazy, search::random);
  how.seed = seed;
  how.most_executions = executions;
  return how;
}

TEST(random_search, is_a_function_of_its_seed) {
  const program what = flawed_program(4, 2);
  std::set<std::vector<std::array<int, 3>>> schedules;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const report first = check(what, random_search(seed, 1000));
    const report second = check(what, random_search(seed, 1000));
    ASSERT_TRUE(first.found && second.found);
    EXPECT_FALSE(first.complete);
    EXPECT_EQ(first.executions, second.executions);
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.found->what, second.found->what);
    EXPECT_EQ(first.found->text, second.found->text);
    EXPECT_EQ(first.found->schedule, second.found->schedule);
    std::vector<std::array<int, 3>> schedule;
    for (const step& each : first.found->schedule)
      schedule.push_back({each.rank, each.delivery, each.choice});
    schedules.insert(schedule);
  }
  EXPECT_EQ(schedules.size(), 5U);
}

TEST(random_search, finds_a_torn_swap_and_no_lock_at_many_ranks) {
  for (const int ranks : {8, 64}) {
    const report torn = check(flawed_program(ranks, 4), random_search(1, 50));
    ASSERT_TRUE(torn.found) << ranks;
    const program unlocked = lock_program(one_node(ranks), 2, [](engine::world& w) {
      return std::make_unique<nearfar::testing::no_lock<engine::world>>(w);
    });
    const report none = check(unlocked, random_search(1, 20));
    ASSERT_TRUE(none.found) << ranks;
    EXPECT_TRUE(none.found->what == fault::exclusion || none.found->what == fault::order);
  }
}

TEST(random_search, finds_nothing_in_a_right_lock_and_says_how_long_it_looked) {
  const program what = competing_for(*bench::catalogue::instance().find("cohort"), 8, 2);
  const report result = check(what, random_search(3, 100));
  EXPECT_FALSE(result.found) << result.found->text;
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.executions, 100U);
}

TEST(random_search, by_priorities_reaches_what_lies_deep) {
  // Rank 1 must run through ten steps within one of rank 0. A uniform choice among three hardly ever does
  // that.
  const auto deep = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      const word count = s.cells.y.load(relaxed);
      s.cells.x.store(0, relaxed);
      if (count == 12) throw error("deep");
    }
    for (int i = 0; s.rank() == 1 && i < 12; ++i)
      if (s.cells.x.load(relaxed) == 1) s.cells.y.fetch_add(1, relaxed);
    for (int i = 0; s.rank() == 2 && i < 40; ++i) (void)s.cells.z.load(relaxed);
  };
  options how = by(near_model::sequential, lazy, search::random);
  how.most_executions = 2000;
  const report found = check(program_of(3, deep), how);
  ASSERT_TRUE(found.found);
  EXPECT_EQ(found.executions % 2, 0U) << "every second schedule is by priorities";
}

// ---- replay, minimised schedules --------------------------------------------------------------------------

TEST(replay, shows_the_violation_that_was_found) {
  const program what = flawed_program(3, 2);
  for (const auto mode : all_modes)
    for (const auto tier : {search::exhaustive, search::random}) {
      options how = by(near_model::release_acquire, mode, tier);
      how.most_executions = 5000;
      const report result = check(what, how);
      ASSERT_TRUE(result.found);
      const replayed again = replay(what, how, result.found->schedule);
      ASSERT_TRUE(again.found);
      EXPECT_EQ(again.refused, 0U);
      EXPECT_EQ(again.found->what, result.found->what);
      EXPECT_EQ(again.found->text, result.found->text);
      EXPECT_EQ(again.steps.size(), result.found->schedule.size());
    }
}

TEST(replay, takes_every_value_that_a_random_schedule_took) {
  // A search over traces leaves out a choice that another order of steps shows. Such a choice is a step all
  // the same.
  const program both = program_of(2, [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, relaxed);
    } else if (s.cells.y.load(relaxed) == 0 && s.cells.x.load(relaxed) == 0) {
      throw std::runtime_error("both are old");
    }
  });
  options random;
  random.by = search::random;
  random.most_executions = 1;
  int stale = 0;
  for (random.seed = 1; random.seed <= 200; ++random.seed) {
    const report result = check(both, random);
    if (!result.found) continue;
    const auto is_stale = [](const step& taken) { return taken.choice != 0; };
    stale +=
        static_cast<int>(std::any_of(result.found->schedule.begin(), result.found->schedule.end(), is_stale));
    const replayed again = replay(both, {}, result.found->schedule);
    EXPECT_EQ(again.refused, 0U) << "seed " << random.seed;
    EXPECT_TRUE(again.found) << "seed " << random.seed;
  }
  EXPECT_GT(stale, 10);
}

TEST(replay, says_what_each_step_does) {
  const auto passes = [](scene& s) {
    if (s.rank() == 0) {
      s.put(1, &words::b, two);
      s.cells.x.store(1, release);
    } else {
      s.w.await(s.cells.x, is_set);
      EXPECT_EQ(s.far.read_direct(1, &words::b), 2U);
      s.watch.enter();
    }
  };
  const std::vector<step> schedule{{0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  const replayed shown = replay(program_of(2, passes), by(near_model::sequential), schedule);
  EXPECT_FALSE(shown.found);
  EXPECT_EQ(shown.refused, 0U);
  ASSERT_EQ(shown.steps.size(), schedule.size());
  const auto line = [&](std::size_t i) {
    const shown_step& one_of = shown.steps[i];
    return one_of.operation + " | " + one_of.word + " | " + one_of.detail;
  };
  EXPECT_EQ(line(0), "deliver put | words.b of rank 1 | 0 -> 2");
  EXPECT_EQ(line(1), "store | cells.x of rank 0 | 0 -> 1");
  EXPECT_EQ(line(2), "await load | cells.x of rank 0 | 1");
  EXPECT_EQ(line(3), "read_direct | words.b of rank 1 | 2");
  EXPECT_EQ(line(4), "ENTER |  | ");
  EXPECT_EQ(shown.steps[0].acts_on, 1);
  EXPECT_EQ(shown.steps[1].acts_on, 0);
  EXPECT_EQ(shown.steps[0].issued_after, -1);
  EXPECT_NE(shown.steps[3].site.find("search_test.cpp:"), std::string::npos) << shown.steps[3].site;
}

TEST(replay, of_another_program_says_what_does_not_fit) {
  const auto steps_of = [](int count) {
    return [count](scene& s) {
      for (int i = 0; i < count; ++i) s.cells.x.store(1, relaxed);
    };
  };
  const std::vector<step> schedule{{0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 3, 0}, {1, 0, 7}};
  const replayed result = replay(program_of(2, steps_of(2)), by(near_model::sequential), schedule);
  EXPECT_FALSE(result.found);
  EXPECT_EQ(result.refused, 3U) << "rank 0's third step, a delivery that is none, a choice that is none";
  EXPECT_EQ(result.steps.size(), 4U) << "what is missing at the end is run";
}

TEST(minimised, is_no_longer_and_shows_the_same) {
  std::size_t before = 0;
  std::size_t after = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const program what = flawed_program(6, 2);
    const options how = random_search(seed, 1000);
    const report result = check(what, how);
    ASSERT_TRUE(result.found);
    const violation small = minimised(what, how, *result.found);
    EXPECT_LE(small.schedule.size(), result.found->schedule.size());
    EXPECT_EQ(small.what, result.found->what);
    const replayed again = replay(what, how, small.schedule);
    ASSERT_TRUE(again.found);
    EXPECT_EQ(again.refused, 0U);
    EXPECT_EQ(again.found->what, small.what);
    EXPECT_EQ(again.found->text, small.text);
    before += result.found->schedule.size();
    after += small.schedule.size();
  }
  EXPECT_LT(after, before);
}

TEST(minimised, keeps_to_the_fault_that_was_found) {
  const auto either = [](scene& s) {
    if (s.rank() == 0) {
      if (s.cells.x.load(relaxed) == 1) throw error("set");
      s.far.put(1, &words::a, one);
      s.watch.expect_complete("load()");
      s.far.flush(1);
    } else {
      s.cells.y.store(1, relaxed);
      s.cells.x.store(1, relaxed);
    }
  };
  const options how = by(near_model::sequential);
  const violation thrown = *replay(program_of(2, either), how, {{1, 0, 0}, {1, 0, 0}, {0, 0, 0}}).found;
  ASSERT_EQ(thrown.what, fault::exception);
  const violation small = minimised(program_of(2, either), how, thrown);
  EXPECT_EQ(small.what, fault::exception);
  EXPECT_EQ(small.schedule.size(), 3U);
}

// ---- limits and misuse ------------------------------------------------------------------------------------

TEST(limits, end_a_search_that_is_not_complete) {
  const program what = competing_for(*bench::catalogue::instance().find("mcs"), 4, 2);
  for (const auto tier : {search::exhaustive, search::hash}) {
    options few = by(near_model::sequential, lazy, tier);
    few.most_executions = 10;
    const report stopped = check(what, few);
    EXPECT_FALSE(stopped.complete);
    EXPECT_FALSE(stopped.found);
    EXPECT_EQ(stopped.executions + stopped.pruned, 10U);
    options brief = by(near_model::sequential, lazy, tier);
    brief.most_time = std::chrono::milliseconds(20);
    const report timed = check(what, brief);
    EXPECT_FALSE(timed.complete);
    EXPECT_GE(timed.time, brief.most_time);
  }
  options brief = random_search(1, 0);
  brief.most_time = std::chrono::milliseconds(20);
  EXPECT_GE(check(what, brief).time, brief.most_time);
}

TEST(limits, progress_is_told) {
  std::vector<std::uint64_t> told;
  options how = random_search(1, 3000);
  how.on_progress = [&](std::uint64_t executions) { told.push_back(executions); };
  (void)check(program_of(1, [](scene&) {}), how);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1024, 2048}));
}

TEST(options, that_make_no_sense_are_refused) {
  const program what = program_of(1, [](scene&) {});
  EXPECT_THROW((void)check(what, by(near_model::release_acquire, lazy, search::hash)), error);
  EXPECT_THROW((void)check(what, by(near_model::release_acquire, lazy, search::random)), error);
  EXPECT_NO_THROW((void)check(what, by(near_model::sequential, lazy, search::hash)));
}

TEST(searches, of_a_program_without_steps_are_complete) {
  for (const auto tier : {search::exhaustive, search::hash}) {
    const report result = check(program_of(2, [](scene&) {}), by(near_model::sequential, lazy, tier));
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.executions, 1U);
  }
}

TEST(searches, may_follow_one_another) {
  // A search that ends in the middle of an execution leaves nothing behind.
  const program what = flawed_program(2, 1);
  const report first = check(what, by(near_model::sequential));
  const report again = check(what, by(near_model::sequential));
  ASSERT_TRUE(first.found && again.found);
  EXPECT_EQ(first.found->schedule, again.found->schedule);
  EXPECT_EQ(first.steps, again.steps);
}

TEST(reports, count_steps_and_what_led_to_nothing_new) {
  const program what = program_of(2, [](scene& s) {
    if (s.rank() == 0) s.cells.x.store(1, relaxed);
    if (s.rank() == 1) s.cells.y.store(1, relaxed);
  });
  options how = by(near_model::sequential);
  const report once = check(what, how);
  EXPECT_EQ(once.executions, 1U);
  EXPECT_EQ(once.pruned, 0U);
  EXPECT_EQ(once.steps, 2U);
  how.reduce = reduction::sleep_sets_only;
  // A second path begins with the second step, after which the other step counts as explored.
  const report all = check(what, how);
  EXPECT_EQ(all.executions, 1U);
  EXPECT_EQ(all.pruned, 1U);
  EXPECT_EQ(all.steps, 3U);
}

}  // namespace
}  // namespace nearfar::checker::testing
