// Faults in the use of RMA, each by a program that has it and by one that only looks like it.
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

const options sequential = by(near_model::sequential);

// ---- RMA --------------------------------------------------------------------------------------------------

TEST(faults, incomplete) {
  const auto returns = [](bool flushes) {
    return [=](scene& s) {
      if (s.rank() == 0) s.far.put(1, &words::b, one);
      if (flushes) s.far.flush(1);
      s.far.flush(0);
      s.watch.expect_complete("unlock()");
      s.far.flush(1);
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(2, returns(false)), how, fault::incomplete,
                      "rank 0: put to words.b of rank 1 was not flushed when unlock() returned"));
    EXPECT_TRUE(is_right(program_of(2, returns(true)), how));
  }
}

/// Puts from a buffer in the frame of a function that returns before the flush.
[[gnu::noinline]] void put_from_a_frame(scene& s, const volatile word& value) {
  const word origin = value;
  s.far.put(1, &words::a, origin);
}

[[gnu::noinline]] void get_into_a_frame(scene& s) {
  word result = 0;
  s.far.get(1, &words::a, result);
}

TEST(faults, origin_out_of_scope) {
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(2,
                                 [](scene& s) {
                                   if (s.rank() != 0) return;
                                   put_from_a_frame(s, one);
                                   s.far.flush(1);
                                 }),
                      how, fault::origin,
                      "an origin buffer of put to words.a of rank 1 went out of scope before its flush"));
    EXPECT_TRUE(finds(program_of(2,
                                 [](scene& s) {
                                   if (s.rank() != 0) return;
                                   get_into_a_frame(s);
                                   s.far.flush(1);
                                 }),
                      how, fault::origin,
                      "the result of get to words.a of rank 1 went out of scope before its flush"));
  }
}

TEST(faults, origin_changed) {
  const auto changes = [](bool expected, bool restores) {
    return [=](scene& s) {
      if (s.rank() != 0) return;
      word desired = 1;
      word compared = 2;
      word old = 0;
      s.far.compare_and_swap(1, &words::c, compared, desired, old);
      (expected ? compared : desired) = 5;
      if (restores) (expected ? compared : desired) = expected ? 2 : 1;
      s.far.flush(1);
    };
  };
  for (const auto mode : all_modes)
    for (const bool expected : {false, true}) {
      const options how = by(near_model::sequential, mode);
      EXPECT_TRUE(
          finds(program_of(2, changes(expected, false)), how, fault::origin,
                "an origin buffer of compare_and_swap to words.c of rank 1 was changed before its flush"));
      EXPECT_TRUE(is_right(program_of(2, changes(expected, true)), how));
    }
}

TEST(faults, poison) {
  const auto uses = [](int flushes) {
    return [=](scene& s) {
      if (s.rank() != 0) return;
      word got = 0;
      s.far.get(1, &words::a, got);
      if (flushes == 0) s.far.flush(0);
      if (flushes == 1) s.far.flush(1);
      s.cells.x.store(got, relaxed);
      s.far.flush(1);
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(2, uses(0)), how, fault::poison,
                      "rank 0 passes to store the result of an operation that was not complete"));
    EXPECT_TRUE(is_right(program_of(2, uses(1)), how));
  }
}

TEST(faults, poison_in_any_operand) {
  const std::vector<std::pair<std::string, std::function<void(scene&, const word&)>>> uses{
      {"put", [](scene& s, const word& got) { s.far.put(1, &words::b, got); }},
      {"write_direct", [](scene& s, const word& got) { s.far.write_direct(0, &words::b, got); }},
      {"compare_and_swap",
       [](scene& s, const word& got) {
         static word old;
         s.far.compare_and_swap(1, &words::b, got, one, old);
       }},
      {"accumulate(sum)",
       [](scene& s, const word& got) { s.far.accumulate(1, &words::b, got, far_op::sum); }},
      {"compare_exchange",
       [](scene& s, const word& got) {
         word expected = got;
         (void)s.cells.x.compare_exchange(expected, 1, relaxed, relaxed);
       }},
  };
  for (const auto& [operation, use] : uses)
    EXPECT_TRUE(finds(program_of(2,
                                 [&](scene& s) {
                                   if (s.rank() != 0) return;
                                   word got = 0;
                                   s.far.get(1, &words::a, got);
                                   use(s, got);
                                   s.far.flush(1);
                                 }),
                      sequential, fault::poison, "rank 0 passes to " + operation + " the result"));
}

TEST(faults, poison_in_an_expression_or_a_decision) {
  const std::vector<std::function<void(scene&, word)>> uses{
      [](scene& s, word got) { s.cells.x.store(got + 1, relaxed); },
      [](scene& s, word got) {
        if (got == 0) s.cells.x.store(1, relaxed);
      },
      [](scene& s, word got) { (got == 1 ? s.cells.x : s.cells.y).store(1, relaxed); },
      [](scene& s, word got) {
        if (got != default_poison) s.far.put(1, &words::b, one);
      },
  };
  for (const auto& use : uses)
    for (const bool complete : {false, true}) {
      const program what = program_of(2, [&](scene& s) {
        if (s.rank() != 0) return (void)s.cells.z.load(relaxed);
        word got = 0;
        s.far.get(1, &words::a, got);
        if (complete) s.far.flush(1);
        use(s, got);
        s.far.flush(1);
      });
      for (const auto mode : all_modes) {
        options how = by(near_model::sequential, mode);
        if (complete) {
          EXPECT_TRUE(is_right(what, how));
          continue;
        }
        EXPECT_TRUE(finds(what, how, fault::poison, "result of an operation that was not complete"));
        how.by = search::random;
        how.most_executions = 100;
        const report at_random = check(what, how);
        ASSERT_TRUE(at_random.found);
        EXPECT_EQ(at_random.found->what, fault::poison);
        const replayed again = replay(what, how, at_random.found->schedule);
        ASSERT_TRUE(again.found);
        EXPECT_EQ(again.found->what, fault::poison);
        EXPECT_LE(again.steps.size(), at_random.found->schedule.size());
      }
    }
}

// No fixed poison equals every value that a program compares with: what an early look hides must not depend
// on it.
TEST(faults, poison_that_hides_in_a_comparison_with_any_value) {
  const auto swaps = [](word wanted, bool complete) {
    return program_of(2, [=](scene& s) {
      word old = 0;
      s.far.swap(1, &words::a, constants[static_cast<std::size_t>(s.rank()) + 2], old);
      if (complete) s.far.flush(1);
      if (old == wanted) return (void)s.cells.z.load(relaxed);  // without the flush
      s.far.flush(1);
      (void)s.cells.x.load(relaxed);
    });
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    for (const word wanted : {two, three}) {  // in the second swap only
      EXPECT_TRUE(finds(swaps(wanted, false), how, fault::poison, "was not complete"));
      EXPECT_TRUE(is_right(swaps(wanted, true), how));
    }
  }
}

/// A program of two ranks that uses the result 2 of a get before its flush, by `use`, and then flushes.
[[nodiscard]] program early_use_of_two(const std::function<void(scene&, const word&)>& use, bool complete) {
  return program_of(2, [=](scene& s) {
    if (s.rank() != 0) return s.cells.x.store(2, relaxed);
    s.put(1, &words::a, two);
    word got = 0;
    s.far.get(1, &words::a, got);
    if (complete) s.far.flush(1);
    use(s, got);
    s.far.flush(1);
  });
}

TEST(faults, poison_in_what_a_program_shows_only_by_its_effect) {
  const std::vector<std::function<void(scene&, const word&)>> uses{
      [](scene& s, const word& got) {
        // Ends by the first value only if the result is there.
        s.w.await(s.cells.x, [&got](word value) { return value == 2 || (value == 0 && got == 2); });
      },
      [](scene& s, const word& got) { (void)s.w.choose(got == 2 ? 3 : 2); },
      [](scene& s, const word& got) { s.cells.y.store(1, got == 2 ? relaxed : release); },
      [](scene& s, const word& got) {
        s.watch.call(0, 1, {});
        s.watch.returned({got == 2 ? word{1} : word{0}});
      },
  };
  for (const auto mode : all_modes)
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const options how = by(near_model::sequential, mode);
      EXPECT_TRUE(finds(early_use_of_two(uses[i], false), how, fault::poison, "was not complete")) << i;
      EXPECT_TRUE(is_right(early_use_of_two(uses[i], true), how)) << i;
    }
}

TEST(faults, poison_that_was_found_is_found_again) {
  const std::vector<std::function<void(scene&, const word&)>> uses{
      [](scene& s, const word& got) {
        if (got != 0) s.cells.y.store(1, relaxed);
      },
      [](scene& s, const word& got) {
        if (got == 2) s.cells.y.store(1, relaxed);
      },
      [](scene& s, const word& got) {
        s.w.await(s.cells.x, [&got](word value) { return value == 2 || (value == 0 && got == 2); });
      },
      // Only a value from before the second wait shows the fault.
      [](scene& s, const word& got) {
        s.w.await(s.cells.x, [](word value) { return value == 2; });
        s.w.await(s.cells.x, [&got](word value) { return value == 2 || (value == 0 && got == 2); });
      },
  };
  const auto shows_again = [](const program& what, const options& how) {
    const report result = check(what, how);
    ASSERT_TRUE(result.found);
    for (const violation& one : {*result.found, minimised(what, how, *result.found)}) {
      const replayed again = replay(what, how, one.schedule);
      ASSERT_TRUE(again.found) << result.found->text << ", steps: " << result.found->schedule.size()
                               << ", then " << one.schedule.size();
      EXPECT_EQ(again.found->what, fault::poison) << again.found->text;
    }
  };
  for (const auto mode : all_modes) {
    for (const auto& use : uses) shows_again(early_use_of_two(use, false), by(near_model::sequential, mode));
    // The result that shows the fault is that of one order of the ranks' additions.
    for (const word wanted : {word{1}, word{3}})
      shows_again(program_of(2,
                             [=](scene& s) {
                               word old = 0;
                               for (int i = 0; i < 3; ++i) {
                                 s.far.fetch_add(1, &words::a, one, old);
                                 if (s.rank() == 0 && old == wanted) (void)s.cells.x.load(relaxed);
                                 s.far.flush(1);
                               }
                             }),
                  by(near_model::sequential, mode));
  }
}

TEST(faults, two_results_in_one_buffer) {
  const auto gets = [](bool flushes) {
    return program_of(2, [=](scene& s) {
      if (s.rank() != 0) return;
      word ignored = 0;
      s.far.get(1, &words::a, ignored);
      if (flushes) s.far.flush(1);
      s.far.get(1, &words::b, ignored);
      s.far.flush(1);
    });
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(gets(false), how, fault::origin,
                      "the result of get to words.b of rank 1 has the buffer of an earlier get to words.a"));
    EXPECT_TRUE(is_right(gets(true), how));
  }
}

TEST(faults, poison_that_decides_what_is_reached) {
  program what = program_of(2, {});
  what.body = [](engine::world& w, monitor& watch) {
    outcome none;
    scene s(w, watch, none);
    if (s.rank() != 0) return;
    word got = 7;
    s.far.get(1, &words::a, got);
    if (got == 1) watch.reach("the branch that no right value takes");
    s.far.flush(1);
  };
  what.demands = {"the branch that no right value takes"};
  EXPECT_TRUE(finds(what, sequential, fault::poison, "was not complete"));
}

TEST(faults, poison_in_what_a_rank_waits_for) {
  const auto waits = [](bool complete) {
    return [complete](scene& s) {
      if (s.rank() != 0) return (void)s.cells.z.load(relaxed);
      word got = 0;
      s.far.get(1, &words::a, got);
      if (complete) s.far.flush(1);
      s.w.await(s.cells.x, [&got](word value) { return got + value != 1; });
      s.far.flush(1);
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(2, waits(false)), how, fault::poison, "was not complete"));
    EXPECT_TRUE(is_right(program_of(2, waits(true)), how));
  }
}

TEST(faults, a_program_that_is_not_the_same_in_each_run) {
  int runs = 0;
  const program what = program_of(2, [&](scene& s) {
    if (s.rank() == 0) s.cells.x.store(static_cast<word>(++runs), relaxed);
    if (s.rank() == 1) s.cells.x.store(1, relaxed);
  });
  EXPECT_TRUE(finds(what, sequential, fault::exception, "something outside its world"));
}

TEST(faults, origin_changed_and_restored) {
  const auto changes = [](scene& s) {
    if (s.rank() != 0) return;
    word value = 1;
    s.far.put(1, &words::a, value);
    value = 2;
    s.cells.x.store(1, relaxed);
    value = 1;
    s.far.flush(1);
  };
  for (const auto mode : all_modes)
    EXPECT_TRUE(finds(program_of(2, changes), by(near_model::sequential, mode), fault::origin,
                      "an origin buffer of put to words.a of rank 1 was changed before its flush"));
}

TEST(faults, result_changed) {
  const auto changes = [](bool waits) {
    return [=](scene& s) {
      if (s.rank() != 0) return;
      word got = 0;
      s.far.get(1, &words::a, got);
      if (waits) s.far.flush(1);
      got = 5;
      s.far.flush(1);
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(2, changes(false)), how, fault::origin,
                      "the result of get to words.a of rank 1 was changed before its flush"));
    EXPECT_TRUE(is_right(program_of(2, changes(true)), how));
  }
}

// ---- conflicts --------------------------------------------------------------------------------------------

TEST(faults, conflict_of_puts) {
  const auto puts = [](bool ordered) {
    return [=](scene& s) {
      if (s.rank() == 1 && ordered) s.signals.await_signal(0);
      s.put(2, &words::a, constants[static_cast<std::size_t>(s.rank()) + 1]);
      if (s.rank() == 0) s.signals.signal(1);
    };
  };
  const auto two_of_three = [](const body& of) {
    return [of](scene& s) {
      if (s.rank() < 2) of(s);
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(3, two_of_three(puts(false))), how, fault::conflict,
                      "put of words.a of rank 2 is not ordered with the write by rank"));
    EXPECT_TRUE(is_right(program_of(3, two_of_three(puts(true))), how));
  }
}

TEST(faults, conflict_of_one_rank_with_itself) {
  const auto twice = [](bool flushes) {
    return [=](scene& s) {
      if (s.rank() != 0) return;
      s.far.put(1, &words::a, one);
      if (flushes) s.far.flush(1);
      s.far.put(1, &words::a, two);
      s.far.flush(1);
    };
  };
  for (const auto mode : all_modes) {
    EXPECT_TRUE(finds(program_of(2, twice(false)), by(near_model::sequential, mode), fault::conflict,
                      "put of words.a"));
    EXPECT_TRUE(is_right(program_of(2, twice(true)), by(near_model::sequential, mode)));
  }
}

TEST(faults, conflict_of_a_put_and_an_accumulate) {
  const auto both = [](bool plain) {
    return [=](scene& s) {
      if (s.rank() == 0 && plain) s.put(2, &words::a, one);
      if (s.rank() == 0 && !plain) s.replace(2, &words::a, one);
      if (s.rank() == 1) s.replace(2, &words::a, two);
    };
  };
  EXPECT_TRUE(
      finds(program_of(3, both(true)), sequential, fault::conflict, "of words.a of rank 2 is not ordered"));
  EXPECT_TRUE(is_right(program_of(3, both(false)), sequential));
}

TEST(faults, conflict_with_an_accumulate_that_is_there_but_not_complete) {
  const auto told_too_early = [](scene& s) {
    if (s.rank() == 0) {
      s.far.accumulate(2, &words::a, one, far_op::replace);
      s.signals.signal(1);
      s.far.flush(2);
    } else if (s.rank() == 1) {
      s.signals.await_signal(0);
      s.put(2, &words::a, two);
    }
  };
  EXPECT_TRUE(finds(program_of(3, told_too_early), by(near_model::sequential, eager), fault::conflict,
                    "put of words.a of rank 2 is not ordered"));
}

TEST(faults, conflict_of_a_write_in_place) {
  const auto writes = [](bool told) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        s.far.put(1, &words::a, one);
        if (told) s.far.flush(1);
        s.signals.signal(1);
        s.far.flush(1);
      } else {
        s.signals.await_signal(0);
        s.far.write_direct(1, &words::a, two);
      }
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(
        finds(program_of(2, writes(false)), how, fault::conflict, "of words.a of rank 1 is not ordered"));
    EXPECT_TRUE(is_right(program_of(2, writes(true)), how));
  }
}

}  // namespace
}  // namespace nearfar::checker::testing
