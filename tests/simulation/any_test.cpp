// Waits for several words at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

/// Two cells on one line, and one on its own line.
struct alignas(cache_line) three_cells {
  world::near<std::uint64_t> left{};
  world::near<std::uint64_t> right{};
  alignas(cache_line) world::near<std::uint64_t> apart{};
};

TEST(any_of_several, ends_a_wait_when_the_first_holds) {
  for (std::size_t which = 0; which < 4; ++which)
    run(free_machine(), placed("node:1 core:2", 2), [&](world& w) {
      world::near_segment<three_cells> cells(w);
      world::far_segment<two_words> words(w);
      three_cells& all = cells.at(0);
      const std::uint64_t value = 10 + which;
      if (w.rank() == 0) {
        w.delay(nanoseconds(1000));
        if (which == 0) all.left.store(value, relaxed);
        if (which == 1) all.right.store(value, relaxed);
        if (which == 2) all.apart.store(value, relaxed);
        if (which == 3) words.put(0, &two_words::first, value);
        words.flush(0);
        w.delay(nanoseconds(1000));
        all.left.store(1, relaxed);
        all.right.store(1, relaxed);
        all.apart.store(1, relaxed);
        return;
      }
      const satisfied_condition held =
          w.await_any(when(all.left, is_set), when(all.right, is_set), when(all.apart, is_set),
                      when(words, 0, &two_words::first, is_set));
      EXPECT_EQ(held.index, which);
      EXPECT_EQ(held.value, value);
      EXPECT_EQ(w.now(), nanoseconds(1000));
      // That store wakes this rank no more.
      w.delay(nanoseconds(9000));
      EXPECT_EQ(w.now(), nanoseconds(10000));
    });
}

TEST(any_of_several, leaves_the_lines_of_all_when_it_ends) {
  run(free_machine(), placed("node:1 core:4", 4), [&](world& w) {
    world::near_segment<three_cells> cells(w);
    world::signal_channel channel(w);
    three_cells& all = cells.at(0);
    if (w.rank() == 0) {
      w.delay(nanoseconds(1000));
      all.right.store(1, relaxed);
      w.delay(nanoseconds(1000));
      all.left.store(1, relaxed);
      all.apart.store(1, relaxed);
      w.delay(nanoseconds(1000));
      for (int rank = 1; rank < w.size(); ++rank) channel.signal(rank);
      return;
    }
    // In the lists of both lines rank 1 is between the others.
    w.delay(nanoseconds(w.rank() == 1 ? 200 : 100 * w.rank() - 100));
    if (w.rank() == 1) {
      // One word may occur twice, too.
      const std::size_t index = w.await_any(when(all.left, is_set), when(all.right, is_set),
                                            when(all.right, is_set), when(all.apart, is_set))
                                    .index;
      EXPECT_TRUE(index == 1 || index == 2);
      EXPECT_EQ(w.now(), nanoseconds(1000));
    } else {
      const std::size_t index = w.await_any(when(all.left, is_set), when(all.apart, is_set)).index;
      EXPECT_LT(index, 2U);
      EXPECT_EQ(w.now(), nanoseconds(2000));
    }
    // Only the signal ends this wait.
    channel.await_signal(0);
    EXPECT_EQ(w.now(), nanoseconds(3000));
  });
}

TEST(any_of_several, begins_with_another_one_each_time) {
  run(free_machine(), placed("node:1", 1), [](world& w) {
    world::near_segment<three_cells> cells(w);
    three_cells& all = cells.at(0);
    all.left.store(1, relaxed);
    all.right.store(1, relaxed);
    all.apart.store(1, relaxed);
    // Two kinds of wait in turn: each of them gets to all of its words.
    std::array<std::array<int, 3>, 2> chosen{};
    for (int round = 0; round < 60; ++round) {
      ++chosen[0].at(w.await_any(when(all.left, is_set), when(all.right, is_set)).index);
      ++chosen[1].at(
          w.await_any(when(all.left, is_set), when(all.right, is_set), when(all.apart, is_set)).index);
    }
    EXPECT_GT(std::min(chosen[0][0], chosen[0][1]), 20);
    EXPECT_GT(*std::min_element(chosen[1].begin(), chosen[1].end()), 10);
  });
}

TEST(any_of_several, reads_each_word_and_polls_so_much_less_often) {
  machine on = free_machine();
  on.near.hit = 10;
  std::set<std::int64_t> noticed;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    run(on, placed("node:1 core:2", 2),
        [&](world& w) {
          world::near_segment<three_cells> cells(w);
          three_cells& all = cells.at(0);
          if (w.rank() == 0) {
            w.delay(nanoseconds(20000));
            all.left.store(1, relaxed);
            return;
          }
          w.await_any(when(all.left, is_set), when(all.right, is_set), when(all.apart, is_set));
          noticed.insert(w.now().count() - 20000);
        },
        {.seed = seed});
  // A poll comes within 30 ns of the store, which is visible at once. It fetches the line of the first two
  // words, in no time, and reads both others for 10 ns each.
  EXPECT_GE(*noticed.begin(), 20);
  EXPECT_LT(*noticed.begin(), 20 + 4);
  EXPECT_LT(*noticed.rbegin(), 20 + 30);
  EXPECT_GT(*noticed.rbegin(), 20 + 26);
}

TEST(any_of_several, sees_what_is_written_while_it_reads_another) {
  // A read takes 300 ns: rank 0 writes the word that was read while the read of the other one is in flight.
  machine on = free_machine();
  on.near.same_cache = 300;
  for (const bool left : {true, false})
    for (const std::int64_t at : {1, 150, 299, 450})
      run(on, placed("node:1 core:2", 2), [&](world& w) {
        world::near_segment<three_cells> cells(w);
        three_cells& all = cells.at(0);
        if (w.rank() == 0) {
          w.delay(nanoseconds(at));
          (left ? all.left : all.apart).store(1, relaxed);
        } else {
          EXPECT_EQ(w.await_any(when(all.left, is_set), when(all.apart, is_set)).index, left ? 0U : 1U);
          EXPECT_LE(w.now(), nanoseconds(2000));
        }
      });
}

TEST(any_of_several, looks_only_after_pauses_if_asked) {
  machine on = free_machine();
  run(on, placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    auto& cell = cells.at(0).second;
    if (w.rank() == 0) {
      w.delay(nanoseconds(350));
      cell.store(7, relaxed);
      return;
    }
    satisfied_condition found{};
    // Looks at 100, 300 and 700 ns.
    EXPECT_EQ(span_of(w,
                      [&] {
                        found = w.await_any_after_pauses(
                            {.shortest = nanoseconds(100), .longest = nanoseconds(400)},
                            when(cells.at(0).first, is_set), when(cell, is_set));
                      }),
              700);
    EXPECT_EQ(found.index, 1U);
    EXPECT_EQ(found.value, 7U);
  });
}

TEST(any_of_several, is_for_words_in_place) {
  run(plain_machine(), placed("node:1", 1), [](world& w) {
    world::far_segment<two_words> words(w);
    auto* word = reinterpret_cast<std::uint64_t*>(w.far_memory(0));
    const engine::wait direct{.read = {.what = engine::action::read_direct, .word = word},
                              .satisfied = is_set};
    const engine::wait far{.read = {.what = engine::action::get, .word = word}, .satisfied = is_set};
    engine::substrate& ranks = w.substrate();
    EXPECT_THROW((void)ranks.await_any(std::array{direct, far}, nanoseconds(1)), misuse);
    EXPECT_THROW((void)ranks.await_any({}, nanoseconds(1)), misuse);
    EXPECT_FALSE(ranks.await_any(std::array{direct, direct}, nanoseconds(1)).which);
    EXPECT_FALSE(ranks.await_any(std::array{far}, nanoseconds(1)).which);
  });
}

TEST(any_of_several, is_in_the_text_of_a_deadlock) {
  EXPECT_EQ(deadlock_text(1, "node:1",
                          [](world& w) {
                            world::near_segment<two_cells> cells(w);
                            w.await_any(when(cells.at(0).first, is_set), when(cells.at(0).second, is_set));
                          }),
            "no rank can go on\n  rank 0 waits for two_cells.first of rank 0 by load, which is 0, or for "
            "two_cells.second of rank 0 by load, which is 0");
}

TEST(any_of_several, serves_others_while_it_waits) {
  // Like every wait in place this one serves others: rank 0, which polls, carries out rank 1's put.
  run(plain_machine(executor::target), placed("node:2 core:1", 2), [](world& w) {
    world::near_segment<three_cells> cells(w);
    world::far_segment<two_words> words(w);
    if (w.rank() == 1) {
      words.put(0, &two_words::first, one);
      words.flush(0);
    } else {
      const auto held =
          w.await_any(when(cells.at(0).left, is_set), when(words, 0, &two_words::first, is_set));
      EXPECT_EQ(held.index, 1U);
    }
  });
}

}  // namespace
}  // namespace nearfar::simulation::testing
