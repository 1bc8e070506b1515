// The values that loads of near cells may return: the classic programs with their exact outcomes.
#include "tests/checker/expectations.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

outcomes near_outcomes(near_model near, int ranks, std::size_t registers, const body& of) {
  return outcomes_of(ranks, registers, by(near), of);
}

// ---- message passing --------------------------------------------------------------------------------------

body message_passing(std::memory_order stored, std::memory_order loaded) {
  return [=](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, stored);
    } else {
      s.r[0] = s.cells.y.load(loaded);
      s.r[1] = s.cells.x.load(relaxed);
    }
  };
}

TEST(message_passing, is_fresh_by_release_and_acquire) {
  EXPECT_EQ(near_outcomes(weak, 2, 2, message_passing(release, acquire)), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(message_passing, may_be_stale_without_either) {
  const outcomes all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(near_outcomes(weak, 2, 2, message_passing(relaxed, acquire)), all);
  EXPECT_EQ(near_outcomes(weak, 2, 2, message_passing(release, relaxed)), all);
  EXPECT_EQ(near_outcomes(weak, 2, 2, message_passing(relaxed, relaxed)), all);
}

TEST(message_passing, is_fresh_in_any_order_of_sequential_cells) {
  EXPECT_EQ(near_outcomes(strong, 2, 2, message_passing(relaxed, relaxed)),
            (outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(message_passing, over_a_third_rank_needs_both_links) {
  const auto chain = [](std::memory_order second) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.x.store(1, relaxed);
        s.cells.y.store(1, release);
      } else if (s.rank() == 1) {
        s.r[0] = s.cells.y.load(acquire);
        s.cells.z.store(1, second);
      } else {
        s.r[1] = s.cells.z.load(acquire);
        s.r[2] = s.cells.x.load(relaxed);
      }
    };
  };
  const outcome stale{1, 1, 0};
  const outcomes linked = near_outcomes(weak, 3, 3, chain(release));
  EXPECT_FALSE(linked.contains(stale));
  EXPECT_EQ(linked.size(), 7U);
  EXPECT_TRUE(near_outcomes(weak, 3, 3, chain(relaxed)).contains(stale));
}

TEST(message_passing, by_a_wait_is_by_acquire) {
  for (const auto stored : {release, relaxed}) {
    const outcomes seen = near_outcomes(weak, 2, 1, [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.x.store(1, relaxed);
        s.cells.y.store(1, stored);
      } else {
        s.w.await(s.cells.y, [](word value) { return value == 1; });
        s.r[0] = s.cells.x.load(relaxed);
      }
    });
    EXPECT_EQ(seen, stored == release ? (outcomes{{1}}) : (outcomes{{0}, {1}}));
  }
}

// ---- store buffering, load buffering ----------------------------------------------------------------------

void store_buffering(scene& s) {
  auto& mine = s.rank() == 0 ? s.cells.x : s.cells.y;
  auto& other = s.rank() == 0 ? s.cells.y : s.cells.x;
  mine.store(1, release);
  s.r[static_cast<std::size_t>(s.rank())] = other.load(acquire);
}

TEST(store_buffering, may_miss_both_by_release_and_acquire) {
  EXPECT_EQ(near_outcomes(weak, 2, 2, store_buffering), (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(store_buffering, misses_at_most_one_of_sequential_cells) {
  EXPECT_EQ(near_outcomes(strong, 2, 2, store_buffering), (outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(load_buffering, never_reads_what_is_stored_later) {
  const auto program = [](scene& s) {
    auto& mine = s.rank() == 0 ? s.cells.x : s.cells.y;
    auto& other = s.rank() == 0 ? s.cells.y : s.cells.x;
    s.r[static_cast<std::size_t>(s.rank())] = mine.load(acquire);
    other.store(1, release);
  };
  EXPECT_EQ(near_outcomes(weak, 2, 2, program), (outcomes{{0, 0}, {0, 1}, {1, 0}}));
}

// ---- coherence --------------------------------------------------------------------------------------------

TEST(coherence, reads_do_not_go_back) {
  const outcomes seen = near_outcomes(weak, 2, 2, [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.x.store(2, relaxed);
    } else {
      s.r[0] = s.cells.x.load(relaxed);
      s.r[1] = s.cells.x.load(relaxed);
    }
  });
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(coherence, readers_agree_on_the_order_of_two_writers) {
  const outcomes seen = near_outcomes(weak, 4, 4, [](scene& s) {
    if (s.rank() < 2) {
      s.cells.x.store(static_cast<word>(s.rank()) + 1, relaxed);
    } else {
      const auto first = 2 * static_cast<std::size_t>(s.rank() - 2);
      s.r[first] = s.cells.x.load(relaxed);
      s.r[first + 1] = s.cells.x.load(relaxed);
    }
  });
  EXPECT_FALSE(seen.contains({1, 2, 2, 1}));
  EXPECT_FALSE(seen.contains({2, 1, 1, 2}));
  EXPECT_TRUE(seen.contains({1, 2, 1, 2}));
  EXPECT_TRUE(seen.contains({2, 1, 2, 1}));
  // Each reader: 00 01 02 11 12 21 22; together all pairs except those two.
  EXPECT_EQ(seen.size(), 47U);
}

TEST(coherence, a_rank_reads_its_own_store_or_a_later_one) {
  const outcomes seen = near_outcomes(weak, 2, 2, [](scene& s) {
    s.cells.x.store(static_cast<word>(s.rank()) + 1, relaxed);
    s.r[static_cast<std::size_t>(s.rank())] = s.cells.x.load(relaxed);
  });
  EXPECT_EQ(seen, (outcomes{{1, 2}, {1, 1}, {2, 2}}));
}

TEST(coherence, two_words_stored_by_two_ranks_may_end_crosswise) {
  const auto program = [](std::memory_order order) {
    return [=](scene& s) {
      auto& first = s.rank() == 0 ? s.cells.x : s.cells.y;
      auto& second = s.rank() == 0 ? s.cells.y : s.cells.x;
      first.store(1, order);
      second.store(2, order);
      s.r[0] = s.at_end(s.cells.x);
      s.r[1] = s.at_end(s.cells.y);
    };
  };
  for (const auto order : {relaxed, release})
    EXPECT_EQ(near_outcomes(weak, 2, 2, program(order)), (outcomes{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
  EXPECT_EQ(near_outcomes(strong, 2, 2, program(relaxed)), (outcomes{{1, 2}, {2, 1}, {2, 2}}));
}

TEST(coherence, holds_however_many_stores_come_before_one_that_was_there_first) {
  constexpr word stores = 60;
  word last = 0;
  const program what = program_of(2, [&](scene& s) {
    if (s.rank() == 1) s.cells.x.store(stores + 1, relaxed);
    if (s.rank() == 1) return;
    for (word value = 1; value <= stores; ++value) s.cells.x.store(value, relaxed);
    last = s.cells.x.load(relaxed);
  });
  std::vector<step> schedule{{1, 0, 0}};
  for (word value = 1; value <= stores; ++value) schedule.push_back({0, 0, 1});
  options how = by(near_model::release_acquire, lazy, search::random);
  for (const auto& [choice, expected] : {std::pair(0, stores + 1), std::pair(1, stores)}) {
    std::vector<step> with_load = schedule;
    with_load.push_back({0, 0, choice});
    EXPECT_EQ(replay(what, how, with_load).refused, 0U);
    EXPECT_EQ(last, expected);
  }
  schedule.push_back({0, 0, 2});
  EXPECT_EQ(replay(what, how, schedule).refused, 1U) << "its own store is the oldest that it may read";
}

TEST(independent_reads, may_disagree_by_release_and_acquire_only) {
  const auto program = [](scene& s) {
    if (s.rank() < 2) {
      (s.rank() == 0 ? s.cells.x : s.cells.y).store(1, release);
    } else {
      auto& first = s.rank() == 2 ? s.cells.x : s.cells.y;
      auto& second = s.rank() == 2 ? s.cells.y : s.cells.x;
      const auto mine = 2 * static_cast<std::size_t>(s.rank() - 2);
      s.r[mine] = first.load(acquire);
      s.r[mine + 1] = second.load(acquire);
    }
  };
  const outcomes may = near_outcomes(weak, 4, 4, program);
  EXPECT_EQ(may.size(), 16U);
  EXPECT_TRUE(may.contains({1, 0, 1, 0}));
  const outcomes must_not = near_outcomes(strong, 4, 4, program);
  EXPECT_EQ(must_not.size(), 15U);
  EXPECT_FALSE(must_not.contains({1, 0, 1, 0}));
}

TEST(read_to_write, coherence_orders_a_read_before_a_store_that_follows_it) {
  // S: rank 0 releases its store of 2 to rank 1, whose own store of 1 comes later.
  const auto program = [](std::memory_order loaded) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.x.store(2, relaxed);
        s.cells.y.store(1, release);
      } else {
        s.r[0] = s.cells.y.load(loaded);
        s.cells.x.store(1, relaxed);
      }
      s.r[1] = s.at_end(s.cells.x);
    };
  };
  EXPECT_EQ(near_outcomes(weak, 2, 2, program(acquire)), (outcomes{{0, 1}, {0, 2}, {1, 1}}));
  EXPECT_EQ(near_outcomes(weak, 2, 2, program(relaxed)), (outcomes{{0, 1}, {0, 2}, {1, 1}, {1, 2}}));
}

// ---- release sequences ------------------------------------------------------------------------------------

/// Rank 0 publishes x by a release of 1 to y, rank 1 does `between` to y, rank 2 acquires y.
body release_sequence_with(const std::function<void(scene&)>& between) {
  return [=](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, release);
    } else if (s.rank() == 1) {
      between(s);
    } else {
      s.r[0] = s.cells.y.load(acquire);
      s.r[1] = s.cells.x.load(relaxed);
    }
  };
}

TEST(release_sequence, goes_on_over_read_modify_writes) {
  const outcomes seen =
      near_outcomes(weak, 3, 2, release_sequence_with([](scene& s) { s.cells.y.fetch_add(2, relaxed); }));
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}, {3, 1}}));
}

TEST(release_sequence, ends_at_a_store_of_another) {
  const outcomes seen = near_outcomes(weak, 3, 2, release_sequence_with([](scene& s) {
                                        s.w.await(s.cells.y, [](word value) { return value == 1; });
                                        s.cells.y.store(3, relaxed);
                                      }));
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {1, 1}, {3, 0}, {3, 1}}));
}

TEST(release_sequence, ends_at_a_store_of_the_same_rank) {
  const outcomes seen = near_outcomes(weak, 2, 2, [](scene& s) {
    if (s.rank() == 0) {
      s.cells.x.store(1, relaxed);
      s.cells.y.store(1, release);
      s.cells.y.store(2, relaxed);
    } else {
      s.r[0] = s.cells.y.load(acquire);
      s.r[1] = s.cells.x.load(relaxed);
    }
  });
  EXPECT_EQ(seen, (outcomes{{0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
}

// ---- read-modify-writes
// ------------------------------------------------------------------------------------

TEST(read_modify_write, of_all_ranks_are_one_after_the_other) {
  for (const auto near : {weak, strong}) {
    const outcomes added = near_outcomes(near, 3, 4, [](scene& s) {
      s.r[static_cast<std::size_t>(s.rank())] = s.cells.x.fetch_add(1, relaxed);
      s.r[3] = s.at_end(s.cells.x);
    });
    EXPECT_EQ(added,
              (outcomes{{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}, {2, 1, 0, 3}}));
    const outcomes swapped = near_outcomes(near, 2, 3, [](scene& s) {
      s.r[static_cast<std::size_t>(s.rank())] = s.cells.x.exchange(static_cast<word>(s.rank()) + 1, relaxed);
      s.r[2] = s.at_end(s.cells.x);
    });
    EXPECT_EQ(swapped, (outcomes{{0, 1, 2}, {2, 0, 1}}));
  }
}

TEST(read_modify_write, compare_exchange_has_one_winner) {
  for (const auto near : {weak, strong}) {
    const outcomes seen = near_outcomes(near, 2, 4, [](scene& s) {
      word expected = 0;
      const bool won =
          s.cells.x.compare_exchange(expected, static_cast<word>(s.rank()) + 1, acq_rel, relaxed);
      s.r[2 * static_cast<std::size_t>(s.rank())] = won ? 1 : 0;
      s.r[2 * static_cast<std::size_t>(s.rank()) + 1] = expected;
    });
    EXPECT_EQ(seen, (outcomes{{1, 0, 0, 1}, {0, 2, 1, 0}}));
  }
}

TEST(read_modify_write, a_failed_compare_exchange_synchronises_by_its_failure_order) {
  for (const auto failure : {acquire, relaxed}) {
    const outcomes seen = near_outcomes(weak, 2, 2, [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.x.store(1, relaxed);
        s.cells.y.store(1, release);
      } else {
        word expected = 7;
        EXPECT_FALSE(s.cells.y.compare_exchange(expected, 8, acq_rel, failure));
        s.r[0] = expected;
        s.r[1] = s.cells.x.load(relaxed);
      }
    });
    EXPECT_EQ(seen.contains({1, 0}), failure == relaxed);
    EXPECT_TRUE(seen.contains({1, 1}));
  }
}

TEST(read_modify_write, may_come_before_a_store_that_need_not_be_seen) {
  // Message passing with an exchange in place of the load: the exchange may precede the store of x although
  // the store of y has been read.
  const auto program = [](std::memory_order stored, const std::function<word(scene&)>& what) {
    return [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.x.store(1, relaxed);
        s.cells.y.store(1, stored);
      } else {
        s.r[0] = s.cells.y.load(acquire);
        s.r[1] = what(s);
      }
      s.r[2] = s.at_end(s.cells.x);
    };
  };
  const auto exchange = [](scene& s) { return s.cells.x.exchange(2, relaxed); };
  EXPECT_EQ(near_outcomes(weak, 2, 3, program(relaxed, exchange)),
            (outcomes{{0, 0, 1}, {0, 1, 2}, {1, 0, 1}, {1, 1, 2}}));
  EXPECT_EQ(near_outcomes(weak, 2, 3, program(release, exchange)),
            (outcomes{{0, 0, 1}, {0, 1, 2}, {1, 1, 2}}));
  const auto compare = [](scene& s) {
    word expected = 0;
    (void)s.cells.x.compare_exchange(expected, 2, relaxed, relaxed);
    return expected;
  };
  EXPECT_EQ(near_outcomes(weak, 2, 3, program(relaxed, compare)),
            (outcomes{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}));
}

// ---- narrow cells -----------------------------------------------------------------------------------------

TEST(narrow_cells, wrap) {
  const outcomes seen = near_outcomes(weak, 1, 6, [](scene& s) {
    s.cells.byte.store(250, relaxed);
    s.r[0] = s.cells.byte.fetch_add(10, relaxed);
    s.r[1] = s.cells.byte.load(relaxed);
    s.cells.narrow.store(0xFFFFFFFFU, relaxed);
    s.r[2] = s.cells.narrow.fetch_add(2, relaxed);
    s.r[3] = s.cells.narrow.load(relaxed);
    std::uint8_t expected = 4;
    s.r[4] = s.cells.byte.compare_exchange(expected, 0xFF, relaxed, relaxed) ? 1 : 0;
    s.r[5] = s.cells.byte.exchange(0, relaxed);
  });
  EXPECT_EQ(seen, (outcomes{{250, 4, 0xFFFFFFFFU, 1, 1, 0xFF}}));
}

TEST(narrow_cells, hold_negative_numbers) {
  struct holder {
    struct alignas(cache_line) cells {
      world::near<std::int32_t> value{};
    };
  };
  std::int32_t seen = 0;
  bool won = false;
  const program what{.where = one_node(1), .body = [&](world& w, monitor&) {
                       world::near_segment<typename holder::cells> segment(w);
                       auto& cell = segment.at(0).value;
                       cell.store(-5, relaxed);
                       cell.fetch_add(2, relaxed);
                       std::int32_t expected = -3;
                       won = cell.compare_exchange(expected, -1, relaxed, relaxed);
                       seen = w.await(cell, [](std::int32_t value) { return value < 0; });
                     }};
  EXPECT_TRUE(check(what, {}).complete);
  EXPECT_TRUE(won);
  EXPECT_EQ(seen, -1);
}

}  // namespace
}  // namespace nearfar::checker::testing
