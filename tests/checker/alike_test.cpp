// Compares the registry's sets of alike ranks with the locks themselves: in a search without symmetry, alike
// ranks do the same equally often.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"

namespace nearfar::command {

namespace {

/// In which order ranks enter, and in how many schedules.
using entries = std::map<std::vector<int>, std::uint64_t>;

/// Counts the schedules of a search by the order of entries.
class entry_count {
 public:
  explicit entry_count(int ranks) : ranks_(ranks) {}

  void begin() {
    order_.clear();
    ended_ = 0;
  }
  void enter(int rank) { order_.push_back(rank); }
  /// A search takes the steps of the first schedule three more times, and those of every 32nd schedule once
  /// more.
  void end() {
    if (++ended_ < ranks_) return;
    if (repeats_ > 0) {
      --repeats_;
      return;
    }
    ++seen_[order_];
    ++schedules_;
    repeats_ = schedules_ == 1 ? 3 : schedules_ % 32 == 0 ? 1 : 0;
  }
  [[nodiscard]] const entries& seen() const noexcept { return seen_; }
  [[nodiscard]] std::uint64_t schedules() const noexcept { return schedules_; }

 private:
  int ranks_;
  int ended_ = 0;
  std::uint64_t schedules_ = 0;
  std::uint64_t repeats_ = 0;
  std::vector<int> order_;
  entries seen_;
};

/// Tells another of everything, and of entries also the count.
class counting_monitor final : public checker::monitor {
 public:
  counting_monitor(checker::monitor& next, int rank, entry_count& count)
      : next_(&next), rank_(rank), count_(&count) {}

  void ask() override { next_->ask(); }
  void enter() override {
    next_->enter();
    count_->enter(rank_);
  }
  void leave() override { next_->leave(); }
  void ask_shared() override { next_->ask_shared(); }
  void enter_shared() override { next_->enter_shared(); }
  void leave_shared() override { next_->leave_shared(); }
  void leave_to_share() override { next_->leave_to_share(); }
  void call(std::uint64_t object, int method, checker::value_list arguments) override {
    next_->call(object, method, arguments);
  }
  void returned(checker::value_list result) override { next_->returned(result); }
  void reach(std::string_view what) override { next_->reach(what); }
  void expect_complete(const char* function) override { next_->expect_complete(function); }

 private:
  checker::monitor* next_;
  int rank_;
  entry_count* count_;
};

checker::program counted(checker::program what, entry_count& by) {
  what.body = [body = std::move(what.body), &by](engine::world& w, checker::monitor& watch) {
    if (w.rank() == 0) by.begin();
    counting_monitor counting(watch, w.rank(), by);
    body(w, counting);
    by.end();
  };
  return what;
}

/// The same entries after two ranks have changed names.
entries renamed(const entries& of, int a, int b) {
  entries result;
  for (const auto& [order, count] : of) {
    std::vector<int> other = order;
    for (int& rank : other) rank = rank == a ? b : rank == b ? a : rank;
    result[other] = count;
  }
  return result;
}

/// In how many ways ranks that are alike may change places.
std::uint64_t exchanges_of(const checker::program& what) {
  std::uint64_t all = 1;
  for (const std::vector<int>& set : what.alike)
    for (std::uint64_t rank = 2; rank <= set.size(); ++rank) all *= rank;
  return all;
}

/// Enough for every lock with three ranks, and few enough for a test.
constexpr std::uint64_t most_schedules = 3000;

checker::report explored(const checker::program& what, const check_case& of, bool use_symmetry) {
  checker::options how = options_of(of);
  how.use_symmetry = use_symmetry;
  how.most_executions = most_schedules;
  how.poison = checker::default_poison;  // no further repeats, which `entry_count` does not know
  return check(what, how);
}

void expect_alike(const checkable& lock, const check_case& of) {
  SCOPED_TRACE(arguments_of(of));
  const checker::program what = lock.program(of);
  entry_count count(of.ranks);
  const checker::report without = explored(counted(what, count), of, false);
  ASSERT_FALSE(without.found) << without.found->text;
  if (!without.complete) return;
  ASSERT_EQ(count.schedules(), without.executions) << "the test takes repeated schedules for others";
  for (const std::vector<int>& set : what.alike)
    for (std::size_t i = 1; i < set.size(); ++i)
      EXPECT_EQ(count.seen(), renamed(count.seen(), set[i - 1], set[i]));
  const checker::report with = explored(what, of, true);
  EXPECT_LT(with.executions, without.executions);
  EXPECT_GE(with.executions * exchanges_of(what), without.executions);
}

check_case case_of(const checkable& lock, int ranks, int acquisitions, int readers = 0) {
  return {.object = lock.name,
          .ranks = ranks,
          .nodes = lock.one_node_only ? 1 : 2,
          .acquisitions = acquisitions,
          .readers = readers};
}

std::vector<const checkable*> locks_with_alike_ranks() {
  std::vector<const checkable*> result;
  for (const checkable& lock : checkables())
    if (lock.is_sound && !lock.is_shared && exchanges_of(lock.program(case_of(lock, 3, 1))) > 1)
      result.push_back(&lock);
  return result;
}

class alike_ranks : public ::testing::TestWithParam<const checkable*> {};

TEST_P(alike_ranks, do_the_same_equally_often) {
  const checkable& lock = *GetParam();
  expect_alike(lock, case_of(lock, 3, 1));
  const check_case twice = case_of(lock, 2, 2);
  if (exchanges_of(lock.program(twice)) > 1) expect_alike(lock, twice);
}

INSTANTIATE_TEST_SUITE_P(of, alike_ranks, ::testing::ValuesIn(locks_with_alike_ranks()), [](const auto& one) {
  std::string name = one.param->name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(ranks_that_are_not_alike, do_something_else) {
  // Ranks of two nodes, which both the test and the lock tell apart.
  const checkable& cohort = *find_checkable("cohort");
  const check_case of = case_of(cohort, 3, 1);
  entry_count count(of.ranks);
  EXPECT_TRUE(explored(counted(cohort.program(of), count), of, false).complete);
  EXPECT_EQ(count.seen(), renamed(count.seen(), 0, 1));
  EXPECT_NE(count.seen(), renamed(count.seen(), 1, 2));
}

TEST(ranks_that_are_alike, are_apart_where_one_has_to_be_in_the_library_for_others) {
  const checkable& cohort = *find_checkable("cohort");
  check_case of = case_of(cohort, 3, 1);
  EXPECT_EQ(exchanges_of(cohort.program(of)), 2U);
  of.mode = checker::delivery_mode::progress;
  EXPECT_EQ(exchanges_of(cohort.program(of)), 1U);
}

TEST(ranks_that_are_alike, read_or_write) {
  const checkable& lock = *find_checkable("near_rw");
  EXPECT_EQ(exchanges_of(lock.program(case_of(lock, 4, 1, 1))), 6U);
  EXPECT_EQ(exchanges_of(lock.program(case_of(lock, 4, 1, 2))), 4U);
  EXPECT_EQ(exchanges_of(lock.program(case_of(lock, 4, 1, 3))), 6U);
}

}  // namespace

}  // namespace nearfar::command
