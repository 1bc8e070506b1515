// MPI's promises about the order and completion of far operations, and their limits.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

constexpr int operations = 12;

/// Remote latencies are so uneven that later operations overtake earlier ones.
machine uneven_machine(executor by) {
  machine on = plain_machine(by);
  on.network = {.injection_gap = 0, .jitter = 0.4};
  return on;
}

/// The last of `operations` writes to one word, for each seed. `write` gets the number of the write.
template <typename Write>
std::set<std::uint64_t> last_values(executor by, Write write) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    run(uneven_machine(by), placed("node:2 core:1", 2),
        [&](world& w) {
          world::far_segment<two_words> words(w);
          if (w.rank() == 0) {
            std::array<std::uint64_t, operations> values{};
            std::iota(values.begin(), values.end(), 1);
            for (const std::uint64_t& value : values) write(words, value);
            words.flush(1);
          }
          w.barrier();
          if (w.rank() == 1) seen.insert(words.read_direct(1, &two_words::first));
        },
        {.seed = seed});
  return seen;
}

class far_order : public ::testing::TestWithParam<executor> {};
INSTANTIATE_TEST_SUITE_P(by, far_order, ::testing::Values(executor::nic, executor::target));

TEST_P(far_order, accumulates_to_one_word_take_effect_as_issued) {
  const auto seen = last_values(GetParam(), [](auto& words, const std::uint64_t& value) {
    words.accumulate(1, &two_words::first, value, far_op::replace);
  });
  EXPECT_EQ(seen, std::set<std::uint64_t>{operations});
}

TEST_P(far_order, so_do_those_that_return_a_value) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    run(uneven_machine(GetParam()), placed("node:2 core:1", 2),
        [&](world& w) {
          world::far_segment<two_words> words(w);
          if (w.rank() == 0) {
            std::array<std::uint64_t, operations> before{};
            std::uint64_t fetched = 0;
            for (std::uint64_t& old : before) words.fetch_add(1, &two_words::first, one, old);
            words.fetch(1, &two_words::first, fetched);
            words.flush(1);
            for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i], i);
            EXPECT_EQ(fetched, operations);
          }
          w.barrier();
        },
        {.seed = seed});
}

TEST_P(far_order, puts_may_overtake_each_other) {
  const auto seen = last_values(
      GetParam(), [](auto& words, const std::uint64_t& value) { words.put(1, &two_words::first, value); });
  EXPECT_GT(seen.size(), 2U);
}

TEST_P(far_order, accumulates_to_different_words_may_too) {
  bool overtaken = false;
  for (std::uint64_t seed = 1; seed <= 30 && !overtaken; ++seed)
    run(uneven_machine(GetParam()), placed("node:2 core:1", 2),
        [&](world& w) {
          world::far_segment<two_words> words(w);
          if (w.rank() == 0) {
            words.accumulate(1, &two_words::first, one, far_op::replace);
            words.accumulate(1, &two_words::second, one, far_op::replace);
            words.flush(1);
          } else {
            w.await_direct(words, 1, &two_words::second, [](std::uint64_t value) { return value != 0; });
            overtaken = words.read_direct(1, &two_words::first) == 0;
          }
          w.barrier();
        },
        {.seed = seed});
  EXPECT_TRUE(overtaken);
}

TEST_P(far_order, a_get_may_overtake_an_accumulate) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    run(uneven_machine(GetParam()), placed("node:2 core:1", 2),
        [&](world& w) {
          world::far_segment<two_words> words(w);
          if (w.rank() == 0) {
            std::uint64_t got = 0;
            words.accumulate(1, &two_words::first, one, far_op::replace);
            words.get(1, &two_words::first, got);
            words.flush(1);
            seen.insert(got);
          }
          w.barrier();
        },
        {.seed = seed});
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1}));
}

TEST_P(far_order, nothing_is_known_before_the_flush) {
  for (const bool far : {true, false})
    run(plain_machine(GetParam()), placed(far ? "node:2 core:1" : "node:1 core:2", 2), [&](world& w) {
      world::far_segment<two_words> words(w);
      words.write_direct(w.rank(), &two_words::first, std::uint64_t{7});
      w.barrier();
      if (w.rank() == 0) {
        std::uint64_t got = 1;
        std::uint64_t swapped = 2;
        words.get(1, &two_words::second, got);
        words.swap(1, &two_words::first, one, swapped);
        EXPECT_EQ(got, poison);
        EXPECT_EQ(swapped, poison);
        // This is long after the operations have taken place, and after a flush of another rank.
        w.delay(std::chrono::milliseconds(1));
        words.flush(0);
        EXPECT_EQ(got, poison);
        EXPECT_EQ(swapped, poison);
        words.flush(1);
        EXPECT_EQ(got, 0U);
        EXPECT_EQ(swapped, 7U);
      }
      w.barrier();
    });
}

TEST(far_order, a_put_is_invisible_until_it_arrives) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::put) = {0, 1000, 100, 0, executor::nic};
  run(on, placed("node:2 core:1", 2), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() == 0) {
      words.put(1, &two_words::first, one);
    } else {
      w.delay(nanoseconds(1099));
      EXPECT_EQ(words.read_direct(1, &two_words::first), 0U);
      w.delay(nanoseconds(2));
      EXPECT_EQ(words.read_direct(1, &two_words::first), 1U);
    }
    w.barrier();
    words.flush(1);
  });
}

TEST(far_order, operands_are_read_at_the_issue) {
  run(plain_machine(), placed("node:2 core:1", 2), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() == 0) {
      std::uint64_t value = 5;
      words.put(1, &two_words::first, value);
      value = 6;
      words.flush(1);
    }
    w.barrier();
    if (w.rank() == 1) {
      EXPECT_EQ(words.read_direct(1, &two_words::first), 5U);
    }
  });
}

// ---- operations that the target's processor carries out ---------------------------------------------------

/// A machine on which rank 0's put to rank 1 arrives after 100 ns and takes that rank 10 ns.
machine slow_target() {
  machine on = free_machine();
  on.cost(distance::remote, transfer::put) = {0, 100, 10, 0, executor::target};
  on.near.hit = 1;
  return on;
}

/// Time in nanoseconds of rank 0's put to rank 1 and its flush, while rank 1 does `meanwhile` and then
/// leaves.
template <typename Meanwhile>
std::int64_t put_span(const machine& on, Meanwhile meanwhile, std::uint64_t seed = 1) {
  std::int64_t span = 0;
  run(on, placed("node:2 core:1", 2),
      [&](world& w) {
        world::far_segment<two_words> words(w);
        world::near_segment<two_cells> cells(w);
        if (w.rank() == 0) {
          span = span_of(w, [&] {
            words.put(1, &two_words::first, one);
            words.flush(1);
          });
        } else {
          meanwhile(w, words, cells.at(1));
        }
        w.barrier();
      },
      {.seed = seed});
  return span;
}

void compute(two_cells& cells, int span) {
  for (int i = 0; i < span; ++i) (void)cells.first.load(std::memory_order_relaxed);
}

TEST(target_progress, none_while_the_target_computes) {
  EXPECT_EQ(put_span(slow_target(), [](world&, auto&, two_cells& cells) { compute(cells, 5000); }), 5010);
}

TEST(target_progress, at_once_while_it_is_in_the_library) {
  EXPECT_EQ(put_span(slow_target(), [](world&, auto&, two_cells&) {}), 110);
  EXPECT_EQ(put_span(slow_target(), [](world& w, auto&, two_cells&) { w.delay(nanoseconds(5000)); }), 110);
}

TEST(target_progress, at_the_beginning_of_any_call_and_on_its_time) {
  const auto expect_served_by = [](auto call) {
    std::int64_t served = 0;
    EXPECT_EQ(put_span(slow_target(),
                       [&](world& w, auto& words, two_cells& cells) {
                         compute(cells, 3000);
                         served = span_of(w, [&] { call(w, words); });
                         compute(cells, 3000);
                       }),
              3010);
    EXPECT_EQ(served, 10);
  };
  expect_served_by([](world&, auto& words) { words.flush(0); });
  expect_served_by([](world&, auto& words) { words.put(0, &two_words::second, one); });
  expect_served_by([](world& w, auto&) { w.delay(nanoseconds(0)); });
}

TEST(target_progress, at_the_calls_of_a_wait_that_progresses) {
  machine on = slow_target();
  on.library = {.progress = 200, .polls_per_progress = 800, .flush = 0, .exclusive = 0};
  std::set<std::int64_t> spans;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    spans.insert(put_span(
        on,
        [](world& w, auto& words, two_cells&) {
          w.await_direct(words, 1, &two_words::first, [](std::uint64_t value) { return value != 0; });
        },
        seed));
  // The calls are 1000 ns apart, and the first comes at any time within that span.
  EXPECT_GE(*spans.begin(), 110);
  EXPECT_LT(*spans.begin(), 310);
  EXPECT_GT(*spans.rbegin(), 810);
  EXPECT_LE(*spans.rbegin(), 1111);
  EXPECT_GT(spans.size(), 20U);
}

TEST(target_progress, never_in_a_wait_that_does_not) {
  try {
    put_span(slow_target(), [](world& w, auto& words, two_cells&) {
      w.await_direct_without_progress(words, 1, &two_words::first,
                                      [](std::uint64_t value) { return value != 0; });
    });
    FAIL() << "the published fault was not found";
  } catch (const engine::deadlock& found) {
    const std::string text = found.what();
    EXPECT_NE(text.find("rank 0 flushes rank 1 and waits for put of two_words.first of rank 1"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("rank 1 waits for two_words.first of rank 1 by read_direct, which is 0"),
              std::string::npos)
        << text;
  }
}

TEST(target_progress, its_processor_serves_one_after_the_other) {
  machine on = slow_target();
  std::array<std::int64_t, 4> spans{};
  run(on, placed("node:4 core:1", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() > 0)
      spans[static_cast<std::size_t>(w.rank())] = span_of(w, [&] {
        words.put(0, w.rank() == 1 ? &two_words::first : &two_words::second, one);
        words.flush(0);
      });
    w.barrier();
  });
  EXPECT_EQ(spans, (std::array<std::int64_t, 4>{0, 110, 120, 130}));
}

}  // namespace
}  // namespace nearfar::simulation::testing
