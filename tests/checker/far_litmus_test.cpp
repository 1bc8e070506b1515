// What MPI promises about the order and completion of operations, and what it does not: small programs with
// their exact outcomes by delivery.
#include <algorithm>

#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

constexpr auto eager = delivery_mode::eager;
constexpr auto lazy = delivery_mode::lazy;
constexpr auto progress = delivery_mode::progress;
constexpr std::array all_modes{eager, lazy, progress};

outcomes far_outcomes(delivery_mode mode, int ranks, std::size_t registers, const body& of) {
  const outcomes seen = outcomes_of(ranks, registers, by(near_model::sequential, mode), of);
  // No near cell, no difference.
  EXPECT_EQ(seen, outcomes_of(ranks, registers, by(near_model::release_acquire, mode), of));
  return seen;
}

bool is_set(word value) { return value != 0; }

/// Every rank does `turn` once, with the epoch of rank 0.
template <typename Turn>
body with_epoch(Turn turn) {
  return [turn](scene& s) {
    world::exclusive_epoch epoch(s.w, 0);
    turn(s, epoch);
  };
}

// ---- completion
// --------------------------------------------------------------------------------------------

TEST(completion, results_are_poison_until_the_flush_of_their_target) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 2, 4, [](scene& s) {
      if (s.rank() != 0) return;
      word old = 7;
      s.far.fetch_add(1, &words::a, three, old);
      s.r[0] = old;
      s.far.flush(0);
      s.r[1] = old;
      s.far.flush(1);
      s.r[2] = old;
      s.r[3] = s.swap(1, &words::a, zero);
    });
    EXPECT_EQ(seen, (outcomes{{default_poison, default_poison, 0, 3}}));
  }
}

TEST(completion, the_poison_can_be_chosen) {
  options how = by(near_model::sequential);
  how.poison = 1;
  EXPECT_EQ(outcomes_of(1, 1, how,
                        [](scene& s) {
                          word got = 7;
                          s.far.get(0, &words::a, got);
                          s.r[0] = got;
                          s.far.flush(0);
                        }),
            (outcomes{{1}}));
}

/// Rank 0 puts to rank 1 and flushes; by messages, rank 1 looks before the flush and after it.
void looked_at_around_the_flush(scene& s) {
  if (s.rank() == 0) {
    s.far.put(1, &words::a, one);
    s.signals.signal(1);
    s.signals.await_signal(1);
    s.far.flush(1);
    s.signals.signal(1);
  } else {
    s.signals.await_signal(0);
    s.r[0] = s.far.read_direct(1, &words::a);
    s.signals.signal(0);
    s.signals.await_signal(0);
    s.r[1] = s.far.read_direct(1, &words::a);
  }
}

TEST(completion, a_put_is_there_when_its_flush_returns_and_may_be_earlier) {
  EXPECT_EQ(far_outcomes(eager, 2, 2, looked_at_around_the_flush), (outcomes{{1, 1}}));
  EXPECT_EQ(far_outcomes(lazy, 2, 2, looked_at_around_the_flush), (outcomes{{0, 1}}));
  EXPECT_EQ(far_outcomes(progress, 2, 2, looked_at_around_the_flush), (outcomes{{0, 1}, {1, 1}}));
}

TEST(completion, is_of_the_target_that_is_flushed_only) {
  const auto program = [](scene& s) {
    if (s.rank() == 0) {
      s.far.put(1, &words::a, one);
      s.far.put(2, &words::a, one);
      s.far.flush(1);
      s.signals.signal(2);
      s.signals.await_signal(2);
      s.far.flush(2);
    } else if (s.rank() == 2) {
      s.signals.await_signal(0);
      s.r[0] = s.far.read_direct(1, &words::a);
      s.r[1] = s.far.read_direct(2, &words::a);
      s.signals.signal(0);
    }
  };
  EXPECT_EQ(far_outcomes(eager, 3, 2, program), (outcomes{{1, 1}}));
  EXPECT_EQ(far_outcomes(lazy, 3, 2, program), (outcomes{{1, 0}}));
  EXPECT_EQ(far_outcomes(progress, 3, 2, program), (outcomes{{1, 0}, {1, 1}}));
}

TEST(completion, a_program_may_end_without_it) {
  // The put is delivered at any time but in lazy delivery, where it never is.
  const auto program = [](scene& s) {
    if (s.rank() == 0) s.far.put(1, &words::a, one);
    if (s.rank() == 1) s.r[0] = s.far.read_direct(1, &words::a);
  };
  EXPECT_EQ(far_outcomes(eager, 2, 1, program), (outcomes{{0}, {1}}));
  EXPECT_EQ(far_outcomes(lazy, 2, 1, program), (outcomes{{0}}));
  EXPECT_EQ(far_outcomes(progress, 2, 1, program), (outcomes{{0}, {1}}));
}

// ---- order
// -------------------------------------------------------------------------------------------------

TEST(order, accumulates_of_one_origin_to_one_word_arrive_as_issued) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 2, 4, [](scene& s) {
      if (s.rank() == 0) {
        word before = 0;
        word swapped = 0;
        s.far.accumulate(1, &words::a, one, far_op::replace);
        s.far.accumulate(1, &words::a, two, far_op::sum);
        s.far.fetch_add(1, &words::a, one, before);
        s.far.swap(1, &words::a, three, swapped);
        s.far.flush(1);
        s.r[0] = before;
        s.r[1] = swapped;
      } else {
        s.r[2] = s.far.read_direct(1, &words::a);
        s.r[3] = s.far.read_direct(1, &words::a);
      }
    });
    for (const outcome& one_of : seen) {
      EXPECT_EQ(one_of[0], 3U);
      EXPECT_EQ(one_of[1], 4U);
    }
    // 0, 1, 3, 4, 3: any two moments.
    std::set<std::pair<word, word>> looks;
    for (const outcome& one_of : seen) looks.insert({one_of[2], one_of[3]});
    EXPECT_EQ(looks,
              (std::set<std::pair<word, word>>{
                  {0, 0}, {0, 1}, {0, 3}, {0, 4}, {1, 1}, {1, 3}, {1, 4}, {3, 3}, {3, 4}, {4, 4}, {4, 3}}));
  }
}

TEST(order, of_two_words_there_is_none) {
  const auto program = [](bool by_put) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        if (by_put) {
          s.far.put(1, &words::a, one);
          s.far.put(1, &words::b, one);
        } else {
          s.far.accumulate(1, &words::a, one, far_op::replace);
          s.far.accumulate(1, &words::b, one, far_op::replace);
        }
        s.far.flush(1);
      } else if (s.rank() == 2) {
        s.r[0] = s.far.read_direct(1, &words::b);
        s.r[1] = s.far.read_direct(1, &words::a);
      } else {
        s.r[2] = s.far.read_direct(1, &words::a);
        s.r[3] = s.far.read_direct(1, &words::b);
      }
    };
  };
  for (const bool by_put : {true, false})
    for (const auto mode : all_modes) {
      const outcomes seen = far_outcomes(mode, 3, 4, program(by_put));
      const auto saw = [&](std::size_t first, word at_first, std::size_t second, word at_second) {
        return std::any_of(seen.begin(), seen.end(), [&](const outcome& each) {
          return each[first] == at_first && each[second] == at_second;
        });
      };
      // The second before the first: only where they are not delivered as they are issued.
      EXPECT_EQ(saw(0, 1, 1, 0), mode != eager);
      EXPECT_TRUE(saw(2, 1, 3, 0));
      EXPECT_EQ(seen.contains({1, 0, 1, 0}), false);  // each has seen but one of the two, and not the same
    }
}

TEST(order, a_flush_between_makes_one) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 2, 2, [](scene& s) {
      if (s.rank() == 0) {
        s.put(1, &words::a, one);
        s.put(1, &words::b, one);
      } else {
        s.r[0] = s.far.read_direct(1, &words::b);
        s.r[1] = s.far.read_direct(1, &words::a);
      }
    });
    EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {1, 1}}));
  }
}

TEST(order, a_get_and_a_put_of_one_word_have_none) {
  const auto program = [](scene& s) {
    if (s.rank() != 0) return;
    word got = 0;
    s.far.put(1, &words::a, one);
    s.far.get(1, &words::a, got);
    s.far.flush(1);
    s.r[0] = got;
  };
  EXPECT_EQ(far_outcomes(eager, 2, 1, program), (outcomes{{1}}));
  EXPECT_EQ(far_outcomes(lazy, 2, 1, program), (outcomes{{0}, {1}}));
  EXPECT_EQ(far_outcomes(progress, 2, 1, program), (outcomes{{0}, {1}}));
}

TEST(order, a_get_that_is_issued_first_may_be_overtaken) {
  const auto program = [](scene& s) {
    if (s.rank() != 0) return;
    word got = 0;
    word fetched = 0;
    s.far.get(1, &words::a, got);
    s.far.fetch(1, &words::a, fetched);
    s.far.accumulate(1, &words::a, one, far_op::sum);
    s.far.flush(1);
    s.r[0] = got;
    s.r[1] = fetched;
  };
  EXPECT_EQ(far_outcomes(eager, 2, 2, program), (outcomes{{0, 0}}));
  for (const auto mode : {lazy, progress})
    EXPECT_EQ(far_outcomes(mode, 2, 2, program), (outcomes{{0, 0}, {1, 0}}));
}

TEST(order, gets_of_one_word_may_go_back) {
  const auto program = [](scene& s) {
    if (s.rank() == 0) {
      word first = 0;
      word second = 0;
      s.far.get(2, &words::a, first);
      s.far.get(2, &words::a, second);
      s.far.flush(2);
      s.r[0] = first;
      s.r[1] = second;
    } else if (s.rank() == 1) {
      s.put(2, &words::a, one);
    }
  };
  EXPECT_EQ(far_outcomes(eager, 3, 2, program), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
  for (const auto mode : {lazy, progress})
    EXPECT_EQ(far_outcomes(mode, 3, 2, program), (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(order, what_is_flushed_is_known_to_whom_it_is_told) {
  // Near words published through a far one, and far ones through a near one.
  for (const auto mode : all_modes)
    for (const auto near : {near_model::sequential, near_model::release_acquire}) {
      const outcomes by_put = outcomes_of(2, 1, by(near, mode), [](scene& s) {
        if (s.rank() == 0) {
          s.cells.x.store(1, relaxed);
          s.put(1, &words::a, one);
        } else {
          s.w.await_direct(s.far, 1, &words::a, is_set);
          s.r[0] = s.cells.x.load(relaxed);
        }
      });
      EXPECT_EQ(by_put, (outcomes{{1}}));
      const outcomes by_store = outcomes_of(2, 1, by(near, mode), [](scene& s) {
        if (s.rank() == 0) {
          s.put(1, &words::a, one);
          s.cells.x.store(1, release);
        } else {
          s.w.await(s.cells.x, is_set);
          s.r[0] = s.far.read_direct(1, &words::a);
        }
      });
      EXPECT_EQ(by_store, (outcomes{{1}}));
    }
}

// ---- atomicity
// ---------------------------------------------------------------------------------------------

TEST(atomicity, fetch_add_loses_nothing) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 3, 4, [](scene& s) {
      word old = 0;
      s.far.fetch_add(0, &words::a, one, old);
      s.far.flush(0);
      s.r[static_cast<std::size_t>(s.rank())] = old;
      s.r[3] = s.at_end(0, &words::a);
    });
    EXPECT_EQ(seen,
              (outcomes{{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}, {2, 1, 0, 3}}));
  }
}

TEST(atomicity, a_get_and_a_put_lose_something) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 2, 1, [](scene& s) {
      // Read by get, written by accumulate: two puts without order would be an error.
      word old = 0;
      s.far.get(0, &words::a, old);
      s.far.flush(0);
      s.replace(0, &words::a, constants[old + 1]);
      s.r[0] = s.at_end(0, &words::a);
    });
    EXPECT_EQ(seen, (outcomes{{1}, {2}}));
  }
}

TEST(atomicity, swaps_hand_the_word_around) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 2, 3, [](scene& s) {
      s.r[static_cast<std::size_t>(s.rank())] =
          s.swap(0, &words::a, constants[static_cast<std::size_t>(s.rank()) + 1]);
      s.r[2] = s.at_end(0, &words::a);
    });
    EXPECT_EQ(seen, (outcomes{{0, 1, 2}, {2, 0, 1}}));
  }
}

TEST(atomicity, compare_and_swap_has_one_winner) {
  for (const auto mode : all_modes) {
    const outcomes seen = far_outcomes(mode, 3, 4, [](scene& s) {
      word old = 0;
      s.far.compare_and_swap(0, &words::a, zero, constants[static_cast<std::size_t>(s.rank()) + 1], old);
      s.far.flush(0);
      s.r[static_cast<std::size_t>(s.rank())] = old;
      s.r[3] = s.at_end(0, &words::a);
    });
    EXPECT_EQ(seen, (outcomes{{0, 1, 1, 1}, {2, 0, 2, 2}, {3, 3, 0, 3}}));
  }
}

// ---- waits
// -------------------------------------------------------------------------------------------------

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
      if (i + 1 == waits.size())
        EXPECT_EQ(seen, (outcomes{{1, 2}, {2, 3}})) << "mode " << static_cast<int>(mode);
      else
        EXPECT_EQ(seen, (outcomes{{1, 2}, {2, 2}})) << "mode " << static_cast<int>(mode);
    }
}

// ---- progress of the target
// --------------------------------------------------------------------------------

/// Rank 1 waits for a put of rank 0 in a loop that makes the library progress or does not; `first` is done
/// before, so that there is a time at which it does not wait yet.
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

// ---- signals and exclusive epochs
// --------------------------------------------------------------------------

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

TEST(exclusive_epochs, exclude) {
  const auto program = [](bool epochs) {
    return with_epoch([epochs](scene& s, world::exclusive_epoch& epoch) {
      if (epochs) epoch.begin();
      s.watch.enter();
      s.watch.leave();
      if (epochs) epoch.end();
    });
  };
  for (const auto tier : {search::exhaustive, search::hash}) {
    EXPECT_TRUE(check(program_of(3, program(true)), by(near_model::sequential, lazy, tier)).complete);
    EXPECT_TRUE(check(program_of(3, program(false)), by(near_model::sequential, lazy, tier)).found);
  }
  EXPECT_TRUE(check(program_of(3, program(true)), by(near_model::release_acquire)).complete);
}

TEST(exclusive_epochs, are_waited_for) {
  const report result = check(program_of(2, with_epoch([](scene&, world::exclusive_epoch& epoch) {
                                           epoch.begin();  // and never ended
                                         })),
                              by(near_model::sequential));
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::deadlock);
  EXPECT_NE(result.found->text.find("waits for the exclusive epoch of rank 0"), std::string::npos)
      << result.found->text;
}

}  // namespace
}  // namespace nearfar::checker::testing
