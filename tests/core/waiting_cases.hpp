/// \file Checks of waits with deadlines and waits for several conditions, for every world on real hardware.
/// All are collective.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/topology/level.hpp"
#include "tests/lock/jitter.hpp"

namespace nearfar::testing {

struct awaited_words {
  far<std::uint64_t> put;      ///< written by put
  far<std::uint64_t> swapped;  ///< and by atomics only
};
template <typename W>
struct awaited_cells {
  typename W::template near<std::uint64_t> wide;
  typename W::template near<std::int32_t> narrow;
};

/// The words and cells of each rank, and of its right and left neighbours.
template <typename W>
struct waiting_scene {
  explicit waiting_scene(W& world) : w(world), far(world, 2), near(world, 2), signals(world) {
    // No rank uses the scene before all ranks have made it.
    w.barrier();
  }

  void put(element where, const std::uint64_t& value) {
    far.put(where, &awaited_words::put, value);
    far.flush(where.rank);
  }
  void replace(element where, const std::uint64_t& value) {
    far.accumulate(where, &awaited_words::swapped, value, far_op::replace);
    far.flush(where.rank);
  }

  [[nodiscard]] int right() const { return (w.rank() + 1) % w.size(); }
  [[nodiscard]] int left() const { return (w.rank() + w.size() - 1) % w.size(); }
  [[nodiscard]] element mine() const { return {w.rank(), 1}; }

  W& w;
  typename W::template far_array<awaited_words> far;
  typename W::template near_array<awaited_cells<W>> near;
  typename W::signal_channel signals;
};

/// A predicate that counts its calls.
struct counting_is {
  std::uint64_t wanted;
  int* tries;
  bool operator()(std::uint64_t value) const {
    ++*tries;
    return value == wanted;
  }
};

/// Calls `wait(until, predicate)` for each way to wait for a word of the right neighbour (of this rank in
/// near memory and in place). The call gives an optional.
template <typename W, typename Check>
void for_each_wait(waiting_scene<W>& s, Check check) {
  using nanoseconds = std::chrono::nanoseconds;
  const element there{s.right(), 1};
  check([&](nanoseconds until, auto is) { return s.w.await_until(until, s.near.at(s.mine()).wide, is); });
  check([&](nanoseconds until, auto is) {
    return s.w.await_direct_until(until, s.far, s.mine(), &awaited_words::put, is);
  });
  check([&](nanoseconds until, auto is) {
    return s.w.await_get_until(until, s.far, there, &awaited_words::put, is);
  });
  check([&](nanoseconds until, auto is) {
    return s.w.await_fetch_until(until, s.far, there, &awaited_words::swapped, is);
  });
  check([&](nanoseconds until, auto is) {
    return s.w.await_any_until(until, when(s.near.at(s.mine()).wide, is));
  });
  check([&](nanoseconds until, auto is) {
    return s.w.await_any_until(until, when(s.far, s.mine(), &awaited_words::put, is),
                               when(s.near.at(s.mine()).wide, is));
  });
}

inline std::uint64_t value_in(const std::optional<std::uint64_t>& found) { return found.value_or(0); }
inline std::uint64_t value_in(const std::optional<satisfied_condition>& found) {
  return found ? found->value : 0;
}

/// Sets all words and cells that `for_each_wait` waits for.
template <typename W>
void set_all(waiting_scene<W>& s, std::uint64_t value) {
  s.w.barrier();
  s.near.at(s.mine()).wide.store(value, std::memory_order_release);
  s.put({s.left(), 1}, value);
  s.replace({s.left(), 1}, value);
  s.w.barrier();
}

inline std::vector<std::chrono::nanoseconds> past_deadlines(std::chrono::nanoseconds now) {
  return {std::chrono::nanoseconds::min(), std::chrono::nanoseconds{0}, now};
}

/// A value that is already there wins over a deadline that has passed, and so does a signal.
template <typename W>
void expect_what_is_there_to_be_taken(W& w) {
  waiting_scene<W> s(w);
  set_all(s, 5);
  for_each_wait(s, [&](auto wait) {
    for (const auto until : past_deadlines(w.now())) {
      int tries = 0;
      EXPECT_EQ(value_in(wait(until, counting_is{5, &tries})), 5U);
      EXPECT_EQ(tries, 1);
      EXPECT_FALSE(wait(until, counting_is{6, &tries}));
      EXPECT_GE(tries, 2) << "tried at least once, in vain";
    }
    int tries = 0;
    EXPECT_EQ(value_in(wait(std::chrono::nanoseconds::max(), counting_is{5, &tries})), 5U);
  });
  w.barrier();
  // A swap changes the word that it waits for: each finds the value of the one before.
  const element there{s.right(), 1};
  std::uint64_t next = 5;
  auto deadlines = past_deadlines(w.now());
  deadlines.push_back(std::chrono::nanoseconds::max());
  for (const auto until : deadlines) {
    const std::uint64_t origin = next + 1;
    int tries = 0;
    const counting_is is{next, &tries};
    EXPECT_EQ(w.await_swap_until(until, s.far, there, &awaited_words::swapped, origin, is, {}), next);
    EXPECT_EQ(tries, 1);
    next = origin;
  }
  for (const auto until : deadlines) {
    const std::uint64_t expected = next;
    const std::uint64_t desired = next + 1;
    int tries = 0;
    const counting_is is{next, &tries};
    EXPECT_EQ(w.await_compare_and_swap_until(until, s.far, there, &awaited_words::swapped, expected, desired,
                                             is, {}),
              next);
    EXPECT_EQ(tries, 1);
    next = desired;
  }
  const std::uint64_t origin = 77;
  int tries = 0;
  EXPECT_FALSE(w.await_compare_and_swap_until(w.now(), s.far, there, &awaited_words::swapped, origin, next,
                                              counting_is{origin, &tries}, {}));
  EXPECT_GE(tries, 1);
  std::uint64_t is_there = origin;
  s.far.fetch(there, &awaited_words::swapped, is_there);
  s.far.flush(there.rank);
  EXPECT_EQ(is_there, next) << "a compare-and-swap in vain leaves the word alone";
  tries = 0;
  EXPECT_FALSE(w.await_swap_until(w.now(), s.far, there, &awaited_words::swapped, origin,
                                  counting_is{99, &tries}, {}));
  EXPECT_GE(tries, 1);
  w.barrier();
  if (w.size() == 1) return;
  s.signals.signal(s.right());
  s.signals.signal(s.right());
  s.signals.signal(s.right());
  w.barrier();
  // A message may arrive after the barrier.
  EXPECT_TRUE(s.signals.await_signal_until(std::chrono::nanoseconds::max(), s.left()));
  EXPECT_TRUE(s.signals.await_signal_until(std::chrono::nanoseconds::max(), any_rank));
  s.signals.await_signal(s.left());
  for (const auto until : past_deadlines(w.now())) {
    EXPECT_FALSE(s.signals.await_signal_until(until, s.left()));
    EXPECT_FALSE(s.signals.await_signal_until(until, any_rank));
  }
  w.barrier();
}

/// First no value comes in time. Then it comes to the same wait without a deadline.
template <typename W>
void expect_nothing_in_time_and_all_later(W& w) {
  waiting_scene<W> s(w);
  for_each_wait(s, [&](auto wait) {
    for (const auto span : {std::chrono::microseconds{0}, std::chrono::microseconds{100}}) {
      const auto until = w.now() + span;
      int tries = 0;
      EXPECT_FALSE(wait(until, counting_is{5, &tries}));
      EXPECT_GE(w.now(), until);
      EXPECT_GE(tries, 1);
    }
  });
  const element there{s.right(), 1};
  const std::uint64_t origin = 4;
  const auto is = [](std::uint64_t wanted) {
    return [wanted](std::uint64_t value) { return value == wanted; };
  };
  const auto until = w.now() + std::chrono::microseconds{100};
  // The pause alone is longer than any test may take.
  const backoff pause{std::chrono::hours{10}, std::chrono::hours{10}};
  EXPECT_FALSE(w.await_swap_until(until, s.far, there, &awaited_words::swapped, origin, is(5), pause));
  EXPECT_GE(w.now(), until);
  if (w.size() > 1)
    for (const int from : {s.left(), any_rank}) {
      const auto end = w.now() + std::chrono::microseconds{100};
      EXPECT_FALSE(s.signals.await_signal_until(end, from));
      EXPECT_GE(w.now(), end);
    }
  set_all(s, 5);
  EXPECT_EQ(w.await(s.near.at(s.mine()).wide, is(5)), 5U);
  EXPECT_EQ(w.await_direct(s.far, s.mine(), &awaited_words::put, is(5)), 5U);
  EXPECT_EQ(w.await_get(s.far, there, &awaited_words::put, is(5)), 5U);
  EXPECT_EQ(w.await_fetch(s.far, there, &awaited_words::swapped, is(5)), 5U);
  EXPECT_EQ(w.await_swap(s.far, there, &awaited_words::swapped, origin, is(5), {}), 5U);
  const std::uint64_t desired = 6;
  EXPECT_EQ(w.await_compare_and_swap(s.far, there, &awaited_words::swapped, origin, desired, is(origin), {}),
            origin);
  auto& cell = s.near.at(s.mine()).wide;
  EXPECT_EQ(w.await_exchange(cell, desired, is(5), {}), 5U);
  EXPECT_EQ(w.await_for_writing(cell, is(desired)), desired);
  EXPECT_EQ(w.await_any(when(s.far, s.mine(), &awaited_words::put, is(5))).value, 5U);
  if (w.size() > 1)
    for (const int from : {s.left(), any_rank}) {
      s.signals.signal(s.right());
      s.signals.await_signal(from);
      w.barrier();
    }
  w.barrier();
}

/// From 0 to 16 us; short times are as frequent as long ones.
inline std::chrono::nanoseconds short_time(jitter& timing) {
  return std::chrono::nanoseconds{timing.below(1U << timing.below(15))};
}

/// `count` signals to the right, taken with short deadlines: a late signal stays for the next wait.
template <typename W>
void expect_no_signal_is_lost(W& w, int count) {
  waiting_scene<W> s(w);
  if (w.size() == 1) return;  // MPI sends nothing to a rank that is not receiving
  jitter timing(11, w.rank());
  int sent = 0;
  int taken = 0;
  std::int64_t late = 0;
  while (sent < count || taken < count) {
    if (sent < count && timing.below(2) == 0) {
      s.signals.signal(s.right());
      ++sent;
    }
    timing.pause();
    if (taken == count) continue;
    const auto until = w.now() + short_time(timing);
    if (s.signals.await_signal_until(until, timing.below(2) == 0 ? s.left() : any_rank))
      ++taken;
    else
      ++late;
  }
  w.barrier();
  EXPECT_FALSE(s.signals.await_signal_until(w.now(), any_rank)) << "more were taken than sent";
  const auto sums = w.sum_over_ranks({sent, taken, late});
  EXPECT_EQ(sums[0], sums[1]);
  if (w.rank() == 0) ::testing::Test::RecordProperty("late", std::to_string(sums[2]));
  w.barrier();
}

/// A growing number goes round. The next rank waits for it in several ways with short deadlines.
template <typename W>
void expect_no_value_is_lost(W& w, std::uint64_t rounds) {
  waiting_scene<W> s(w);
  jitter timing(12, w.rank());
  std::int64_t late = 0;
  if (w.rank() == 0) s.put(s.right(), 1);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const auto is_there = [round](std::uint64_t value) { return value == round; };
    std::optional<std::uint64_t> found;
    for (;;) {
      const auto until = w.now() + short_time(timing);
      if (timing.below(4) == 0)
        found = w.await_get_until(until, s.far, w.rank(), &awaited_words::put, is_there);
      else
        found = w.await_direct_until(until, s.far, w.rank(), &awaited_words::put, is_there);
      if (found) break;
      ++late;
    }
    EXPECT_EQ(*found, round);
    const std::uint64_t next = w.rank() == 0 ? round + 1 : round;
    if (next <= rounds) s.put(s.right(), next);
  }
  const auto sums = w.sum_over_ranks({late});
  if (w.rank() == 0) ::testing::Test::RecordProperty("late", std::to_string(sums[0]));
  w.barrier();
}

/// Ranks try a test-and-set lock for a short while each time. A late rank does not have the lock, and a rank
/// in time has it alone.
template <typename W>
void expect_no_swap_after_its_time(W& w, std::uint64_t rounds) {
  waiting_scene<W> s(w);
  constexpr auto lock = &awaited_words::swapped;
  constexpr auto counter = &awaited_words::put;
  const std::uint64_t held = 1;
  const std::uint64_t is_free = 0;
  jitter timing(13, w.rank());
  std::int64_t late = 0;
  for (std::uint64_t taken = 0; taken < rounds;) {
    const auto until = w.now() + short_time(timing);
    if (!w.await_swap_until(
            until, s.far, 0, lock, held, [](std::uint64_t old) { return old == 0; },
            backoff{std::chrono::nanoseconds{1}, std::chrono::nanoseconds{2000}})) {
      ++late;
      continue;
    }
    ++taken;
    std::uint64_t count = 0;
    s.far.get(0, counter, count);
    s.far.flush(0);
    timing.pause();
    ++count;
    s.put(0, count);
    s.far.accumulate(0, lock, is_free, far_op::replace);
    s.far.flush(0);
  }
  w.barrier();
  if (w.rank() == 0) {
    EXPECT_EQ(s.far.read_direct(0, counter), rounds * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(s.far.read_direct(0, lock), 0U) << "somebody has it who knows nothing of it";
  }
  const auto sums = w.sum_over_ranks({late});
  if (w.rank() == 0) ::testing::Test::RecordProperty("late", std::to_string(sums[0]));
  w.barrier();
}

/// For a world of any number of ranks with a stall limit: a distant deadline does not defer the limit.
template <typename W>
void expect_stalls_before_the_deadline(W& w) {
  waiting_scene<W> s(w);
  const auto until = std::chrono::nanoseconds::max();
  for_each_wait(s, [&](auto wait) {
    int tries = 0;
    EXPECT_THROW(static_cast<void>(wait(until, counting_is{5, &tries})), stalled);
  });
  EXPECT_THROW(static_cast<void>(s.signals.await_signal_until(until, w.rank())), stalled);
  EXPECT_THROW(static_cast<void>(s.signals.await_signal_until(until, any_rank)), stalled);
  const std::uint64_t one = 1;
  const auto never = [](std::uint64_t) { return false; };
  EXPECT_THROW(
      static_cast<void>(w.await_swap_until(until, s.far, w.rank(), &awaited_words::swapped, one, never, {})),
      stalled);
}

// ---- several conditions -----------------------------------------------------------------------------------

/// The index that each of a few `wait()` returned, while all conditions hold.
template <typename Wait>
std::set<std::size_t> seen_first(Wait wait) {
  std::set<std::size_t> seen;
  for (int i = 0; i < 12; ++i) seen.insert(wait().index);
  return seen;
}

template <typename W>
void expect_every_condition_to_have_its_turn(W& w) {
  waiting_scene<W> s(w);
  set_all(s, 5);
  auto& cells = s.near.at(s.mine());
  cells.narrow.store(-2, std::memory_order_release);
  const auto is_five = [](std::uint64_t value) { return value == 5; };
  const auto is_negative = [](std::int32_t value) { return value < 0; };
  const auto wide = when(cells.wide, is_five);
  const auto narrow = when(cells.narrow, is_negative);
  const auto direct = when(s.far, s.mine(), &awaited_words::put, is_five);
  const auto never = when(cells.wide, [](std::uint64_t) { return false; });
  const auto two = [&] { return w.await_any(wide, direct); };
  const auto three = [&] { return w.await_any(direct, narrow, wide); };
  EXPECT_EQ(seen_first(two), (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(seen_first(three), (std::set<std::size_t>{0, 1, 2}));
  // The same between other waits.
  for (int others = 1; others <= 3; ++others)
    EXPECT_EQ(seen_first([&] {
                for (int i = 0; i < others; ++i) two();
                return two();
              }),
              (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(seen_first([&] {
              three();
              three();
              return *w.await_any_until(w.now(), wide, narrow, direct);
            }),
            (std::set<std::size_t>{0, 1, 2}));
  // Conditions that do not hold never come first.
  for (int i = 0; i < 12; ++i) {
    const auto second = w.await_any(never, narrow, never);
    EXPECT_EQ(second.index, 1U);
    EXPECT_EQ(second.value, 0xffff'fffeU) << "the bits of the word, without its sign";
    EXPECT_EQ(w.await_any(never, never, direct).index, 2U);
    EXPECT_EQ(w.await_any(wide, never).index, 0U);
    EXPECT_EQ(w.await_any(wide).value, 5U);
    EXPECT_FALSE(w.await_any_until(w.now(), never, never));
  }
  w.barrier();
}

/// The neighbour tells each rank in one way or the other, by chance, and the rank waits for both.
template <typename W>
void expect_either_condition_to_end_the_wait(W& w, std::uint64_t rounds) {
  waiting_scene<W> s(w);
  // All ranks draw the same numbers, so that each knows how it is told.
  jitter choice(14, 0);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const bool is_near = choice.below(2) == 0 && w.locality().same(level::node, w.rank(), s.right());
    const bool is_told_near = w.gather_to_all(is_near ? 1 : 0)[static_cast<std::size_t>(s.left())] != 0;
    const auto is_new = [round](std::uint64_t value) { return value == round; };
    if (is_near)
      s.near.at({s.right(), 1}).wide.store(round, std::memory_order_release);
    else
      s.put({s.right(), 1}, round);
    const auto told = w.await_any(when(s.near.at(s.mine()).wide, is_new),
                                  when(s.far, s.mine(), &awaited_words::put, is_new));
    EXPECT_EQ(told.index, is_told_near ? 0U : 1U);
    EXPECT_EQ(told.value, round);
  }
  w.barrier();
}

}  // namespace nearfar::testing
