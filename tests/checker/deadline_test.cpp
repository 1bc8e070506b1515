// Waits that end by a deadline, and waits for the first of several words.
#include "tests/checker/expectations.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds soon{1};

template <typename T>
word or_late(const std::optional<T>& value) {
  return value ? static_cast<word>(*value) : too_late;
}

TEST(deadlines, may_pass_before_any_step) {
  const outcomes either{{1}, {too_late}};
  const auto near = [](scene& s) {
    if (s.rank() == 0) return s.cells.x.store(1, release);
    s.r[0] = or_late(s.w.await_until(soon, s.cells.x, is_set));
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), near), either);
  EXPECT_EQ(outcomes_of(2, 1, by(weak), near), either);
  for (const delivery_mode mode : all_modes) {
    EXPECT_EQ(far_outcomes(mode, 2, 1,
                           [](scene& s) {
                             if (s.rank() == 0) return s.put(1, &words::a, one);
                             s.r[0] = or_late(s.w.await_direct_until(soon, s.far, 1, &words::a, is_set));
                           }),
              either);
    EXPECT_EQ(far_outcomes(mode, 2, 1,
                           [](scene& s) {
                             if (s.rank() == 0) return s.put(1, &words::a, one);
                             s.r[0] = or_late(s.w.await_get_until(soon, s.far, 1, &words::a, is_set));
                           }),
              either);
    EXPECT_EQ(far_outcomes(mode, 2, 1,
                           [](scene& s) {
                             if (s.rank() == 0) return s.replace(1, &words::a, one);
                             s.r[0] = or_late(s.w.await_fetch_until(soon, s.far, 1, &words::a, is_set));
                           }),
              either);
  }
}

TEST(deadlines, do_not_hide_a_value_that_is_known) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, release);
    } else {
      s.w.await(s.cells.y, is_set);
      s.r[0] = or_late(s.w.await_until(soon, s.cells.x, is_set));
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), outcomes{{1}});
  EXPECT_EQ(outcomes_of(2, 1, by(weak), body), outcomes{{1}});
}

TEST(deadlines, may_pass_while_a_value_is_on_its_way) {
  // The store is complete, but rank 1 need not know of it.
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, relaxed);
    } else {
      s.w.await(s.cells.y, is_set);
      s.r[0] = or_late(s.w.await_until(soon, s.cells.x, is_set));
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), outcomes{{1}});
  EXPECT_EQ(outcomes_of(2, 1, by(weak), body), (outcomes{{1}, {too_late}}));
}

TEST(deadlines, end_no_swap_that_took_effect) {
  for (const delivery_mode mode : all_modes) {
    // A late rank has not taken the word, a rank in time has. Both in time is impossible; both late is
    // possible.
    const outcomes seen = far_outcomes(mode, 2, 3, [](scene& s) {
      const auto rank = static_cast<std::size_t>(s.rank());
      s.r[rank] = or_late(
          s.w.await_swap_until(soon, s.far, 0, &words::a, one, [](word old) { return old == 0; }, {}));
      s.r[2] = s.at_end(0, &words::a);
    });
    EXPECT_TRUE(seen.contains({0, too_late, 1}));
    EXPECT_TRUE(seen.contains({too_late, 0, 1}));
    EXPECT_FALSE(seen.contains({0, 0, 1}));
    EXPECT_FALSE(seen.contains({too_late, too_late, 0})) << "one of them finds it free";
  }
}

TEST(deadlines, leave_a_signal_that_was_not_taken) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) return s.signals.signal(1);
    s.r[0] = s.signals.await_signal_until(soon, 0) ? 1 : too_late;
    if (s.r[0] == too_late) s.signals.await_signal(0);
    s.r[1] = 1;
  };
  EXPECT_EQ(outcomes_of(2, 2, by(strong), body), (outcomes{{1, 1}, {too_late, 1}}));
}

TEST(deadlines, of_signals_may_pass_while_one_is_on_its_way) {
  // The signal was sent, and its receiver knows that.
  const auto sent = [](scene& s) {
    if (s.rank() == 0) {
      s.signals.signal(1);
      s.cells.x.store(1, release);
    } else {
      s.w.await(s.cells.x, is_set);
      s.r[0] = s.signals.await_signal_until(soon, 0) ? 1 : too_late;
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), sent), (outcomes{{1}, {too_late}}));
  EXPECT_EQ(outcomes_of(2, 1, by(weak), sent), (outcomes{{1}, {too_late}}));
  // One of two waits takes the signal, or neither does.
  const auto twice = [](scene& s) {
    if (s.rank() == 0) return s.signals.signal(1);
    for (word& each : s.r) each = s.signals.await_signal_until(soon, 0) ? 1 : too_late;
    s.cells.z.store(1, relaxed);
  };
  EXPECT_EQ(outcomes_of(2, 2, by(strong), twice),
            (outcomes{{1, too_late}, {too_late, 1}, {too_late, too_late}}));
}

TEST(deadlines, of_signals_may_pass_before_anything_else) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.r[0] = s.cells.y.load(relaxed);
      s.signals.signal(1);
    } else {
      s.r[1] = s.signals.await_signal_until(soon, 0) ? 1 : too_late;
      s.cells.y.store(1, relaxed);
    }
  };
  EXPECT_EQ(outcomes_of(2, 2, by(strong), body), (outcomes{{0, 1}, {0, too_late}, {1, too_late}}));
}

TEST(deadlines, of_signals_that_come_in_time_let_know) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.signals.signal(1);
    } else if (s.signals.await_signal_until(soon, 0)) {
      s.r[0] = s.cells.x.load(relaxed) + 1;
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(weak), body), (outcomes{{0}, {2}}));
}

TEST(deadlines, may_pass_after_a_swap_that_would_end_the_next) {
  const auto body = [](scene& s) {
    const auto is_one = [](word old) { return old == 1; };
    s.r[0] = or_late(s.w.await_swap_until(soon, s.far, 0, &words::a, one, is_one, {}));
  };
  for (const delivery_mode mode : all_modes)
    EXPECT_EQ(far_outcomes(mode, 1, 1, body), (outcomes{{1}, {too_late}}));
}

TEST(deadlines, keep_nobody_from_ending) {
  const program waits = program_of(1, [](scene& s) {
    if (s.w.await_until(soon, s.cells.x, is_set)) throw error("what came of nothing?");
    if (s.signals.await_signal_until(soon, any_rank)) throw error("who sent that?");
  });
  EXPECT_TRUE(is_right(waits, by(weak)));
  const program for_ever = program_of(1, [](scene& s) {
    (void)s.w.await_until(soon, s.cells.x, is_set);
    s.w.await(s.cells.x, is_set);
  });
  EXPECT_TRUE(finds(for_ever, by(weak), fault::deadlock, "rank 0 waits for cells.x"));
}

TEST(deadlines, do_not_end_a_far_wait_whose_target_does_not_answer) {
  const program what = program_of(2, [](scene& s) {
    if (s.rank() == 0) {
      (void)s.w.await_get_until(soon, s.far, 1, &words::a, is_set);
      s.put(1, &words::b, one);
    } else {
      s.w.await_direct_without_progress(s.far, 1, &words::b, is_set);
    }
  });
  EXPECT_TRUE(is_right(what, by(strong, lazy)));
  EXPECT_TRUE(finds(what, by(strong, progress), fault::deadlock, "no rank can go on"));
}

/// A rank leaves the place where it waits, and may get the grant all the same.
TEST(deadlines, race_with_what_they_wait_for) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.y.store(1, release);
      if (!s.w.await_until(soon, s.cells.z, is_set)) s.r[0] = too_late;
    } else if (s.cells.y.exchange(0, acq_rel) != 0) {
      s.cells.z.store(1, release);
    }
    s.w.barrier();
    if (s.rank() == 0 && s.r[0] == too_late) s.r[0] += s.cells.z.load(acquire);
  };
  const outcomes all{{0}, {too_late}, {too_late + 1}};
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), all);
  EXPECT_EQ(outcomes_of(2, 1, by(weak), body), all);
}

TEST(deadlines, of_swaps_in_a_row_are_apart) {
  // The first swap is late and the second in time. The search by states must not take a failed try for
  // either.
  const auto body = [](scene& s) {
    const auto is_free = [](word old) { return old == 0; };
    if (s.rank() == 1) return s.replace(0, &words::a, zero);
    s.replace(0, &words::a, two);
    s.r[0] = or_late(s.w.await_swap_until(soon, s.far, 0, &words::a, one, is_free, {}));
    s.r[1] = or_late(s.w.await_swap_until(soon, s.far, 0, &words::a, one, is_free, {}));
  };
  for (const delivery_mode mode : all_modes)
    EXPECT_TRUE(far_outcomes(mode, 2, 2, body).contains({too_late, 0}));
}

TEST(deadlines, leave_time_for_another_swap) {
  // The other rank's value was written by a failed try of the swap, and one more try is possible.
  const auto body = [](scene& s) {
    const auto is_free = [](word old) { return old == 0; };
    if (s.rank() == 0) s.replace(0, &words::a, two);
    s.w.barrier();
    if (s.rank() == 0) {
      s.r[0] = or_late(s.w.await_swap_until(soon, s.far, 0, &words::a, one, is_free, {}));
    } else {
      s.r[1] = s.swap(0, &words::a, zero);
    }
  };
  for (const delivery_mode mode : all_modes)
    EXPECT_EQ(far_outcomes(mode, 2, 2, body), (outcomes{{0, 1}, {0, 2}, {too_late, 1}}));
}

TEST(deadlines, may_end_in_an_exception_of_who_asks) {
  for (const int jobs : {1, 2})
    for (const search tier : {search::exhaustive, search::random}) {
      options how = by(weak, lazy, tier);
      how.jobs = jobs;
      how.most_executions = 10;
      const report result = check(
          program_of(1, [](scene& s) { s.w.await(s.cells.x, [](word) -> bool { throw error("no"); }); }),
          how);
      ASSERT_TRUE(result.found);
      EXPECT_EQ(result.found->what, fault::exception);
      EXPECT_EQ(result.found->text, "what ranks wait by threw: no");
    }
}

// ---- clocks -----------------------------------------------------------------------------------------------

constexpr auto long_time = std::chrono::hours(1);

/// Whether the time is over by the rank's clock.
[[nodiscard]] word is_over(scene& s, nanoseconds deadline) { return s.w.now() >= deadline ? 1 : 0; }

TEST(clocks, may_pass_a_deadline_between_any_two_looks) {
  const auto body = [](scene& s) {
    const nanoseconds until = s.w.now() + long_time;
    s.r[0] = is_over(s, until);
    s.r[1] = is_over(s, until);
  };
  EXPECT_EQ(outcomes_of(1, 2, by(strong), body), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(clocks, do_not_depend_on_steps_of_others) {
  // An attempt that has the lock when its time is over, and forgets it. Other steps of the other rank would
  // hide that from a search by traces if they were the time.
  const program what = program_of(2, [](scene& s) {
    if (s.rank() == 1) {
      s.far.write_direct(1, &words::a, one);
      s.far.write_direct(1, &words::a, two);
      return;
    }
    const nanoseconds until = s.w.now() + nanoseconds(3);
    if (s.cells.x.exchange(1, acq_rel) == 0 && s.w.now() < until) return;
    s.w.await(s.cells.x, [](word now) { return now == 0; });
  });
  for (const near_model near : {strong, weak})
    EXPECT_TRUE(finds(what, by(near), fault::deadlock, "rank 0 waits for cells.x"));
  options random = by(weak, lazy, search::random);
  random.most_executions = 1000;
  const report at_random = check(what, random);
  ASSERT_TRUE(at_random.found);
  const violation shortest = minimised(what, by(weak), *at_random.found);
  EXPECT_EQ(shortest.what, fault::deadlock);
  const replayed again = replay(what, by(weak), shortest.schedule);
  ASSERT_TRUE(again.found);
  EXPECT_NE(steps_text(again).find("look at clock, much later"), std::string::npos);
}

TEST(clocks, have_reached_the_deadline_of_a_wait_that_timed_out) {
  const auto body = [](scene& s) {
    const nanoseconds start = s.w.now();
    const bool is_late = s.rank() == 0 ? !s.w.await_until(start + long_time, s.cells.x, is_set)
                                       : !s.signals.await_signal_until(start + long_time, 0);
    if (!is_late) throw error("who wrote that?");
    s.r[static_cast<std::size_t>(s.rank())] =
        is_over(s, start + long_time) + is_over(s, start + 2 * long_time);
  };
  EXPECT_EQ(outcomes_of(2, 2, by(strong), body), (outcomes{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
  const auto any = [](scene& s) {
    const nanoseconds until = s.w.now() + long_time;
    (void)s.w.await_any_until(until, when(s.cells.x, is_set), when(s.cells.y, is_set));
    s.r[0] = is_over(s, until);
  };
  EXPECT_EQ(outcomes_of(1, 1, by(weak), any), outcomes{{1}});
}

TEST(clocks, may_have_passed_a_deadline_that_a_wait_was_in_time_for) {
  const auto body = [](scene& s) {
    if (s.rank() == 1) return s.cells.x.store(1, release);
    if (s.w.await_until(soon, s.cells.x, is_set)) s.r[0] = 1 + is_over(s, soon);
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), (outcomes{{0}, {1}, {2}}));
}

TEST(clocks, may_be_late_for_a_deadline_of_another_rank) {
  for (const bool has_barrier : {false, true}) {
    const auto body = [=](scene& s) {
      if (s.rank() == 0) {
        const auto until = static_cast<word>((s.w.now() + long_time).count());
        s.cells.x.store(until, release);
      }
      if (has_barrier) s.w.barrier();
      if (s.rank() == 1) s.r[0] = is_over(s, nanoseconds(s.w.await(s.cells.x, is_set)));
    };
    EXPECT_EQ(outcomes_of(2, 1, by(strong), body), (outcomes{{0}, {1}}));
    EXPECT_EQ(outcomes_of(2, 1, by(weak), body), (outcomes{{0}, {1}}));
  }
}

TEST(clocks, may_be_compared_with_a_time_that_is_learnt_after_the_look) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) return s.cells.x.store(static_cast<word>((s.w.now() + long_time).count()), release);
    const nanoseconds seen = s.w.now();
    s.r[0] = seen >= nanoseconds(s.w.await(s.cells.x, is_set)) ? 1 : 0;
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), (outcomes{{0}, {1}}));
}

TEST(clocks, end_a_loop_up_to_a_deadline) {
  // Rank 1 need not come.
  const auto body = [](scene& s) {
    if (s.rank() == 1) return s.cells.x.store(1, release);
    for (const nanoseconds until = s.w.now() + long_time; s.w.now() < until;)
      if (s.cells.x.load(acquire) == 1) s.r[0] = 1;
  };
  for (const near_model near : {strong, weak}) {
    options how = by(near);
    EXPECT_EQ(outcomes_of(2, 1, how, body), (outcomes{{0}, {1}}));
    how.most_looks_in_a_row = 0;
    EXPECT_EQ(outcomes_of(2, 1, how, body), outcomes{{0}});
    how = by(near, lazy, search::random);
    how.most_executions = 500;
    how.most_steps = 100;
    EXPECT_FALSE(check(program_of(2, body), how).found);
  }
}

TEST(clocks, never_reach_the_end_of_time) {
  const program what =
      program_of(1, [](scene& s) { (void)s.w.await_until(nanoseconds::max(), s.cells.x, is_set); });
  EXPECT_TRUE(finds(what, by(weak), fault::deadlock, "rank 0 waits for cells.x"));
}

// ---- the first of several ---------------------------------------------------------------------------------

TEST(any_of_several, ends_by_each) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) return s.cells.x.store(1, release);
    if (s.rank() == 1) return s.cells.y.store(2, release);
    const satisfied_condition first =
        s.w.await_any(when(s.cells.x, is_set), when(s.cells.y, is_set), when(s.far, 2, &words::a, is_set));
    s.r = {first.index, first.value};
  };
  const outcomes either{{0, 1}, {1, 2}};
  EXPECT_EQ(outcomes_of(3, 2, by(strong), body), either);
  EXPECT_EQ(outcomes_of(3, 2, by(weak), body), either);
}

TEST(any_of_several, includes_far_words_in_place) {
  for (const delivery_mode mode : all_modes)
    EXPECT_EQ(outcomes_of(2, 2, by(weak, mode),
                          [](scene& s) {
                            if (s.rank() == 0) return s.put(1, &words::a, two);
                            const auto first =
                                s.w.await_any(when(s.cells.x, is_set), when(s.far, 1, &words::a, is_set));
                            s.r = {first.index, first.value};
                          }),
              outcomes({{1, 2}}));
}

TEST(any_of_several, may_be_none_in_time) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) return s.cells.y.store(1, release);
    const auto first = s.w.await_any_until(soon, when(s.cells.x, is_set), when(s.cells.y, is_set));
    s.r[0] = first ? first->index : too_late;
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), (outcomes{{1}, {too_late}}));
  EXPECT_EQ(outcomes_of(2, 1, by(weak), body), (outcomes{{1}, {too_late}}));
}

TEST(any_of_several, is_known_to_be_in_time) {
  const auto after = [](std::memory_order told) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.y.store(1, relaxed);
        return s.cells.z.store(1, told);
      }
      s.w.await(s.cells.z, is_set);
      const auto first = s.w.await_any_until(soon, when(s.cells.x, is_set), when(s.cells.y, is_set));
      s.r[0] = first ? first->index : too_late;
    };
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), after(relaxed)), outcomes{{1}});
  EXPECT_EQ(outcomes_of(2, 1, by(weak), after(release)), outcomes{{1}});
  EXPECT_EQ(outcomes_of(2, 1, by(weak), after(relaxed)), (outcomes{{1}, {too_late}}));
  const program alone = program_of(
      1, [](scene& s) { (void)s.w.await_any_until(soon, when(s.cells.x, is_set), when(s.cells.y, is_set)); });
  EXPECT_TRUE(is_right(alone, by(weak)));
}

TEST(any_of_several, is_by_acquire_of_the_one_that_ends_it) {
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.z.store(1, relaxed);
      s.cells.y.store(1, release);
      s.cells.x.store(1, relaxed);
    } else {
      const std::size_t first = s.w.await_any(when(s.cells.x, is_set), when(s.cells.y, is_set)).index;
      s.r = {first, s.cells.z.load(relaxed)};
    }
  };
  EXPECT_EQ(outcomes_of(2, 2, by(weak), body), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(any_of_several, is_told_apart_where_all_else_is_equal) {
  const auto which = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, relaxed);
    } else {
      s.r[0] = s.w.await_any(when(s.cells.x, is_set), when(s.cells.y, is_set)).index;
      s.cells.z.store(1, relaxed);
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), which), (outcomes{{0}, {1}}));
  const auto late = [](scene& s) {
    if (s.rank() == 0) return s.cells.x.store(1, relaxed);
    const auto is_zero = [](word now) { return now == 0; };
    const auto first = s.w.await_any_until(soon, when(s.cells.x, is_zero), when(s.cells.y, is_set));
    s.r[0] = first ? first->index : too_late;
    s.w.await(s.cells.x, is_set);
    s.cells.z.store(1, relaxed);
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), late), (outcomes{{0}, {too_late}}));
}

TEST(any_of_several, is_of_the_same_words_in_each_run) {
  int runs = 0;
  const program what = program_of(1, [&](scene& s) {
    auto& other = ++runs % 2 == 0 ? s.cells.y : s.cells.z;
    s.cells.x.store(1, relaxed);
    s.w.await_any(when(s.cells.x, is_set), when(other, is_set));
  });
  EXPECT_TRUE(finds(what, by(weak), fault::exception, "ask for something else than in another run"));
}

TEST(any_of_several, is_taken_where_a_later_write_disables_it) {
  // The flag is up for a moment only, so either the wait ends in that moment, or the flag goes down first.
  const auto body = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, release);
      s.cells.x.store(0, release);
      s.cells.y.store(1, release);
    } else {
      s.r[0] = s.w.await_any(when(s.cells.x, is_set), when(s.cells.y, is_set)).index;
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(strong), body), (outcomes{{0}, {1}}));
  EXPECT_EQ(outcomes_of(2, 1, by(weak), body), (outcomes{{0}, {1}}));
}

TEST(any_of_several, is_a_deadlock_where_none_comes) {
  const program what = program_of(
      1, [](scene& s) { s.w.await_any(when(s.cells.x, is_set), when(s.far, 0, &words::b, is_set)); });
  EXPECT_TRUE(finds(what, by(weak), fault::deadlock,
                    "waits for cells.x of rank 0, which is 0 or words.b of rank 0, which is 0"));
  // Nor does it help that one has been there.
  const program passed = program_of(2, [](scene& s) {
    if (s.rank() == 0) s.cells.x.store(1, release);
    if (s.rank() == 0) s.cells.x.store(0, release);
    if (s.rank() == 1) s.w.await_any(when(s.cells.x, is_set), when(s.cells.y, is_set));
  });
  EXPECT_TRUE(finds(passed, by(weak), fault::deadlock, "rank 1 waits for cells.x of rank 0, which is 0 or"));
}

}  // namespace
}  // namespace nearfar::checker::testing
