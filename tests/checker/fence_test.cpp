// Fences and sequentially consistent accesses: outcomes that C++ forbids do not happen, and the others do.
// oracle_test.cpp compares random programs with the axioms.
#include "tests/checker/expectations.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

outcomes outcomes_in_weak_memory(int ranks, std::size_t registers, const body& of) {
  return outcomes_of(ranks, registers, by(weak), of);
}

/// How a rank accesses its own word and then the other's.
struct way {
  std::memory_order store = relaxed;
  std::memory_order between = relaxed;  ///< order of a fence; relaxed: none
  std::memory_order load = relaxed;
};
constexpr way fenced{.between = seq_cst};
constexpr way in_order{.store = seq_cst, .load = seq_cst};

bool may_both_miss(const std::array<way, 2>& ways) {
  const outcomes seen = outcomes_in_weak_memory(2, 2, [&](scene& s) {
    const auto rank = static_cast<std::size_t>(s.rank());
    auto& mine = rank == 0 ? s.cells.x : s.cells.y;
    auto& other = rank == 0 ? s.cells.y : s.cells.x;
    mine.store(1, ways[rank].store);
    if (ways[rank].between != relaxed) s.w.fence(ways[rank].between);
    s.r[rank] = other.load(ways[rank].load);
  });
  for (const outcome& one_missed : {outcome{0, 1}, outcome{1, 0}, outcome{1, 1}})
    EXPECT_TRUE(seen.contains(one_missed));
  return seen.contains({0, 0});
}

TEST(store_buffering, misses_at_most_one_in_the_total_order) {
  EXPECT_FALSE(may_both_miss({fenced, fenced}));
  EXPECT_FALSE(may_both_miss({in_order, in_order}));
  EXPECT_FALSE(may_both_miss({fenced, in_order}));
}

TEST(store_buffering, may_miss_both_if_anything_is_missing) {
  EXPECT_TRUE(may_both_miss({fenced, way{}}));
  EXPECT_TRUE(may_both_miss({fenced, way{.between = acq_rel}}));
  EXPECT_TRUE(may_both_miss({in_order, way{.store = release, .load = seq_cst}}));
  EXPECT_TRUE(may_both_miss({in_order, way{.store = seq_cst, .load = acquire}}));
}

enum class asymmetric : std::uint8_t { none, light, heavy, whole };
void pass(world& w, asymmetric how) {
  if (how == asymmetric::whole) w.fence(seq_cst);
  if (how == asymmetric::light) w.light_fence();
  if (how == asymmetric::heavy) w.heavy_fence();
}

TEST(asymmetric_fences, order_a_light_one_with_a_heavy_one) {
  const auto may_both_miss = [](asymmetric first, asymmetric second) {
    const outcomes seen = outcomes_in_weak_memory(2, 2, [=](scene& s) {
      const auto rank = static_cast<std::size_t>(s.rank());
      (rank == 0 ? s.cells.x : s.cells.y).store(1, relaxed);
      pass(s.w, rank == 0 ? first : second);
      s.r[rank] = (rank == 0 ? s.cells.y : s.cells.x).load(relaxed);
    });
    for (const outcome& one_missed : {outcome{0, 1}, outcome{1, 0}, outcome{1, 1}})
      EXPECT_TRUE(seen.contains(one_missed));
    return seen.contains({0, 0});
  };
  EXPECT_FALSE(may_both_miss(asymmetric::light, asymmetric::heavy));
  EXPECT_FALSE(may_both_miss(asymmetric::heavy, asymmetric::light));
  EXPECT_FALSE(may_both_miss(asymmetric::heavy, asymmetric::heavy));
  EXPECT_FALSE(may_both_miss(asymmetric::whole, asymmetric::heavy));
  EXPECT_TRUE(may_both_miss(asymmetric::light, asymmetric::light));
  EXPECT_TRUE(may_both_miss(asymmetric::none, asymmetric::light));
  // A compiler may exchange accesses that no light fence keeps apart.
  EXPECT_TRUE(may_both_miss(asymmetric::none, asymmetric::heavy));
  EXPECT_TRUE(may_both_miss(asymmetric::whole, asymmetric::light));
}

/// Rank 1 has seen rank 0's store and then misses rank 2's. Rank 2's fence makes rank 0's store known to rank
/// 2.
TEST(asymmetric_fences, order_what_a_third_has_done) {
  const auto may_be_missed = [](asymmetric first, asymmetric second) {
    const outcomes seen = outcomes_in_weak_memory(3, 3, [=](scene& s) {
      if (s.rank() == 0) return s.cells.x.store(1, relaxed);
      if (s.rank() == 1) {
        s.r[0] = s.cells.x.load(relaxed);
        pass(s.w, first);
        s.r[1] = s.cells.y.load(relaxed);
      } else {
        s.cells.y.store(1, relaxed);
        pass(s.w, second);
        s.r[2] = s.cells.x.load(relaxed);
      }
    });
    return seen.contains({1, 0, 0});
  };
  EXPECT_FALSE(may_be_missed(asymmetric::light, asymmetric::heavy));
  EXPECT_TRUE(may_be_missed(asymmetric::light, asymmetric::light));
}

/// The system makes the other ranks pass a fence one after the other. Rank 2 may be past its own fence before
/// rank 0 is at its own, so rank 1's heavy fence does not order their light ones.
TEST(asymmetric_fences, of_a_third_leave_two_light_ones_without_order) {
  const auto may_all_miss = [](asymmetric of_two) {
    const outcomes seen = outcomes_in_weak_memory(3, 3, [=](scene& s) {
      const auto rank = static_cast<std::size_t>(s.rank());
      const std::array cells{&s.cells.x, &s.cells.z, &s.cells.y};
      cells.at(rank)->store(1, relaxed);
      pass(s.w, rank == 1 ? asymmetric::heavy : of_two);
      // One load comes before the heavy fence, one after it, and one after what follows it.
      s.r[rank] = cells.at((rank + 1) % cells.size())->load(relaxed);
    });
    return seen.contains({0, 0, 0});
  };
  EXPECT_TRUE(may_all_miss(asymmetric::light));
  EXPECT_FALSE(may_all_miss(asymmetric::whole));
}

TEST(message_passing, by_fences_is_fresh_with_both) {
  const auto may_be_stale = [](std::memory_order first, std::memory_order second) {
    const outcomes seen = outcomes_in_weak_memory(2, 2, [=](scene& s) {
      if (s.rank() == 0) {
        s.cells.x.store(1, relaxed);
        s.w.fence(first);
        s.cells.y.store(1, relaxed);
      } else {
        s.r[0] = s.cells.y.load(relaxed);
        s.w.fence(second);
        s.r[1] = s.cells.x.load(relaxed);
      }
    });
    return seen.contains({1, 0});
  };
  EXPECT_FALSE(may_be_stale(release, acquire));
  EXPECT_FALSE(may_be_stale(seq_cst, seq_cst));
  EXPECT_TRUE(may_be_stale(acquire, acquire));
  EXPECT_TRUE(may_be_stale(release, release));
}

TEST(independent_reads, agree_in_the_total_order) {
  const auto may_disagree = [](std::memory_order order, bool fences) {
    const outcomes seen = outcomes_in_weak_memory(4, 4, [=](scene& s) {
      const auto rank = static_cast<std::size_t>(s.rank());
      auto& first = rank % 2 == 0 ? s.cells.x : s.cells.y;
      auto& second = rank % 2 == 0 ? s.cells.y : s.cells.x;
      if (rank < 2) return first.store(1, order == acquire ? release : order);
      s.r[2 * (rank - 2)] = first.load(order);
      if (fences) s.w.fence(seq_cst);
      s.r[2 * (rank - 2) + 1] = second.load(order);
    });
    return seen.contains({1, 0, 1, 0});
  };
  EXPECT_FALSE(may_disagree(seq_cst, false));
  EXPECT_FALSE(may_disagree(relaxed, true));
  EXPECT_TRUE(may_disagree(acquire, false));
}

TEST(fences, are_exchanged_with_what_other_ranks_do) {
  const auto executions = [](const body& of) { return check(program_of(3, of), by(weak)).executions; };
  EXPECT_EQ(executions([](scene& s) { s.w.fence(acq_rel); }), 1U);
  EXPECT_EQ(executions([](scene& s) { s.w.fence(seq_cst); }), 1U);
  EXPECT_EQ(executions([](scene& s) { s.w.heavy_fence(); }), 6U);
  EXPECT_EQ(executions([](scene& s) { (void)s.cells.x.load(seq_cst); }), 1U);
  EXPECT_EQ(executions([](scene& s) {
              (s.rank() == 0 ? s.cells.x : s.rank() == 1 ? s.cells.y : s.cells.z).store(1, seq_cst);
            }),
            1U);
}

TEST(fences, are_steps_of_a_schedule_if_sequentially_consistent) {
  const auto steps = [](std::memory_order order) {
    return check(program_of(1, [=](scene& s) { s.w.fence(order); }), by(weak)).steps;
  };
  EXPECT_EQ(steps(acq_rel), 0U);
  EXPECT_EQ(steps(seq_cst), 1U);
}

/// A rank enters if it sees that the other does not want to: half of Dekker's algorithm and of Peterson's.
program if_the_other_does_not(const std::array<way, 2>& ways) {
  return program_of(2, [ways](scene& s) {
    const auto rank = static_cast<std::size_t>(s.rank());
    auto& mine = rank == 0 ? s.cells.x : s.cells.y;
    auto& other = rank == 0 ? s.cells.y : s.cells.x;
    s.watch.ask();
    mine.store(1, ways[rank].store);
    if (ways[rank].between != relaxed) s.w.fence(ways[rank].between);
    if (other.load(ways[rank].load) == 0) {
      s.watch.enter();
      s.watch.leave();
    }
    mine.store(0, release);
  });
}

TEST(fences, keep_two_from_entering) {
  const way right{.between = seq_cst, .load = acquire};
  const report result = check(if_the_other_does_not({right, right}), by(weak));
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "");
  const report ordered = check(if_the_other_does_not({in_order, in_order}), by(weak));
  EXPECT_TRUE(ordered.complete) << (ordered.found ? ordered.found->text : "");
}

TEST(fences, one_less_lets_two_enter) {
  const way right{.between = seq_cst, .load = acquire};
  for (const way& wrong : {way{.load = acquire}, way{.between = acq_rel, .load = acquire},
                           way{.between = release, .load = acquire}})
    for (const auto& ways : {std::array{right, wrong}, std::array{wrong, right}})
      EXPECT_TRUE(finds(if_the_other_does_not(ways), by(weak), fault::exclusion, "is inside together with"));
  // The fences exclude, but the second rank to enter need not see what was done inside.
  EXPECT_TRUE(finds(if_the_other_does_not({fenced, fenced}), by(weak), fault::order, "need not see"));
}

TEST(fences, are_needed_where_only_the_total_order_is_relied_on) {
  // A rank that sees that the first has left takes the place, and so learns what was done inside. In the
  // total order the exchange may still come before the store, since the load is relaxed: then the exchange
  // learns nothing.
  const auto second_enters = [](std::memory_order told, std::memory_order seen) {
    return program_of(2, [=](scene& s) {
      if (s.rank() == 1 && (s.cells.x.load(seen) == 0 || s.cells.y.exchange(2, seq_cst) > 1)) return;
      s.watch.ask();
      s.watch.enter();
      s.watch.leave();
      if (s.rank() == 1) return;
      s.cells.y.store(1, seq_cst);
      s.cells.x.store(1, told);
    });
  };
  EXPECT_TRUE(finds(second_enters(relaxed, relaxed), by(weak), fault::order, "need not see"));
  EXPECT_TRUE(is_right(second_enters(release, acquire), by(weak)));
}

/// The ring of store buffering: each rank stores to its word, passes a fence and loads the next rank's word.
/// Rank 1 has its value and rank 2 its fence behind it before rank 0 loads, and rank 2 loads last. No fence
/// comes between the steps by which they tell each other and those loads. So the search has to put rank 2's
/// fence behind one that a later step puts before rank 1's.
TEST(fences, come_behind_all_that_comes_before_another_that_is_before_them) {
  const outcomes seen = outcomes_in_weak_memory(3, 5, [](scene& s) {
    const std::array words{&s.cells.x, &s.cells.y, &s.cells.z};
    const auto rank = static_cast<std::size_t>(s.rank());
    words[rank]->store(1, relaxed);
    s.w.fence(seq_cst);
    if (rank == 0) s.r[3] = s.cells.narrow.load(relaxed);
    if (rank == 2) {
      s.cells.narrow.fetch_add(1, relaxed);
      s.r[4] = s.cells.byte.load(relaxed);
    }
    s.r[rank] = words[(rank + 1) % 3]->load(relaxed);
    if (rank == 1) s.cells.narrow.fetch_add(1, relaxed);
    if (rank == 0) s.cells.byte.store(1, relaxed);
  });
  EXPECT_FALSE(seen.contains({0, 0, 0, 2, 1}));
  EXPECT_TRUE(seen.contains({0, 0, 1, 2, 1}));
}

}  // namespace
}  // namespace nearfar::checker::testing
