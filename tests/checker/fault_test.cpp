// Faults of ranks, each by a program that has the fault and by one that only looks like it.
#include <stdexcept>

#include "nearfar/checker/lock_program.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

const options sequential = by(near_model::sequential);
const options in_weak_memory = by(near_model::release_acquire);

// ---- exclusion, order -------------------------------------------------------------------------------------

TEST(faults, exclusion) {
  const auto together = [](scene& s) {
    if (s.rank() == 1) s.signals.await_signal(0);
    s.watch.enter();
    if (s.rank() == 0) s.signals.signal(1);
    if (s.rank() == 0) s.signals.await_signal(1);
    s.watch.leave();
    if (s.rank() == 1) s.signals.signal(0);
  };
  EXPECT_TRUE(
      finds(program_of(2, together), sequential, fault::exclusion, "rank 1 is inside together with rank 0"));
  const auto one_after_the_other = [](scene& s) {
    if (s.rank() == 1) s.signals.await_signal(0);
    s.watch.enter();
    s.watch.leave();
    if (s.rank() == 0) s.signals.signal(1);
  };
  EXPECT_TRUE(is_right(program_of(2, one_after_the_other), in_weak_memory));
}

TEST(faults, exclusion_by_a_lock_that_looks_and_then_takes) {
  const auto torn = [](scene& s) {
    s.w.await(s.cells.x, [](word held) { return held == 0; });
    s.cells.x.store(1, relaxed);
    s.watch.enter();
    s.watch.leave();
    s.cells.x.store(0, release);
  };
  // The second one in may also have missed that the first was there.
  const report result = check(program_of(2, torn), sequential);
  ASSERT_TRUE(result.found);
  EXPECT_TRUE(result.found->what == fault::exclusion || result.found->what == fault::order)
      << result.found->text;
  EXPECT_TRUE(result.found->text.find("is inside") != std::string::npos) << result.found->text;
}

/// A lock that is right but for its orders.
body spin_lock(std::memory_order taken, std::memory_order given) {
  return [=](scene& s) {
    word free = 0;
    while (!s.cells.x.compare_exchange(free, 1, taken, relaxed)) {
      s.w.await(s.cells.x, [](word held) { return held == 0; });
      free = 0;
    }
    s.watch.enter();
    s.watch.leave();
    s.cells.x.store(0, given);
  };
}

TEST(faults, order) {
  const std::string text = "did before: a release or an acquire is missing";
  EXPECT_TRUE(is_right(program_of(2, spin_lock(acquire, release)), in_weak_memory));
  EXPECT_TRUE(finds(program_of(2, spin_lock(relaxed, release)), in_weak_memory, fault::order, text));
  EXPECT_TRUE(finds(program_of(2, spin_lock(acquire, relaxed)), in_weak_memory, fault::order, text));
}

TEST(faults, order_of_far_operations_that_tell_nothing) {
  // Rank 1 goes in after rank 0 by chance, not because it has learnt of it.
  const auto by_chance = [](bool waits) {
    return [=](scene& s) {
      if (s.rank() == 1 && waits) s.w.await_direct(s.far, 1, &words::a, is_set);
      if (s.rank() == 0 || waits) {
        s.watch.enter();
        s.watch.leave();
      }
      if (s.rank() == 0) s.put(1, &words::a, one);
    };
  };
  EXPECT_TRUE(is_right(program_of(2, by_chance(true)), sequential));
  // A put publishes what its rank knew at the issue.
  const auto issued_before_it_leaves = [](scene& s) {
    if (s.rank() == 1) s.w.await_direct(s.far, 1, &words::a, is_set);
    s.watch.enter();
    if (s.rank() == 0) s.far.put(1, &words::a, one);
    s.watch.leave();
    s.far.flush(1);
  };
  EXPECT_TRUE(finds(program_of(2, issued_before_it_leaves), sequential, fault::order,
                    "need not see what rank 0 did"));
}

// ---- no rank goes on --------------------------------------------------------------------------------------

TEST(faults, order_in_a_state_that_looks_like_one_without_fault) {
  // Rank 1 sees the same values whether it reads the first or the second 1. Only the second tells it
  // something.
  const auto enters = [](scene& s) {
    auto& [x, y, z, narrow, byte] = s.cells;
    if (s.rank() == 1) {
      s.w.await(x, is_set);
      s.w.await(y, is_set);
    }
    s.watch.enter();
    if (s.rank() == 0) x.store(1, relaxed);
    s.watch.leave();
    if (s.rank() == 0) {
      x.store(1, release);
      y.store(1, relaxed);
    }
  };
  EXPECT_TRUE(finds(program_of(2, enters), by(near_model::sequential), fault::order, "rank 1 is inside"));
}

TEST(faults, deadlock_says_who_waits_for_what) {
  const auto waits = [](scene& s) {
    if (s.rank() == 0) s.w.await(s.cells.x, is_set);
    if (s.rank() == 1) s.w.await_direct(s.far, 1, &words::b, is_set);
    if (s.rank() == 2) s.signals.await_signal(0);
    if (s.rank() == 3) s.w.barrier();
    if (s.rank() == 4) s.signals.await_signal(any_rank);
  };
  for (const options& how : {sequential, in_weak_memory})
    EXPECT_TRUE(finds(program_of(5, waits), how, fault::deadlock,
                      "no rank can go on:\n"
                      "  rank 0 waits for cells.x of rank 0, which is 0\n"
                      "  rank 1 waits for words.b of rank 1, which is 0\n"
                      "  rank 2 waits for a signal of rank 0\n"
                      "  rank 3 waits in a barrier\n"
                      "  rank 4 waits for a signal"));
}

TEST(faults, deadlock_by_a_lost_wake_up) {
  // Rank 1 may reset the word after rank 0 has set it.
  const auto reset_late = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, release);
    } else {
      s.cells.x.store(0, release);
      s.w.await(s.cells.x, is_set);
    }
  };
  EXPECT_TRUE(finds(program_of(2, reset_late), sequential, fault::deadlock,
                    "rank 1 waits for cells.x of rank 0, which is 0"));
  EXPECT_TRUE(finds(program_of(2, reset_late), in_weak_memory, fault::deadlock,
                    "rank 1 waits for cells.x of rank 0, which is 0"));
}

TEST(faults, deadlock_although_an_overwritten_value_would_do) {
  const auto overwritten = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.x.store(0, relaxed);
    } else {
      s.w.await(s.cells.x, is_set);
    }
  };
  EXPECT_TRUE(finds(program_of(2, overwritten), in_weak_memory, fault::deadlock,
                    "rank 1 waits for cells.x of rank 0"));
}

TEST(faults, livelock_by_a_spin_outside_the_world) {
  const auto spins = [](bool forever) {
    return [=](scene& s) {
      if (s.rank() == 0) return s.cells.x.store(forever ? 0 : 1, release);
      for (int i = 0; i < 10 || forever; ++i)
        if (s.cells.x.load(acquire) == 1) break;
    };
  };
  for (const near_model near : {near_model::sequential, near_model::release_acquire}) {
    options how = by(near);
    how.most_steps = 50;
    EXPECT_TRUE(finds(program_of(2, spins(true)), how, fault::livelock,
                      "more than 50 steps: something repeats without waiting through its world"));
    EXPECT_TRUE(is_right(program_of(2, spins(false)), how));
  }
}

TEST(faults, livelock_of_random_schedules_too) {
  options how = by(near_model::release_acquire, lazy, search::random);
  how.most_steps = 50;
  how.most_executions = 100;
  const report result = check(program_of(2,
                                         [](scene& s) {
                                           while (s.rank() == 0 || s.cells.x.load(acquire) == 0)
                                             (void)s.cells.y.load(relaxed);
                                         }),
                              how);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::livelock);
}

// ---- overtaking -------------------------------------------------------------------------------------------

TEST(faults, bypass_of_first_come_first_served) {
  const auto unfair = [](scene& s) {
    for (int turn = 0; turn < 2; ++turn) {
      s.watch.ask();
      spin_lock(acquire, release)(s);
    }
  };
  EXPECT_TRUE(finds(program_of(2, unfair, bypass_bound::fifo), sequential, fault::bypass,
                    "was waiting already, and enters before it"));
  EXPECT_TRUE(is_right(program_of(2, unfair, bypass_bound::none), sequential));
  const auto fair = [](scene& s) {
    for (int turn = 0; turn < 2; ++turn) {
      s.watch.ask();
      const word ticket = s.cells.x.fetch_add(1, relaxed);
      s.w.await(s.cells.y, [ticket](word now) { return now == ticket; });
      s.watch.enter();
      s.watch.leave();
      s.cells.y.store(ticket + 1, release);
    }
  };
  EXPECT_TRUE(is_right(program_of(3, fair, bypass_bound::fifo), sequential));
}

/// Locks that a node's ranks share, and tickets for the nodes.
struct cohort {
  struct alignas(slot_bytes) words {
    far<word> taken;
    far<word> passes;
    far<word> next_ticket;
    far<word> now;
  };
};

/// Two nodes of two ranks that hand over within the node `passes` times, checked against a limit of 1.
program passed_on(word passes) {
  using layout = cohort::words;
  return {.where = topology_spec::parse("node:2 core:2").place(4),
          .body =
              [passes](world& w, monitor& watch) {
                world::far_segment<layout> far(w);
                const int leader = w.locality().leader(level::node, w.rank());
                for (int turn = 0; turn < 2; ++turn) {
                  watch.ask();
                  w.await_swap(far, leader, &layout::taken, one, [](word was) { return was == 0; }, {});
                  const word passed = far.read_direct(leader, &layout::passes);
                  if (passed == 0) {
                    word ticket = 0;
                    far.fetch_add(0, &layout::next_ticket, one, ticket);
                    far.flush(0);
                    w.await_fetch(far, 0, &layout::now, [ticket](word now) { return now == ticket; });
                  }
                  watch.enter();
                  watch.leave();
                  // A rank that comes again is there to be handed to.
                  const bool passes_on = passed < passes && turn == 0;
                  far.write_direct(leader, &layout::passes, passes_on ? passed + 1 : 0);
                  if (!passes_on) far.accumulate(0, &layout::now, one, far_op::sum);
                  far.flush(0);
                  far.accumulate(leader, &layout::taken, zero, far_op::replace);
                  far.flush(leader);
                }
              },
          .bypass = bypass_bound::local_passes,
          .max_local_passes = 1};
}

TEST(faults, bypass_of_a_limit_of_local_passes) {
  const options how = by(near_model::sequential, eager);
  EXPECT_TRUE(finds(passed_on(2), how, fault::bypass,
                    "waits while the critical section is passed on 2 times in a row within node"));
  EXPECT_TRUE(is_right(passed_on(1), how));
}

/// Turns of ranks in an order, where each rank tells the next one.
program taking_turns(const char* topology, int ranks, const std::vector<int>& turns) {
  return {.where = topology_spec::parse(topology).place(ranks),
          .body =
              [turns](world& w, monitor& watch) {
                world::signal_channel next(w);
                for (std::size_t turn = 0; turn < turns.size(); ++turn) {
                  if (turns[turn] != w.rank()) continue;
                  watch.ask();
                  if (turn > 0) next.await_signal(turns[turn - 1]);
                  watch.enter();
                  watch.leave();
                  if (turn + 1 < turns.size()) next.signal(turns[turn + 1]);
                }
              },
          .bypass = bypass_bound::level_passes,
          .max_local_passes = 1};
}

/// The second island waits all along.
TEST(faults, bypass_of_a_limit_of_passes_from_node_to_node) {
  const char* const topology = "island:2 node:3";
  EXPECT_TRUE(
      finds(taking_turns(topology, 6, {0, 1, 2, 3}), sequential, fault::bypass,
            "island 1 waits while the critical section is passed on 2 times in a row within island 0"));
  EXPECT_TRUE(is_right(taking_turns(topology, 6, {0, 1, 3, 2}), sequential));
  // Passes within a node do not count for islands.
  EXPECT_TRUE(is_right(taking_turns("island:2 node:2 core:2", 8, {0, 1, 2, 4}), sequential));
  EXPECT_TRUE(finds(taking_turns("island:2 node:2 core:3", 12, {0, 1, 2, 6}), sequential, fault::bypass,
                    "waits while the critical section is passed on 2 times in a row within node 0"));
  program without = taking_turns(topology, 6, {0, 1, 2, 3});
  without.bypass = bypass_bound::local_passes;
  EXPECT_TRUE(is_right(without, sequential));
}

/// The third node waits all along. The first hands over within itself once in each of two turns.
TEST(faults, bypass_is_counted_anew_in_each_turn_of_a_node) {
  program what = taking_turns("node:3 core:2", 6, {0, 1, 2, 0, 1, 4});
  what.bypass = bypass_bound::local_passes;
  EXPECT_TRUE(is_right(what, sequential));
}

// ---- the rest ---------------------------------------------------------------------------------------------

TEST(faults, mixed) {
  const auto uses = [](bool host_first) {
    return [=](scene& s) {
      if (s.rank() != 0) return;
      auto* const raw = reinterpret_cast<word*>(s.w.far_memory(1));
      const auto by_host = [&] {
        (void)s.w.substrate().perform({.what = engine::action::add, .target = 1, .word = raw, .operand = 1});
      };
      if (host_first) by_host();
      // The first word of the memory, whichever segment it belongs to.
      s.w.substrate().issue({.what = engine::action::put, .target = 1, .word = raw, .operand = 1});
      s.far.flush(1);
      if (!host_first) by_host();
    };
  };
  for (const bool host_first : {true, false})
    EXPECT_TRUE(finds(program_of(2, uses(host_first)), sequential, fault::mixed,
                      "of rank 1 is used by host atomics and as a far word"));
}

TEST(faults, exception) {
  const auto throws = [](scene& s) {
    s.cells.x.store(1, relaxed);
    if (s.rank() == 1) throw std::runtime_error("out of luck");
  };
  EXPECT_TRUE(finds(program_of(2, throws), sequential, fault::exception, "rank 1 threw: out of luck"));
  EXPECT_TRUE(finds(program_of(2,
                               [](scene& s) {
                                 if (s.rank() == 0) throw 7;
                               }),
                    sequential, fault::exception, "rank 0 threw something"));
}

TEST(faults, are_named) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(fault::exception); ++i) names.insert(name(static_cast<fault>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(fault::exception) + 1);
  EXPECT_FALSE(names.contains("?"));
}

}  // namespace
}  // namespace nearfar::checker::testing
