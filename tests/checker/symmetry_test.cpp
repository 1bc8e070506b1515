// Of schedules that differ only in the names of alike ranks the search explores one, and misses nothing else.
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "tests/checker/random_programs.hpp"

namespace nearfar::checker::testing {
namespace {

std::vector<int> all_of(int ranks) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  return all;
}

program mcs(int ranks, int acquisitions) {
  program result = lock_program(
      one_node(ranks), acquisitions, [](world& w) { return std::make_unique<mcs_lock<world>>(w); },
      bypass_bound::fifo);
  result.alike = {all_of(ranks)};
  return result;
}

TEST(symmetry, leaves_one_of_all_names) {
  for (const auto& [ranks, acquisitions, names] :
       {std::tuple(2, 2, 2U), std::tuple(2, 3, 2U), std::tuple(3, 1, 6U), std::tuple(4, 1, 24U)}) {
    options how = by(near_model::release_acquire);
    const report with = check(mcs(ranks, acquisitions), how);
    how.use_symmetry = false;
    const report without = check(mcs(ranks, acquisitions), how);
    ASSERT_TRUE(with.complete && without.complete);
    EXPECT_EQ(with.executions * names, without.executions);
  }
}

/// Outcomes without regard to the names of the ranks.
outcomes without_names(const outcomes& seen, const std::vector<int>& alike) {
  outcomes result;
  for (const outcome& one : seen) {
    std::vector<outcome> of_ranks;
    const auto of = [&](int rank) {
      return one.begin() + rank * static_cast<std::ptrdiff_t>(most_instructions);
    };
    for (const int rank : alike)
      of_ranks.emplace_back(of(rank), of(rank) + static_cast<std::ptrdiff_t>(most_instructions));
    std::sort(of_ranks.begin(), of_ranks.end());
    outcome renamed = one;
    for (std::size_t i = 0; i < alike.size(); ++i)
      std::copy(of_ranks[i].begin(), of_ranks[i].end(), renamed.begin() + (of(alike[i]) - one.begin()));
    result.insert(renamed);
  }
  return result;
}

/// All ranks have the same text, except the last if it has the far words.
random_program drawn_alike(std::uint64_t seed, int ranks, bool far) {
  const random_program two = drawn_widely(
      seed, {.ranks = 2, .length = 3, .far = far, .waits = true, .fences = seed % 3 == 0, .deadlines = true});
  random_program result(static_cast<std::size_t>(ranks), two[0]);
  if (far) result.back() = two[1];
  return result;
}

void compare(const random_program& of, const std::vector<int>& alike, options how, int& reduced) {
  const search_result with = searched(of, how, {alike});
  how.use_symmetry = false;
  const search_result without = searched(of, how, {alike});
  ASSERT_EQ(with.found.complete, without.found.complete) << testing::text_of(of);
  if (!with.found.complete) {
    ASSERT_EQ(with.found.found->what, without.found.found->what) << testing::text_of(of);
    return;
  }
  EXPECT_EQ(without_names(with.seen, alike), without_names(without.seen, alike)) << testing::text_of(of);
  EXPECT_LE(with.found.executions, without.found.executions);
  if (with.found.executions < without.found.executions) ++reduced;
}

TEST(symmetry, misses_no_outcome) {
  constexpr int programs = 400;
  int reduced = 0;
  for (int seed = 1; seed <= programs; ++seed) {
    const bool is_far = seed % 4 == 0;
    const auto number = static_cast<std::uint64_t>(seed);
    const delivery_mode mode = is_far ? all_modes[number / 4 % 3] : lazy;
    const near_model near = seed % 5 == 0 ? near_model::sequential : near_model::release_acquire;
    compare(drawn_alike(number, 3, is_far), all_of(is_far ? 2 : 3), by(near, mode), reduced);
  }
  EXPECT_GE(reduced, programs / 4);
}

TEST(symmetry, is_of_those_that_crash_and_of_those_that_do_not) {
  options how = by(near_model::release_acquire);
  how.crashes = 1;
  const report with = check(mcs(2, 1), how);
  how.use_symmetry = false;
  const report without = check(mcs(2, 1), how);
  EXPECT_TRUE(with.complete && without.complete);
  EXPECT_LT(with.executions, without.executions);
  EXPECT_GT(with.blocked, 0U);
}

/// A fault that only one of the ranks can show is found under any name: here that of the second rank to come.
TEST(symmetry, finds_what_others_show) {
  program broken = program_of(3, [](scene& s) {
    if (s.cells.x.fetch_add(1, acq_rel) == 1) throw error("second");
  });
  broken.alike = {all_of(3)};
  EXPECT_TRUE(finds(broken, by(near_model::release_acquire), fault::exception, "second"));
}

/// The first rank at one word need not be the first at another, and knows less than the second.
TEST(symmetry, ends_where_the_order_of_steps_tells_ranks_apart) {
  program what{.where = one_node(3),
               .body =
                   [](world& w, monitor& watch) {
                     world::near_array<board::cells> cells(w, 1);
                     if (w.rank() == 0) return;
                     cells.at(w.rank()).y.store(1, relaxed);
                     (void)cells.at(0).x.exchange(0, acq_rel);
                     const bool is_second = cells.at(0).z.fetch_add(1, relaxed) == 1;
                     const bool misses_other = cells.at(3 - w.rank()).y.load(relaxed) == 0;
                     if (is_second && misses_other) watch.reach("first and then second");
                   },
               .alike = {{1, 2}},
               .demands = {"first and then second"}};
  EXPECT_TRUE(is_right(what, by(near_model::release_acquire)));
}

TEST(symmetry, is_within_each_set) {
  program what = program_of(4, [](scene& s) {
    if (s.rank() % 2 == 0) return s.cells.x.store(1, relaxed);
    if (s.cells.x.load(relaxed) == 0) s.watch.reach("nothing yet");
  });
  what.alike = {{0, 2}, {1, 3}};
  what.demands = {"nothing yet"};
  EXPECT_TRUE(is_right(what, by(near_model::sequential)));
}

TEST(symmetry, exchanges_what_belongs_to_ranks) {
  const std::vector<std::function<void(scene&, board::cells&)>> steps{
      [](scene&, board::cells& own) { own.x.store(1, relaxed); },
      [](scene&, board::cells& own) { own.x.store(1, seq_cst); },
      [](scene& s, board::cells&) { s.replace(s.rank(), &words::a, one); },
      [](scene& s, board::cells&) { s.signals.signal(s.rank()); }};
  for (const auto& step : steps) {
    program what = program_of(3, [&](scene& s) {
      world::near_array<board::cells> cells(s.w, 1);
      if (s.rank() == 0) return;
      step(s, cells.at(s.rank()));
      s.cells.x.fetch_add(1, relaxed);
    });
    what.alike = {{1, 2}};
    options how = by(near_model::release_acquire);
    EXPECT_EQ(check(what, how).executions, 1U);
    how.use_symmetry = false;
    EXPECT_EQ(check(what, how).executions, 2U);
  }
}

TEST(symmetry, is_used_by_several_workers) {
  options how = by(near_model::release_acquire);
  const report alone = check(mcs(3, 1), how);
  how.jobs = 3;
  const report together = check(mcs(3, 1), how);
  EXPECT_EQ(alone.executions, together.executions);
}

}  // namespace
}  // namespace nearfar::checker::testing
