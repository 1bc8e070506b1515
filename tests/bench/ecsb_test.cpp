#include "bench/ecsb.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "bench/catalogue.hpp"
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
