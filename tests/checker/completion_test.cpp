// A visible write need not be complete: the accesses that race with it, the possible consequences, and the
// promises beyond the standard that MPI libraries are trusted to keep.
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

/// How rank 0 writes 1 to a word of rank 1.
enum class way : std::uint8_t { put, replace, sum, swap };
constexpr std::array all_ways{way::put, way::replace, way::sum, way::swap};

void write_one(scene& s, way by) {
  word old = 0;
  if (by == way::put) s.far.put(1, &words::a, one);
  if (by == way::replace) s.far.accumulate(1, &words::a, one, far_op::replace);
  if (by == way::sum) s.far.accumulate(1, &words::a, one, far_op::sum);
  if (by == way::swap) s.far.swap(1, &words::a, one, old);
  s.far.flush(1);
}

/// Rank 1 sees the write of rank 0 and then does something to the word: at once, or, if `told`, after a
/// message that the flush has returned. Rank 0 sends that message in any case.
body seen_then(way by, bool told, const std::function<void(scene&)>& act) {
  return [=](scene& s) {
    if (s.rank() == 0) {
      write_one(s, by);
      s.signals.signal(1);
    } else {
      if (told) s.signals.await_signal(0);
      s.w.await_direct(s.far, 1, &words::a, is_set);
      act(s);
      if (!told) s.signals.await_signal(0);
      s.r[0] = s.far.read_direct(1, &words::a);
    }
  };
}

options enacting(delivery_mode mode) {
  options how = by(near_model::sequential, mode);
  how.conflict = conflicts::enacted;
  return how;
}

const auto reset_in_place = [](scene& s) { s.far.write_direct(1, &words::a, zero); };
const auto reset_by_put = [](scene& s) { s.put(1, &words::a, zero); };
const auto reset_by_accumulate = [](scene& s) { s.replace(1, &words::a, zero); };
const auto look = [](scene& s) { (void)s.far.read_direct(1, &words::a); };

TEST(seen_is_not_complete, so_that_a_reset_is_a_conflict) {
  for (const auto mode : all_modes)
    for (const way how_written : all_ways) {
      const options how = by(near_model::sequential, mode);
      const std::string with = how_written == way::put ? "the write by rank 0" : "the accumulate by rank 0";
      const std::string text = "of words.a of rank 1 is not ordered with " + with;
      EXPECT_TRUE(finds(program_of(2, seen_then(how_written, false, reset_in_place)), how, fault::conflict,
                        "write_direct " + text));
      EXPECT_TRUE(finds(program_of(2, seen_then(how_written, false, reset_by_put)), how, fault::conflict,
                        "put " + text));
      EXPECT_TRUE(is_right(program_of(2, seen_then(how_written, true, reset_in_place)), how));
      EXPECT_TRUE(is_right(program_of(2, seen_then(how_written, true, reset_by_put)), how));
      EXPECT_TRUE(is_right(program_of(2, seen_then(how_written, false, look)), how));
    }
}

TEST(seen_is_not_complete, but_accumulates_exclude_each_other) {
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    for (const way how_written : {way::replace, way::sum, way::swap})
      EXPECT_TRUE(is_right(program_of(2, seen_then(how_written, false, reset_by_accumulate)), how));
    EXPECT_TRUE(finds(program_of(2, seen_then(way::put, false, reset_by_accumulate)), how, fault::conflict,
                      "accumulate(replace) of words.a of rank 1 is not ordered with the write by rank 0"));
  }
}

TEST(seen_is_not_complete, so_that_the_value_may_come_back) {
  for (const auto mode : all_modes) {
    const options how = enacting(mode);
    for (const way how_written : all_ways)
      for (const auto& reset : {body(reset_in_place), body(reset_by_put)}) {
        EXPECT_EQ(outcomes_of(2, 1, how, seen_then(how_written, false, reset)), (outcomes{{0}, {1}}));
        EXPECT_EQ(outcomes_of(2, 1, how, seen_then(how_written, true, reset)), (outcomes{{0}}));
      }
    EXPECT_EQ(outcomes_of(2, 1, how, seen_then(way::put, false, reset_by_accumulate)), (outcomes{{0}, {1}}));
    for (const way how_written : {way::replace, way::sum, way::swap})
      EXPECT_EQ(outcomes_of(2, 1, how, seen_then(how_written, false, reset_by_accumulate)), (outcomes{{0}}));
  }
}

TEST(seen_is_not_complete, to_whom_the_reader_tells_it_either) {
  // Rank 2 hears of the value from rank 1, which has seen it. Rank 0's flush may still run.
  const auto relayed = [](scene& s) {
    if (s.rank() == 0) write_one(s, way::put);
    if (s.rank() == 1) {
      s.w.await_direct(s.far, 1, &words::a, is_set);
      s.signals.signal(2);
    }
    if (s.rank() == 2) {
      s.signals.await_signal(1);
      s.far.write_direct(1, &words::a, two);
    }
  };
  EXPECT_TRUE(finds(program_of(3, relayed), by(near_model::sequential), fault::conflict,
                    "write_direct of words.a of rank 1 is not ordered with the write by rank 0"));
}

TEST(seen_is_not_complete, but_the_completion_is_known_to_whom_a_later_word_tells_it) {
  for (const auto mode : all_modes) {
    const auto in_two_words = [](scene& s) {
      if (s.rank() == 0) {
        s.put(1, &words::a, one);
        s.put(1, &words::b, one);
      } else {
        s.w.await_direct(s.far, 1, &words::b, is_set);
        s.far.write_direct(1, &words::a, zero);
      }
    };
    EXPECT_TRUE(is_right(program_of(2, in_two_words), by(near_model::sequential, mode)));
    options how = enacting(mode);
    EXPECT_TRUE(is_right(program_of(2, in_two_words), how));
  }
}

TEST(memory, that_is_used_again_has_no_past) {
  for (const auto near : {near_model::sequential, near_model::release_acquire}) {
    options how = by(near);
    const auto near_then_far = [](scene& s) {
      {
        const world::near_segment<board::cells> first(s.w);
        if (s.rank() == 0) first.at(0).x.store(5, release);
        s.w.barrier();
      }
      world::far_segment<words> second(s.w);
      if (s.rank() == 0) s.r[0] = second.read_direct(0, &words::a);
    };
    EXPECT_EQ(outcomes_of(2, 1, how, near_then_far), (outcomes{{0}}));
  }
}

// ---- promises beyond the standard -------------------------------------------------------------------------

options without(bool promises::*promise, delivery_mode mode = delivery_mode::lazy) {
  options how = by(near_model::sequential, mode);
  how.promised.*promise = false;
  return how;
}

TEST(promises, a_get_that_races_with_a_write) {
  const auto races = [](bool by_put, bool by_get) {
    return [=](scene& s) {
      word got = 0;
      if (s.rank() == 0) {
        by_put ? s.put(2, &words::a, one) : s.replace(2, &words::a, one);
      } else if (s.rank() == 1) {
        by_get ? s.far.get(2, &words::a, got) : s.far.fetch(2, &words::a, got);
        s.far.flush(2);
      }
    };
  };
  for (const auto mode : all_modes) {
    const options strict = without(&promises::racing_gets, mode);
    const options usual = by(near_model::sequential, mode);
    for (const bool by_put : {false, true})
      for (const bool by_get : {false, true}) {
        EXPECT_TRUE(is_right(program_of(3, races(by_put, by_get)), usual));
        // Accumulates may race with each other, and a fetch is one.
        if (!by_put && !by_get)
          EXPECT_TRUE(is_right(program_of(3, races(by_put, by_get)), strict));
        else
          EXPECT_TRUE(finds(program_of(3, races(by_put, by_get)), strict, fault::conflict, "is not ordered"));
      }
  }
}

TEST(promises, a_load_that_races_with_a_write) {
  const options strict = without(&promises::racing_loads);
  const auto polls = [](scene& s) {
    if (s.rank() == 0) s.put(1, &words::a, one);
    if (s.rank() == 1) s.w.await_direct(s.far, 1, &words::a, is_set);
  };
  EXPECT_TRUE(is_right(program_of(2, polls), by(near_model::sequential)));
  EXPECT_TRUE(finds(program_of(2, polls), strict, fault::conflict, "read_direct of words.a of rank 1"));
  EXPECT_TRUE(is_right(program_of(2,
                                  [](scene& s) {
                                    if (s.rank() == 0) s.put(1, &words::a, one);
                                    if (s.rank() == 0) s.signals.signal(1);
                                    if (s.rank() == 1) s.signals.await_signal(0);
                                    if (s.rank() == 1) (void)s.far.read_direct(1, &words::a);
                                  }),
                       strict));
}

TEST(promises, a_load_before_a_write_that_it_is_not_ordered_with) {
  const auto looks_first = [](scene& s) {
    if (s.rank() == 0) {
      s.far.put(1, &words::a, one);
      s.signals.signal(1);
      s.signals.await_signal(1);
      s.far.flush(1);
    } else {
      s.signals.await_signal(0);
      (void)s.far.read_direct(1, &words::a);
      s.signals.signal(0);
    }
  };
  for (const auto mode : all_modes)
    EXPECT_TRUE(finds(program_of(2, looks_first), without(&promises::racing_loads, mode), fault::conflict,
                      "is not ordered"));
}

TEST(completion, a_far_poll_flushes_its_target) {
  const auto polls = [](scene& s) {
    if (s.rank() == 0) s.far.put(1, &words::a, one);
    if (s.rank() == 0) s.r[0] = s.w.await_get(s.far, 1, &words::a, is_set);
  };
  for (const auto mode : all_modes) EXPECT_EQ(far_outcomes(mode, 2, 1, polls), (outcomes{{1}}));
}

TEST(promises, accumulates_of_different_operations) {
  const options strict = without(&promises::mixed_accumulates);
  const auto both = [](bool alike) {
    return [=](scene& s) {
      word old = 0;
      if (s.rank() == 0) (void)s.swap(2, &words::a, one);
      if (s.rank() == 1 && alike) s.replace(2, &words::a, two);
      if (s.rank() == 1 && !alike) {
        s.far.compare_and_swap(2, &words::a, three, two, old);
        s.far.flush(2);
      }
    };
  };
  EXPECT_TRUE(is_right(program_of(3, both(false)), by(near_model::sequential)));
  EXPECT_TRUE(is_right(program_of(3, both(true)), strict));
  EXPECT_TRUE(
      finds(program_of(3, both(false)), strict, fault::conflict, "is not ordered with the accumulate"));
}

TEST(promises, messages_of_different_senders) {
  // Rank 1 sends after it has heard rank 0's message, and rank 2 may still hear rank 1 first. The value that
  // rank 2 reads shows whom it heard: only rank 1 tells of the word.
  const auto heard = [](scene& s) {
    if (s.rank() == 0) {
      s.signals.signal(2);
      s.signals.signal(1);
    } else if (s.rank() == 1) {
      s.signals.await_signal(0);
      s.cells.x.store(1, relaxed);
      s.signals.signal(2);
    } else {
      s.signals.await_signal(any_rank);
      s.r[0] = s.cells.x.load(relaxed);
      s.signals.await_signal(any_rank);
    }
  };
  options trusting = by(near_model::release_acquire);
  trusting.promised.causal_messages = true;
  EXPECT_EQ(outcomes_of(3, 1, trusting, heard), (outcomes{{0}, {1}}));
  // Once rank 2 has heard rank 1, it cannot miss a store in the past of rank 1. The difference is in the
  // order.
  const auto order_of = [](bool causal) {
    options how = by(near_model::sequential);
    how.promised.causal_messages = causal;
    return program_of(3, [](scene& s) {
      if (s.rank() == 0) {
        s.put(2, &words::a, one);
        s.signals.signal(2);
        s.signals.signal(1);
      } else if (s.rank() == 1) {
        s.signals.await_signal(0);
        s.signals.signal(2);
      } else {
        s.signals.await_signal(any_rank);
        s.far.write_direct(2, &words::a, zero);
      }
    });
  };
  EXPECT_TRUE(is_right(order_of(true), by(near_model::sequential)));
}

// ---- swaps in vain ----------------------------------------------------------------------------------------

TEST(await_swap, in_vain_overwrites_the_word) {
  // A test-and-set whose holder frees it by a compare-and-swap of its own name. The lock is lost if another
  // rank has swapped in its own name meanwhile.
  const auto contend = [](bool compares) {
    return [=](scene& s) {
      const word me = constants[static_cast<std::size_t>(s.rank()) + 1];
      for (int i = 0; i < 1; ++i) {
        word old = s.swap(0, &words::a, me);
        if (old != 0)
          s.w.await_swap(
              s.far, 0, &words::a, me, [](word seen) { return seen == 0; }, backoff{});
        s.watch.enter();
        s.watch.leave();
        if (compares) {
          s.far.compare_and_swap(0, &words::a, me, zero, old);
          s.far.flush(0);
        } else {
          s.replace(0, &words::a, zero);
        }
      }
    };
  };
  for (const auto mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(finds(program_of(2, contend(true)), how, fault::deadlock, "no rank can go on"));
    EXPECT_TRUE(is_right(program_of(2, contend(false)), how));
  }
}

TEST(await_exchange, in_vain_overwrites_the_cell) {
  // The same in near memory: the holder frees the cell unless another rank has written its own name
  // meanwhile.
  const auto contend = [](bool compares) {
    return [=](scene& s) {
      auto& cell = s.cells.x;
      const word me = static_cast<word>(s.rank()) + 1;
      if (cell.exchange(me, acq_rel) != 0)
        s.w.await_exchange(
            cell, me, [](word seen) { return seen == 0; }, backoff{});
      s.watch.enter();
      s.watch.leave();
      word expected = me;
      if (compares)
        static_cast<void>(cell.compare_exchange(expected, 0, release, relaxed));
      else
        cell.store(0, release);
    };
  };
  for (const auto model : {near_model::sequential, near_model::release_acquire}) {
    EXPECT_TRUE(finds(program_of(2, contend(true)), by(model), fault::deadlock, "no rank can go on"));
    EXPECT_TRUE(is_right(program_of(2, contend(false)), by(model)));
  }
}

TEST(await_compare_and_swap, writes_once_or_waits_for_what_it_was_told) {
  // The rank waits until the word is free or has a foreign name, and writes only if the word is free.
  const auto waits = [](scene& s) {
    if (s.rank() == 0)
      s.replace(0, &words::a, two);
    else
      s.r[0] = s.w.await_compare_and_swap(
          s.far, 0, &words::a, zero, one, [](word seen) { return seen == 0 || seen == 2; }, backoff{});
    s.r[1] = s.at_end(0, &words::a);
  };
  for (const auto mode : all_modes) EXPECT_EQ(far_outcomes(mode, 2, 2, waits), (outcomes{{0, 2}, {2, 2}}));
}

TEST(await_swap, in_vain_that_changes_nothing_is_no_step) {
  const auto taken_once = [](scene& s) {
    if (s.rank() == 0)
      s.replace(0, &words::a, zero);
    else
      s.r[0] = s.w.await_swap(
          s.far, 0, &words::a, one, [](word seen) { return seen == 0; }, backoff{});
  };
  EXPECT_EQ(far_outcomes(eager, 2, 1, taken_once), (outcomes{{0}}));
}

}  // namespace
}  // namespace nearfar::checker::testing
