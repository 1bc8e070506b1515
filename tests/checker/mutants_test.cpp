// Every lock broken at every operation: the checker must notice each time.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/checker/lock_mutants.hpp"

namespace nearfar::test {
namespace {

using checker::attempts;
using checker::change;

/// A few hundred executions each, of most locks.
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
    {"lock/hemlock.hpp", "word.store(nothing", change::postponed,
     "who released waits for it, or need not have it yet"},
    {"lock/hemlock.hpp", "world_->await(words_->of(rank_)", change::relaxed,
     "waits for what another takes, and reads nothing of it"},
    {"lock/hemlock.hpp", "mine.store(given", change::postponed,
     "the lock is handed over after the look for a successor, as in the other variants", "hemlock"},
    {"lock/hemlock.hpp", "mine.store(given", change::postponed, "the same", "hemlock.ah"},
    {"lock/hemlock.hpp", "mine.store(given", change::postponed, "the same", "hemlock.ctr_ah"},
    {"lock/hemlock.hpp", "mine.store(given", change::postponed, "the same", "cohort.mcs_hemlock*"},
    {"lock/near_tts_lock.hpp", "world_->await(lock_->state", change::relaxed,
     "the exchange that follows acquires"},
    {"lock/near_tts_lock.hpp", "lock_->waiting.store(1", change::dropped,
     "a hint: who does not see it gives the lock above up"},
    {"lock/near_tts_lock.hpp", "lock_->waiting.store(1", change::postponed, "the same"},
    {"lock/near_tts_lock.hpp", "lock_->waiting.store(0", change::postponed,
     "comes after a look at the global lock; before the lock is given back all the same"},
    {"lock/near_tts_lock.hpp", "lock_->state.exchange(base::held", change::relaxed,
     "beyond these searches in a cohort, where only who overtakes one that waits is not ordered by the "
     "global "
     "lock; found in near_tts",
     "cohort*"},
    {"lock/near_tts_lock.hpp", "lock_->state.compare_exchange(expected", change::relaxed,
     "the global lock orders what comes after", "cohort*"},
    {"lock/near_ticket_lock.hpp", "served = turn::of(lock_->serving.load", change::relaxed,
     "the global lock orders what comes after", "cohort*"},
    {"lock/ticket_lock.hpp", "at_home.look_and_await(", change::dropped,
     "what was read before is not what is waited for, and the wait looks again", "ticket", "flush"},
    {"lock/ticket_lock.hpp", "at_home.look_and_await(", change::dropped, "the same", "cohort.ticket*",
     "flush"},
    {"lock/hemlock.hpp", "lock_->passed.store(passes", change::dropped,
     "what is handed over is for cohorts only", "hemlock*"},
    {"lock/hemlock.hpp", "lock_->passed.store(passes", change::postponed,
     "what is handed over is for cohorts only", "hemlock*"},
    {"lock/cohort_lock.hpp", "words_.fetch_add(at_, &word::count", change::split, "the holder alone counts"},
    {"lock/cohort_lock.hpp", "words_.accumulate(at_, &word::count, no_passes", change::dropped,
     "a count that goes on lets the node give the lock up sooner: sim_test.py"},
    {"lock/cohort_lock.hpp", "words_.accumulate(at_, &word::count, no_passes", change::postponed, "the same"},
    {"lock/cohort_lock.hpp", "void reset() { count_->store(0", change::dropped, "the same"},
    {"lock/cohort_lock.hpp", "void reset() { count_->store(0", change::postponed, "the same"},
    {"lock/cohort_lock.hpp", "words_.flush(at_);  // before the next turn", change::dropped,
     "a late reset lengthens a turn only while a rank of another node waits, beyond these searches",
     "cohort.local_counter"},
    {"lock/cohort_lock.hpp", "count_->store(before + 1", change::postponed,
     "comes before the local lock is handed over all the same", "cohort.direct_counter"},
    {"lock/far_handover.hpp", "words_.accumulate(owner, &words::status", change::postponed,
     "the queue node is free once the successor is known; the grant may come later", "cohort.d_mcs"},
    {"lock/far_handover.hpp", "words_.accumulate(owner, &words::status", change::postponed,
     "the queue node is free once the successor is known; the grant may come later", "rma_mcs"},
    {"lock/far_queue.hpp", "words_.put(predecessor, next, announced_)", change::postponed,
     "comes after a look at what the node remembers, which is still before the wait", "cohort.d_mcs"},
    {"lock/participant.hpp", "access_.write(words, element(owner), field, value)", change::postponed,
     "comes before the lock within the node is handed over all the same"},
    {"lock/near_ticket_lock.hpp", "if (!is_next()) world_->await(mine", change::dropped,
     "who goes on early waits at the ticket that is served", "twa"},
    {"lock/near_ticket_lock.hpp", "if (!is_next()) world_->await(mine", change::relaxed,
     "a hint, after which the ticket that is served is waited for", "twa"},
    {"lock/selective_queue.hpp", "mine_->given.store(detail::not_given", change::postponed,
     "is what it was at first, and so may be reset after the wait instead of before it"},
    {"lock/selective_queue.hpp", "next.store(self_", change::postponed,
     "the wait before it may end by its deadline, and before it sleeps the rank has registered; found in cna",
     "near_cst"},
    {"lock/selective_queue.hpp", "node_of(last).next.store(next", change::postponed,
     "does harm only when who was set aside has come back by then, beyond these searches; found in cna",
     "near_cst"},
    {"lock/fc_mcs_lock.hpp", "state.store(posted", change::relaxed,
     "does harm only where a combiner resets the word of another rank in turn, beyond these searches"},
    {"lock/fc_mcs_lock.hpp", "world_->await_any(when(state", change::relaxed,
     "the await after the loop orders"},
    {"lock/fc_mcs_lock.hpp", "one_of.state.store(collected", change::postponed,
     "another rank writes the word only after the chain has joined the queue"},
    {"lock/fc_mcs_lock.hpp", "one_of.next.store(nobody", change::postponed, "the same"},
    {"lock/fc_mcs_lock.hpp", "records_.at(rank_).next.store(nobody", change::postponed,
     "this rank alone reads it, when it releases"},
    {"lock/fc_mcs_lock.hpp", "combining().store(none", change::postponed,
     "the next combiner only waits longer"},
    {"lock/fc_mcs_lock.hpp", ".next.store(to_word(rank)", change::postponed,
     "is read only after the chain has joined the queue"},
    {"lock/fc_mcs_lock.hpp", "records_.at(rank_).next.store(nobody", change::dropped,
     "shows only where an attempt follows a chain of two: fc_mcs_test.cpp"},
    {"lock/cst_lock.hpp", "theirs.woken.value.fetch_add(1", change::split,
     "two add at once only if one of them is late for a sleep that is over, beyond these searches"},
    {"lock/fissile_lock.hpp", "lock_->closing.store(", change::dropped,
     "bounds how often the first is overtaken: fissile_test.cpp"},
    {"lock/fissile_lock.hpp", "lock_->closing.store(", change::postponed, "the same"},
    {"lock/fissile_lock.hpp", "world_->await(lock_->state", change::relaxed,
     "the compare-and-swap that follows acquires"},
    {"lock/clof_lock.hpp", "passes_->store(grant.passes", change::postponed,
     "comes before the lock is handed over all the same"},
    {"lock/clof_lock.hpp", "passes_->store(Local::from_above", change::postponed, "the same"},
    {"lock/clof_lock.hpp", "passes_->store(Local::from_above", change::dropped,
     "an older count lets the lock leave the element sooner"},
    {"lock/mcs_lock.hpp", "mine_->passed.store(waiting", change::dropped,
     "the word excludes, the queue only keeps an order", "fissile"},
    {"lock/mcs_lock.hpp", "mine_->passed.store(waiting", change::postponed, "the same", "fissile"},
    {"lock/mcs_lock.hpp", "world_->await(mine_->passed", change::dropped, "the same", "fissile"},
    {"lock/mcs_lock.hpp", "world_->await(mine_->passed", change::relaxed, "the same", "fissile"},
    {"lock/mcs_lock.hpp", "if (tail_->compare_exchange(expected, none, std::memory_order_release",
     change::relaxed, "the same", "fissile"},
    {"lock/mcs_lock.hpp", "passed.store(passes, std::memory_order_release", change::relaxed, "the same",
     "fissile"},
    {"lock/mcs_lock.hpp", "passed.store(passes, std::memory_order_release", change::postponed,
     "the next of the queue begins to compete later", "fissile"},
    {"lock/shfl_lock.hpp", "when(words_, rank_, &words::grants", change::dropped,
     "the word excludes, the queue only keeps an order"},
    {"lock/shfl_lock.hpp", "granted_ = world_->await_direct(", change::dropped, "the same"},
    {"lock/shfl_lock.hpp", "granted_ = world_->await_direct(", change::unaware,
     "follows a wait for the same unless it has shuffled, for which these ranks are too few", "shfl"},
    {"lock/shfl_lock.hpp", "granted_ = world_->await_direct(", change::unaware, "the same", "shfl.tts"},
    {"lock/shfl_lock.hpp", "granted_ = world_->await_direct(", change::unaware, "the same", "shfl.d_mcs"},
    {"lock/shfl_lock.hpp", "granted_ = world_->await_direct(", change::unaware, "the same",
     "shfl.named_at_once"},
    {"lock/shfl_lock.hpp", "words_.accumulate(to_rank(next), &words::grants", change::postponed,
     "this rank has left the queue by then; who is next may learn later"},
    {"lock/biased_queue.hpp", "words_.write_direct(owner_, &words::state", change::postponed,
     "is for ranks of the node, and before the local lock is handed over all the same"},
    {"lock/biased_queue.hpp", "words_.write_direct(owner_, &words::claimed", change::postponed, "the same"},
    {"lock/biased_queue.hpp", "words_.flush(kept.owner)", change::dropped,
     "who tries fails, which is no fault here; biased_queue_test has attempts that have to succeed"},
    {"lock/biased_queue.hpp", "words_.write_direct(owner_, &words::answer", change::postponed,
     "who asks waits for it, and asks only who has registered"},
    {"lock/biased_queue.hpp", "world_->fence(std::memory_order_seq_cst)", change::dropped,
     "what is done in place is in order here; on hardware tests/litmus has the two flags"},
    {"lock/biased_queue.hpp", "channel_.signal(rank_in(", change::postponed,
     "what the node remembers is written before; the wake-up may come later"},
    {"lock/mcs_lock.hpp", "if (tail_->compare_exchange(expected, none, std::memory_order_release",
     change::relaxed, "the fence before it orders", "cohort"},
    {"lock/tas_lock.hpp", "words_.accumulate(home_, &word::state, is_free", change::postponed,
     "comes after the look for a successor, which is still before the local lock is left", "cohort.tas"},
    {"lock/hclh_lock.hpp", "cell_of(queue_node::of(last_)).store(is_first", change::relaxed,
     "orders what a node's batches append, and that of the one before is complete by its flush"},
    {"lock/hmcs_lock.hpp", "mine.given.store(waiting", change::postponed,
     "is what it was at first, and so may be reset after the wait instead of before it"},
    {"lock/hmcs_lock.hpp", "const cell next = world_->await(node_in(i).next", change::unaware,
     "ends by a near store of a rank that needs nothing of this one before"},
};

/// In a lock without RMA no rank needs a waiting rank to enter the library.
bool is_harmless(const bench::lock_entry& entry, const checker::mutation& mutant) {
  if (entry.one_node_only && mutant.how == change::unaware) return true;
  return is_known_harmless(harmless_changes, entry.name, mutant);
}

/// Most violations show soon at random, or in small programs.
std::optional<checker::violation> search(const bench::lock_entry& entry, const checker::mutation& mutant) {
  const auto search_in = [&](const std::vector<shape>& among, checker::options how) {
    how.broken = mutant;
    return violation_in(programs_of(entry, among), how, checker::testing::modes_of(entry));
  };
  const auto search_at_random = [&](std::uint64_t executions, std::uint64_t seed) {
    return search_in({{3, 3, 2}, {5, 3, 3}, {3, 3, 3, attempts::try_first}},
                     {.by = checker::search::random, .most_executions = executions, .seed = seed});
  };
  if (auto found = search_at_random(50, 1)) return found;
  // No program is given much before all have been given less.
  for (const std::uint64_t executions : {50U, 400U, 3000U, 30'000U}) {
    if (auto found = search_in(small_shapes(), {.most_executions = executions})) return found;
    if (auto found = search_in(large_shapes(), {.most_executions = executions})) return found;
    if (auto found = search_at_random(std::min<std::uint64_t>(executions, 2000), executions)) return found;
  }
  return std::nullopt;
}

class mutants : public testing::TestWithParam<std::string> {};

TEST_P(mutants, are_all_caught) {
  const bench::lock_entry& entry = *bench::catalogue::instance().find(GetParam());
  const std::set<checker::mutation> all = all_mutants_of(entry);
  // A generator without mutants would make this test pass.
  ASSERT_GE(all.size(), 2U);
  for (const checker::mutation& mutant : all) {
    if (is_harmless(entry, mutant)) continue;
    EXPECT_TRUE(search(entry, mutant).has_value())
        << "not caught: " << mutant.text() << "\n  " << line_at(mutant.where);
  }
}

class kinds_of_mutants : public testing::TestWithParam<std::string> {};

TEST_P(kinds_of_mutants, include_every_one_that_matters) {
  const bench::lock_entry& entry = *bench::catalogue::instance().find(GetParam());
  const std::set<checker::mutation> all = all_mutants_of(entry);
  const auto has = [&](change how, const char* operation) { return changes(all, how, operation); };
  if (!entry.one_node_only) {
    EXPECT_TRUE(has(change::dropped, "flush"));
    EXPECT_TRUE(has(change::split, "swap") || has(change::split, "fetch_add"));
  }
  EXPECT_TRUE(has(change::dropped, "await")) << "nobody is waited for";
  if (entry.one_node_only) {
    EXPECT_TRUE(has(change::dropped, "store")) << "no reset, no registration, no hand-over";
    EXPECT_TRUE(has(change::split, "exchange") || has(change::split, "add"));
  }
  const bool has_far_queue = std::any_of(all.begin(), all.end(), [](const checker::mutation& one) {
    return one.where.file.ends_with("lock/far_queue.hpp");
  });
  if (has_far_queue) {
    EXPECT_TRUE(has(change::blind, "compare_and_swap"));
    EXPECT_TRUE(has(change::dropped, "write_direct") || has(change::dropped, "put")) << "no reset";
  }
}

class limits_of_passes : public testing::TestWithParam<std::string> {};

TEST_P(limits_of_passes, that_are_passed_are_caught) {
  const bench::lock_entry& entry = *bench::catalogue::instance().find(GetParam());
  const shape three_ranks{3, 2, 2};
  const checker::report right = checker::check(program_of(entry, three_ranks), {.most_executions = 20'000});
  EXPECT_FALSE(right.found.has_value());
  const checker::report wrong = checker::check(program_of(entry, three_ranks, local_passes + 1), {});
  ASSERT_TRUE(wrong.found.has_value());
  EXPECT_EQ(wrong.found->what, checker::fault::bypass);
}

/// But for pairs whose parts are broken in other pairs, which would take minutes each.
std::vector<std::string> names_to_break() {
  std::vector<std::string> names = sound_names();
  std::erase_if(names, [](const std::string& name) {
    return name == "cohort.tas_tts_published" || name == "cohort.ticket_tts_published" ||
           name == "cohort.mcs_tts_published" || name == "cohort.tas_tts" || name == "cohort.tas_ticket" ||
           name == "cohort.ticket_tts" || name == "cohort.ticket_mcs" || name == "cohort.mcs_tts" ||
           name == "cohort.mcs_twa" || name == "cohort.mcs_cna" || name == "cohort.mcs_fissile" ||
           name == "cohort.mcs_hemlock_ctr" || name == "cohort.mcs_hemlock_overlap" ||
           name == "cohort.mcs_hemlock_base" || name == "ahmcs" || name == "clof.mcs_mcs_mcs" ||
           name == "clof.mcs_hemlock_hemlock" || name == "clof.mcs_mcs_tts" ||
           name == "clof.ticket_mcs_hemlock" || name == "cohort.timed" || name == "cst";
  });
  return names;
}

/// But for one that has no operations of its own to choose among.
std::vector<std::string> names_with_operations() {
  std::vector<std::string> names = names_to_break();
  std::erase_if(names, [](const std::string& name) {
    return bench::catalogue::instance().find(name)->family() == "mpi_win";
  });
  return names;
}

std::vector<std::string> names_with_limit() {
  std::vector<std::string> names = names_to_break();
  std::erase_if(names, [](const std::string& name) {
    const checker::bypass_bound limit = bench::catalogue::instance().find(name)->bypass;
    return limit != checker::bypass_bound::local_passes && limit != checker::bypass_bound::level_passes;
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(of, mutants, testing::ValuesIn(names_to_break()), &name_of_case);
INSTANTIATE_TEST_SUITE_P(of, kinds_of_mutants, testing::ValuesIn(names_with_operations()), &name_of_case);
INSTANTIATE_TEST_SUITE_P(of, limits_of_passes, testing::ValuesIn(names_with_limit()), &name_of_case);

}  // namespace
}  // namespace nearfar::test
