// Near memory, far memory, signals and waiting of the world of MPI, on every pair of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

struct alignas(slot_bytes) words {
  far<std::uint64_t> first;
  far<std::int64_t> second;
  far<std::uint64_t> third;
  alignas(slot_bytes) far<std::uint64_t> last;
};
struct alignas(cache_line) cells {
  world::near<std::uint64_t> value;
  world::near<std::uint8_t> byte;
};

/// A value that names its writer and its place.
std::uint64_t value_of(int from, int to) {
  return 1000U * static_cast<std::uint64_t>(from + 1) + static_cast<std::uint64_t>(to);
}

/// Calls `body(target)` on one rank after the other.
template <typename Body>
void in_turns(world& w, Body body) {
  for (int turn = 0; turn < w.size(); ++turn) {
    if (turn == w.rank())
      for (int target = 0; target < w.size(); ++target) body(target);
    w.barrier();
  }
}

TEST(far_memory, put_and_get_reach_the_word_of_the_rank) {
  world& w = common_world();
  // With this segment the words do not lie at the start of the window.
  const world::far_segment<words> before(w);
  world::far_segment<words> segment(w);
  in_turns(w, [&](int target) {
    const std::uint64_t value = value_of(w.rank(), target);
    const auto negative = -static_cast<std::int64_t>(value);
    segment.put(target, &words::third, value);
    segment.put(target, &words::second, negative);
    segment.put(target, &words::last, value);
    segment.flush(target);
    std::uint64_t third = 0;
    std::int64_t second = 0;
    std::uint64_t last = 0;
    std::uint64_t first = 1;
    segment.get(target, &words::third, third);
    segment.get(target, &words::second, second);
    segment.get(target, &words::last, last);
    segment.get(target, &words::first, first);
    segment.flush(target);
    EXPECT_EQ(third, value);
    EXPECT_EQ(second, negative);
    EXPECT_EQ(last, value);
    EXPECT_EQ(first, 0) << "nobody wrote to it";
  });
  // The writes are complete at the target: its owner reads the last rank's.
  EXPECT_EQ(segment.read_direct(w.rank(), &words::third), value_of(w.size() - 1, w.rank()));
  EXPECT_EQ(segment.read_direct(w.rank(), &words::first), 0);
  w.barrier();
}

TEST(far_memory, swap_gives_the_old_value) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  in_turns(w, [&](int target) {
    const std::uint64_t expected = w.rank() == 0 ? 0 : value_of(w.rank() - 1, target);
    const std::uint64_t value = value_of(w.rank(), target);
    std::uint64_t old = 1;
    segment.swap(target, &words::last, value, old);
    segment.flush(target);
    EXPECT_EQ(old, expected);
  });
  EXPECT_EQ(segment.read_direct(w.rank(), &words::last), value_of(w.size() - 1, w.rank()));
  w.barrier();
}

TEST(far_memory, compare_and_swap_writes_only_where_it_matches) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  in_turns(w, [&](int target) {
    const std::uint64_t before = w.rank() == 0 ? 0 : value_of(w.rank() - 1, target);
    const std::uint64_t wrong = before + 1;
    const std::uint64_t value = value_of(w.rank(), target);
    std::uint64_t seen = 1;
    segment.compare_and_swap(target, &words::first, wrong, value, seen);
    segment.flush(target);
    EXPECT_EQ(seen, before) << "a failed one tells the value";
    segment.compare_and_swap(target, &words::first, before, value, seen);
    segment.flush(target);
    EXPECT_EQ(seen, before) << "the failed one must not have written";
    segment.fetch(target, &words::first, seen);
    segment.flush(target);
    EXPECT_EQ(seen, value);
  });
}

TEST(far_memory, compare_and_swap_has_one_winner) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  for (int target = 0; target < w.size(); ++target) {
    const rank_word me = to_word(w.rank());
    rank_word seen = me;
    segment.compare_and_swap(target, &words::first, nobody, me, seen);
    segment.flush(target);
    w.barrier();
    const auto winners = w.sum_over_ranks({seen == nobody ? 1 : 0, seen == nobody ? w.rank() : 0});
    EXPECT_EQ(winners[0], 1);
    rank_word winner = nobody;
    segment.fetch(target, &words::first, winner);
    segment.flush(target);
    EXPECT_EQ(to_rank(winner), winners[1]);
  }
  w.barrier();
}

TEST(far_memory, fetch_add_loses_nothing_and_repeats_nothing) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  // The loop goes on until other ranks have come in between often enough to lose an update. That takes few
  // rounds where far operations are slow, and many where a rank can be through before another begins.
  const int least = w.one_physical_node() ? 200 : 2 * often(w);
  const int most = w.one_physical_node() && w.size() > 1 ? 50'000 : least;
  for (int target = 0; target < w.size(); ++target) {
    const std::uint64_t one = 1;
    std::int64_t sum_of_olds = 0;
    std::uint64_t last = 0;
    int rounds = 0;
    for (int interleaved = 0; rounds < least || (rounds < most && interleaved < 200); ++rounds) {
      std::uint64_t old = 0;
      segment.fetch_add(target, &words::first, one, old);
      segment.flush(target);
      EXPECT_TRUE(rounds == 0 || old > last);
      interleaved += static_cast<int>(rounds != 0 && old != last + 1);
      last = old;
      sum_of_olds += static_cast<std::int64_t>(old);
    }
    w.barrier();
    const auto sums = w.sum_over_ranks({rounds, sum_of_olds});
    EXPECT_EQ(sums[1], sums[0] * (sums[0] - 1) / 2) << "each value from 0 up, once";
    if (w.rank() == target) {
      EXPECT_EQ(segment.read_direct(target, &words::first), static_cast<std::uint64_t>(sums[0]));
    }
  }
  w.barrier();
}

TEST(far_memory, fetch_add_of_negative_numbers) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  const std::int64_t minus_two = -2;
  std::int64_t old = 0;
  for (int target = 0; target < w.size(); ++target) {
    segment.fetch_add(target, &words::second, minus_two, old);
    segment.flush(target);
  }
  w.barrier();
  EXPECT_EQ(segment.read_direct(w.rank(), &words::second), -2 * w.size());
  w.barrier();
}

TEST(far_memory, accumulate_replaces_and_sums) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  const auto mine = std::int64_t{w.rank()} + 1;
  for (int target = 0; target < w.size(); ++target) {
    segment.accumulate(target, &words::second, mine, far_op::sum);
    segment.flush(target);
  }
  in_turns(w, [&](int target) {
    const std::uint64_t value = value_of(w.rank(), target);
    segment.accumulate(target, &words::third, value, far_op::replace);
    segment.flush(target);
  });
  EXPECT_EQ(segment.read_direct(w.rank(), &words::second), w.size() * (w.size() + 1) / 2);
  EXPECT_EQ(segment.read_direct(w.rank(), &words::third), value_of(w.size() - 1, w.rank()));
  w.barrier();
}

TEST(far_memory, is_zero_where_a_segment_was_before) {
  world& w = common_world();
  const std::uint64_t dirt = ~std::uint64_t{0};
  const std::int64_t minus_one = -1;
  for (int round = 0; round < 3; ++round) {
    world::far_segment<words> segment(w);
    for (int target = 0; target < w.size(); ++target) {
      std::uint64_t first = 1;
      std::int64_t second = 1;
      std::uint64_t third = 1;
      std::uint64_t last = 1;
      segment.get(target, &words::first, first);
      segment.get(target, &words::second, second);
      segment.get(target, &words::third, third);
      segment.get(target, &words::last, last);
      segment.flush(target);
      EXPECT_TRUE(first == 0 && second == 0 && third == 0 && last == 0)
          << "at rank " << target << ", round " << round;
    }
    w.barrier();
    const int target = (w.rank() + round) % w.size();
    for (const auto field : {&words::first, &words::third, &words::last}) segment.put(target, field, dirt);
    segment.put(target, &words::second, minus_one);
    segment.flush(target);
    w.barrier();
    EXPECT_EQ(segment.read_direct(w.rank(), &words::last), dirt);
  }
}

TEST(far_memory, direct_access_within_the_node) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  segment.write_direct(w.rank(), &words::first, value_of(w.rank(), w.rank()));
  w.barrier();
  for (int other = 0; other < w.size(); ++other) {
    std::uint64_t value = 0;
    segment.get(other, &words::first, value);
    segment.flush(other);
    EXPECT_EQ(value, value_of(other, other)) << "a far read must see the owner's direct write";
    if (w.locality().same(level::node, w.rank(), other)) {
      EXPECT_EQ(segment.read_direct(other, &words::first), value);
    } else if (checked_build) {
      EXPECT_THROW(static_cast<void>(segment.read_direct(other, &words::first)), unreachable_rank);
    }
  }
  w.barrier();
  // Ranks of the owner's node may write the word, too.
  const int leader = w.locality().leader(level::node, w.rank());
  for (const int member : w.locality().members(level::node, w.locality().group(level::node, w.rank()))) {
    if (member == w.rank()) segment.write_direct(leader, &words::third, to_word(member));
    w.barrier();
    EXPECT_EQ(segment.read_direct(leader, &words::third), to_word(member));
    w.barrier();
  }
}

TEST(waiting, each_way_sees_what_another_rank_writes) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  const int right = (w.rank() + 1) % w.size();
  const int left = (w.rank() + w.size() - 1) % w.size();
  const auto is = [](std::uint64_t expected) {
    return [expected](std::uint64_t value) { return value == expected; };
  };
  const rank_word me = to_word(w.rank());
  const rank_word ignored = 0;
  rank_word old = ignored;
  for (int way = 0; way < 3; ++way) {
    // A token goes round: each rank waits for the token of its left neighbour, and rank 0 starts.
    const auto pass = [&] {
      if (way == 2)
        segment.swap(right, &words::last, me, old);
      else
        segment.put(right, way == 0 ? &words::first : &words::third, me);
      segment.flush(right);
    };
    if (w.rank() == 0) pass();
    const auto wanted = is(to_word(left));
    if (way == 0) {
      EXPECT_EQ(w.await_direct(segment, w.rank(), &words::first, wanted), to_word(left));
    }
    if (way == 1) {
      EXPECT_EQ(w.await_get(segment, w.rank(), &words::third, wanted), to_word(left));
    }
    if (way == 2) {
      EXPECT_EQ(w.await_fetch(segment, w.rank(), &words::last, wanted), to_word(left));
    }
    if (w.rank() != 0) pass();
    w.barrier();
  }
}

TEST(waiting, far_words_of_another_rank_can_be_awaited) {
  world& w = common_world();
  world::far_segment<words> segment(w);
  const rank_word me = to_word(w.rank());
  const auto turn_of = [&](std::uint64_t value) { return value == static_cast<std::uint64_t>(w.rank()); };
  // All ranks poll rank 0's word until it names them.
  EXPECT_EQ(w.await_get(segment, 0, &words::first, turn_of), static_cast<std::uint64_t>(w.rank()));
  segment.put(0, &words::first, me);
  segment.flush(0);
  w.barrier();
  EXPECT_EQ(segment.read_direct(w.locality().same(level::node, 0, w.rank()) ? 0 : w.rank(), &words::first),
            w.locality().same(level::node, 0, w.rank()) ? static_cast<std::uint64_t>(w.size()) : 0U);
  w.barrier();
}

TEST(waiting, delay_and_clock_go_on) {
  world& w = common_world();
  const auto before = w.now();
  w.delay(std::chrono::microseconds{200});
  EXPECT_GE(w.now() - before, std::chrono::microseconds{200});
  w.barrier();
}

TEST(near_memory, is_shared_within_the_node) {
  world& w = common_world();
  for (int round = 0; round < 3; ++round) {
    world::near_segment<cells> segment(w);
    const auto group = w.locality().members(level::node, w.locality().group(level::node, w.rank()));
    for (const int member : group) {
      EXPECT_EQ(segment.at(member).value.load(std::memory_order_acquire), 0) << "made anew";
      EXPECT_EQ(segment.at(member).byte.load(std::memory_order_acquire), 0);
    }
    w.barrier();
    for (const int member : group)
      for (int i = 0; i < 1000; ++i) {
        segment.at(member).value.fetch_add(1, std::memory_order_relaxed);
        segment.at(member).byte.fetch_add(1, std::memory_order_relaxed);
      }
    w.barrier();
    const std::size_t added = 1000 * group.size();
    EXPECT_EQ(segment.at(w.rank()).value.load(std::memory_order_acquire), added);
    EXPECT_EQ(segment.at(w.rank()).byte.load(std::memory_order_acquire), added % 256);
    if (checked_build) {
      for (int other = 0; other < w.size(); ++other) {
        if (w.locality().same(level::node, w.rank(), other)) continue;
        EXPECT_THROW(static_cast<void>(segment.at(other)), unreachable_rank);
      }
      EXPECT_THROW(static_cast<void>(segment.at(-1)), unreachable_rank);
      EXPECT_THROW(static_cast<void>(segment.at(w.size())), unreachable_rank);
    }
    w.barrier();
  }
}

TEST(near_memory, cells_order_what_was_written_before) {
  world& w = common_world();
  struct alignas(cache_line) mailbox {
    std::uint64_t letter = 0;  // not atomic
    alignas(cache_line) world::near<std::uint64_t> flag;
  };
  world::near_segment<mailbox> segment(w);
  const auto group = w.locality().members(level::node, w.locality().group(level::node, w.rank()));
  const auto me = std::find(group.begin(), group.end(), w.rank());
  const int right = me + 1 == group.end() ? group.front() : *(me + 1);
  for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(often(w)); ++round) {
    mailbox& out = segment.at(right);
    mailbox& in = segment.at(w.rank());
    out.letter = round * 3;
    out.flag.store(round, std::memory_order_release);
    w.await(in.flag, [&](std::uint64_t flag) { return flag >= round; });
    EXPECT_EQ(in.letter, round * 3);
    w.barrier();
  }
}

TEST(signals, arrive_from_whom_they_are_awaited) {
  world& w = common_world();
  world::signal_channel channel(w);
  // Signals go to all ranks in ascending order, and are awaited in descending order.
  for (int to = 0; to < w.size(); ++to)
    if (to != w.rank()) channel.signal(to);
  for (int from = w.size() - 1; from >= 0; --from)
    if (from != w.rank()) channel.await_signal(from);
  w.barrier();
  for (int to = 0; to < w.size(); ++to)
    if (to != w.rank()) channel.signal(to);
  for (int count = 0; count + 1 < w.size(); ++count) channel.await_signal(any_rank);
  w.barrier();
}

// Hazard 12: a signal on one channel must not end a wait on another. Rank 0 sends first on all other
// channels, then shows by a far word that the awaited signal comes next.
TEST(signals, of_many_channels_are_not_confused) {
  world& w = common_world();
  std::vector<std::unique_ptr<world::signal_channel>> channels;
  for (int i = 0; i < 20; ++i) channels.push_back(std::make_unique<world::signal_channel>(w));
  world::far_segment<words> shown(w);
  for (std::size_t awaited = 0; awaited < channels.size(); ++awaited) {
    const std::uint64_t sign = awaited + 1;
    if (w.rank() == 0) {
      for (int to = 1; to < w.size(); ++to) {
        for (auto& channel : channels)
          if (channel != channels[awaited]) channel->signal(to);
        w.delay(std::chrono::microseconds{50});
        shown.put(to, &words::first, sign);
        shown.flush(to);
        channels[awaited]->signal(to);
      }
    } else {
      channels[awaited]->await_signal(awaited % 2 == 0 ? 0 : any_rank);
      EXPECT_EQ(shown.read_direct(w.rank(), &words::first), sign) << "woken by another channel's signal";
      for (auto& channel : channels)
        if (channel != channels[awaited]) channel->await_signal(0);
    }
    w.barrier();
  }
}

TEST(signals, what_was_completed_before_is_seen_after) {
  world& w = common_world();
  world::signal_channel channel(w);
  world::far_segment<words> segment(w);
  const int right = (w.rank() + 1) % w.size();
  const int left = (w.rank() + w.size() - 1) % w.size();
  if (w.size() == 1) return;
  for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(often(w)); ++round) {
    segment.put(right, &words::first, round);
    segment.flush(right);
    channel.signal(right);
    channel.await_signal(left);
    EXPECT_GE(segment.read_direct(w.rank(), &words::first), round);
  }
  w.barrier();
}

}  // namespace
}  // namespace nearfar::testing
