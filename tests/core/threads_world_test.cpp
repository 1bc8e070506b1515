// Memory, signals and waiting of the world of threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace {

using nearfar::far;
using nearfar::far_op;
using nearfar::level;
using nearfar::to_word;
using nearfar::threads::world;
namespace threads = nearfar::threads;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> first;
  far<std::int64_t> second;
  alignas(nearfar::slot_bytes) far<std::uint64_t> last;
};
struct alignas(nearfar::cache_line) cells {
  world::near<std::uint64_t> value;
};

constexpr int ranks = 3;

TEST(threads_world, operations_reach_the_word_of_the_rank) {
  threads::run(ranks, [](world& w) {
    const world::far_segment<words> before(w);
    world::far_segment<words> segment(w);
    for (int turn = 0; turn < ranks; ++turn) {
      for (int target = 0; target < ranks && turn == w.rank(); ++target) {
        const std::uint64_t mine = 10 * to_word(turn) + to_word(target);
        const std::uint64_t left = turn == 0 ? 0 : mine - 10;
        const std::uint64_t wrong = left + 1;
        const std::int64_t minus_two = -2;
        std::uint64_t old = 1;
        segment.swap(target, &words::first, mine, old);
        EXPECT_EQ(old, left);
        segment.compare_and_swap(target, &words::last, wrong, mine, old);
        EXPECT_EQ(old, left);
        segment.compare_and_swap(target, &words::last, left, mine, old);
        EXPECT_EQ(old, left) << "the failed one must not have written";
        std::int64_t sum = 1;
        segment.fetch_add(target, &words::second, minus_two, sum);
        EXPECT_EQ(sum, -4 * turn);
        segment.accumulate(target, &words::second, minus_two, far_op::sum);
        segment.get(target, &words::last, old);
        EXPECT_EQ(old, mine);
        segment.fetch(target, &words::first, old);
        EXPECT_EQ(old, mine);
        segment.flush(target);
      }
      w.barrier();
    }
    const std::uint64_t expected = 10 * to_word(ranks - 1) + to_word(w.rank());
    EXPECT_EQ(segment.read_direct(w.rank(), &words::first), expected);
    EXPECT_EQ(segment.read_direct(w.rank(), &words::last), expected);
    EXPECT_EQ(segment.read_direct(w.rank(), &words::second), -4 * ranks);
    w.barrier();
    const std::int64_t seven = 7;
    segment.accumulate((w.rank() + 1) % ranks, &words::second, seven, far_op::replace);
    w.barrier();
    EXPECT_EQ(segment.read_direct(w.rank(), &words::second), 7);
  });
}

TEST(threads_world, memory_is_zero_where_something_was_before) {
  threads::run(ranks, [](world& w) {
    const std::uint64_t dirt = ~std::uint64_t{0};
    const std::int64_t minus_one = -1;
    for (int round = 0; round < 3; ++round) {
      {
        world::far_segment<words> segment(w);
        for (int target = 0; target < ranks; ++target) {
          std::uint64_t first = 1;
          std::int64_t second = 1;
          std::uint64_t last = 1;
          segment.get(target, &words::first, first);
          segment.get(target, &words::second, second);
          segment.get(target, &words::last, last);
          EXPECT_TRUE(first == 0 && second == 0 && last == 0) << "at rank " << target << ", round " << round;
        }
        w.barrier();
        const int target = (w.rank() + round) % ranks;
        segment.put(target, &words::first, dirt);
        segment.put(target, &words::second, minus_one);
        segment.put(target, &words::last, dirt);
        w.barrier();
      }
      const world::near_segment<cells> near(w);
      for (int other = 0; other < ranks; ++other)
        EXPECT_EQ(near.at(other).value.load(std::memory_order_acquire), 0);
      w.barrier();
      near.at((w.rank() + 1) % ranks).value.store(dirt, std::memory_order_release);
    }
  });
}

// A signal on one channel must not end a wait on another: the signals of all other channels come first.
TEST(threads_world, signals_of_many_channels_are_not_confused) {
  threads::run(ranks, [](world& w) {
    std::vector<std::unique_ptr<world::signal_channel>> channels;
    for (int i = 0; i < 10; ++i) channels.push_back(std::make_unique<world::signal_channel>(w));
    world::far_segment<words> shown(w);
    for (std::size_t awaited = 0; awaited < channels.size(); ++awaited) {
      const std::uint64_t sign = awaited + 1;
      for (int to = 1; to < ranks && w.rank() == 0; ++to) {
        for (auto& channel : channels)
          if (channel != channels[awaited]) channel->signal(to);
        w.delay(std::chrono::microseconds{50});
        shown.put(to, &words::first, sign);
        channels[awaited]->signal(to);
      }
      if (w.rank() != 0) {
        channels[awaited]->await_signal(awaited % 2 == 0 ? 0 : nearfar::any_rank);
        EXPECT_EQ(shown.read_direct(w.rank(), &words::first), sign) << "woken by another channel's signal";
        for (auto& channel : channels)
          if (channel != channels[awaited]) channel->await_signal(0);
      }
      w.barrier();
    }
  });
}

TEST(threads_world, signals_arrive_from_whom_they_are_awaited) {
  threads::run(ranks, [](world& w) {
    for (int round = 0; round < 3; ++round) {
      world::signal_channel channel(w);
      for (int to = 0; to < ranks; ++to)
        if (to != w.rank()) channel.signal(to);
      for (int from = ranks - 1; from >= 0; --from)
        if (from != w.rank()) channel.await_signal(from);
      for (int to = 0; to < ranks; ++to)
        if (to != w.rank()) channel.signal(to);
      for (int count = 1; count < ranks; ++count) channel.await_signal(nearfar::any_rank);
      w.barrier();
    }
  });
}

TEST(threads_world, waits_for_words_near_and_far) {
  threads::run(ranks, [](world& w) {
    world::far_segment<words> segment(w);
    const world::near_segment<cells> near(w);
    const int right = (w.rank() + 1) % ranks;
    const std::uint64_t me = to_word(w.rank());
    const std::uint64_t left = to_word((w.rank() + ranks - 1) % ranks);
    const auto is_left = [left](std::uint64_t value) { return value == left; };
    segment.put(right, &words::first, me);
    EXPECT_EQ(w.await_direct(segment, w.rank(), &words::first, is_left), left);
    EXPECT_EQ(w.await_get(segment, w.rank(), &words::first, is_left), left);
    EXPECT_EQ(w.await_fetch(segment, w.rank(), &words::first, is_left), left);
    near.at(right).value.store(me, std::memory_order_release);
    EXPECT_EQ(w.await(near.at(w.rank()).value, is_left), left);
    w.barrier();
  });
}

TEST(threads_world, collects_from_all_ranks_and_has_its_topology) {
  threads::options chosen;
  chosen.topology = nearfar::topology_spec::parse("node:2 numa:2");
  threads::run(
      4,
      [&](world& w) {
        EXPECT_EQ(w.gather_to_all(10 + w.rank()), (std::vector<std::int64_t>{10, 11, 12, 13}));
        EXPECT_EQ(w.gather_to_first(10 + w.rank()),
                  w.rank() == 0 ? (std::vector<std::int64_t>{10, 11, 12, 13}) : std::vector<std::int64_t>());
        EXPECT_EQ(w.sum_over_ranks({1, w.rank()}), (std::vector<std::int64_t>{4, 6}));
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        EXPECT_EQ(w.sum_over_ranks({most, 0}), (std::vector<std::int64_t>{-4, 0})) << "modulo 2^64";
        EXPECT_EQ(w.sum_over_ranks({}), std::vector<std::int64_t>());
        EXPECT_EQ(w.locality(), chosen.topology->place(4));
        EXPECT_EQ(w.locality().same(level::node, w.rank(), 0), w.rank() < 2);
      },
      chosen);
}

// A thread that leaves its world by an exception may catch it and go on, but takes part in no collective
// call.
TEST(threads_world, a_rank_that_leaves_by_an_exception_is_not_waited_for) {
  struct own_error {};
  threads::team both(2, {});
  bool goes_on = false;
  std::jthread leaves([&] {
    try {
      const world w(both, 1);
      throw own_error();
    } catch (const own_error&) {
      goes_on = true;
    }
  });
  world w(both, 0);
  EXPECT_THROW(w.barrier(), threads::team_stopped);
  // This holds also if the abandoned waits and the others' waits are together as many as the ranks.
  EXPECT_THROW(w.barrier(), threads::team_stopped);
  EXPECT_THROW(world::signal_channel{w}, threads::team_stopped);
  leaves.join();
  EXPECT_TRUE(goes_on);
}

// The barrier at the end of the team would let the others go on with values that this rank did not give.
TEST(threads_world, a_rank_that_leaves_out_a_collective_call_is_noticed) {
  int thrown = 0;
  const auto makes_unless_last = [&](world& w) {
    if (w.rank() == ranks - 1) return;
    try {
      const world::far_segment<words> segment(w);
    } catch (const nearfar::collective_mismatch&) {
      if (w.rank() == 0) ++thrown;
      throw;
    }
  };
  EXPECT_THROW(threads::run(ranks, makes_unless_last), nearfar::collective_mismatch);
  EXPECT_EQ(thrown, 1);
}

std::string what_for(const nearfar::stalled& stall) {
  const std::string text = stall.what();
  return text.substr(text.find(" for "));
}

/// The report of a wait that no rank ends, in a team of one.
std::string what_stalls(const std::function<void(world&)>& waits) {
  threads::options chosen;
  chosen.stall_limit = std::chrono::milliseconds{2};
  try {
    threads::run(1, waits, chosen);
  } catch (const nearfar::stalled& stall) {
    EXPECT_EQ(stall.rank, 0);
    EXPECT_GE(stall.waited, *chosen.stall_limit);
    return what_for(stall);
  }
  return "no stall";
}

TEST(threads_world, a_stall_says_what_it_waits_for) {
  const auto never = [](std::uint64_t) { return false; };
  for (const auto& far_wait : std::vector<std::function<void(world&, world::far_segment<words>&)>>{
           [&](world& w, auto& segment) { w.await_direct(segment, 0, &words::first, never); },
           [&](world& w, auto& segment) { w.await_get(segment, 0, &words::first, never); },
           [&](world& w, auto& segment) { w.await_fetch(segment, 0, &words::first, never); },
           [&](world& w, auto& segment) {
             const std::uint64_t one = 1;
             w.await_swap(segment, 0, &words::first, one, never, {});
           }})
    EXPECT_EQ(what_stalls([&](world& w) {
                world::far_segment<words> segment(w);
                far_wait(w, segment);
              }),
              " for a far word of rank 0");
  EXPECT_EQ(what_stalls([&](world& w) {
              const world::near_segment<cells> near(w);
              w.await(near.at(0).value, never);
            }),
            " for a near cell");
  EXPECT_EQ(what_stalls([](world& w) { world::signal_channel(w).await_signal(0); }),
            " for a signal of rank 0");
  EXPECT_EQ(what_stalls([](world& w) { world::signal_channel(w).await_signal(nearfar::any_rank); }),
            " for a signal of any rank");
}

TEST(threads_world, a_pause_is_no_stall) {
  const std::string text = what_stalls([](world& w) { w.delay(std::chrono::milliseconds{10}); });
  EXPECT_EQ(text, "no stall");
}

TEST(threads_world, a_barrier_to_which_a_rank_does_not_come_stalls) {
  std::atomic<bool> has_stalled = false;
  threads::options chosen;
  chosen.stall_limit = std::chrono::milliseconds{2};
  EXPECT_THROW(threads::run(
                   2,
                   [&](world& w) {
                     if (w.rank() == 1) {
                       has_stalled.wait(false);
                       return;
                     }
                     try {
                       w.barrier();
                     } catch (const nearfar::stalled& stall) {
                       EXPECT_EQ(what_for(stall), " for the other ranks in a barrier");
                       has_stalled = true;
                       has_stalled.notify_one();
                       throw;
                     }
                   },
                   chosen),
               nearfar::stalled);
}

}  // namespace
