// A lock that is exclusive until the first rank shares it. Every schedule checks its own part with the
// simplest locks inside. The recommended setting is checked in every schedule where these are few enough, and
// else at random.

#include "nearfar/lock/late_rw_lock.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/lock/rw_spin_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/rw_lock_programs.hpp"

namespace nearfar::test {
namespace {

using checker::delivery_mode;
using checker::program;
using checker::rw_script;
using checker::testing::all_modes;
using checker::testing::expect_nothing_found;
using engine::world;

using scripts = std::vector<rw_script>;
using simplest = late_rw_lock<tas_lock<world>, rw_spin_lock<world>>;

template <typename Lock>
program of(const scripts& all, const char* nodes) {
  return checker::rw_program(topology_spec::parse(nodes).place(static_cast<int>(all.size())), all,
                             [](world& w) { return std::make_unique<Lock>(w, 0); });
}

template <typename Lock>
void expect_right(const std::vector<scripts>& each, checker::options how = {}) {
  for (const scripts& all : each)
    for (const char* nodes : {"node:1", "node:2"})
      for (const delivery_mode mode : all_modes) {
        how.mode = mode;
        std::string title = nodes;
        for (const rw_script& one : all) title.append(" ").append(one);
        expect_nothing_found(of<Lock>(all, nodes), how, title);
      }
}

const std::vector<scripts>& small() {
  static const std::vector<scripts> all{{"ww", "rr"}, {"wr", "rw"}, {"r", "r"},     {"wW", "rR"},
                                        {"WW", "Rr"}, {"dr", "wr"}, {"d", "ww"},    {"d", "d"},
                                        {"uw", "w"},  {"u", "ww"},  {"w", "R", "w"}};
  return all;
}

TEST(late_rw_lock, changes_over_in_every_schedule) {
  expect_right<simplest>(small());
  expect_right<simplest>({{"w", "r", "w"}, {"r", "w", "r"}, {"d", "w", "r"}, {"W", "w", "R"}});
}

TEST(late_rw_lock, is_right_as_recommended) {
  expect_right<default_late_rw_lock<world>>(
      {{"ww", "r"}, {"w", "rr"}, {"d", "w"}, {"W", "R"}, {"w", "w", "r"}});
}

TEST(late_rw_lock, holds_at_random_where_many_take_part) {
  expect_right<default_late_rw_lock<world>>({{"wwr", "rrw", "wdr", "wru", "WRr"}, {"www", "www", "r", "w"}},
                                            {.by = checker::search::random, .most_executions = 400});
}

TEST(late_rw_lock, lets_no_writer_in_while_it_changes_over) {
  for (const char* nodes : {"node:1", "node:2"})
    for (const delivery_mode mode : all_modes)
      for (const int ranks : {2, 3})
        expect_nothing_found(
            downgrading(nodes, ranks, [](world& w) { return std::make_unique<simplest>(w, 0); }),
            {.mode = mode}, nodes);
}

TEST(late_rw_lock, may_block_at_worst_where_a_rank_crashes) {
  expect_right<simplest>({{"w", "r"}, {"r", "r"}}, {.crashes = 1});
}

/// The lock's own operations: the write of the word at each node that says "shared", its flush, and the read
/// of it.
TEST(late_rw_lock, fails_with_any_of_its_operations_broken) {
  std::vector<program> all;
  for (const scripts& each : small()) all.push_back(of<simplest>(each, "node:2"));
  std::set<checker::mutation> mutants;
  for (const program& each : all)
    for (const checker::mutation& one : checker::mutations_of(each, {}, "nearfar/lock/late_rw_lock.hpp"))
      mutants.insert(one);
  ASSERT_GE(mutants.size(), 2U);
  for (const checker::mutation& mutant : mutants) {
    bool is_caught = false;
    for (const program& each : all)
      for (const delivery_mode mode : all_modes)
        if (!is_caught)
          is_caught = check(each, {.mode = mode, .most_steps = 2000, .broken = mutant}).found.has_value();
    EXPECT_TRUE(is_caught) << mutant.text();
  }
}

}  // namespace
}  // namespace nearfar::test
