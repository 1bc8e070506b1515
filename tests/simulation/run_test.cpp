// Whole runs: repeatable, ended by exceptions, large.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "src/simulation/event_queue.hpp"
#include "src/simulation/random_stream.hpp"
#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

using trace = std::vector<std::tuple<int, std::int64_t, std::uint64_t>>;

/// A program with near and far words, signals and waits.
trace trace_of(std::uint64_t seed, executor by) {
  trace result;
  run(plain_machine(by), placed("node:2 core:3", 6),
      [&](world& w) {
        world::near_segment<two_cells> cells(w);
        world::far_segment<two_words> words(w);
        world::signal_channel channel(w);
        const auto note = [&](std::uint64_t value) { result.emplace_back(w.rank(), w.now().count(), value); };
        const int leader = w.locality().leader(level::node, w.rank());
        for (std::uint64_t round = 1; round <= 20; ++round) {
          std::uint64_t old = 0;
          words.fetch_add(0, &two_words::first, one, old);
          words.flush(0);
          note(old);
          note(cells.at(leader).first.fetch_add(1, relaxed));
          const std::uint64_t all = 3 * round;
          note(w.await(cells.at(leader).first, [&](std::uint64_t value) { return value >= all; }));
          channel.signal((w.rank() + 1) % w.size());
          channel.await_signal(any_rank);
          words.put((w.rank() + 1) % w.size(), &two_words::second, round);
          note(w.await_direct(words, w.rank(), &two_words::second,
                              [&](std::uint64_t value) { return value >= round; }));
          words.flush((w.rank() + 1) % w.size());
        }
        w.barrier();
      },
      {.seed = seed});
  return result;
}

TEST(runs, are_repeatable) {
  for (const executor by : {executor::nic, executor::target}) {
    const trace first = trace_of(1, by);
    EXPECT_EQ(first.size(), 6U * 20 * 4);
    EXPECT_EQ(first, trace_of(1, by));
    EXPECT_NE(first, trace_of(2, by));
  }
}

TEST(runs, do_operations_in_the_order_of_time) {
  machine on = free_machine();
  on.near.atomic = 1;
  std::vector<int> order;
  run(on, placed("node:1 core:4", 4), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    const nanoseconds start = w.now();
    for (int i = 0; i < 3; ++i) {
      w.delay(start + nanoseconds(100 * (i + 1) - 10 * w.rank()) - w.now());
      EXPECT_EQ(cells.at(0).first.fetch_add(1, relaxed), order.size());
      order.push_back(w.rank());
    }
  });
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0}));
}

TEST(runs, rethrow_what_the_lowest_rank_threw) {
  const auto thrown_by = [](const std::function<void(world&)>& body) -> std::string {
    try {
      run(plain_machine(), placed("node:1 core:4", 4), body);
    } catch (const std::runtime_error& thrown) {
      return thrown.what();
    }
    return "nothing";
  };
  EXPECT_EQ(thrown_by([](world& w) {
              w.barrier();
              if (w.rank() > 1) throw std::runtime_error("rank " + std::to_string(w.rank()));
              w.barrier();
            }),
            "rank 2");
  // The run does not wait for the exception of a later time.
  EXPECT_EQ(thrown_by([](world& w) {
              w.delay(nanoseconds(100 - w.rank()));
              throw std::runtime_error("rank " + std::to_string(w.rank()));
            }),
            "rank 3");
}

TEST(runs, refuse_machines_that_cannot_be) {
  for (const unsigned at_once : {0U, ~0U}) {
    machine on = plain_machine();
    on.near.lines_at_once = at_once;
    EXPECT_THROW(run(on, placed("node:1 core:4", 4), [](world&) {}), error);
  }
}

TEST(runs, pause_as_long_as_clocks_go) {
  run(plain_machine(), placed("node:1 core:4", 2), [](world& w) {
    if (w.rank() == 0) w.delay(nanoseconds::max());
    const nanoseconds late = w.now();
    w.delay(nanoseconds::max());
    w.delay(nanoseconds::max());
    EXPECT_GE(w.now(), late);
    w.barrier();
    EXPECT_GE(w.now(), late);
  });
}

TEST(runs, destroy_what_abandoned_ranks_hold) {
  struct counted {
    explicit counted(int& of) : count(&of) { ++*count; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*count; }
    int* count;
  };
  int alive = 0;
  EXPECT_THROW(run(plain_machine(), placed("node:1 core:4", 4),
                   [&](world& w) {
                     world::near_segment<two_cells> cells(w);
                     const counted here(alive);
                     w.await(cells.at(0).first, [](std::uint64_t value) { return value != 0; });
                   }),
               engine::deadlock);
  EXPECT_EQ(alive, 0);
}

TEST(runs, of_4096_ranks_meet) {
  constexpr int ranks = 4096;
  std::uint64_t last = 0;
  const run_statistics took = run(plain_machine(), placed("node:128 numa:4 core:8", ranks), [&](world& w) {
    world::far_segment<two_words> words(w);
    std::uint64_t old = 0;
    words.fetch_add(0, &two_words::first, one, old);
    words.flush(0);
    w.barrier();
    if (w.rank() == 0) last = words.read_direct(0, &two_words::first);
  });
  EXPECT_EQ(last, ranks);
  EXPECT_GE(took.operations, 2U * ranks);
}

TEST(runs, of_many_ranks_on_one_node_keep_track_of_all_copies) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 30, .same_numa = 0, .same_node = 0};
  run(on, placed("node:1 core:200", 200), [](world& w) {
    world::near_segment<two_cells> cells(w);
    (void)cells.at(0).first.load(relaxed);
    w.barrier();
    EXPECT_EQ(span_of(w, [&] { (void)cells.at(0).first.load(relaxed); }), 1);
    w.barrier();
    if (w.rank() == 137) cells.at(0).first.store(1, relaxed);
    w.barrier();
    const std::int64_t span = span_of(w, [&] { (void)cells.at(0).first.load(relaxed); });
    if (w.rank() == 137)
      EXPECT_EQ(span, 1);
    else
      EXPECT_GE(span, 30);
  });
}

TEST(events, come_in_the_order_of_time_and_then_of_their_making) {
  random_stream random(7);
  event_queue queue;
  std::vector<std::pair<picoseconds, std::uint32_t>> expected;
  for (std::uint32_t subject = 0; subject < 2000; ++subject) {
    const picoseconds at = random.below(50);
    queue.push(at, event_kind::arrival, subject, false);
    expected.emplace_back(at, subject);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < 1000; ++i) {
    const event next = queue.pop();
    EXPECT_EQ(next.at, expected[i].first);
    EXPECT_EQ(next.subject(), expected[i].second);
  }
  // `exchange` is a push and a pop.
  const event next = queue.exchange(100, event_kind::resume, 5000, false);
  EXPECT_EQ(next.subject(), expected[1000].second);
  for (std::size_t i = 1001; i < 2000; ++i) EXPECT_EQ(queue.pop().subject(), expected[i].second);
  EXPECT_FALSE(queue.only_polls());
  const event last = queue.pop();
  EXPECT_EQ(last.subject(), 5000U);
  EXPECT_EQ(last.kind(), event_kind::resume);
  EXPECT_TRUE(queue.empty());
  queue.push(1, event_kind::arrival, 1, true);
  EXPECT_TRUE(queue.only_polls());
}

TEST(random_numbers, are_normal) {
  random_stream random(3);
  constexpr int count = 100000;
  double sum = 0;
  double squares = 0;
  int within_one = 0;
  for (int i = 0; i < count; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
    within_one += static_cast<int>(value > -1 && value < 1);
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(static_cast<double>(within_one) / count, 0.683, 0.01);
}

}  // namespace
}  // namespace nearfar::simulation::testing
