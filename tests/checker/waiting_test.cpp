// When waiting ranks go on, and when they cannot: waits for far words, progress of the target, signals.
#include <algorithm>

#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

// ---- waits ------------------------------------------------------------------------------------------------

TEST(far_waits, return_a_value_that_satisfies) {
  const auto waits = std::array<std::function<word(scene&)>, 4>{
      [](scene& s) { return s.w.await_direct(s.far, 1, &words::a, is_set); },
      [](scene& s) { return s.w.await_get(s.far, 1, &words::a, is_set); },
      [](scene& s) { return s.w.await_fetch(s.far, 1, &words::a, is_set); },
      [](scene& s) { return s.w.await_swap(s.far, 1, &words::a, three, is_set, {}); },
  };
  for (const auto mode : all_modes)
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const outcomes seen = far_outcomes(mode, 2, 2, [&](scene& s) {
        if (s.rank() == 0) {
          s.replace(1, &words::a, one);
          s.replace(1, &words::a, zero);
          s.replace(1, &words::a, two);
        } else {
          s.r[0] = waits[i](s);
        }
        s.r[1] = s.at_end(1, &words::a);
      });
      // A swap in vain leaves its 3 in the word, which satisfies the next one.
      if (i + 1 == waits.size())
        EXPECT_EQ(seen, (outcomes{{1, 2}, {2, 3}, {3, 2}})) << "mode " << static_cast<int>(mode);
      else
        EXPECT_EQ(seen, (outcomes{{1, 2}, {2, 2}})) << "mode " << static_cast<int>(mode);
    }
}

// ---- waits that a later write disabled --------------------------------------------------------------------

TEST(disabled_waits, are_taken_where_they_could_be) {
  const auto throws_at_seven = [](scene& s) {
    auto& [x, y, done, narrow, byte] = s.cells;
    switch (s.rank()) {
      case 0:
        if (x.load(relaxed) == 7) throw error("seven");
        x.store(3, relaxed);
        s.w.await(done, [](word value) { return value == 1; });
        y.store(7, relaxed);
        break;
      case 1:
        s.w.await(y, [](word value) { return value == 2 || value == 7; });
        x.store(7, relaxed);
        break;
      default:
        y.store(2, relaxed);
        (void)x.load(relaxed);
        y.store(3, relaxed);
        done.store(1, release);
    }
  };
  for (const auto near : {near_model::sequential, near_model::release_acquire})
    EXPECT_TRUE(finds(program_of(3, throws_at_seven), by(near), fault::exception, "seven"));
}

TEST(disabled_waits, may_have_ended_by_a_value_that_was_never_the_newest) {
  const outcomes seen = outcomes_of(3, 2, by(near_model::release_acquire), [](scene& s) {
    auto& x = s.cells.x;
    if (s.rank() == 0) {
      x.store(1, relaxed);
      x.store(3, relaxed);
    } else if (s.rank() == 1) {
      s.r[0] = s.w.await(x, [](word value) { return value == 2 || value == 3; });
    } else {
      x.store(2, relaxed);
      s.r[1] = x.load(relaxed);
    }
  });
  EXPECT_EQ(seen, (outcomes{{2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}}));
}

// ---- progress of the target -------------------------------------------------------------------------------

/// Rank 1 waits for a put of rank 0 in a loop that makes the library progress or does not. `first` comes
/// before, so that for a time rank 1 does not wait yet.
body waits_for_put(bool progresses, int waiter) {
  return [=](scene& s) {
    const int writer = 1 - waiter;
    if (s.rank() == writer) {
      s.cells.x.store(1, relaxed);
      s.put(waiter, &words::a, one);
    } else {
      s.w.await(s.cells.x, is_set);
      if (progresses)
        s.w.await_direct(s.far, waiter, &words::a, is_set);
      else
        s.w.await_direct_without_progress(s.far, waiter, &words::a, is_set);
    }
  };
}

TEST(target_progress, a_wait_without_it_deadlocks_where_it_is_needed) {
  for (const auto tier : {search::exhaustive, search::hash})
    for (const auto reduce : {reduction::source_sets, reduction::sleep_sets_only})
      for (const int waiter : {0, 1})
        for (const auto mode : all_modes) {
          options how = by(near_model::sequential, mode, tier);
          how.reduce = reduce;
          const report stuck = check(program_of(2, waits_for_put(false, waiter)), how);
          if (mode == progress) {
            ASSERT_TRUE(stuck.found) << "waiter " << waiter << " tier " << static_cast<int>(tier)
                                     << " reduction " << static_cast<int>(reduce);
            EXPECT_EQ(stuck.found->what, fault::deadlock);
            EXPECT_NE(stuck.found->text.find("waits in a flush of rank " + std::to_string(waiter) +
                                             ", which does not enter the library"),
                      std::string::npos)
                << stuck.found->text;
          } else {
            EXPECT_TRUE(stuck.complete);
          }
          EXPECT_TRUE(check(program_of(2, waits_for_put(true, waiter)), how).complete);
        }
}

TEST(target_progress, is_needed_for_a_far_poll_too) {
  const auto program = [](bool progresses) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        // Polls rank 1's word, which never changes hands until rank 0 has seen it.
        s.w.await_fetch(s.far, 1, &words::a, is_set);
        s.signals.signal(1);
      } else {
        s.replace(1, &words::a, one);
        const auto polled = [](word value) { return value == 2; };
        if (progresses)
          s.w.await_direct(s.far, 1, &words::b, polled);
        else
          s.w.await_direct_without_progress(s.far, 1, &words::b, polled);
      }
      if (s.rank() == 0) s.put(1, &words::b, two);
    };
  };
  for (const auto tier : {search::exhaustive, search::hash}) {
    const options how = by(near_model::sequential, progress, tier);
    EXPECT_TRUE(check(program_of(2, program(true)), how).complete);
    const report stuck = check(program_of(2, program(false)), how);
    ASSERT_TRUE(stuck.found);
    EXPECT_EQ(stuck.found->what, fault::deadlock);
  }
}

TEST(target_progress, comes_before_a_wait_without_it_or_after) {
  // Rank 2 writes 1 in place and lets rank 1 add 1, which rank 0 serves before its wait or after.
  const auto program = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.r[0] = s.w.await_direct_without_progress(s.far, 0, &words::a, is_set);
    } else if (s.rank() == 1) {
      s.signals.await_signal(2);
      s.far.accumulate(0, &words::a, one, far_op::sum);
      s.far.flush(0);
    } else {
      s.far.write_direct(0, &words::a, one);
      s.signals.signal(1);
    }
  };
  EXPECT_EQ(outcomes_of(3, 1, by(near_model::sequential, progress), program), (outcomes{{1}, {2}}));
}

TEST(target_progress, its_own_operations_need_none) {
  const report result = check(program_of(2,
                                         [](scene& s) {
                                           if (s.rank() != 1) return;
                                           s.far.accumulate(1, &words::a, one, far_op::replace);
                                           s.w.await_direct_without_progress(s.far, 1, &words::a, is_set);
                                           s.far.flush(1);
                                         }),
                              by(near_model::sequential, progress));
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "");
}

// ---- signals and exclusive epochs -------------------------------------------------------------------------

TEST(signals, are_neither_lost_nor_doubled) {
  const auto program = [](int sent, int awaited) {
    return [=](scene& s) {
      for (int i = 0; s.rank() == 0 && i < sent; ++i) s.signals.signal(1);
      for (int i = 0; s.rank() == 1 && i < awaited; ++i) s.signals.await_signal(0);
    };
  };
  const options how = by(near_model::sequential);
  EXPECT_TRUE(check(program_of(2, program(3, 3)), how).complete);
  EXPECT_TRUE(check(program_of(2, program(3, 2)), how).complete);
  const report lost = check(program_of(2, program(2, 3)), how);
  ASSERT_TRUE(lost.found);
  EXPECT_EQ(lost.found->text, "no rank can go on: rank 1 waits for a signal of rank 0");
}

TEST(signals, any_rank_takes_those_of_all) {
  const report result = check(program_of(4,
                                         [](scene& s) {
                                           if (s.rank() > 0) return s.signals.signal(0);
                                           for (int i = 0; i < 3; ++i) s.signals.await_signal(any_rank);
                                         }),
                              by(near_model::sequential));
  EXPECT_TRUE(result.complete);
}

TEST(signals, any_rank_may_take_the_one_that_is_awaited_later) {
  for (const auto tier : {search::exhaustive, search::hash}) {
    const report result = check(program_of(3,
                                           [](scene& s) {
                                             if (s.rank() > 0) return s.signals.signal(0);
                                             s.signals.await_signal(any_rank);
                                             s.signals.await_signal(2);
                                           }),
                                by(near_model::sequential, lazy, tier));
    ASSERT_TRUE(result.found) << "tier " << static_cast<int>(tier);
    EXPECT_EQ(result.found->text, "no rank can go on: rank 0 waits for a signal of rank 2");
  }
}

TEST(signals, wait_in_the_order_in_which_they_came) {
  for (const auto tier : {search::exhaustive, search::hash}) {
    const report result = check(program_of(3,
                                           [](scene& s) {
                                             auto& mine = s.rank() == 1 ? s.cells.x : s.cells.y;
                                             if (s.rank() > 0) {
                                               s.signals.signal(0);
                                               return mine.store(1, release);
                                             }
                                             s.w.await(s.cells.x, is_set);
                                             s.w.await(s.cells.y, is_set);
                                             s.signals.await_signal(any_rank);
                                             s.signals.await_signal(2);
                                           }),
                                by(near_model::sequential, lazy, tier));
    ASSERT_TRUE(result.found) << "tier " << static_cast<int>(tier);
    EXPECT_EQ(result.found->what, fault::deadlock);
  }
}

TEST(signals, tell_the_receiver_what_the_sender_knew) {
  const auto program = [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.signals.signal(1);
    } else {
      s.signals.await_signal(0);
      s.r[0] = s.cells.x.load(relaxed);
    }
  };
  EXPECT_EQ(outcomes_of(2, 1, by(near_model::release_acquire), program), (outcomes{{1}}));
}

}  // namespace
}  // namespace nearfar::checker::testing
