// The sequence lock on threads: no reader ever gets words of two values.
#include "nearfar/lock/seq_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "nearfar/core/error.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::testing {
namespace {

using threads::world;

threads::options shaped(const char* topology) {
  threads::options chosen;
  chosen.topology = topology_spec::parse(topology);
  return chosen;
}

/// Equal bytes belong to one value.
template <std::size_t Bytes>
using value = std::array<std::uint8_t, Bytes>;

template <std::size_t Bytes>
value<Bytes> all(std::uint8_t byte) {
  value<Bytes> result;
  result.fill(byte);
  return result;
}

template <std::size_t Bytes, typename Writers>
void expect_whole_values(int ranks, const char* topology) {
  threads::run(
      ranks,
      [](world& w) {
        seq_lock<world, value<Bytes>, Writers> shared(w, all<Bytes>(1), w.size() - 1);
        EXPECT_EQ(shared.load(), all<Bytes>(1));
        w.barrier();
        for (int round = 0; round < 2000; ++round) {
          if (round % 5 == w.rank() % 5) shared.store(all<Bytes>(static_cast<std::uint8_t>(round % 256)));
          const value<Bytes> seen = shared.load();
          ASSERT_EQ(seen, all<Bytes>(seen[0])) << "torn";
          const value<Bytes> tried = shared.try_load().value_or(seen);
          ASSERT_EQ(tried, all<Bytes>(tried[0])) << "torn";
        }
        w.barrier();
      },
      shaped(topology));
}

TEST(seq_lock, gives_whole_values) {
  for (const char* topology : {"node:1", "node:3"}) {
    expect_whole_values<1, tas_lock<world>>(3, topology);
    expect_whole_values<4, tas_lock<world>>(3, topology);
    expect_whole_values<11, default_cohort_lock<world>>(3, topology);
    expect_whole_values<40, default_cohort_lock<world>>(3, topology);
  }
}

TEST(seq_lock, loses_no_update) {
  for (const char* topology : {"node:1", "node:2"})
    threads::run(
        4,
        [](world& w) {
          constexpr int times = 500;
          seq_lock<world, std::array<std::int64_t, 3>> shared(w);
          for (int i = 0; i < times; ++i)
            shared.update([](auto& numbers) {
              for (std::int64_t& each : numbers) ++each;
            });
          w.barrier();
          const std::int64_t all_updates = std::int64_t{times} * w.size();
          EXPECT_EQ(shared.load(), (std::array<std::int64_t, 3>{all_updates, all_updates, all_updates}));
          w.barrier();
        },
        shaped(topology));
}

TEST(seq_lock, holds_what_its_home_gives_it) {
  threads::run(3, [](world& w) {
    seq_lock<world, int> shared(w, 10 + w.rank(), 1);
    EXPECT_EQ(shared.load(), 11);
    w.barrier();
  });
}

TEST(seq_lock, of_a_home_that_is_no_rank_is_misuse) {
  EXPECT_THROW(threads::run(2, [](world& w) { seq_lock<world, int> shared(w, 0, 2); }), misuse);
}

}  // namespace
}  // namespace nearfar::testing
