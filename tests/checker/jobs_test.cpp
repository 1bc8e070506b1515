// The exhaustive search by several threads has the same findings as by one.
#include <new>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "tests/checker/random_programs.hpp"

namespace nearfar::checker::testing {
namespace {

/// A program that may run in several threads, each of which has an execution of its own.
program apart(const random_program& of) {
  return {.where = one_node(static_cast<int>(of.size())), .body = [of](world& w, monitor& watch) {
            thread_local outcome observed;
            if (w.rank() == 0) observed.assign(registers_of(of), 0);
            scene s(w, watch, observed);
            run(s, of);
          }};
}

/// Returns whether the comparison means something: one worker has searched everything.
bool expect_the_same(const program& what, options how, const std::string& text) {
  how.keep_traces = how.keep_end_states = true;
  const report alone = check(what, how);
  EXPECT_TRUE(!alone.complete || !(alone.traces.empty() || alone.end_states.empty())) << text;
  for (const int jobs : {2, 3, 7}) {
    how.jobs = jobs;
    const report together = check(what, how);
    EXPECT_EQ(alone.complete, together.complete) << text;
    if (!alone.complete) continue;
    EXPECT_EQ(alone.executions, together.executions) << text;
    EXPECT_EQ(alone.traces, together.traces) << text;
    EXPECT_EQ(alone.end_states, together.end_states) << text;
    EXPECT_EQ(alone.blocked, together.blocked) << text;
  }
  return alone.complete;
}

TEST(jobs, explore_each_trace_once) {
  constexpr int programs = 150;
  int compared = 0;
  for (int seed = 1; seed <= programs; ++seed) {
    const bool is_far = seed % 2 == 0;
    const random_program of = drawn_widely(static_cast<std::uint64_t>(seed), {.ranks = 3,
                                                                              .length = 3,
                                                                              .far = is_far,
                                                                              .waits = true,
                                                                              .signals = true,
                                                                              .fences = seed % 3 == 0,
                                                                              .deadlines = true});
    options how =
        by(near_model::release_acquire, is_far ? all_modes[static_cast<std::size_t>(seed / 2 % 3)] : lazy);
    how.crashes = seed % 5 == 0 ? 1 : 0;
    compared += expect_the_same(apart(of), how, testing::text_of(of)) ? 1 : 0;
  }
  EXPECT_GE(compared, 60);
}

auto mcs_locks() {
  return [](world& w) { return std::make_unique<mcs_lock<world>>(w); };
}

TEST(jobs, check_locks) {
  const program what = lock_program(one_node(2), 3, mcs_locks(), bypass_bound::fifo);
  EXPECT_TRUE(expect_the_same(what, by(near_model::release_acquire), "mcs"));
}

TEST(jobs, say_what_any_of_them_has_reached) {
  // Each order of additions is reached in one trace, which one of the workers explores.
  const program what = program_of(3, [](scene& s) {
    std::string order = "rank " + std::to_string(s.rank());
    for (int i = 0; i < 3; ++i) order += " " + std::to_string(s.cells.x.fetch_add(1, relaxed));
    s.watch.reach(order);
  });
  options how = by(near_model::sequential);
  const report alone = check(what, how);
  EXPECT_EQ(alone.reached.size(), 3U * 84U) << "of each rank the places among 9";
  for (const int jobs : {2, 5}) {
    how.jobs = jobs;
    EXPECT_EQ(check(what, how).reached, alone.reached);
  }
}

TEST(jobs, find_faults_and_end) {
  const random_program broken{
      {{.what = engine::action::load, .waits = true, .until = {.what = condition::kind::equals, .first = 7}}},
      {{.what = engine::action::store}},
      {{.what = engine::action::store}}};
  options how = by(near_model::release_acquire);
  how.jobs = 4;
  const report result = check(apart(broken), how);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::deadlock);
  EXPECT_FALSE(result.complete);
}

TEST(jobs, end_with_the_search_when_memory_runs_out) {
  const program what = program_of(3, [](scene& s) {
    for (int i = 0; i < 2; ++i)
      if (s.cells.x.fetch_add(1, acq_rel) == 5) throw std::bad_alloc();
  });
  options how = by(near_model::sequential);
  for (const int jobs : {1, 3}) {
    how.jobs = jobs;
    EXPECT_THROW(static_cast<void>(check(what, how)), std::bad_alloc);
  }
  how.by = search::random;
  how.jobs = 1;
  how.most_executions = 1000;
  EXPECT_THROW(static_cast<void>(check(what, how)), std::bad_alloc);
}

TEST(jobs, keep_to_limits) {
  const program what = program_of(3, [](scene& s) {
    for (int i = 0; i < 4; ++i) s.cells.x.fetch_add(1, acq_rel);
  });
  options how = by(near_model::sequential);
  how.jobs = 3;
  how.most_executions = 100;
  const report result = check(what, how);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.found);
  // Each worker finishes the execution that it has begun.
  EXPECT_GE(result.executions + result.pruned, 100U);
  EXPECT_LE(result.executions + result.pruned, 103U);
}

}  // namespace
}  // namespace nearfar::checker::testing
