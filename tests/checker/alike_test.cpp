// What the registry says of ranks that are alike, held to the locks themselves.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"

namespace nearfar::command {

namespace {

/// In how many ways ranks that are alike may change places.
std::uint64_t exchanges_of(const checker::program& what) {
  std::uint64_t all = 1;
  for (const std::vector<int>& set : what.alike)
    for (std::uint64_t rank = 2; rank <= set.size(); ++rank) all *= rank;
  return all;
}

checker::report explored(const checkable& lock, const check_case& of, bool use_symmetry) {
  checker::options how = options_of(of);
  how.use_symmetry = use_symmetry;
  // More only says the same of more schedules.
  how.most_executions = 200'000;
  return check(lock.program(of), how);
}

/// Who acquires alone is told from the others by when it does. So no schedule is its own image, and there are
/// as many of each as there are exchanges, if ranks differ in nothing but their names: where a rank that is
/// unlike the others does something else, there are not.
void expect_alike(const checkable& lock, const check_case& of) {
  SCOPED_TRACE(arguments_of(of));
  const checker::report with = explored(lock, of, true);
  const checker::report without = explored(lock, of, false);
  ASSERT_EQ(with.complete, without.complete || with.complete);
  if (!without.complete) return;
  EXPECT_FALSE(with.found || without.found);
  EXPECT_EQ(with.executions * exchanges_of(lock.program(of)), without.executions);
}

check_case case_of(const checkable& lock, int ranks, int acquisitions, int readers = 0) {
  return {.object = lock.name,
          .ranks = ranks,
          .nodes = lock.one_node_only ? 1 : 2,
          .acquisitions = acquisitions,
          .readers = readers};
}

std::vector<check_case> cases_of(const checkable& lock) {
  if (!lock.is_shared) return {case_of(lock, 2, 2), case_of(lock, 3, 1), case_of(lock, 4, 1)};
  return {case_of(lock, 3, 1, 1), case_of(lock, 3, 1, 2), case_of(lock, 4, 1, 2)};
}

TEST(alike_ranks, of_locks_have_as_many_schedules_each) {
  int seen = 0;
  for (const checkable& lock : checkables())
    for (check_case of : cases_of(lock))
      for (const auto mode : {checker::delivery_mode::lazy, checker::delivery_mode::progress}) {
        of.mode = mode;
        if (!lock.is_sound || exchanges_of(lock.program(of)) == 1) continue;
        expect_alike(lock, of);
        ++seen;
      }
  EXPECT_GT(seen, 100);
}

TEST(alike_ranks, are_apart_where_one_has_to_be_in_the_library_for_others) {
  const checkable& cohort = *find_checkable("cohort");
  check_case of = case_of(cohort, 3, 1);
  EXPECT_EQ(exchanges_of(cohort.program(of)), 2U);
  of.mode = checker::delivery_mode::progress;
  EXPECT_EQ(exchanges_of(cohort.program(of)), 1U);
}

TEST(alike_ranks, read_or_write) {
  const checkable& lock = *find_checkable("near_rw");
  EXPECT_EQ(exchanges_of(lock.program(case_of(lock, 4, 1, 1))), 6U);
  EXPECT_EQ(exchanges_of(lock.program(case_of(lock, 4, 1, 2))), 4U);
  EXPECT_EQ(exchanges_of(lock.program(case_of(lock, 4, 1, 3))), 6U);
}

}  // namespace

}  // namespace nearfar::command
