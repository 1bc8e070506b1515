// Waits: when a rank notices what it waits for, and the report if it never can.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

TEST(waits, end_at_the_poll_after_the_store_when_the_line_is_here) {
  machine on = free_machine();
  on.near = {.hit = 10, .atomic = 0, .same_core = 0, .same_cache = 300, .same_numa = 0, .same_node = 0};
  on.library = {.progress = 900, .polls_per_progress = 10, .flush = 0, .exclusive = 0};
  std::set<std::int64_t> noticed;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    run(on, placed("node:1 core:2", 2),
        [&](world& w) {
          world::near_segment<two_cells> cells(w);
          auto& cell = cells.at(0).first;
          if (w.rank() == 0) {
            w.delay(nanoseconds(20000));
            cell.store(1, relaxed);
            return;
          }
          noticed.insert(span_of(w, [&] { w.await(cell, is_set); }));
        },
        {.seed = seed});
  // The store takes the line back within 300 ns. The next poll comes within 100 ns and fetches the line in
  // 300 ns.
  EXPECT_GE(*noticed.begin(), 20600);
  EXPECT_LT(*noticed.begin(), 20620);
  EXPECT_LT(*noticed.rbegin(), 20700);
  EXPECT_GT(*noticed.rbegin(), 20680);
}

TEST(waits, that_are_satisfied_cost_one_read) {
  machine on = free_machine();
  on.near.hit = 3;
  run(on, placed("node:1 core:1", 1), [](world& w) {
    world::near_segment<two_cells> cells(w);
    cells.at(0).first.store(1, relaxed);
    EXPECT_EQ(span_of(w, [&] { w.await(cells.at(0).first, is_set); }), 3);
  });
}

TEST(waits, look_again_when_the_value_has_gone) {
  // Rank 1's polls are far apart: it may miss a value that rank 0 writes for a moment.
  machine on = free_machine();
  on.near.hit = 1;
  on.library = {.progress = 100000, .polls_per_progress = 1, .flush = 0, .exclusive = 0};
  run(on, placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    auto& cell = cells.at(0).first;
    if (w.rank() == 0) {
      w.delay(nanoseconds(200000));
      cell.store(1, relaxed);
      cell.store(0, relaxed);
      w.delay(nanoseconds(1000000));
      cell.store(2, relaxed);
    } else {
      EXPECT_EQ(w.await(cell, is_set), 2U);
      EXPECT_GT(w.now(), nanoseconds(1200000));
    }
  });
}

TEST(waits, of_many_ranks_for_one_word_all_end) {
  int woken = 0;
  run(plain_machine(), placed("node:1 numa:2 core:50", 100), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() == 0) {
      w.delay(nanoseconds(5000));
      cells.at(0).first.store(1, relaxed);
      cells.at(0).second.store(1, relaxed);
    } else {
      w.await(w.rank() % 2 == 0 ? cells.at(0).first : cells.at(0).second, is_set);
      ++woken;
    }
  });
  EXPECT_EQ(woken, 99);
}

TEST(waits, a_store_is_not_seen_before_one_that_precedes_it) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 1000, .same_numa = 0, .same_node = 0};
  run(on, placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    auto& own = cells.at(0).first;
    auto& far_away = cells.at(1).first;
    if (w.rank() == 1) {
      w.await(own, is_set);
      // The other line took 1000 ns to rank 0, and this one another 2000 ns there and back.
      EXPECT_GE(w.now(), nanoseconds(10000 + 1000 + 1000));
      return;
    }
    own.store(0, relaxed);
    w.delay(nanoseconds(10000));
    far_away.store(1, relaxed);
    own.store(1, relaxed);
  });
}

TEST(waits, a_store_to_a_line_that_is_here_neither) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 1000, .same_numa = 0, .same_node = 0};
  run(on, placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() == 0) {
      cells.at(1).first.store(1, relaxed);
      cells.at(0).first.store(1, relaxed);
    } else {
      w.delay(nanoseconds(500));
      EXPECT_EQ(cells.at(0).first.load(relaxed), 1U);
      EXPECT_EQ(w.now(), nanoseconds(1000 + 1000));
    }
  });
}

TEST(waits, for_different_words_of_one_line_all_end) {
  struct alignas(cache_line) neighbours {
    world::near<std::uint64_t> left{};
    world::near<std::uint64_t> right{};
  };
  for (const bool left_first : {true, false}) {
    int woken = 0;
    run(plain_machine(), placed("node:1 core:9", 9), [&](world& w) {
      world::near_segment<neighbours> cells(w);
      auto& it = cells.at(0);
      if (w.rank() == 0) {
        w.delay(nanoseconds(5000));
        (left_first ? it.left : it.right).store(1, relaxed);
        w.delay(nanoseconds(5000));
        (left_first ? it.right : it.left).store(1, relaxed);
      } else {
        w.await(w.rank() % 2 == 0 ? it.left : it.right, is_set);
        EXPECT_EQ(w.now() < nanoseconds(10000), (w.rank() % 2 == 0) == left_first);
        ++woken;
      }
    });
    EXPECT_EQ(woken, 8);
  }
}

TEST(waits, by_far_reads_and_swaps_end) {
  for (const auto& [spec, by, compares] :
       {std::tuple("node:2 core:2", executor::nic, false),
        std::tuple("node:2 core:2", executor::target, true), std::tuple("node:1 core:4", executor::nic, true),
        std::tuple("node:1 core:4", executor::target, false)})
    run(plain_machine(by), placed(spec, 4), [compares = compares](world& w) {
      world::far_segment<two_words> words(w);
      const std::uint64_t zero = 0;
      if (w.rank() == 3) {
        std::uint64_t old = 0;
        words.swap(0, &two_words::second, one, old);
        words.flush(0);
        w.barrier();
        w.delay(nanoseconds(20000));
        words.accumulate(0, &two_words::first, one, far_op::replace);
        words.accumulate(0, &two_words::second, zero, far_op::replace);
        words.flush(0);
      } else {
        w.barrier();
        std::uint64_t seen = 1;
        if (w.rank() == 0) seen = w.await_get(words, 0, &two_words::first, is_set);
        if (w.rank() == 1) seen = w.await_fetch(words, 0, &two_words::first, is_set);
        if (w.rank() == 2) {
          const auto is_free = [](std::uint64_t old) { return old == 0; };
          seen = compares ? w.await_compare_and_swap(words, 0, &two_words::second, zero, one, is_free, {}) + 1
                          : w.await_swap(words, 0, &two_words::second, one, is_free, {}) + 1;
        }
        EXPECT_EQ(seen, 1U);
        EXPECT_GT(w.now(), nanoseconds(20000));
        EXPECT_LT(w.now(), nanoseconds(60000));
      }
      w.barrier();
    });
}

TEST(waits, by_exchanges_and_reads_for_writing_end) {
  run(plain_machine(), placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    auto& [first, second] = cells.at(0);
    if (w.rank() == 0) {
      first.store(1, std::memory_order_release);
      w.barrier();
      w.delay(nanoseconds(20000));
      first.store(2, std::memory_order_release);
      second.store(2, std::memory_order_release);
    } else {
      w.barrier();
      const auto is_two = [](std::uint64_t value) { return value == 2; };
      EXPECT_EQ(w.await_exchange(first, std::uint64_t{3}, is_two, {nanoseconds(100), nanoseconds(1000)}), 2U);
      EXPECT_EQ(first.load(std::memory_order_relaxed), 3U);
      EXPECT_EQ(w.await_for_writing(second, is_two), 2U);
      EXPECT_GT(w.now(), nanoseconds(20000));
      EXPECT_LT(w.now(), nanoseconds(30000));
    }
    w.barrier();
  });
}

TEST(signals, are_counted_by_channel_and_sender) {
  run(plain_machine(), placed("node:2 core:2", 4), [](world& w) {
    world::signal_channel first(w);
    world::signal_channel second(w);
    if (w.rank() != 0) {
      w.delay(nanoseconds(10000 * w.rank()));
      second.signal(0);
      first.signal(0);
      first.signal(0);
      return;
    }
    // The signal of the last rank to come, although others have sent before.
    first.await_signal(3);
    EXPECT_GT(w.now(), nanoseconds(30000));
    second.await_signal(1);
    second.await_signal(2);
    second.await_signal(any_rank);
    for (int i = 0; i < 5; ++i) first.await_signal(any_rank);
  });
  run(plain_machine(), placed("node:1 core:3", 3), [](world& w) {
    world::signal_channel first(w);
    world::signal_channel second(w);
    w.delay(nanoseconds(10000 * w.rank()));
    if (w.rank() == 1) second.signal(0);
    if (w.rank() == 2) first.signal(0);
    if (w.rank() != 0) return;
    w.delay(nanoseconds(15000));
    first.await_signal(any_rank);
    EXPECT_GT(w.now(), nanoseconds(20000));
    second.await_signal(any_rank);
  });
  // Each signal is received once.
  EXPECT_EQ(deadlock_text(2, "node:1 core:2",
                          [](world& w) {
                            world::signal_channel channel(w);
                            if (w.rank() == 1) return channel.signal(0);
                            channel.await_signal(1);
                            channel.await_signal(any_rank);
                          }),
            "no rank can go on\n  rank 0 waits for a signal from any rank on channel 0");
}

/// The order in which ranks get the epoch of rank 0, which rank 0 holds first and for long. The others ask
/// for it in the order of their ranks. Each grant has the rank, and the number of holders then.
using grants = std::vector<std::pair<int, int>>;
grants granted(const std::string& kinds, bool on_one_node, executor by) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::atomic).by = by;
  const std::string ranks = std::to_string(kinds.size());
  grants order;
  int inside = 0;
  run(on, placed(on_one_node ? "core:" + ranks : "node:" + ranks, static_cast<int>(kinds.size())),
      [&](world& w) {
        world::lock_epoch epoch(w, 0);
        const int rank = w.rank();
        w.delay(nanoseconds(100 * rank));
        kinds[static_cast<std::size_t>(rank)] == 'x' ? epoch.begin() : epoch.begin_shared();
        order.emplace_back(rank, ++inside);
        w.delay(nanoseconds(10000));
        --inside;
        epoch.end();
      });
  return order;
}

TEST(lock_epochs, are_granted_in_the_order_of_arrival_those_that_are_shared_together) {
  for (const bool on_one_node : {true, false})
    for (const executor by : {executor::nic, executor::target}) {
      const auto order = [=](const std::string& kinds) { return granted(kinds, on_one_node, by); };
      EXPECT_EQ(order("xxx"), (grants{{0, 1}, {1, 1}, {2, 1}}));
      EXPECT_EQ(order("sss"), (grants{{0, 1}, {1, 2}, {2, 3}}));
      EXPECT_EQ(order("xsss"), (grants{{0, 1}, {1, 1}, {2, 2}, {3, 3}}));
      // A rank behind one that has to be alone waits for that one, although it could share the epoch.
      EXPECT_EQ(order("ssxss"), (grants{{0, 1}, {1, 2}, {2, 1}, {3, 1}, {4, 2}}));
      EXPECT_EQ(order("xssxxs"), (grants{{0, 1}, {1, 1}, {2, 2}, {3, 1}, {4, 1}, {5, 1}}));
    }
}

TEST(deadlocks, say_who_shares_an_epoch) {
  const auto text = [](bool first_shares) {
    return deadlock_text(2, "node:2 core:1", [=](world& w) {
      world::lock_epoch epoch(w, 0);
      if (w.rank() == 1) w.delay(nanoseconds(100000));
      w.rank() == 0 && first_shares ? epoch.begin_shared() : epoch.begin();
      if (w.rank() == 0 && !first_shares) epoch.begin_shared();
    });
  };
  EXPECT_NE(text(true).find("rank 1 waits for the exclusive epoch 0 at rank 0"), std::string::npos);
  EXPECT_NE(text(false).find("rank 0 waits for the shared epoch 0 at rank 0"), std::string::npos);
}

TEST(deadlocks, say_who_waits_for_what) {
  const std::string text = deadlock_text(4, "node:2 core:2", [](world& w) {
    world::near_segment<two_cells> cells(w);
    world::signal_channel channel(w);
    world::lock_epoch epoch(w, 0);
    if (w.rank() == 0) w.await(cells.at(1).second, is_set);
    if (w.rank() == 1) channel.await_signal(3);
    if (w.rank() == 2) w.barrier();
    if (w.rank() == 3) {
      epoch.begin();
      epoch.begin();
    }
  });
  EXPECT_EQ(text,
            "no rank can go on"
            "\n  rank 0 waits for two_cells.second of rank 1 by load, which is 0"
            "\n  rank 1 waits for a signal from rank 3 on channel 0"
            "\n  rank 2 waits in a barrier"
            "\n  rank 3 waits for the exclusive epoch 1 at rank 0");
}

TEST(deadlocks, are_found_though_ranks_poll_by_far_operations) {
  for (const std::string spec : {"node:2 core:1", "node:1 core:2"}) {
    const std::string text = deadlock_text(2, spec, [](world& w) {
      world::far_segment<two_words> words(w);
      if (w.rank() == 1) w.await_get(words, 0, &two_words::second, is_set);
      if (w.rank() == 0)
        w.await_swap(words, 1, &two_words::first, one, [](std::uint64_t old) { return old == 2; }, {});
    });
    EXPECT_NE(text.find("and other ranks only repeat far operations"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1 waits for two_words.second of rank 0 by get, which is 0"), std::string::npos)
        << text;
    EXPECT_NE(text.find("rank 0 waits for two_words.first of rank 1 by swap, which is 1"), std::string::npos)
        << text;
  }
}

TEST(deadlocks, a_long_far_poll_is_none) {
  run(plain_machine(), placed("node:2 core:1", 2), [](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() == 0) {
      w.delay(std::chrono::milliseconds(200));
      words.put(0, &two_words::first, one);
      words.flush(0);
    } else {
      EXPECT_EQ(w.await_get(words, 0, &two_words::first, is_set), 1U);
    }
    w.barrier();
  });
}

TEST(deadlocks, so_are_loops_outside_await) {
  const std::string reads = deadlock_text(2, "node:1 core:2",
                                          [](world& w) {
                                            world::near_segment<two_cells> cells(w);
                                            if (w.rank() == 1)
                                              while (cells.at(0).first.load(relaxed) == 0) {
                                              }
                                            w.barrier();
                                          },
                                          {.most_fruitless = 100000});
  EXPECT_NE(reads.find("rank 1 and other ranks keep reading"), std::string::npos) << reads;
  EXPECT_NE(reads.find("rank 0 waits in a barrier"), std::string::npos) << reads;
  const std::string asks = deadlock_text(1, "node:1", [](world& w) {
    while (w.now() < nanoseconds(1)) {
    }
  });
  EXPECT_NE(asks.find("rank 0 asks for the time in a loop"), std::string::npos) << asks;
}

}  // namespace
}  // namespace nearfar::simulation::testing
