// Broken forms of sleep in a lock. Each loses a wake-up, and the checker has to find it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/cst_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

/// The fault in how a rank sleeps or is woken.
enum class fault_of_sleep : std::uint8_t {
  none,
  counts_not,      ///< the waking rank does not change the word of the sleeping rank
  wakes_nobody,    ///< the waking rank changes the word, but makes no call
  looks_too_soon,  ///< the rank looks first and then reads the word that it sleeps on, so it misses a wake-up
                   ///< between
};

/// `prefers_awake` written once more, so that it can be wrong.
template <fault_of_sleep Wrong>
class sleeper : public nearfar::detail::prefers_awake<world> {
  using base = nearfar::detail::prefers_awake<world>;

 public:
  sleeper(world& w, std::chrono::nanoseconds spin) : base(w, spin), world_(&w), spin_(spin) {}

  template <typename Cell>
  [[nodiscard]] std::uint64_t await(Cell& given, per_rank& own) {
    const auto is_given = [](std::uint64_t word) { return word != nearfar::detail::not_given; };
    for (;;) {
      if (const auto word = world_->await_until(time_for_waiting(*world_) + spin_, given, is_given))
        return *word;
      std::uint64_t expected = nearfar::detail::not_given;
      static_cast<void>(
          given.compare_exchange(expected, asleep, std::memory_order_relaxed, std::memory_order_relaxed));
      const std::uint64_t now = sleep(given, own);
      if (is_given(now)) return now;
    }
  }
  template <typename Cell>
  void give(Cell& given, per_rank& theirs, std::uint64_t word) {
    if (given.exchange(word, std::memory_order_release) == asleep) wake(theirs);
  }
  template <typename Cell>
  void recall(Cell& given, per_rank& theirs) {
    std::uint64_t expected = asleep;
    if (given.compare_exchange(expected, nearfar::detail::not_given, std::memory_order_relaxed,
                               std::memory_order_relaxed))
      wake(theirs);
  }

 private:
  template <typename Cell>
  [[nodiscard]] std::uint64_t sleep(const Cell& given, per_rank& own) {
    for (;;) {
      std::uint32_t seen = own.woken.value.load(std::memory_order_acquire);
      const std::uint64_t now = given.load(std::memory_order_acquire);
      if (now != asleep) return now;
      if (Wrong == fault_of_sleep::looks_too_soon) seen = own.woken.value.load(std::memory_order_acquire);
      nearfar::detail::park(*world_, own.woken, seen);
    }
  }
  void wake(per_rank& theirs) {
    if (Wrong != fault_of_sleep::counts_not) theirs.woken.value.fetch_add(1, std::memory_order_release);
    if (Wrong != fault_of_sleep::wakes_nobody) nearfar::detail::unpark(*world_, theirs.woken, 1);
  }

  world* world_;
  std::chrono::nanoseconds spin_;
};

template <fault_of_sleep Wrong>
program with(int ranks) {
  return lock_program(topology_spec::parse("node:1").place(ranks), 1,
                      [](world& w) { return std::make_unique<selective_queue<world, sleeper<Wrong>>>(w); });
}

/// Whether some rank sleeps on though it has been given the lock.
template <fault_of_sleep Wrong>
bool loses_a_wake_up(int ranks) {
  const report result = check(with<Wrong>(ranks), {.most_executions = 100'000});
  EXPECT_TRUE(!result.found || result.found->what == fault::deadlock) << result.found->text;
  return result.found.has_value();
}

TEST(sleep_for_a_lock, loses_no_wake_up) {
  expect_nothing_found(with<fault_of_sleep::none>(2), {});
  EXPECT_FALSE(loses_a_wake_up<fault_of_sleep::none>(3));
}
[[nodiscard]] program parking(int ranks, int acquisitions) {
  return lock_program(topology_spec::parse("node:1").place(ranks), acquisitions,
                      [](world& w) { return std::make_unique<parking_lock<world>>(w); });
}
TEST(sleep_for_a_lock, may_end_for_no_reason) {
  expect_nothing_found(parking(2, 1), {.most_early_wakes = 1});
  expect_nothing_found(parking(3, 2), {.by = search::random, .most_early_wakes = 2, .most_executions = 3000});
}
TEST(sleep_for_a_lock, is_found_with_any_of_its_calls_broken) {
  int calls = 0;
  for (const mutation& one : mutations_of(parking(3, 2), {}, "lock/cst_lock.hpp")) {
    if (one.operation != "sleep" && one.operation != "wake") continue;
    ++calls;
    const report result =
        check(parking(3, 2), {.by = search::random, .most_executions = 20'000, .broken = one});
    ASSERT_TRUE(result.found) << one.text();
    EXPECT_EQ(result.found->what, fault::deadlock);
  }
  EXPECT_EQ(calls, 2);
}

TEST(sleep_for_a_lock, loses_one_if_it_is_wrong) {
  EXPECT_TRUE(loses_a_wake_up<fault_of_sleep::counts_not>(2));
  EXPECT_TRUE(loses_a_wake_up<fault_of_sleep::wakes_nobody>(2));
  EXPECT_TRUE(loses_a_wake_up<fault_of_sleep::looks_too_soon>(2));
}

}  // namespace
}  // namespace nearfar::checker::testing
