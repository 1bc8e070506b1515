// Every lock broken at every operation: the checker must notice each time.

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/checker/lock_mutants.hpp"

namespace nearfar::test {
namespace {

using checker::attempts;
using checker::change;

/// A few hundred executions each.
const std::vector<shape>& small_shapes() {
  static const std::vector<shape> all{
      {2, 2, 2},
      {2, 2, 2, attempts::try_first},
      {2, 2, 1},
      {3, 1, 2},
      {3, 1, 2, attempts::try_first},
      // A word that is used in turn is reset for the third acquisition, and shows in the fourth if it was
      // not.
      {2, 4, 2},
  };
  return all;
}

/// Many thousands.
const std::vector<shape>& large_shapes() {
  static const std::vector<shape> all{{3, 2, 1}, {3, 2, 1, attempts::try_first}, {3, 2, 2}};
  return all;
}

std::set<checker::mutation> all_mutants_of(const bench::lock_entry& entry) {
  std::vector<shape> shapes = small_shapes();
  shapes.insert(shapes.end(), large_shapes().begin(), large_shapes().end());
  return mutants_of(entry, shapes);
}

constexpr harmless harmless_changes[] = {
    {"lock/dash_lock.hpp", "channel_.signal(to_rank(successor))", change::postponed,
     "the queue node is free once the successor is known; the wake-up may come later"},
    {"lock/mcs_lock.hpp", "if (tail_->compare_exchange(expected, none, std::memory_order_release",
     change::relaxed, "the global lock orders what comes after, and no queue node is shared", "cohort.tas"},
    {"lock/cohort_lock.hpp", "words_.put(at_, &word::count, count)", change::postponed,
     "comes before the local lock is handed over all the same", "cohort.local_counter"},
    {"lock/cohort_lock.hpp", "words_.put(at_, &word::count, count)", change::postponed,
     "a late reset lengthens a series only while a rank of another node has steps to take",
     "cohort.global_counter"},
    {"lock/far_handover.hpp", "words_.accumulate(owner, &words::status", change::postponed,
     "the queue node is free once the successor is known; the grant may come later", "cohort.d_mcs"},
    {"lock/far_handover.hpp", "words_.accumulate(owner, &words::status", change::postponed,
     "the queue node is free once the successor is known; the grant may come later", "rma_mcs"},
    {"lock/far_queue.hpp", "words_.put(predecessor, next, announced_)", change::postponed,
     "comes after a look at what the node remembers, which is still before the wait", "cohort.d_mcs"},
    {"lock/participant.hpp", "words.write_direct(owner, field, value)", change::postponed,
     "comes before the lock within the node is handed over all the same"},
    {"lock/cohort_lock.hpp", "void write(std::uint64_t count) { count_->store(count", change::postponed,
     "comes before the local lock is handed over all the same", "cohort.direct_counter"},
    {"lock/tas_lock.hpp", "words_.accumulate(home_, &word::state, is_free", change::postponed,
     "comes after the look for a successor, which is still before the local lock is left", "cohort.tas"},
};

/// In a lock without RMA nobody needs a waiting rank to enter the library.
bool is_harmless(const bench::lock_entry& entry, const checker::mutation& mutant) {
  if (entry.one_node_only && mutant.how == change::unaware) return true;
  return is_known_harmless(harmless_changes, entry.name, mutant);
}

/// What is found at all is mostly found in small programs, or soon at random in larger ones.
std::optional<checker::violation> search(const bench::lock_entry& entry, const checker::mutation& mutant) {
  // Without RMA the modes do not differ.
  const std::vector<checker::delivery_mode> modes =
      entry.one_node_only ? std::vector{checker::delivery_mode::lazy} : all_delivery_modes;
  const auto search_in = [&](const std::vector<shape>& among, checker::options how) {
    how.broken = mutant;
    return violation_in(programs_of(entry, among), how, modes);
  };
  if (auto found = search_in(small_shapes(), {})) return found;
  if (auto found =
          search_in({{3, 3, 2}, {5, 3, 3}}, {.by = checker::search::random, .most_executions = 2000}))
    return found;
  return search_in(large_shapes(), {.most_executions = 30'000});
}

class mutants : public testing::TestWithParam<std::string> {};

TEST_P(mutants, are_all_caught) {
  const bench::lock_entry& entry = *bench::catalogue::instance().find(GetParam());
  const std::set<checker::mutation> all = all_mutants_of(entry);
  // A generator that finds nothing to break would make this test pass.
  ASSERT_GE(all.size(), 2U);
  for (const checker::mutation& mutant : all) {
    if (is_harmless(entry, mutant)) continue;
    EXPECT_TRUE(search(entry, mutant).has_value())
        << "not caught: " << mutant.text() << "\n  " << line_at(mutant.where);
  }
}

TEST_P(mutants, include_every_kind_that_matters) {
  const bench::lock_entry& entry = *bench::catalogue::instance().find(GetParam());
  if (entry.family() == "mpi_win") return;  // has no operations of its own to choose among
  const std::set<checker::mutation> all = all_mutants_of(entry);
  const auto has = [&](change how, const char* operation) { return changes(all, how, operation); };
  if (!entry.one_node_only) {
    EXPECT_TRUE(has(change::dropped, "flush"));
    EXPECT_TRUE(has(change::split, "swap"));
  }
  if (entry.name.find("tas") != std::string::npos) return;
  EXPECT_TRUE(has(change::dropped, "await")) << "the successor is not awaited";
  if (entry.one_node_only) {
    EXPECT_TRUE(has(change::dropped, "store")) << "no reset, no registration, no hand-over";
    EXPECT_TRUE(has(change::relaxed, "exchange"));
    EXPECT_TRUE(has(change::split, "compare_exchange"));
  } else {
    EXPECT_TRUE(has(change::blind, "compare_and_swap"));
    EXPECT_TRUE(has(change::dropped, "write_direct") || has(change::dropped, "put")) << "no reset";
  }
}

TEST_P(mutants, that_pass_on_once_too_often_are_caught) {
  const bench::lock_entry& entry = *bench::catalogue::instance().find(GetParam());
  if (entry.bypass != checker::bypass_bound::local_passes) return;  // has no such limit
  const shape three_ranks{3, 2, 2};
  const checker::report right = checker::check(program_of(entry, three_ranks), {.most_executions = 20'000});
  EXPECT_FALSE(right.found.has_value());
  const checker::report wrong = checker::check(program_of(entry, three_ranks, local_passes + 1), {});
  ASSERT_TRUE(wrong.found.has_value());
  EXPECT_EQ(wrong.found->what, checker::fault::bypass);
}

INSTANTIATE_TEST_SUITE_P(of, mutants, testing::ValuesIn(sound_names()), &name_of_case);

}  // namespace
}  // namespace nearfar::test
