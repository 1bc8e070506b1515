// Ranks that crash, at every step and with all their operations in flight, and what the other ranks can still
// do.
#include <mutex>

#include "nearfar/lock/mcs_lock.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/random_programs.hpp"

namespace nearfar::checker::testing {
namespace {

constexpr std::chrono::nanoseconds at_once{1};

options crashing(options how, int ranks = 1) {
  how.crashes = ranks;
  return how;
}

program nonblocking(program what) {
  what.is_nonblocking = true;
  return what;
}

TEST(crashes, come_before_and_after_each_step) {
  const auto steps = [](int count) {
    return program_of(1, [=](scene& s) {
      for (int i = 0; i < count; ++i) s.cells.x.store(1, relaxed);
    });
  };
  for (int count = 0; count < 4; ++count) {
    EXPECT_EQ(check(steps(count), by(weak)).executions, 1U);
    // One without a crash, one for each place of it.
    EXPECT_EQ(check(steps(count), crashing(by(weak))).executions, 2U + static_cast<unsigned>(count));
  }
}

TEST(crashes, are_as_many_as_may_be) {
  const program what = program_of(3, [](scene& s) { s.cells.x.fetch_add(1, relaxed); });
  // Traces differ in which ranks add, and in which order.
  const auto executions = [&](int most) { return check(what, crashing(by(strong), most)).executions; };
  constexpr std::uint64_t nobody = 6;
  constexpr std::uint64_t one_of_three = 24;  // 3 * (2 + 6)
  constexpr std::uint64_t two_of_three = 33;  // 3 * (1 + 4 + 6)
  constexpr std::uint64_t all = 1 + 3 + 6 + 6;
  EXPECT_EQ(executions(0), nobody);
  EXPECT_EQ(executions(1), nobody + one_of_three);
  EXPECT_EQ(executions(2), nobody + one_of_three + two_of_three);
  EXPECT_EQ(executions(3), nobody + one_of_three + two_of_three + all);
}

TEST(crashes, block_who_waits_and_are_faults_if_that_must_not_be) {
  const program lock = program_of(2, [](scene& s) {
    s.watch.ask();
    for (word free = 0; !s.cells.x.compare_exchange(free, 1, acquire, relaxed); free = 0)
      s.w.await(s.cells.x, [](word now) { return now == 0; });
    s.watch.enter();
    s.watch.leave();
    s.cells.x.store(0, release);
  });
  EXPECT_EQ(check(lock, by(weak)).blocked, 0U);
  const report result = check(lock, crashing(by(weak)));
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "");
  EXPECT_GT(result.blocked, 0U);
  EXPECT_LT(result.blocked, result.executions);
  EXPECT_TRUE(finds(nonblocking(lock), crashing(by(weak)), fault::deadlock, "waits for cells.x of rank 0"));
  const program patient = program_of(2, [](scene& s) {
    for (word free = 0; !s.cells.x.compare_exchange(free, 1, acquire, relaxed); free = 0)
      if (!s.w.await_until(at_once, s.cells.x, [](word now) { return now == 0; })) return;
    s.cells.x.store(0, release);
  });
  // A word found free in time may be taken again before the next attempt. With two ranks that happens at most
  // once.
  EXPECT_TRUE(is_right(nonblocking(patient), crashing(by(weak))));
}

TEST(crashes, are_not_known_by_deadlines) {
  const program breaks_in = program_of(2, [](scene& s) {
    word free = 0;
    const bool holds = s.cells.x.compare_exchange(free, 1, acquire, relaxed);
    if (!holds && s.w.await_until(at_once, s.cells.x, [](word now) { return now == 0; })) return;
    if (!holds && s.rank() == 0) return;
    s.watch.enter();
    s.watch.leave();
    s.cells.x.store(0, release);
  });
  EXPECT_TRUE(finds(breaks_in, crashing(by(strong)), fault::order, "need not see what rank 0 did"))
      << "a deadline does not tell the dead from the slow";
}

/// The results that rank 1 has from an operation that rank 0 has issued and perhaps flushed.
outcomes found_of(delivery_mode mode, bool flushes) {
  outcomes seen;
  const program what = program_of(2, [&, flushes](scene& s) {
    if (s.rank() == 0) {
      s.far.accumulate(1, &words::a, one, far_op::replace);
      if (flushes) s.far.flush(1);
      s.cells.x.store(1, release);
      s.far.flush(1);
    } else {
      const bool told = s.w.await_until(at_once, s.cells.x, is_set).has_value();
      seen.insert({told ? 1U : 0U, s.far.read_direct(1, &words::a)});
    }
  });
  const report result = check(what, crashing(by(weak, mode)));
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "");
  return seen;
}

TEST(crashes, let_operations_arrive_or_not) {
  const outcomes any{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const outcomes flushed{{0, 0}, {0, 1}, {1, 1}};
  for (const delivery_mode mode : {lazy, progress}) {
    EXPECT_EQ(found_of(mode, false), any);
    EXPECT_EQ(found_of(mode, true), flushed);
  }
  EXPECT_EQ(found_of(eager, false), flushed);
}

/// A rank that does not crash delivers lazily: inside a flush only, behind all that came before it.
TEST(crashes, let_operations_arrive_before_their_flush) {
  const auto found_by = [](int crashes) {
    outcomes seen;
    const program what = program_of(2, [&](scene& s) {
      if (s.rank() == 0) {
        s.far.accumulate(1, &words::a, one, far_op::replace);
        s.cells.x.store(1, relaxed);
        s.far.flush(1);
      } else {
        const word arrived = s.far.read_direct(1, &words::a);
        seen.insert({arrived, s.cells.x.load(relaxed)});
      }
    });
    EXPECT_TRUE(is_right(what, crashing(by(strong, lazy), crashes)));
    return seen;
  };
  EXPECT_EQ(found_by(0), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(found_by(1), (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(crashes, need_not_let_anything_arrive) {
  const program what = program_of(2, [](scene& s) {
    if (s.rank() == 0)
      s.replace(1, &words::a, one);
    else
      s.w.await_direct(s.far, 1, &words::a, is_set);
  });
  for (const delivery_mode mode : all_modes) {
    EXPECT_TRUE(is_right(what, crashing(by(strong, mode))));
    EXPECT_TRUE(finds(nonblocking(what), crashing(by(strong, mode)), fault::deadlock,
                      "no rank can go on: rank 1 waits for words.a of rank 1, which is 0"));
  }
  // An operation issued before the first step arrives in the end.
  EXPECT_EQ(check(what, crashing(by(strong, lazy))).blocked, 0U);
}

TEST(crashes, leave_memory_that_carries_out_nothing) {
  const program what = program_of(2, [](scene& s) {
    if (s.rank() == 0) s.put(1, &words::a, one);
    if (s.rank() == 1) s.cells.y.store(1, relaxed);
  });
  EXPECT_TRUE(is_right(nonblocking(what), crashing(by(strong, lazy))));
  EXPECT_TRUE(finds(nonblocking(what), crashing(by(strong, progress)), fault::deadlock,
                    "rank 0 waits in a flush of rank 1, which does not enter the library"));
}

TEST(crashes, tear_what_is_under_way) {
  struct two_words {
    word first = 0;
    word second = 0;
  };
  struct record {
    far_object<two_words> value;
  };
  static constexpr two_words ones{1, 1};
  outcomes seen;
  const program what{.where = one_node(2), .body = [&](world& w, monitor&) {
                       world::far_array<record> there(w, 1);
                       world::near_array<board::cells> cells(w, 1);
                       if (w.rank() == 0) {
                         there.put(1, &record::value, ones);
                         there.flush(1);
                         cells.at(0).x.store(1, release);
                       } else if (!w.await_until(at_once, cells.at(0).x, is_set)) {
                         world::maybe_torn<two_words> copy;
                         there.read_direct(1, &record::value, copy);
                         seen.insert({copy.unconfirmed().first, copy.unconfirmed().second});
                       }
                     }};
  const report result = check(what, crashing(by(strong)));
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "");
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(crashes, end_barriers_for_the_others) {
  const program what = program_of(2, [](scene& s) {
    s.cells.x.store(1, relaxed);
    s.w.barrier();
    s.cells.x.store(2, relaxed);
  });
  const report result = check(nonblocking(what), crashing(by(strong)));
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "");
}

TEST(crashes, come_before_barriers_and_behind_them) {
  // A rank that another's flush needs may crash on the way to the barrier, after its last step.
  const program what = nonblocking(program_of(2, [](scene& s) {
    if (s.rank() == 0) s.cells.x.store(1, relaxed);
    if (s.rank() == 1 && s.cells.x.load(relaxed) == 1) s.put(0, &words::a, one);
    s.w.barrier();
  }));
  const options how = crashing(by(strong, progress));
  EXPECT_TRUE(finds(what, how, fault::deadlock, "rank 1 waits in a flush of rank 0"));
  EXPECT_TRUE(is_right(what, by(strong, progress)));
}

TEST(crashes, lead_to_the_same_states_around_barriers) {
  const program what = program_of(2, [](scene& s) {
    s.cells.x.store(1, relaxed);
    s.w.barrier();
    s.cells.x.store(2, relaxed);
  });
  options how = crashing(by(strong));
  how.keep_end_states = true;
  const report by_traces = check(what, how);
  EXPECT_TRUE(by_traces.complete);
  how.reduce = reduction::sleep_sets_only;
  EXPECT_EQ(check(what, how).end_states, by_traces.end_states);
  how.by = search::hash;
  EXPECT_EQ(check(what, how).end_states, by_traces.end_states);
}

TEST(crashes, are_in_schedules) {
  const program what = nonblocking(program_of(2, [](scene& s) {
    if (s.rank() == 0)
      s.cells.x.store(1, release);
    else
      s.w.await(s.cells.x, is_set);
  }));
  const options how = crashing(by(strong));
  const report result = check(what, how);
  ASSERT_TRUE(result.found);
  const replayed again = replay(what, how, result.found->schedule);
  ASSERT_TRUE(again.found);
  EXPECT_EQ(again.found->text, result.found->text);
  EXPECT_EQ(again.refused, 0U);
  ASSERT_FALSE(again.steps.empty());
  EXPECT_EQ(again.steps.front().operation, "CRASH");
  EXPECT_EQ(minimised(what, how, *result.found).schedule, (std::vector<step>{{0, step::crash, 0}}));
}

TEST(crashes, come_in_random_schedules) {
  options how = crashing(by(weak, lazy, search::random));
  how.most_executions = 200;
  const program what = nonblocking(program_of(2, [](scene& s) {
    if (s.rank() == 0)
      s.cells.x.store(1, release);
    else
      s.w.await(s.cells.x, is_set);
  }));
  const report result = check(what, how);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::deadlock);
}

/// Whose destructors ask for something when the run is over without their rank.
template <typename Ask>
struct at_the_end {
  explicit at_the_end(Ask what) : ask(std::move(what)) {}
  at_the_end(const at_the_end&) = delete;
  at_the_end& operator=(const at_the_end&) = delete;
  ~at_the_end() { ask(); }
  Ask ask;
};

TEST(crashes, leave_guards_to_destructors_that_cannot_wait) {
  const program guarded{.where = one_node(2), .body = [](world& w, monitor& watch) {
                          mcs_lock<world> lock(w);
                          const std::lock_guard hold(lock);
                          watch.enter();
                          watch.leave();
                        }};
  EXPECT_TRUE(is_right(guarded, crashing(by(weak))));
  const program waits = program_of(2, [](scene& s) {
    const at_the_end last([&] {
      s.cells.y.store(1, relaxed);
      s.replace(1, &words::a, one);
      s.w.await(s.cells.z, is_set);
    });
    if (s.rank() == 0) s.cells.x.store(1, relaxed);
    s.cells.z.store(1, relaxed);
  });
  EXPECT_TRUE(is_right(waits, crashing(by(weak))));
  const program stuck = program_of(1, [](scene& s) {
    const at_the_end last([&] {
      s.signals.signal(0);
      s.w.await(s.cells.y, is_set);
    });
    s.w.await(s.cells.x, is_set);
  });
  EXPECT_TRUE(finds(stuck, by(weak), fault::deadlock, "waits for cells.x"));
}

TEST(crashes, of_two_ranks_may_come_while_one_waits_for_the_other_in_a_barrier) {
  // Both operations are pending: each has been called, neither has returned, and the barrier never opens.
  const program what{.where = one_node(3),
                     .body =
                         [](world& w, monitor& watch) {
                           world::near_segment<board::cells> cells(w);
                           if (w.rank() < 2) {
                             watch.call(0, 0, {});
                             cells.at(w.rank()).x.store(1, relaxed);
                             watch.returned({});
                           }
                           w.barrier();
                         },
                     .judge = [](const history& of) -> std::optional<std::string> {
                       const auto all = of.operations();
                       const bool both = all.size() == 2 && all[0].is_pending() && all[1].is_pending();
                       return both ? std::optional<std::string>("both are pending") : std::nullopt;
                     }};
  EXPECT_TRUE(finds(what, crashing(by(strong), 2), fault::history, "both are pending"));
}

/// End states of random programs, by each search.
std::set<std::uint64_t> ends_of(const random_program& of, const options& how) {
  outcome ignored(registers_of(of));
  const program what{.where = one_node(static_cast<int>(of.size())), .body = [&](world& w, monitor& watch) {
                       scene s(w, watch, ignored);
                       run(s, of);
                     }};
  const report result = check(what, how);
  // A write of a rank that crashed before its flush returned is never complete for other ranks.
  EXPECT_TRUE(result.complete || result.found->what == fault::deadlock ||
              result.found->what == fault::conflict)
      << result.found->text;
  return result.complete ? result.end_states : std::set<std::uint64_t>{};
}

void compare_searches(const ingredients& from, int programs, int crashes = 1) {
  int compared = 0;
  for (int seed = 1; seed <= programs; ++seed) {
    const random_program of = drawn_widely(static_cast<std::uint64_t>(seed), from);
    for (const delivery_mode mode : all_modes) {
      if (!from.far && mode != lazy) continue;
      options how = crashing(by(strong, mode), crashes);
      how.keep_end_states = true;
      const std::set<std::uint64_t> ends = ends_of(of, how);
      how.reduce = reduction::sleep_sets_only;
      EXPECT_EQ(ends, ends_of(of, how)) << "by sleep sets only, seed " << seed << "\n"
                                        << testing::text_of(of);
      how.by = search::hash;
      EXPECT_EQ(ends, ends_of(of, how)) << "by states, seed " << seed << "\n" << testing::text_of(of);
      compared += ends.empty() ? 0 : 1;
    }
  }
  EXPECT_GE(compared, programs / 3);
}

TEST(crashes, lead_to_the_same_states_in_every_search) {
  compare_searches({.ranks = 2, .length = 3, .waits = true, .deadlines = true}, 300);
  compare_searches({.ranks = 2, .length = 3, .far = true, .waits = true, .deadlines = true}, 150);
  compare_searches({.ranks = 3, .length = 2, .waits = true, .signals = true, .deadlines = true}, 100);
  compare_searches({.ranks = 3, .length = 2, .far = true, .waits = true, .deadlines = true}, 60, 2);
}

}  // namespace
}  // namespace nearfar::checker::testing
