// The checker's search against the axioms: the same outcomes of programs drawn at random, and the same
// faults. First the axioms themselves, on programs whose outcomes the literature knows.
//
// NEARFAR_LONG_TESTS=1 compares 20 times as many programs, and says how many.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "tests/checker/axioms.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::action;

constexpr auto weak = near_model::release_acquire;
constexpr auto strong = near_model::sequential;

// ---- the axioms, of near cells ----------------------------------------------------------------------------

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

instruction store(int place, std::size_t value, std::memory_order order = relaxed) {
  return {.what = action::store, .place = place, .value = value, .order = order};
}
instruction load(int place, std::memory_order order = relaxed) {
  return {.what = action::load, .place = place, .order = order};
}
instruction add(int place, std::size_t value, std::memory_order order = relaxed) {
  return {.what = action::add, .place = place, .value = value, .order = order};
}
instruction exchange(int place, std::size_t value, std::memory_order order = relaxed) {
  return {.what = action::exchange, .place = place, .value = value, .order = order};
}
instruction fence(std::memory_order order) { return {.order = order, .is_fence = true}; }

/// What the `number`-th instruction of a rank has read, or what a cell holds in the end.
struct observed {
  std::size_t rank;
  std::size_t number;
  word value;
};
constexpr std::size_t at_end = 99;

/// Whether a program may make all these observations.
bool may(const random_program& of, std::initializer_list<observed> all, near_model near = weak) {
  const permitted found = outcomes_by_axioms(of, lazy, near);
  EXPECT_FALSE(found.deadlock || found.conflict);
  return std::any_of(found.seen.begin(), found.seen.end(), [&](const outcome& one_of) {
    return std::all_of(all.begin(), all.end(), [&](const observed& each) {
      const std::size_t rank = each.rank == at_end ? of.size() : each.rank;
      return one_of[rank * most_instructions + each.number] == each.value;
    });
  });
}

TEST(axioms, message_passing) {
  const auto with = [](std::memory_order stored, std::memory_order loaded) {
    return may({{store(x, 1), store(y, 1, stored)}, {load(y, loaded), load(x)}}, {{1, 0, 1}, {1, 1, 0}});
  };
  EXPECT_FALSE(with(release, acquire));
  EXPECT_FALSE(with(seq_cst, seq_cst));
  EXPECT_TRUE(with(relaxed, acquire));
  EXPECT_TRUE(with(release, relaxed));
  const auto fenced = [](std::memory_order first, std::memory_order second) {
    return may({{store(x, 1), fence(first), store(y, 1)}, {load(y), fence(second), load(x)}},
               {{1, 0, 1}, {1, 2, 0}});
  };
  EXPECT_FALSE(fenced(release, acquire));
  EXPECT_FALSE(fenced(acq_rel, acq_rel));
  EXPECT_FALSE(fenced(seq_cst, seq_cst));
  EXPECT_TRUE(fenced(acquire, acquire));
  EXPECT_TRUE(fenced(release, release));
  // A fence on one side.
  EXPECT_FALSE(
      may({{store(x, 1), fence(release), store(y, 1)}, {load(y, acquire), load(x)}}, {{1, 0, 1}, {1, 1, 0}}));
  EXPECT_FALSE(
      may({{store(x, 1), store(y, 1, release)}, {load(y), fence(acquire), load(x)}}, {{1, 0, 1}, {1, 2, 0}}));
  // Before what it should come behind.
  EXPECT_TRUE(
      may({{fence(release), store(x, 1), store(y, 1)}, {load(y, acquire), load(x)}}, {{1, 0, 1}, {1, 1, 0}}));
  const permitted all =
      outcomes_by_axioms({{store(x, 1), store(y, 1, release)}, {load(y, acquire), load(x)}}, lazy, weak);
  EXPECT_EQ(all.seen.size(), 3U);
}

TEST(axioms, store_buffering) {
  const auto with = [](std::memory_order stored, std::memory_order loaded, near_model near = weak) {
    return may({{store(x, 1, stored), load(y, loaded)}, {store(y, 1, stored), load(x, loaded)}},
               {{0, 1, 0}, {1, 1, 0}}, near);
  };
  EXPECT_TRUE(with(release, acquire));
  EXPECT_TRUE(with(seq_cst, acquire));
  EXPECT_TRUE(with(release, seq_cst));
  EXPECT_FALSE(with(seq_cst, seq_cst));
  EXPECT_FALSE(with(relaxed, relaxed, strong));
  const auto fenced = [](std::memory_order first, std::memory_order second) {
    return may({{store(x, 1), fence(first), load(y)}, {store(y, 1), fence(second), load(x)}},
               {{0, 2, 0}, {1, 2, 0}});
  };
  EXPECT_FALSE(fenced(seq_cst, seq_cst));
  EXPECT_TRUE(fenced(seq_cst, acq_rel));
  // A fence on one side, all of it seq_cst on the other.
  EXPECT_FALSE(may({{store(x, 1), fence(seq_cst), load(y)}, {store(y, 1, seq_cst), load(x, seq_cst)}},
                   {{0, 2, 0}, {1, 1, 0}}));
}

TEST(axioms, load_buffering) {
  EXPECT_FALSE(may({{load(x), store(y, 1)}, {load(y), store(x, 1)}}, {{0, 0, 1}, {1, 0, 1}}));
}

TEST(axioms, coherence) {
  for (const auto near : {weak, strong}) {
    EXPECT_FALSE(may({{store(x, 1), store(x, 2)}, {load(x), load(x)}}, {{1, 0, 2}, {1, 1, 1}}, near));
    EXPECT_FALSE(may({{store(x, 1)}, {store(x, 2)}, {load(x), load(x)}, {load(x), load(x)}},
                     {{2, 0, 1}, {2, 1, 2}, {3, 0, 2}, {3, 1, 1}}, near));
    EXPECT_FALSE(may({{store(x, 1), load(x)}}, {{0, 1, 0}}, near));
    EXPECT_FALSE(may({{load(x), store(x, 1)}}, {{0, 0, 1}}, near));
    EXPECT_FALSE(may({{store(x, 1), store(x, 2)}}, {{at_end, x, 1}}, near));
    EXPECT_FALSE(may({{store(x, 1), load(x)}, {store(x, 2)}}, {{0, 1, 2}, {at_end, x, 1}}, near));
  }
}

TEST(axioms, two_writes_each) {
  const auto with = [](std::memory_order order, near_model near = weak) {
    return may({{store(x, 1, order), store(y, 2, order)}, {store(y, 1, order), store(x, 2, order)}},
               {{at_end, x, 1}, {at_end, y, 1}}, near);
  };
  EXPECT_TRUE(with(release));
  EXPECT_FALSE(with(seq_cst));
  EXPECT_FALSE(with(relaxed, strong));
  const auto fenced = [](std::memory_order order) {
    return may({{store(x, 1), fence(order), store(y, 2)}, {store(y, 1), fence(order), store(x, 2)}},
               {{at_end, x, 1}, {at_end, y, 1}});
  };
  EXPECT_TRUE(fenced(acq_rel));
  EXPECT_FALSE(fenced(seq_cst));
}

TEST(axioms, independent_reads) {
  const auto with = [](std::memory_order stored, std::memory_order first, std::memory_order second,
                       near_model near = weak) {
    return may({{store(x, 1, stored)},
                {store(y, 1, stored)},
                {load(x, first), load(y, second)},
                {load(y, first), load(x, second)}},
               {{2, 0, 1}, {2, 1, 0}, {3, 0, 1}, {3, 1, 0}}, near);
  };
  EXPECT_TRUE(with(release, acquire, acquire));
  EXPECT_FALSE(with(seq_cst, seq_cst, seq_cst));
  EXPECT_FALSE(with(relaxed, relaxed, relaxed, strong));
  // Allowed since C++20 (P0668; "Repairing sequential consistency in C/C++11", PLDI 2017, figure 1).
  EXPECT_TRUE(with(seq_cst, acquire, seq_cst));
  EXPECT_FALSE(may(
      {{store(x, 1)}, {store(y, 1)}, {load(x), fence(seq_cst), load(y)}, {load(y), fence(seq_cst), load(x)}},
      {{2, 0, 1}, {2, 2, 0}, {3, 0, 1}, {3, 2, 0}}));
}

TEST(axioms, of_a_total_order_of_seq_cst) {
  // Z6.U and RWC+syncs of the same paper: the one allowed since C++20, the other forbidden.
  EXPECT_TRUE(may({{store(x, 1, seq_cst), store(y, 1, release)},
                   {add(y, 1, seq_cst), load(y)},
                   {store(y, 3, seq_cst), load(x, seq_cst)}},
                  {{1, 0, 1}, {1, 1, 3}, {2, 1, 0}}));
  EXPECT_FALSE(
      may({{store(x, 1)}, {load(x), fence(seq_cst), load(y)}, {store(y, 1), fence(seq_cst), load(x)}},
          {{1, 0, 1}, {1, 2, 0}, {2, 2, 0}}));
  // R.
  const auto with = [](std::memory_order order) {
    return may({{store(x, 1, order), store(y, 1, order)}, {store(y, 2, order), load(x, order)}},
               {{at_end, y, 2}, {1, 1, 0}});
  };
  EXPECT_TRUE(with(acq_rel));
  EXPECT_FALSE(with(seq_cst));
}

TEST(axioms, causality) {
  const auto over_three = [](std::memory_order second) {  // ISA2
    return may({{store(x, 1), store(y, 1, release)},
                {load(y, acquire), store(z, 1, second)},
                {load(z, acquire), load(x)}},
               {{1, 0, 1}, {2, 0, 1}, {2, 1, 0}});
  };
  EXPECT_FALSE(over_three(release));
  EXPECT_TRUE(over_three(relaxed));
  const auto write_to_read = [](std::memory_order first) {  // WRC
    return may({{store(x, 1, release)}, {load(x, first), store(y, 1, release)}, {load(y, acquire), load(x)}},
               {{1, 0, 1}, {2, 0, 1}, {2, 1, 0}});
  };
  EXPECT_FALSE(write_to_read(acquire));
  EXPECT_FALSE(write_to_read(relaxed)) << "coherence is enough";
  const auto write_after_read = [](std::memory_order order) {  // S
    return may({{store(x, 2), store(y, 1, release)}, {load(y, order), store(x, 1)}},
               {{1, 0, 1}, {at_end, x, 2}});
  };
  EXPECT_FALSE(write_after_read(acquire));
  EXPECT_TRUE(write_after_read(relaxed));
}

TEST(axioms, release_sequences) {
  const auto stale_after = [](const instruction& first, const instruction& between, word read) {
    return may({{store(x, 1), first}, {between}, {load(y, acquire), load(x)}}, {{2, 0, read}, {2, 1, 0}});
  };
  EXPECT_FALSE(stale_after(store(y, 1, release), add(y, 2), 3)) << "goes on over read-modify-writes";
  EXPECT_TRUE(stale_after(store(y, 1), add(y, 2, release), 3)) << "of another rank's own knowledge";
  EXPECT_TRUE(may({{store(x, 1), store(y, 1, release), store(y, 2)}, {load(y, acquire), load(x)}},
                  {{1, 0, 2}, {1, 1, 0}}))
      << "not over stores of the same rank since C++20";
  EXPECT_FALSE(may({{store(x, 1), fence(release), store(y, 1)}, {add(y, 2)}, {load(y, acquire), load(x)}},
                   {{2, 0, 3}, {2, 1, 0}}))
      << "headed by a store behind a fence";
}

TEST(axioms, read_modify_writes) {
  EXPECT_FALSE(may({{add(x, 1)}, {add(x, 1)}}, {{0, 0, 0}, {1, 0, 0}}));
  EXPECT_FALSE(may({{add(x, 1)}, {store(x, 5)}}, {{0, 0, 0}, {at_end, x, 6}}));
  const auto compare = [](std::memory_order failure) {
    instruction what{.what = action::compare_exchange, .place = y, .value = 2, .order = acq_rel};
    what.failure = failure;
    return may({{store(x, 1), store(y, 1, release)}, {what, load(x)}}, {{1, 0, 1}, {1, 1, 0}});
  };
  EXPECT_TRUE(compare(relaxed));
  EXPECT_FALSE(compare(acquire));
}

// ---- the checker against the axioms -----------------------------------------------------------------------

/// What was compared: programs, each in a mode and under a model of near cells.
struct tally {
  int compared = 0;
  int cut_short = 0;  ///< too many traces to compare
  int deadlocks = 0;
  int conflicts = 0;
  int differences = 0;
};

std::string text_of(const random_program& of, const outcome& what) {
  std::string text;
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    for (std::size_t i = 0; i < of[rank].size(); ++i)
      if (!of[rank][i].is_signal && is_read(of[rank][i].what))
        text += " " + std::to_string(what[rank * most_instructions + i]);
    text += ";";
  }
  text += " then";
  for (std::size_t i = of.size() * most_instructions; i < what.size(); ++i)
    text += " " + std::to_string(what[i]);
  return text + "\n";
}

/// In what the checker's exhaustive search differs from the axioms; empty if in nothing. At a fault the
/// search ends, so that it need not have seen all outcomes.
std::string difference(const random_program& of, options how, tally& count) {
  how.most_executions = 20000;
  const search_result search = searched(of, how);
  if (!search.found.complete && !search.found.found) {
    ++count.cut_short;
    return "";
  }
  const permitted allowed = outcomes_by_axioms(of, how.mode, how.near);
  ++count.compared;
  count.deadlocks += allowed.deadlock ? 1 : 0;
  count.conflicts += allowed.conflict ? 1 : 0;
  std::string text;
  if (search.found.complete && allowed.deadlock) text += "a deadlock that the search misses\n";
  if (search.found.complete && allowed.conflict) text += "a conflict that the search misses\n";
  if (search.found.found) {
    const fault what = search.found.found->what;
    const bool is_allowed =
        what == fault::deadlock ? allowed.deadlock : what == fault::conflict && allowed.conflict;
    if (!is_allowed) text += "a fault of the search only: " + search.found.found->text + "\n";
  }
  for (const outcome& each : search.seen)
    if (!allowed.seen.contains(each)) text += "only in the search:" + text_of(of, each);
  for (const outcome& each : allowed.seen)
    if (search.found.complete && !search.seen.contains(each))
      text += "only by the axioms:" + text_of(of, each);
  return text;
}

/// All programs that have one instruction less.
std::vector<random_program> smaller(const random_program& of) {
  std::vector<random_program> result;
  for (std::size_t rank = 0; rank < of.size(); ++rank)
    for (std::size_t i = 0; i < of[rank].size(); ++i) {
      result.push_back(of);
      result.back()[rank].erase(result.back()[rank].begin() + static_cast<std::ptrdiff_t>(i));
    }
  return result;
}

/// Without what a difference of the same kind does not need.
random_program smallest(const random_program& of, const options& how) {
  tally ignored;
  const auto kind = [&](const random_program& each) { return difference(each, how, ignored).substr(0, 12); };
  for (const random_program& less : smaller(of))
    if (kind(less) == kind(of)) return smallest(less, how);
  return of;
}

/// Without waits that may last for ever, so that the search does not end at the first of them.
random_program that_ends(const random_program& of, const options& how) {
  if (!outcomes_by_axioms(of, how.mode, how.near).deadlock) return of;
  const auto waits = [](const random_program& each) {
    std::size_t count = 0;
    for (const auto& rank : each)
      count += static_cast<std::size_t>(
          std::count_if(rank.begin(), rank.end(), [](const instruction& next) { return next.waits; }));
    return count;
  };
  std::vector<random_program> fewer = smaller(of);
  std::erase_if(fewer, [&](const random_program& each) { return waits(each) == waits(of); });
  for (const random_program& each : fewer)
    if (!outcomes_by_axioms(each, how.mode, how.near).deadlock) return each;
  return that_ends(fewer.back(), how);
}

void compare(const random_program& of, const options& how, tally& count) {
  if (difference(of, how, count).empty()) return;
  constexpr int most_shown = 5;
  if (++count.differences > most_shown) return;
  const random_program small = smallest(of, how);
  constexpr std::array mode_names{"eager", "lazy", "progress"};
  ADD_FAILURE() << "mode " << mode_names[static_cast<std::size_t>(how.mode)] << ", near cells "
                << (how.near == weak ? "release_acquire" : "sequential") << "\n"
                << testing::text_of(of) << "Needed for a difference:\n"
                << testing::text_of(small) << difference(small, how, count);
}

/// Under each mode and model that makes a difference.
void compare_in_all(const random_program& of, bool far, tally& count) {
  for (const near_model near : {weak, strong})
    for (const delivery_mode mode : all_modes) {
      if (!far && mode != lazy) continue;
      const options how = by(near, mode);
      const int deadlocks = count.deadlocks;
      compare(of, how, count);
      if (count.deadlocks != deadlocks) compare(that_ends(of, how), how, count);
    }
}

tally compare_drawn(int programs, const ingredients& from,
                    random_program (*draw)(std::uint64_t, const ingredients&) = drawn_widely) {
  const char* const asked = std::getenv("NEARFAR_LONG_TESTS");
  const bool is_long = asked != nullptr && std::string(asked) == "1";
  tally count;
  for (int seed = 1; seed <= programs * (is_long ? 20 : 1); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_in_all(draw(static_cast<std::uint64_t>(seed), from), from.far, count);
  }
  EXPECT_EQ(count.differences, 0);
  EXPECT_LE(count.cut_short, count.compared / 100);
  if (is_long)
    std::printf(
        "%d ranks, length %d: %d compared, %d cut short, %d deadlocks, %d conflicts, %d differences\n",
        from.ranks, from.length, count.compared, count.cut_short, count.deadlocks, count.conflicts,
        count.differences);
  return count;
}

TEST(the_search, agrees_on_near_cells) {
  (void)compare_drawn(1000, {.ranks = 2, .length = 5});
  (void)compare_drawn(1000, {.ranks = 3, .length = 3});
  (void)compare_drawn(200, {.ranks = 3, .length = 3, .waits = true, .may_deadlock = true}, drawn);
}

TEST(the_search, agrees_on_waits_for_near_cells) {
  for (const bool signals : {false, true}) {
    (void)compare_drawn(3000, {.ranks = 2, .length = 4, .waits = true, .signals = signals});
    (void)compare_drawn(2000, {.ranks = 2, .length = 5, .waits = true, .signals = signals});
    (void)compare_drawn(2000, {.ranks = 3, .length = 2, .waits = true, .signals = signals});
    (void)compare_drawn(500, {.ranks = 3, .length = 3, .waits = true, .signals = signals});
  }
}

TEST(the_search, agrees_on_far_words) {
  (void)compare_drawn(1000, {.ranks = 2, .length = 4, .near = false, .far = true});
  (void)compare_drawn(500, {.ranks = 3, .length = 3, .near = false, .far = true});
}

TEST(the_search, agrees_on_waits_for_far_words) {
  for (const bool signals : {false, true}) {
    ingredients from{.ranks = 2, .length = 4, .near = false, .far = true, .waits = true, .signals = signals};
    const tally two = compare_drawn(2000, from);
    EXPECT_GE(two.deadlocks, 2000);
    EXPECT_GE(two.compared - two.deadlocks, 2000);
    from.ranks = 3;
    from.length = 2;
    (void)compare_drawn(1000, from);
    from.length = 3;
    (void)compare_drawn(200, from);
  }
}

TEST(the_search, agrees_on_near_and_far_words) {
  for (const bool signals : {false, true}) {
    ingredients from{.ranks = 2, .length = 5, .far = true, .waits = true, .signals = signals};
    (void)compare_drawn(1500, from);
    from.ranks = 3;
    from.length = 2;
    (void)compare_drawn(1000, from);
    from.length = 3;
    (void)compare_drawn(500, from);
  }
  (void)compare_drawn(200, {.ranks = 2, .length = 4, .far = true, .waits = true, .may_deadlock = true},
                      drawn);
}

TEST(the_search, agrees_on_conflicts) {
  ingredients from{.ranks = 2, .length = 4, .near = false, .far = true, .conflicts = true};
  EXPECT_GE(compare_drawn(1000, from).conflicts, 2000);
  from.ranks = 3;
  from.length = 3;
  from.near = from.waits = from.signals = true;
  EXPECT_GE(compare_drawn(1000, from).conflicts, 1000);
}

// ---- what a search once missed ----------------------------------------------------------------------------

constexpr int a = 0;
constexpr int b = 1;

instruction await(action by, int place, condition::kind what, word first, word second = 0,
                  bool progresses = true) {
  return {.what = by,
          .waits = true,
          .progresses = progresses,
          .place = place,
          .until = {.what = what, .first = first, .second = second}};
}
instruction rma(action what, int place, std::size_t value, bool flushes = false) {
  return {.what = what, .flushes = flushes, .place = place, .value = value};
}
instruction signal_to(std::size_t rank) { return {.value = rank, .is_signal = true}; }
instruction signal_from(std::size_t rank) { return {.waits = true, .value = rank, .is_signal = true}; }

using enum condition::kind;

void expect_agreement(const random_program& of) {
  tally count;
  compare_in_all(of, true, count);
  EXPECT_EQ(count.cut_short, 0);
}

TEST(what_was_missed, goes_on_from_a_wait_that_was_satisfied_before_and_will_be_again) {
  expect_agreement({{await(action::load, x, differs, 3), await(action::load, y, equals, 2), exchange(y, 0)},
                    {load(y), store(y, 2)},
                    {await(action::load, y, is_either, 1, 0), store(x, 1)}});
  expect_agreement({{rma(action::get, b, 0, true), rma(action::fetch_add, b, 1)},
                    {rma(action::read_direct, a, 0), rma(action::sum, b, 2)},
                    {await(action::read_direct, b, is_either, 3, 0), rma(action::write_direct, a, 1)}});
  expect_agreement({{rma(action::replace, a, 3), rma(action::swap, a, 0), rma(action::write_direct, b, 1),
                     rma(action::compare_and_swap, a, 1)},
                    {await(action::fetch, a, differs, 0), rma(action::fetch, b, 0, true)}});
}

TEST(what_was_missed, goes_on_from_a_wait_that_an_older_value_ends) {
  expect_agreement({{store(x, 1), exchange(y, 2, acquire), exchange(x, 2)},
                    {add(y, 2, acq_rel), await(action::load, x, differs, 1), add(x, 2, release)}});
  expect_agreement({{rma(action::put, a, 1), await(action::load, x, differs, 3), store(x, 3)},
                    {add(x, 3, release), rma(action::get, a, 0), exchange(x, 2)}});
}

TEST(what_was_missed, is_a_deadlock_that_only_an_older_value_prevents) {
  expect_agreement(
      {{add(y, 2, release), exchange(x, 1, acquire), signal_from(1)},
       {signal_to(0), await(action::load, x, differs, 0), await(action::load, y, is_either, 1, 0)}});
  expect_agreement({{store(y, 1, release), add(x, 1)},
                    {signal_from(3)},
                    {await(action::load, x, equals, 1), signal_to(1), await(action::load, y, equals, 0)}});
}

TEST(what_was_missed, is_served_before_the_target_arrives_at_its_wait) {
  expect_agreement({{rma(action::swap, a, 2)}, {await(action::read_direct, a, is_either, 0, 1, false)}});
  expect_agreement({{rma(action::fetch_add, a, 2)}, {await(action::read_direct, a, differs, 3, 0, false)}});
}

}  // namespace
}  // namespace nearfar::checker::testing
