// Faults that published locks had, found again.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "tests/checker/lock_mutants.hpp"

namespace nearfar::test {
namespace {

using checker::change;
using checker::delivery_mode;
using checker::fault;

constexpr shape two_nodes{2, 2, 2};
/// The one unsound lock whose fault is a missing flush; all others write to a word that is still being
/// written.
constexpr const char* first_d_mcs = "d_mcs.unflushed";

const bench::lock_entry& lock_named(const std::string& name) {
  return *bench::catalogue::instance().find(name);
}

/// The change of the line that contains `text`.
checker::mutation mutant_of(const bench::lock_entry& entry, const std::string& text, change how) {
  for (const checker::mutation& one : mutants_of(entry, {two_nodes}))
    if (one.how == how && line_at(one.where).find(text) != std::string::npos) return one;
  ADD_FAILURE() << "no such mutant: " << text;
  return {};
}

/// Ranks that do not look whether their operations are complete, as the published locks do not.
checker::program unwatched(const bench::lock_entry& entry) {
  checker::program program = program_of(entry, two_nodes);
  program.body = [&entry](engine::world& w, checker::monitor& watch) {
    const auto lock = entry.factory<engine::world>()(w, 0, {});
    for (int i = 0; i < two_nodes.acquisitions; ++i) {
      watch.ask();
      lock->lock();
      watch.enter();
      watch.leave();
      lock->unlock();
    }
  };
  return program;
}

checker::report check_mutant(const checker::program& program, const checker::mutation& mutant,
                             delivery_mode mode) {
  checker::options how;
  how.mode = mode;
  how.broken = mutant;
  return checker::check(program, how);
}

// The lock is sound otherwise, so that only the flush is at fault.
TEST(known_faults, d_mcs_without_the_last_flush_leaves_its_hand_over_to_chance) {
  const bench::lock_entry& entry = lock_named("d_mcs");
  const checker::mutation mutant = mutant_of(entry, "words_.flush(owner)", change::dropped);
  const checker::report watched = check_mutant(program_of(entry, two_nodes), mutant, delivery_mode::eager);
  ASSERT_TRUE(watched.found);
  EXPECT_EQ(watched.found->what, fault::incomplete);
  EXPECT_NE(watched.found->text.find("was not flushed when unlock() returned"), std::string::npos);
  // MPI may wait with the operation until a flush that never comes.
  const checker::report lazy = check_mutant(unwatched(entry), mutant, delivery_mode::lazy);
  ASSERT_TRUE(lazy.found);
  EXPECT_EQ(lazy.found->what, fault::deadlock);
  // With delivery at the issue no rank notices. The lock was published like this.
  const checker::report eager = check_mutant(unwatched(entry), mutant, delivery_mode::eager);
  EXPECT_FALSE(eager.found) << eager.found->text;
  EXPECT_TRUE(eager.complete);
}

// Its published form has neither of its flushes. The checker tells it at once where every operation arrives,
// and as a hang where MPI waits for the flush.
TEST(known_faults, d_mcs_as_first_published_leaves_its_hand_over_to_chance) {
  const checker::program program = program_of(lock_named(first_d_mcs), two_nodes);
  for (const auto mode : {delivery_mode::eager, delivery_mode::progress}) {
    const checker::report watched = checker::check(program, {.mode = mode});
    ASSERT_TRUE(watched.found);
    EXPECT_EQ(watched.found->what, fault::incomplete);
  }
  const checker::report lazy = checker::check(program, {.mode = delivery_mode::lazy});
  ASSERT_TRUE(lazy.found);
  EXPECT_EQ(lazy.found->what, fault::deadlock);
}

TEST(known_faults, point_to_point_lock_without_the_flush_of_its_registration_deadlocks) {
  const bench::lock_entry& entry = lock_named("dash");
  const checker::mutation mutant = mutant_of(entry, "words_.flush(predecessor)", change::dropped);
  const checker::report lazy = check_mutant(unwatched(entry), mutant, delivery_mode::lazy);
  ASSERT_TRUE(lazy.found);
  EXPECT_EQ(lazy.found->what, fault::deadlock);
}

TEST(known_faults, waiting_with_win_sync_alone_deadlocks_where_the_target_must_progress) {
  const bench::lock_entry& entry = lock_named("d_mcs");
  const checker::mutation mutant =
      mutant_of(entry, "world_->await_direct(words_, owner_, &words::status", change::unaware);
  const checker::report stuck = check_mutant(program_of(entry, two_nodes), mutant, delivery_mode::progress);
  ASSERT_TRUE(stuck.found);
  EXPECT_EQ(stuck.found->what, fault::deadlock);
  EXPECT_NE(stuck.found->text.find("which does not enter the library"), std::string::npos);
  for (const auto mode : {delivery_mode::eager, delivery_mode::lazy}) {
    const checker::report fine = check_mutant(program_of(entry, two_nodes), mutant, mode);
    EXPECT_FALSE(fine.found);
    EXPECT_TRUE(fine.complete);
  }
}

// ---- writes that are seen and not complete
// -----------------------------------------------------------------

/// Whether a few acquisitions have too many orders to try them all. This is so where waiting ranks compete
/// with arriving ones, and where a node asks another what it has read.
bool has_many_orders(const bench::lock_entry& entry) {
  return entry.family() == "shfl" || entry.name == "cohort" || entry.name == "cohort.mcs_fissile";
}

class published : public testing::TestWithParam<std::string> {};
class resetting : public published {};

/// Two nodes, so that cohorts use their far queue.
TEST_P(resetting, resets_a_word_that_is_still_being_written) {
  const bench::lock_entry& entry = lock_named(GetParam());
  for (const auto mode : {delivery_mode::eager, delivery_mode::lazy, delivery_mode::progress}) {
    const checker::report result = checker::check(program_of(entry, two_nodes), {.mode = mode});
    ASSERT_TRUE(result.found);
    EXPECT_EQ(result.found->what, fault::conflict);
    EXPECT_NE(result.found->text.find("is not ordered with"), std::string::npos) << result.found->text;
  }
}

/// Such a lock works as long as the race has no consequence, and fails as soon as it has one.
TEST_P(published, hangs_or_does_not_exclude_where_writes_come_again) {
  const bench::lock_entry& entry = lock_named(GetParam());
  checker::options how{.conflict = checker::conflicts::enacted};
  if (has_many_orders(entry)) {
    how.by = checker::search::random;
    how.most_executions = 10'000;
  }
  // With two ranks dash.published works all the same. It looks for a successor only if one exists, and then
  // an old name is that of the only possible successor.
  std::vector<shape> shapes{{3, 2, 2}};
  if (!has_many_orders(entry) && entry.name != "dash.published") shapes.push_back({2, 3, 2});
  for (const shape& of : shapes) {
    const checker::report result = checker::check(program_of(entry, of), how);
    ASSERT_TRUE(result.found) << of.ranks << " ranks";
    EXPECT_TRUE(result.found->what == fault::deadlock || result.found->what == fault::exclusion)
        << name(result.found->what) << ": " << result.found->text;
  }
}

std::vector<std::string> unsound_names() {
  std::vector<std::string> names;
  for (const bench::lock_entry& entry : bench::catalogue::instance().entries())
    if (!entry.is_sound()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> resetting_names() {
  std::vector<std::string> names = unsound_names();
  std::erase(names, first_d_mcs);
  return names;
}

INSTANTIATE_TEST_SUITE_P(unsound, published, testing::ValuesIn(unsound_names()), &name_of_case);
INSTANTIATE_TEST_SUITE_P(unsound, resetting, testing::ValuesIn(resetting_names()), &name_of_case);

class sound : public testing::TestWithParam<std::string> {};

TEST_P(sound, does_not_mind_where_writes_come_again) {
  const bench::lock_entry& entry = lock_named(GetParam());
  for (const auto mode : checker::testing::modes_of(entry)) {
    const checker::options how{.mode = mode, .conflict = checker::conflicts::enacted};
    checker::options most = how;
    if (has_many_orders(entry)) most.most_executions = 10'000;
    const checker::report result = checker::check(program_of(entry, two_nodes), most);
    EXPECT_FALSE(result.found) << result.found->text;
    EXPECT_TRUE(result.complete || has_many_orders(entry));
    // Words that are used in turn are used again by the third acquisition.
    checker::options at_random = how;
    at_random.by = checker::search::random;
    at_random.most_executions = 250;
    for (const shape& of : {shape{2, 4, 2}, shape{3, 4, 2}, shape{4, 3, 2, checker::attempts::try_first}}) {
      const checker::report drawn = checker::check(program_of(entry, of), at_random);
      EXPECT_FALSE(drawn.found) << drawn.found->text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of, sound, testing::ValuesIn(sound_names()), &name_of_case);

// Other tests leave out lazy delivery for these locks.
TEST(locks_of_one_node, have_the_same_schedules_with_early_and_late_delivery) {
  int compared = 0;
  for (const std::string& name : sound_names()) {
    const bench::lock_entry& entry = lock_named(name);
    if (!entry.one_node_only) continue;
    std::set<std::uint64_t> executions;
    for (const auto mode : {delivery_mode::eager, delivery_mode::lazy}) {
      const checker::report result = checker::check(program_of(entry, two_nodes), {.mode = mode});
      EXPECT_TRUE(result.complete) << name;
      executions.insert(result.executions);
    }
    EXPECT_EQ(executions.size(), 1U) << name;
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

}  // namespace
}  // namespace nearfar::test
