// Waits with a deadline: when they end, what they take in time, and that they leave nothing behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "src/simulation/random_stream.hpp"
#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

/// Everything that a rank can wait for, at rank 0, which sets it all.
struct everything {
  explicit everything(world& w) : here(&w), cells(w), words(w), channel(w) {}

  /// Waits for the thing of number `kind`. Returns whether it came.
  [[nodiscard]] bool await_until(int kind, nanoseconds until) {
    world& w = *here;
    const auto of = &two_words::first;
    const std::uint64_t zero = 0;
    switch (kind) {
      case 0:
        return w.await_until(until, cells.at(0).first, is_set).has_value();
      case 1:
        return w.await_direct_until(until, words, 0, of, is_set).has_value();
      case 2:
        return w.await_get_until(until, words, 0, of, is_set).has_value();
      case 3:
        return w.await_fetch_until(until, words, 0, of, is_set).has_value();
      case 4:
        return w.await_swap_until(until, words, 0, of, zero, is_set, {nanoseconds(1), nanoseconds(1)})
            .has_value();
      case 5:
        return w.await_any_until(until, when(cells.at(0).first, is_set), when(words, 0, of, is_set))
            .has_value();
      default:
        return channel.await_signal_until(until, 0);
    }
  }
  void set(const std::vector<int>& ranks) {
    const std::uint64_t value = 2;
    cells.at(0).first.store(value, relaxed);
    words.accumulate(0, &two_words::first, value, far_op::replace);
    for (const int rank : ranks) channel.signal(rank);
    words.flush(0);
  }
  [[nodiscard]] static bool is_in_place(int kind) { return kind == 0 || kind == 1 || kind == 5; }
  static constexpr int kinds = 7;
  static constexpr int swap = 4;
  static constexpr int signal = 6;

  world* here;
  world::near_segment<two_cells> cells;
  world::far_segment<two_words> words;
  world::signal_channel channel;
};

struct deadline_case {
  std::string spec;  // of two ranks
  executor by;
  int kind;
};

/// A far operation of rank 1 takes 10 ns, everything else takes no time.
class deadlines : public ::testing::TestWithParam<deadline_case> {
 protected:
  [[nodiscard]] static machine on() {
    machine result = free_machine();
    for (const transfer kind : all_transfers) {
      if (kind == transfer::message) continue;
      result.cost(distance::node, kind) = {2, 3, 1, 4, GetParam().by};
      result.cost(distance::remote, kind) = {
          2, 3, 1, 4, GetParam().by == executor::origin ? executor::nic : GetParam().by};
    }
    return result;
  }
  [[nodiscard]] static bool is_far() {
    return !everything::is_in_place(GetParam().kind) && GetParam().kind != everything::signal;
  }
  /// Whether the wait repeats far operations one after the other.
  [[nodiscard]] static bool repeats() {
    return is_far() && (GetParam().by != executor::origin || GetParam().kind == everything::swap);
  }
  /// Rank 1 waits for rank 0, which sets everything at a given time; without a time it never does.
  template <typename Body>
  static void run_two(nanoseconds set_at, Body body) {
    run(on(), placed(GetParam().spec, 2), [&](world& w) {
      everything all(w);
      if (w.rank() == 0) {
        w.delay(set_at);
        if (set_at != never_set) all.set({1});
        // Rank 1 is within the library here, where it serves the other.
        w.barrier();
      } else {
        body(w, all);
        w.barrier();
      }
    });
  }
  static constexpr nanoseconds never_set{0};
};

std::vector<deadline_case> deadline_cases() {
  std::vector<deadline_case> cases;
  for (int kind = 0; kind < everything::kinds; ++kind) {
    cases.push_back({"node:1 core:2", executor::origin, kind});
    cases.push_back({"node:1 core:2", executor::target, kind});
    if (everything::is_in_place(kind)) continue;
    cases.push_back({"node:2 core:1", executor::nic, kind});
    cases.push_back({"node:2 core:1", executor::target, kind});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(of, deadlines, ::testing::ValuesIn(deadline_cases()));

TEST_P(deadlines, end_waits_at_their_time) {
  for (const int until : {1000, 1005})
    run_two(never_set, [&](world& w, everything& all) {
      w.delay(nanoseconds(500));
      EXPECT_FALSE(all.await_until(GetParam().kind, nanoseconds(until)));
      // Far operations are repeated every 10 ns, or every 11 ns with the pause between swaps. The rank
      // notices that it is late after an operation, or in a pause that the deadline cuts short, and then
      // tries once more.
      const int pause = GetParam().kind == everything::swap ? 1 : 0;
      int expected = until;
      if (repeats()) {
        int at = 500;
        while (at < until) at = std::min(at + pause, until) + (at + pause < until ? 10 : 0);
        expected = at + 10;
      }
      EXPECT_EQ(w.now(), nanoseconds(expected));
    });
}

TEST_P(deadlines, that_are_over_leave_one_look) {
  for (const bool is_there : {true, false})
    run_two(is_there ? nanoseconds(500) : never_set, [&](world& w, everything& all) {
      w.delay(nanoseconds(1000));
      for (const nanoseconds until :
           {nanoseconds(1000), nanoseconds(3), nanoseconds(-1), nanoseconds::min()}) {
        const nanoseconds start = w.now();
        EXPECT_EQ(all.await_until(GetParam().kind, until), is_there);
        EXPECT_LE(w.now() - start, nanoseconds(is_far() ? 20 : 0));
        // The wait takes a signal, and a swap takes the value.
        if (is_there && (GetParam().kind == everything::signal || GetParam().kind == everything::swap)) break;
      }
    });
}

TEST_P(deadlines, do_not_touch_what_comes_in_time) {
  for (const nanoseconds until : {nanoseconds(900), nanoseconds(501), nanoseconds::max()})
    run_two(nanoseconds(500), [&](world& w, everything& all) {
      EXPECT_TRUE(all.await_until(GetParam().kind, until));
      EXPECT_GE(w.now(), nanoseconds(500));
      EXPECT_LE(w.now(), nanoseconds(is_far() ? 530 : 510));
    });
}

TEST_P(deadlines, leave_nothing_behind) {
  // Rank 2 wakes rank 1 by a signal. Neither the word nor its deadline may wake rank 1.
  for (const bool in_time : {true, false})
    run(on(), placed(GetParam().spec == "node:1 core:2" ? "node:1 core:3" : "node:3 core:1", 3),
        [&](world& w) {
          everything all(w);
          world::signal_channel other(w);
          const int kind = GetParam().kind;
          if (w.rank() == 0) {
            w.delay(nanoseconds(500));
            all.set(in_time ? std::vector{1} : std::vector<int>{});
            w.delay(nanoseconds(3000));
            all.set({1});
          } else if (w.rank() == 1) {
            EXPECT_EQ(all.await_until(kind, nanoseconds(in_time ? 2000 : 400)), in_time);
            other.await_signal(2);
            EXPECT_EQ(w.now(), nanoseconds(10000));
            // Once more with the same words.
            EXPECT_TRUE(all.await_until(kind, nanoseconds(20000)));
          } else {
            w.delay(nanoseconds(10000));
            other.signal(1);
          }
          w.barrier();
        });
}

TEST_P(deadlines, may_come_in_any_order) {
  run_two(never_set, [&](world& w, everything& all) {
    all.cells.at(1).second.store(1, relaxed);
    const auto expect_end = [&](int until) {
      EXPECT_FALSE(all.await_until(GetParam().kind, nanoseconds(until)));
      EXPECT_GE(w.now(), nanoseconds(until));
      EXPECT_LE(w.now(), nanoseconds(until + (is_far() ? 20 : 0)));
    };
    // Satisfied waits leave deadlines behind, late ones and early ones.
    for (const int until : {9000, 3000, 3000, 7000})
      EXPECT_TRUE(w.await_until(nanoseconds(until), all.cells.at(1).second, is_set));
    for (const int until : {1000, 2000, 3000, 5000, 9000, 12000}) expect_end(until);
  });
}

TEST(deadlines_of_signals, leave_a_signal_that_is_late) {
  run(free_machine(), placed("node:1 core:2", 2), [](world& w) {
    world::signal_channel channel(w);
    world::signal_channel other(w);
    if (w.rank() == 1) {
      w.delay(nanoseconds(50));
      other.signal(0);
      w.delay(nanoseconds(100));
      channel.signal(0);
      return;
    }
    EXPECT_FALSE(channel.await_signal_until(nanoseconds(100), 1));
    EXPECT_EQ(w.now(), nanoseconds(100));
    EXPECT_FALSE(channel.await_signal_until(nanoseconds(120), any_rank));
    w.delay(nanoseconds(200));
    EXPECT_TRUE(channel.await_signal_until(nanoseconds(1), any_rank));
    EXPECT_FALSE(channel.await_signal_until(nanoseconds(400), any_rank));
    EXPECT_TRUE(other.await_signal_until(nanoseconds(400), 1));
    EXPECT_EQ(w.now(), nanoseconds(400));
  });
}

TEST(deadlines_of_signals, that_are_over_leave_what_has_arrived_by_now) {
  machine on = free_machine();
  on.near.atomic = 100;
  run(on, placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    world::signal_channel channel(w);
    if (w.rank() == 1) {
      w.delay(nanoseconds(50));
      channel.signal(0);
    } else {
      cells.at(0).first.fetch_add(1, relaxed);
      EXPECT_EQ(w.now(), nanoseconds(100));
      EXPECT_TRUE(channel.await_signal_until(nanoseconds(60), 1));
    }
  });
}

TEST(deadlines_of_signals, leave_the_rank_able_to_flush) {
  run(plain_machine(), placed("node:2 core:1", 2), [](world& w) {
    world::far_segment<two_words> words(w);
    world::signal_channel channel(w);
    EXPECT_FALSE(channel.await_signal_until(w.now() + nanoseconds(100), any_rank));
    words.put(1 - w.rank(), &two_words::first, one);
    words.flush(1 - w.rank());
  });
}

TEST(deadlines_of_ranks, that_watch_one_word_let_each_other_be) {
  std::array<std::int64_t, 9> ends{};
  run(free_machine(), placed("node:1 core:9", 9), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() == 0) {
      w.delay(nanoseconds(450));
      cells.at(0).first.store(1, relaxed);
      return;
    }
    const bool came = w.await_until(nanoseconds(100 * w.rank()), cells.at(0).first, is_set).has_value();
    EXPECT_EQ(came, w.rank() > 4);
    ends[static_cast<std::size_t>(w.rank())] = w.now().count();
  });
  EXPECT_EQ(ends, (std::array<std::int64_t, 9>{0, 100, 200, 300, 400, 450, 450, 450, 450}));
}

TEST(deadlines_of_polls, that_come_before_the_next_poll_are_not_late_for_the_value) {
  // The value is there at 500. The next poll would come after the deadline.
  machine on = free_machine();
  on.library.progress = 1e6;
  run(on, placed("node:1 core:2", 2), [](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() == 0) {
      w.delay(nanoseconds(500));
      cells.at(0).first.store(1, relaxed);
    } else {
      EXPECT_EQ(w.await_until(nanoseconds(600), cells.at(0).first, is_set), 1U);
      EXPECT_EQ(w.now(), nanoseconds(600));
    }
  });
}

// Programs that the simulation takes for a deadlock.

TEST(deadlines_and_deadlocks, somebody_with_a_deadline_still_goes_on) {
  for (const std::string spec : {"node:1 core:3", "node:3 core:1"})
    EXPECT_EQ(deadlock_text(3, spec,
                            [](world& w) {
                              world::near_segment<two_cells> cells(w);
                              world::far_segment<two_words> words(w);
                              if (w.rank() == 0) {
                                EXPECT_EQ(w.await_get(words, 1, &two_words::first, is_set), 1U);
                              }
                              if (w.rank() == 1) {
                                EXPECT_FALSE(
                                    w.await_until(std::chrono::milliseconds(200), cells.at(1).first, is_set));
                                words.accumulate(1, &two_words::first, one, far_op::sum);
                                words.flush(1);
                              }
                              // Rank 2 uses far operations only, and far more than the limit.
                              if (w.rank() == 2) {
                                EXPECT_FALSE(w.await_get_until(std::chrono::milliseconds(100), words, 1,
                                                               &two_words::second, is_set));
                              }
                              w.barrier();
                            }),
              "no deadlock")
        << spec;
}

TEST(deadlines_and_deadlocks, polls_until_a_deadline_do_not_count_as_reading_for_ever) {
  EXPECT_EQ(deadlock_text(2, "node:2 core:1",
                          [](world& w) {
                            world::far_segment<two_words> words(w);
                            if (w.rank() == 0) {
                              EXPECT_FALSE(w.await_get_until(std::chrono::milliseconds(100), words, 1,
                                                             &two_words::first, is_set));
                            }
                            w.barrier();
                          },
                          {.most_fruitless = 100}),
            "no deadlock");
}

TEST(deadlines_and_deadlocks, a_loop_of_waits_with_deadlines_is_one) {
  const std::string text =
      deadlock_text(2, "node:1 core:2",
                    [](world& w) {
                      world::near_segment<two_cells> cells(w);
                      if (w.rank() == 0)
                        while (!w.await_until(w.now() + nanoseconds(100), cells.at(0).first, is_set)) {
                        }
                      w.barrier();
                    },
                    {.most_fruitless = 10000});
  EXPECT_NE(text.find("rank 0 and other ranks keep reading"), std::string::npos) << text;
}

TEST(deadlines_and_deadlocks, a_deadline_whose_wait_has_ended_keeps_nobody_alive) {
  const auto set_before = [](world& w, world::near_segment<two_cells>& cells) {
    if (w.rank() == 1) {
      w.delay(nanoseconds(100));
      cells.at(0).second.store(1, relaxed);
    } else {
      EXPECT_TRUE(w.await_until(std::chrono::hours(1), cells.at(0).second, is_set));
    }
  };
  EXPECT_EQ(deadlock_text(2, "node:1 core:2",
                          [&](world& w) {
                            world::near_segment<two_cells> cells(w);
                            set_before(w, cells);
                            if (w.rank() == 0) w.await(cells.at(0).first, is_set);
                          }),
            "no rank can go on\n  rank 0 waits for two_cells.first of rank 0 by load, which is 0");
  EXPECT_NE(deadlock_text(2, "node:1 core:2",
                          [&](world& w) {
                            world::near_segment<two_cells> cells(w);
                            world::far_segment<two_words> words(w);
                            set_before(w, cells);
                            if (w.rank() == 0)
                              w.await_swap(words, 1, &two_words::first, one,
                                           [](std::uint64_t old) { return old == 2; }, {});
                          })
                .find("repeat far operations"),
            std::string::npos);
}

TEST(deadlines_and_deadlocks, what_a_rank_has_waited_for_is_forgotten) {
  for (const bool swaps : {false, true})
    EXPECT_EQ(deadlock_text(2, "node:2 core:1",
                            [&](world& w) {
                              everything all(w);
                              if (w.rank() == 1) return;
                              EXPECT_FALSE(w.await_get_until(nanoseconds(100), all.words, 1,
                                                             &two_words::first, is_set));
                              if (swaps) {
                                EXPECT_FALSE(all.await_until(everything::swap, w.now() + nanoseconds(100)));
                              }
                              all.channel.await_signal(1);
                            }),
              "no rank can go on\n  rank 0 waits for a signal from rank 1 on channel 0");
}

TEST(deadlines_and_deadlocks, a_deadline_that_no_clock_shows_is_none) {
  EXPECT_EQ(deadlock_text(1, "node:1",
                          [](world& w) {
                            world::near_segment<two_cells> cells(w);
                            (void)w.await_until(nanoseconds::max(), cells.at(0).first, is_set);
                          }),
            "no rank can go on\n  rank 0 waits for two_cells.first of rank 0 by load, which is 0");
}

TEST(deadlines_and_deadlocks, ranks_that_are_abandoned_in_such_waits_end) {
  EXPECT_THROW(run(plain_machine(), placed("node:1 core:4", 4),
                   [](world& w) {
                     everything all(w);
                     if (w.rank() == 3) {
                       w.delay(nanoseconds(1000));
                       throw std::runtime_error("enough");
                     }
                     (void)all.await_until(w.rank() == 2 ? everything::signal : 5, std::chrono::seconds(1));
                   }),
               std::runtime_error);
}

// Programs compared with results computed by hand: where nothing costs time, a wait ends at the first event
// that satisfies it.

constexpr std::size_t cell_count = 3;
struct alignas(cache_line) random_cells {
  world::near<std::uint64_t> left{};
  world::near<std::uint64_t> right{};
  alignas(cache_line) world::near<std::uint64_t> apart{};

  [[nodiscard]] world::near<std::uint64_t>& operator[](std::size_t which) {
    return which == 0 ? left : which == 1 ? right : apart;
  }
};

/// Rank 0's deed at an odd time; rank 0 does nothing at even times.
struct event_of_program {
  std::int64_t at;
  std::size_t cell;       // the cell that it sets
  std::uint64_t value;    // the new value
  std::optional<int> to;  // or the receiver of a signal
};

struct random_program {
  explicit random_program(std::uint64_t seed) : random(seed) {
    for (std::int64_t at = 1; at < span; at += 2 * (1 + random.below(20)))
      events.push_back(
          {at, pick(cell_count), pick(3), random.below(4) == 0 ? std::optional(rank()) : std::nullopt});
  }

  [[nodiscard]] std::size_t pick(std::size_t count) {
    return static_cast<std::size_t>(random.below(static_cast<picoseconds>(count)));
  }
  [[nodiscard]] int rank() { return 1 + static_cast<int>(random.below(waiting_ranks)); }

  static constexpr std::int64_t span = 2000;
  static constexpr int waiting_ranks = 3;
  random_stream random;
  std::vector<event_of_program> events;
};

/// One rank's waits, with the ends that the events give them.
class oracle {
 public:
  oracle(const random_program& program, int rank) : program_(&program), rank_(rank) {}

  [[nodiscard]] std::uint64_t value(std::size_t cell, std::int64_t at) const {
    std::uint64_t result = 0;
    for (const event_of_program& one : program_->events)
      if (!one.to && one.cell == cell && one.at <= at) result = one.value;
    return result;
  }
  /// The time from `at` on when one of the cells has the value; the deadline or `at` if none has it before.
  [[nodiscard]] std::pair<bool, std::int64_t> wait_end(const std::vector<std::size_t>& cells,
                                                       std::uint64_t value, std::int64_t at,
                                                       std::int64_t until) const {
    for (const std::size_t cell : cells)
      if (this->value(cell, at) == value) return {true, at};
    for (const event_of_program& one : program_->events)
      if (one.at > at && one.at <= until && !one.to && one.value == value &&
          std::find(cells.begin(), cells.end(), one.cell) != cells.end())
        return {true, one.at};
    return {false, std::max(at, until)};
  }
  [[nodiscard]] std::pair<bool, std::int64_t> signal_end(std::int64_t at, std::int64_t until) {
    std::size_t before = 0;
    for (const event_of_program& one : program_->events) {
      if (one.to != rank_ || before++ < taken_) continue;
      if (one.at > at && one.at > until) break;
      ++taken_;
      return {true, std::max(at, one.at)};
    }
    return {false, std::max(at, until)};
  }

 private:
  const random_program* program_;
  int rank_;
  std::size_t taken_ = 0;
};

TEST(random_programs, of_waits_with_deadlines_end_when_they_must) {
  std::map<bool, int> ends;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const random_program program(seed);
    run(free_machine(), placed("node:1 core:4", 1 + random_program::waiting_ranks), [&](world& w) {
      world::near_segment<random_cells> all(w);
      world::signal_channel channel(w);
      random_cells& cells = all.at(0);
      if (w.rank() == 0) {
        for (const event_of_program& one : program.events) {
          w.delay(nanoseconds(one.at) - w.now());
          if (one.to)
            channel.signal(*one.to);
          else
            cells[one.cell].store(one.value, relaxed);
        }
        return;
      }
      oracle expected(program, w.rank());
      random_program choices(seed * 7919 + static_cast<std::uint64_t>(w.rank()));
      while (w.now().count() < random_program::span) {
        const std::int64_t start = w.now().count();
        // The time is even, so nothing else happens then.
        const nanoseconds until(2 * ((start - 40 + choices.random.below(200)) / 2));
        const std::uint64_t value = choices.pick(3);
        const auto is_it = [&](std::uint64_t seen) { return seen == value; };
        const auto judge = [&](std::pair<bool, std::int64_t> end, bool came) {
          ++ends[came];
          ASSERT_EQ(came, end.first) << "seed " << seed << " rank " << w.rank() << " at " << start;
          ASSERT_EQ(w.now().count(), end.second)
              << "seed " << seed << " rank " << w.rank() << " at " << start;
        };
        const std::size_t first = choices.pick(cell_count);
        const std::size_t second = (first + 1) % cell_count;
        const std::size_t third = (first + 2) % cell_count;
        switch (choices.pick(5)) {
          case 0:
            w.delay(nanoseconds(2 * choices.random.below(30)));
            break;
          case 1: {
            const auto end = expected.signal_end(start, until.count());
            judge(end, channel.await_signal_until(until, 0));
            break;
          }
          case 2: {
            const auto end = expected.wait_end({first}, value, start, until.count());
            judge(end, w.await_until(until, cells[first], is_it).has_value());
            break;
          }
          case 3: {
            const auto end = expected.wait_end({first, second}, value, start, until.count());
            const auto held = w.await_any_until(until, when(cells[first], is_it), when(cells[second], is_it));
            judge(end, held.has_value());
            if (held) {
              ASSERT_EQ(expected.value(held->index == 0 ? first : second, end.second), value);
            }
            break;
          }
          default: {
            const auto end = expected.wait_end({first, second, third}, value, start, until.count());
            const auto held = w.await_any_until(until, when(cells[first], is_it), when(cells[second], is_it),
                                                when(cells[third], is_it));
            judge(end, held.has_value());
          }
        }
        if (::testing::Test::HasFatalFailure()) return;
        // The rank goes on to the next even time, as rank 0 has the odd ones.
        w.delay(nanoseconds(2 - w.now().count() % 2));
      }
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(ends[true], 10000);
  EXPECT_GT(ends[false], 10000);
}

}  // namespace
}  // namespace nearfar::simulation::testing
