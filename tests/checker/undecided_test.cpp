// Histories that the judge cannot decide are no faults, and prove nothing either; and limits of time that end
// searches soon.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "apps/nearfar/check/run.hpp"
#include "bench/kinds/locks/any_lock.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/adversarial/broken_locks.hpp"

namespace nearfar::command {

namespace {

using checker::fault;
using checker::history;
using checker::judgement;
using checker::monitor;
using engine::world;
using reg = checker::register_specification;
using judge = std::function<judgement(const history&)>;
using std::chrono::nanoseconds;

/// Each rank writes its number to a register, and says that it read back what the last rank wrote: right in
/// some orders only.
checker::program writers(int ranks, judge judged_by) {
  return {.where = topology_spec::parse("node:1").place(ranks),
          .body =
              [](world& w, monitor& watch) {
                watch.call(0, reg::write, {static_cast<std::uint64_t>(w.rank())});
                watch.returned({});
                watch.call(0, reg::read, {});
                watch.returned({static_cast<std::uint64_t>(w.size()) - 1});
              },
          .judge = std::move(judged_by)};
}

/// A judge that gives up as soon as it would have to turn back.
judge hasty() { return checker::linearizable_by(reg{}, {.most_remembered = 0}); }

checker::options random_schedules(std::uint64_t executions) {
  checker::options how;
  how.by = checker::search::random;
  how.most_executions = executions;
  return how;
}

/// One that stands in for an object of the registry.
checkable object_of(checker::program what) {
  return {.name = "writers", .family = "writers", .program = [what = std::move(what)](const check_case&) {
            return what;
          }};
}

}  // namespace

TEST(undecided, histories_are_no_faults_and_the_search_goes_on) {
  const judge patient = checker::linearizable_by(reg{});
  const auto always = [](const history&) { return judgement::undecided("too hard"); };
  const checker::report searched = check(writers(2, {}), {});
  ASSERT_TRUE(searched.complete);
  ASSERT_GT(searched.executions, 2U);
  for (const int jobs : {1, 2}) {
    checker::options how;
    how.jobs = jobs;
    const checker::report all = check(writers(2, always), how);
    EXPECT_FALSE(all.found);
    EXPECT_FALSE(all.complete);
    EXPECT_EQ(all.executions, searched.executions);
    EXPECT_EQ(all.undecided, searched.executions);
    EXPECT_EQ(all.why_undecided, "too hard");
  }
  const checker::report random = check(writers(2, always), random_schedules(20));
  EXPECT_FALSE(random.found);
  EXPECT_EQ(random.undecided, 20U);
  // The search finds a wrong history all the same, behind undecided ones.
  EXPECT_EQ(check(writers(2, patient), {}).found->what, fault::history);
  bool is_first = true;
  const checker::report later = check(
      writers(
          2,
          [&](const history& what) { return std::exchange(is_first, false) ? always(what) : patient(what); }),
      {});
  ASSERT_TRUE(later.found);
  EXPECT_EQ(later.found->what, fault::history);
  EXPECT_EQ(later.undecided, 1U);
}

TEST(undecided, is_said_by_the_judge_that_gives_up) {
  // Write 1, write 0 and then a read of 1, in which the writes overlap: the first order tried is a dead end.
  history what;
  what.call(0, 0, reg::write, {1});
  what.call(1, 0, reg::write, {0});
  what.returned(0, {});
  what.returned(1, {});
  what.call(1, 0, reg::read, {});
  what.returned(1, {1});
  EXPECT_FALSE(checker::linearizable_by(reg{})(what).text);
  const judgement said = hasty()(what);
  EXPECT_FALSE(said.is_decided);
  EXPECT_FALSE(said.is_wrong());
  EXPECT_NE(said.text.value_or("").find("gave up"), std::string::npos) << said.text.value_or("");
}

TEST(undecided, replays_say_so) {
  const auto always = [](const history&) { return judgement::undecided("too hard"); };
  const checker::replayed shown = replay(writers(2, always), {}, {});
  EXPECT_FALSE(shown.found);
  EXPECT_EQ(shown.why_undecided, "too hard");
  EXPECT_FALSE(replay(writers(2, {}), {}, {}).why_undecided);
}

TEST(undecided, is_neither_right_nor_a_violation_for_the_command) {
  const auto always = [](const history&) { return judgement::undecided("too hard"); };
  const checkable object = object_of(writers(2, always));
  const checked one = run_check({.object = "writers"}, object, {});
  EXPECT_TRUE(one.is_undecided);
  EXPECT_FALSE(one.is_cut_off);
  EXPECT_FALSE(one.result.found);
  EXPECT_GT(one.result.undecided, 1U);
  EXPECT_EQ(result_text(one, one.of), "undecided: " + std::to_string(one.result.undecided) + " of " +
                                          std::to_string(one.result.executions) +
                                          " histories could not be judged");
  const nlohmann::ordered_json record = record_of(one);
  EXPECT_EQ(record["undecided"], true);
  EXPECT_EQ(record["undecided_histories"], one.result.undecided);
  EXPECT_EQ(record["complete"], false);
  EXPECT_TRUE(record["violation"].is_null());
}

// ---- limits of time

/// One nanosecond is over before any step.
TEST(time_limits, are_looked_at_within_an_execution) {
  checker::options how = random_schedules(1000);
  how.most_time = nanoseconds(1);
  EXPECT_EQ(check(writers(3, {}), how).executions, 0U);
  checker::options all;
  all.most_time = nanoseconds(1);
  const checker::report some = check(writers(3, {}), all);
  EXPECT_EQ(some.executions + some.pruned, 0U);
  EXPECT_FALSE(some.complete);
}

TEST(time_limits, end_the_search_for_a_shorter_schedule) {
  const checker::program what =
      checker::lock_program(topology_spec::parse("node:2").place(3), 2, [](world& w) {
        return bench::make_any_lock<testing::flawed_mcs_lock<world, testing::flaw::released_too_early>>(w);
      });
  const checker::report found = check(what, random_schedules(1000));
  ASSERT_TRUE(found.found);
  checker::options how;
  const std::size_t shortest = minimised(what, how, *found.found).schedule.size();
  ASSERT_LT(shortest, found.found->schedule.size());
  how.most_time = nanoseconds(0);
  EXPECT_EQ(minimised(what, how, *found.found).schedule, found.found->schedule);
}

}  // namespace nearfar::command
