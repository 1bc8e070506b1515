// Faults that published locks had, found again.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/checker/lock_mutants.hpp"

namespace nearfar::test {
namespace {

using checker::change;
using checker::delivery_mode;
using checker::fault;

constexpr shape two_nodes{2, 2, 2};

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

TEST(known_faults, d_mcs_without_the_last_flush_leaves_its_hand_over_to_chance) {
  const bench::lock_entry& entry = lock_named("d_mcs.accumulate");
  const checker::mutation mutant = mutant_of(entry, "grants_.flush(to)", change::dropped);
  const checker::report watched = check_mutant(program_of(entry, two_nodes), mutant, delivery_mode::eager);
  ASSERT_TRUE(watched.found);
  EXPECT_EQ(watched.found->what, fault::incomplete);
  EXPECT_NE(watched.found->text.find("was not flushed when unlock() returned"), std::string::npos);
  // MPI may wait with the operation until a flush that never comes.
  const checker::report lazy = check_mutant(unwatched(entry), mutant, delivery_mode::lazy);
  ASSERT_TRUE(lazy.found);
  EXPECT_EQ(lazy.found->what, fault::deadlock);
  // Where it is delivered at once nobody notices, which is how it was published.
  const checker::report eager = check_mutant(unwatched(entry), mutant, delivery_mode::eager);
  EXPECT_FALSE(eager.found) << eager.found->text;
  EXPECT_TRUE(eager.complete);
}

TEST(known_faults, point_to_point_lock_without_the_flush_of_its_registration_deadlocks) {
  for (const char* name : {"dash", "dash.published"}) {
    const bench::lock_entry& entry = lock_named(name);
    const checker::mutation mutant = mutant_of(entry, "words_.flush(predecessor)", change::dropped);
    const checker::report lazy = check_mutant(unwatched(entry), mutant, delivery_mode::lazy);
    ASSERT_TRUE(lazy.found) << name;
    EXPECT_EQ(lazy.found->what, fault::deadlock);
  }
}

TEST(known_faults, put_lock_without_the_flush_of_its_hand_over_deadlocks) {
  const bench::lock_entry& entry = lock_named("d_mcs");
  const checker::mutation mutant = mutant_of(entry, "grants_.flush(to)", change::dropped);
  const checker::report lazy = check_mutant(unwatched(entry), mutant, delivery_mode::lazy);
  ASSERT_TRUE(lazy.found);
  EXPECT_EQ(lazy.found->what, fault::deadlock);
}

TEST(known_faults, waiting_with_win_sync_alone_deadlocks_where_the_target_must_progress) {
  const bench::lock_entry& entry = lock_named("d_mcs");
  const checker::mutation mutant =
      mutant_of(entry, "world_->await_direct(grants_, owner_, &grant::given", change::unaware);
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

}  // namespace
}  // namespace nearfar::test
