// MPI's promises about the order and completion of operations, and their limits: small programs with their
// exact outcomes by delivery.
#include <algorithm>

#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

// ---- completion -------------------------------------------------------------------------------------------

TEST(completion, results_are_poison_until_the_flush_of_their_target) {
  for (const auto mode : all_modes) {
    options how = by(near_model::sequential, mode);
    how.poison = default_poison;
    const outcomes seen = outcomes_of(2, 4, how, [](scene& s) {
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

/// Rank 0 puts to rank 1 and flushes. Messages make rank 1 look before the flush and after it.
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

// ---- order ------------------------------------------------------------------------------------------------

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
    // The word has 0, 1, 3, 4, 3 in turn; the two looks may be at any two moments.
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
      // Only a mode that does not deliver at the issue shows the second before the first.
      EXPECT_EQ(saw(0, 1, 1, 0), mode != eager);
      EXPECT_TRUE(saw(2, 1, 3, 0));
      EXPECT_EQ(seen.contains({1, 0, 1, 0}),
                false);  // each rank has seen one of the two only, and not the same one
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

TEST(order, a_write_that_reads_nothing_tells_its_origin_nothing) {
  for (const auto mode : all_modes)
    for (const bool reads : {false, true}) {
      const outcomes seen = outcomes_of(2, 2, by(near_model::release_acquire, mode), [=](scene& s) {
        if (s.rank() == 0) {
          s.cells.x.store(1, relaxed);
          s.replace(1, &words::a, one);
          s.cells.y.store(1, relaxed);
        } else {
          s.r[0] = s.cells.y.load(relaxed);
          if (reads)
            (void)s.swap(1, &words::a, two);
          else
            s.replace(1, &words::a, two);
          s.r[1] = s.cells.x.load(relaxed);
        }
      });
      EXPECT_EQ(seen.contains({1, 0}), !reads);
    }
}

// ---- atomicity --------------------------------------------------------------------------------------------

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
      // The word is read by get and written by accumulate: two unordered puts would be an error.
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

}  // namespace
}  // namespace nearfar::checker::testing
