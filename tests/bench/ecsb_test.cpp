#include "bench/kinds/locks/ecsb.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/mcs_lock.hpp"

namespace nearfar::bench {
namespace {

template <typename Make>
lock_entry entry_of(Make make) {
  lock_entry entry{
      .name = "under_test", .summary = "", .paper = "", .fairness = "", .cost = "", .parameters = {}};
  std::get<lock_entry::factory_in<threads::world>>(entry.factories) = make;
  return entry;
}

sample run_one(const lock_entry& entry, int ranks, const char* topology = "node:1") {
  sample result;
  threads::run(ranks,
               [&](threads::world& w) {
                 sample mine = run_ecsb(w, entry, {}, std::chrono::milliseconds(50));
                 if (w.rank() == 0) result = std::move(mine);
               },
               {.topology = topology_spec::parse(topology)});
  return result;
}

TEST(ecsb, counts_what_happened) {
  const sample result = run_one(*catalogue::instance().find("cohort"), 3);
  EXPECT_TRUE(result.verified);
  ASSERT_EQ(result.iterations_per_rank.size(), 3U);
  EXPECT_GT(result.iterations, 0);
  EXPECT_EQ(result.iterations,
            result.iterations_per_rank[0] + result.iterations_per_rank[1] + result.iterations_per_rank[2]);
  EXPECT_LE(*result.count("local_handovers"), *result.count("contended"));
  EXPECT_LE(*result.count("contended"), static_cast<double>(result.iterations));
  EXPECT_GT(result.duration, std::chrono::nanoseconds(0));
}

TEST(ecsb, tells_for_which_of_its_two_locks_a_cohort_lock_waited) {
  const sample result = run_one(entry_of([](threads::world& w, int, const lock_parameters&) {
                                  return make_any_lock<default_cohort_lock<threads::world>>(w);
                                }),
                                4, "node:2");
  EXPECT_TRUE(result.verified);
  const auto all = static_cast<double>(result.iterations);
  EXPECT_EQ(*result.count("above") + *result.count("local_handovers"), all);
  EXPECT_LE(*result.count("waited_above"), *result.count("above"));
  // A rank of a node that hands the lock over waits for it.
  EXPECT_GE(*result.count("waited_within"), *result.count("local_handovers"));
  EXPECT_LE(*result.count("waited_within"), all);
  EXPECT_GE(*result.count("contended"), *result.count("waited_above"));
}

TEST(ecsb, a_lock_of_one_level_tells_nothing_of_two) {
  const sample result = run_one(*catalogue::instance().find("mcs"), 2);
  EXPECT_TRUE(result.verified);
  EXPECT_FALSE(result.count("above").has_value());
  EXPECT_FALSE(result.count("waited_within").has_value());
}

TEST(ecsb, a_median_drift_decides_whether_it_is_steady) {
  const auto of = [](std::int64_t first, std::int64_t second, int ranks = 2) {
    sample one;
    one.ranks = ranks;
    one.in_first_half = first;
    one.iterations = first + second;
    return one;
  };
  const auto judge = [](const std::vector<sample>& samples) {
    std::vector<const sample*> pointers;
    for (const sample& one : samples) pointers.push_back(&one);
    return is_steady(pointers);
  };
  EXPECT_TRUE(judge({of(100, 109)}));
  EXPECT_FALSE(judge({of(100, 112)}));
  EXPECT_TRUE(judge({of(109, 100)}));
  EXPECT_FALSE(judge({of(112, 100)}));
  EXPECT_TRUE(judge({of(100, 100), of(100, 300), of(101, 100)}));
  EXPECT_FALSE(judge({of(100, 300), of(100, 300), of(101, 100)}));
  EXPECT_FALSE(judge({of(9, 9)}));
  EXPECT_TRUE(judge({of(10, 10)}));
  EXPECT_FALSE(judge({of(0, 100)}));
  EXPECT_TRUE(judge({sample{}}));
}

TEST(ecsb, is_not_steady_if_one_rank_has_next_to_nothing) {
  const auto judge = [](const char* kind, std::vector<std::int64_t> of_ranks) {
    sample one;
    one.kind = kind;
    one.ranks = static_cast<int>(of_ranks.size());
    one.iterations = std::accumulate(of_ranks.begin(), of_ranks.end(), std::int64_t{0});
    one.in_first_half = one.iterations / 2;
    one.iterations_per_rank = std::move(of_ranks);
    const sample* const all[] = {&one};
    return is_steady(all);
  };
  EXPECT_FALSE(judge("lock", {164737, 1, 1}));
  EXPECT_FALSE(judge("rw_lock", {100, 9}));
  EXPECT_FALSE(judge("lock", {1000, 1000, 99}));
  EXPECT_TRUE(judge("lock", {1000, 1000, 100}));
  // One rank has nearly all, but the others have enough.
  EXPECT_TRUE(judge("lock", {100000, 10, 10}));
  // A master that does no work itself.
  EXPECT_TRUE(judge("farm", {0, 1000}));
}

TEST(ecsb, contention_of_an_opaque_lock_is_unknown) {
  struct opaque_lock : lockable<opaque_lock, threads::world> {
    explicit opaque_lock(threads::world& w) : lockable(w, {}), inner(w) {}
    handover acquire() {
      inner.acquire();
      return handover::unknown;
    }
    void release() { inner.release(); }
    mcs_lock<threads::world> inner;
  };
  const sample result = run_one(
      entry_of([](threads::world& w, int, const lock_parameters&) { return make_any_lock<opaque_lock>(w); }),
      2);
  EXPECT_TRUE(result.verified);
  EXPECT_FALSE(result.count("contended").has_value());
  EXPECT_FALSE(result.count("local_handovers").has_value());
}

}  // namespace
}  // namespace nearfar::bench
