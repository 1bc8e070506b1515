// The checks of the locks can fail: each of these locks has one flaw, and each must be found out.
#include <gtest/gtest.h>

#include <string>

#include "bench/kinds/locks/exclusion_check.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "tests/adversarial/broken_locks.hpp"
#include "tests/adversarial/watched.hpp"
#include "tests/lock/conformance.hpp"

namespace nearfar::testing {
namespace {

using threads::world;

/// The findings of the check of exclusion and hand-overs, over some seeds: timing decides whether a flaw
/// shows.
template <typename Lock>
std::string exclusion_of(int ranks, const std::string& topology) {
  constexpr int rounds = 300;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    progress_of_all all;
    // The team has one rank more, the referee.
    std::string found = complaints(ranks + 1, topology, [&](world& w) {
      watched_lock<Lock> lock(w, all, rounds);
      guarded<world> inside(w, access::relaxed);
      return check_exclusion<world>(w, lock, inside, {rounds, seed, access::relaxed});
    });
    if (!found.empty()) return found;
  }
  return {};
}

template <flaw Flaw>
std::string exclusion_with(const std::string& topology = {}) {
  return exclusion_of<flawed_mcs_lock<world, Flaw>>(3, topology);
}

::testing::AssertionResult says(const std::string& complaint, const std::string& words) {
  if (complaint.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "complaint is: '" << complaint << "'";
}

TEST(adversarial, the_same_lock_without_a_flaw_passes) {
  EXPECT_EQ(exclusion_with<flaw::none>(), "");
  EXPECT_EQ(exclusion_with<flaw::none>("node:2"), "");
  EXPECT_EQ((exclusion_of<flawed_cohort_lock<world, cohort_flaw::none>>(4, "node:2")), "");
}

TEST(adversarial, no_lock_at_all) { EXPECT_TRUE(says(exclusion_of<no_lock<world>>(3, ""), "exclusion")); }

TEST(adversarial, released_too_early) {
  EXPECT_TRUE(says(exclusion_with<flaw::released_too_early>(), "exclusion"));
}

TEST(adversarial, tail_read_and_written) { EXPECT_NE(exclusion_with<flaw::torn_swap>(), ""); }

TEST(adversarial, grant_not_reset) { EXPECT_NE(exclusion_with<flaw::no_grant_reset>(), ""); }

TEST(adversarial, queue_not_reset) { EXPECT_NE(exclusion_with<flaw::no_queue_reset>(), ""); }

TEST(adversarial, successor_forgotten) {
  EXPECT_TRUE(says(exclusion_with<flaw::successor_forgotten>(), "stuck"));
}

TEST(adversarial, never_handed_over) {
  EXPECT_TRUE(says(exclusion_with<flaw::never_handed_over>(), "stuck"));
}

TEST(adversarial, untruthful_handovers) {
  EXPECT_TRUE(says(exclusion_with<flaw::claims_local>("node:2"), "'local', but"));
  EXPECT_TRUE(says(exclusion_with<flaw::claims_remote>("node:2"), "'remote', but"));
  EXPECT_TRUE(says(complaints(2, "",
                              [](world& w) {
                                const auto lock =
                                    bench::make_any_lock<flawed_mcs_lock<world, flaw::claims_local>>(w);
                                return check_alone(w, *lock);
                              }),
                   "waited for a lock that was free"));
}

TEST(adversarial, try_lock_that_does_not_look) {
  EXPECT_TRUE(says(complaints(3, "",
                              [](world& w) {
                                const auto lock = bench::make_any_lock<no_lock<world>>(w);
                                return check_try_lock(w, *lock, {.how = access::relaxed});
                              }),
                   "took a lock that another rank held"));
  EXPECT_NE(exclusion_with<flaw::tries_without_looking>(), "");
}

TEST(adversarial, try_lock_that_stays_in_the_queue) {
  EXPECT_NE(exclusion_with<flaw::tries_by_queueing>(), "");
}

TEST(adversarial, cohort_passed_on_after_the_global_lock_was_given_up) {
  EXPECT_NE((exclusion_of<flawed_cohort_lock<world, cohort_flaw::passed_on_after_giving_up>>(4, "node:2")),
            "");
}

TEST(adversarial, cohort_without_its_global_lock) {
  EXPECT_TRUE(
      says(exclusion_of<flawed_cohort_lock<world, cohort_flaw::local_only>>(4, "node:2"), "exclusion"));
}

// The test of a cohort's limit reads this longest run.
TEST(adversarial, cohort_that_passes_on_for_ever) {
  const auto longest_run = []<typename Lock>() {
    std::uint64_t longest = 0;
    EXPECT_EQ(complaints(4, "node:2",
                         [&](world& w) {
                           const auto lock = bench::make_any_lock<Lock>(w);
                           guarded<world> inside(w, access::relaxed);
                           std::string found = check_exclusion<world>(w, *lock, inside, {.rounds = 2000});
                           if (w.rank() == 0) longest = inside.longest_run();
                           w.barrier();
                           return found;
                         }),
              "");
    return longest;
  };
  using right = flawed_cohort_lock<world, cohort_flaw::none>;
  EXPECT_LE(longest_run.operator()<right>(), right::max_passes);
  EXPECT_GT((longest_run.operator()<flawed_cohort_lock<world, cohort_flaw::unlimited>>()), right::max_passes);
}

// These locks keep their counters right by chance only.
TEST(adversarial, many_locks_that_do_not_exclude) {
  const lock_maker<world> make = [](world& in, int home) {
    return bench::make_any_lock<no_lock<world>>(in, home);
  };
  EXPECT_TRUE(says(complaints(3, "",
                              [&](world& w) {
                                return check_many_held(w, make, {.rounds = 2000, .how = access::relaxed});
                              }),
                   "exclusion"));
  EXPECT_TRUE(says(
      complaints(3, "",
                 [&](world& w) { return check_homes(w, make, {.rounds = 2000, .how = access::relaxed}); }),
      "exclusion"));
}

/// Whether the benchmarks' own check holds after all ranks have counted under `Lock`, a number of times.
template <typename Lock>
bool benchmark_check_holds(const std::string& topology, int rounds, int times) {
  bool result = true;
  const std::string found = complaints(3, topology, [&](world& w) -> std::string {
    const auto lock = bench::make_any_lock<Lock>(w);
    bench::exclusion_check<world> check(w);
    bool holds = true;
    for (int time = 0; time < times && holds; ++time) {
      // Rounds are counted, not timed: on a busy machine a span of time may end before two threads met. Each
      // time has more rounds, so that threads that share one processor are interrupted in the middle.
      const int rounds_now = rounds << std::min(time, 8);
      for (int round = 0; round < rounds_now; ++round) {
        lock->lock();
        check.count_everywhere();
        check.count_in_node();
        lock->unlock();
      }
      holds = check.holds();
      w.barrier();
    }
    if (w.rank() == 0) result = holds;
    return {};
  });
  EXPECT_EQ(found, "");
  return result;
}

TEST(adversarial, check_of_the_benchmarks) {
  for (const std::string topology : {"", "node:2"}) {
    // Many times, in case the threads run one after the other.
    EXPECT_FALSE(benchmark_check_holds<no_lock<world>>(topology, 200'000, 100)) << topology;
    EXPECT_TRUE((benchmark_check_holds<flawed_mcs_lock<world, flaw::none>>(topology, 2'000, 2))) << topology;
  }
}

}  // namespace
}  // namespace nearfar::testing
