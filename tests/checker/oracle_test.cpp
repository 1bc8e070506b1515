// The checker's search against the axioms: the same outcomes and the same faults of random programs. The
// first tests check the axioms themselves, on programs whose outcomes the literature knows.
//
// NEARFAR_LONG_TESTS=1 compares 20 times as many programs and prints their number; this takes some 15
// minutes. On a busy machine NEARFAR_TEST_LIMIT=3600 gives each test more than its 5 minutes.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "tests/checker/axioms.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::action;

// ---- the axioms, of near cells ----------------------------------------------------------------------------

using enum condition::kind;

// Near cells and far words.
constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;
constexpr int a = 0;
constexpr int b = 1;

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

/// The value that the `number`-th instruction of a rank has read, or that a cell holds in the end.
struct observed {
  std::size_t rank;
  std::size_t number;
  word value;
};
constexpr std::size_t at_end = 99;

/// Whether a program may make all these observations.
bool may(const random_program& of, std::initializer_list<observed> all, near_model near = weak,
         delivery_mode mode = lazy) {
  const permitted found = outcomes_by_axioms(of, mode, near);
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
  // The fence precedes the store that it should follow.
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
  // Z6.U and RWC+syncs of the same paper: the first is allowed since C++20, the second forbidden.
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

// ---- the axioms, of far words and waits -------------------------------------------------------------------

TEST(axioms, order_accumulates_only) {
  const auto goes_back = [](action by, delivery_mode mode) {
    return may({{rma(by, a, 0), rma(by, a, 0)}, {rma(action::put, a, 1)}}, {{0, 0, 1}, {0, 1, 0}}, weak,
               mode);
  };
  for (const auto mode : all_modes) {
    EXPECT_EQ(goes_back(action::get, mode), mode != eager);
    EXPECT_FALSE(goes_back(action::fetch, mode));
  }
}

TEST(axioms, deliver_when_the_mode_says) {
  // Rank 1 reads before the flush: a message tells it the moment.
  const auto seen_early = [](delivery_mode mode, word value) {
    return may({{rma(action::replace, a, 1), signal_to(1)}, {signal_from(0), rma(action::read_direct, a, 0)}},
               {{1, 1, value}}, weak, mode);
  };
  EXPECT_FALSE(seen_early(eager, 0));
  for (const auto mode : {lazy, progress}) EXPECT_TRUE(seen_early(mode, 0) && seen_early(mode, 1));
  // In its flush is after all that its origin did before.
  for (const auto mode : all_modes)
    EXPECT_EQ(may({{rma(action::replace, a, 1), load(x)}, {rma(action::fetch, a, 0, true), store(x, 1)}},
                  {{0, 1, 1}, {1, 0, 1}}, weak, mode),
              mode != lazy);
}

TEST(axioms, make_known_what_was_known_at_the_issue) {
  for (const auto mode : all_modes) {
    const auto stale = [&](const instruction& write, const instruction& read) {
      return may({{store(x, 1), write}, {read, load(x)}}, {{1, 0, 1}, {1, 1, 0}}, weak, mode);
    };
    for (const action write : {action::put, action::replace, action::swap})
      EXPECT_FALSE(stale(rma(write, a, 1), await(action::read_direct, a, differs, 0)));
    EXPECT_FALSE(stale(rma(action::put, a, 1), rma(action::get, a, 0, true)));
    EXPECT_TRUE(stale(rma(action::put, a, 1), rma(action::get, a, 0))) << "until the flush";
    // A delivery does not make known what its origin did between the issue and the flush.
    EXPECT_TRUE(
        may({{rma(action::replace, a, 1), store(x, 1)}, {await(action::read_direct, a, differs, 0), load(x)}},
            {{1, 1, 0}}, weak, mode));
    // An operation that reads nothing tells its origin nothing.
    for (const action second : {action::replace, action::swap})
      EXPECT_EQ(may({{store(x, 1), rma(action::replace, a, 1, true), store(y, 1)},
                     {load(y), rma(second, a, 2, true), load(x)}},
                    {{1, 0, 1}, {1, 2, 0}}, weak, mode),
                second == action::replace);
  }
  EXPECT_FALSE(may({{store(x, 1), signal_to(1)}, {signal_from(3), load(x)}}, {{1, 1, 0}}));
}

TEST(axioms, say_who_waits_for_ever) {
  const auto deadlocks = [](const random_program& of, near_model near = weak, delivery_mode mode = lazy) {
    return outcomes_by_axioms(of, mode, near).deadlock;
  };
  const instruction one_in_x = await(action::load, x, equals, 1);
  for (const auto near : {weak, strong}) {
    EXPECT_FALSE(deadlocks({{store(x, 1)}, {one_in_x}}, near));
    EXPECT_TRUE(deadlocks({{store(x, 1), store(x, 0)}, {one_in_x}}, near)) << "an older value may be missed";
    EXPECT_TRUE(deadlocks({{signal_to(1)}, {signal_from(0), signal_from(3)}}, near));
    EXPECT_TRUE(deadlocks({{signal_from(3), signal_from(2)}, {signal_to(0)}, {signal_to(0)}}, near));
  }
  const auto without_progress = await(action::read_direct, a, differs, 0, 0, false);
  const random_program needs_target{{rma(action::get, b, 0, true), rma(action::put, a, 1)},
                                    {without_progress}};
  for (const auto mode : all_modes) EXPECT_EQ(deadlocks(needs_target, weak, mode), mode == progress);
}

TEST(axioms, say_what_conflicts) {
  const auto conflicts = [](const random_program& of) { return outcomes_by_axioms(of, lazy, weak).conflict; };
  const instruction put = rma(action::put, a, 1);
  const instruction accumulate = rma(action::replace, a, 2, true);
  EXPECT_TRUE(conflicts({{put}, {put}}));
  EXPECT_TRUE(conflicts({{put}, {accumulate}}));
  EXPECT_FALSE(conflicts({{accumulate}, {accumulate}}));
  EXPECT_FALSE(conflicts({{put, signal_to(1)}, {signal_from(0), put}}));
  EXPECT_TRUE(conflicts({{put}, {await(action::read_direct, a, differs, 0), put}})) << "seen is not complete";
}

// ---- the checker against the axioms -----------------------------------------------------------------------

/// The extent of a comparison: programs, each in a mode and under a model of near cells.
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

/// How a search of the checker differs from the axioms; empty if it agrees. A search ends at a fault, so it
/// need not have seen all outcomes.
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

/// The program without the instructions that a difference of the same kind does not need.
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
  constexpr std::array search_names{"source sets", "sleep sets only"};
  ADD_FAILURE() << "by "
                << (how.by == search::hash ? "states" : search_names[static_cast<std::size_t>(how.reduce)])
                << ", mode " << mode_names[static_cast<std::size_t>(how.mode)] << ", near cells "
                << (how.near == weak ? "release_acquire" : "sequential") << "\n"
                << testing::text_of(of) << "Needed for a difference:\n"
                << testing::text_of(small) << difference(small, how, count);
}

/// Under each mode and model that makes a difference.
void compare_in_all(const random_program& of, bool far, options how, tally& count) {
  for (const near_model near : {weak, strong})
    for (const delivery_mode mode : all_modes) {
      if ((!far && mode != lazy) || (how.by == search::hash && near != strong)) continue;
      how.near = near;
      how.mode = mode;
      const int deadlocks = count.deadlocks;
      compare(of, how, count);
      if (count.deadlocks != deadlocks) compare(that_ends(of, how), how, count);
    }
}

struct family {
  const char* name;
  int programs;
  ingredients from;
  random_program (*draw)(std::uint64_t, const ingredients&) = drawn_widely;
};
constexpr family families[] = {
    {"near", 1000, {.ranks = 2, .length = 5}},
    {"near_3", 1000, {.ranks = 3, .length = 3}},
    {"near_waits", 3000, {.ranks = 2, .length = 4, .waits = true}},
    {"near_waits_signals", 2000, {.ranks = 2, .length = 4, .waits = true, .signals = true}},
    {"near_waits_long", 2000, {.ranks = 2, .length = 5, .waits = true}},
    {"near_waits_3", 2000, {.ranks = 3, .length = 2, .waits = true}},
    {"near_waits_3_signals", 2000, {.ranks = 3, .length = 2, .waits = true, .signals = true}},
    {"near_waits_3_long", 1000, {.ranks = 3, .length = 3, .waits = true}},
    {"near_deadlocks", 200, {.ranks = 3, .length = 3, .waits = true, .may_deadlock = true}, drawn},
    {"near_deadlines", 2000, {.ranks = 2, .length = 4, .waits = true, .deadlines = true}},
    {"both_deadlines_3", 1000, {.ranks = 3, .length = 2, .far = true, .waits = true, .deadlines = true}},
    {"fences", 3000, {.ranks = 2, .length = 5, .fences = true}},
    {"fences_3", 500, {.ranks = 3, .length = 4, .fences = true}},
    {"fences_waits", 2000, {.ranks = 2, .length = 5, .waits = true, .fences = true}},
    {"fences_waits_3", 1000, {.ranks = 3, .length = 3, .waits = true, .signals = true, .fences = true}},
    {"far", 1000, {.ranks = 2, .length = 4, .near = false, .far = true}},
    {"far_3", 400, {.ranks = 3, .length = 3, .near = false, .far = true}},
    {"far_waits", 2000, {.ranks = 2, .length = 4, .near = false, .far = true, .waits = true}},
    {"far_waits_3", 1000, {.ranks = 3, .length = 2, .near = false, .far = true, .waits = true}},
    {"far_waits_3_long", 300, {.ranks = 3, .length = 3, .near = false, .far = true, .waits = true}},
    {"far_conflicts", 1000, {.ranks = 2, .length = 4, .near = false, .far = true, .conflicts = true}},
    {"both", 500, {.ranks = 3, .length = 3, .far = true}},
    {"both_waits", 1500, {.ranks = 2, .length = 5, .far = true, .waits = true}},
    {"both_waits_3", 1000, {.ranks = 3, .length = 2, .far = true, .waits = true}},
    {"both_waits_signals", 1000, {.ranks = 3, .length = 3, .far = true, .waits = true, .signals = true}},
    {"both_conflicts", 1000, {.ranks = 3, .length = 3, .far = true, .waits = true, .conflicts = true}},
    {"both_deadlocks",
     200,
     {.ranks = 2, .length = 4, .far = true, .waits = true, .may_deadlock = true},
     drawn},
};

/// GoogleTest prints the name alone.
void PrintTo(const family& of, std::ostream* to) { *to << of.name; }

class the_search : public ::testing::TestWithParam<family> {};

TEST_P(the_search, agrees_with_the_axioms) {
  const family& of = GetParam();
  const char* const asked = std::getenv("NEARFAR_LONG_TESTS");
  const bool is_long = asked != nullptr && std::string(asked) == "1";
  tally count;
  for (int seed = 1; seed <= of.programs * (is_long ? 20 : 1); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_in_all(of.draw(static_cast<std::uint64_t>(seed), of.from), of.from.far, {}, count);
  }
  EXPECT_EQ(count.differences, 0);
  // The random programs have to be worth comparing.
  EXPECT_LE(count.cut_short, count.compared / 100);
  EXPECT_GE(count.deadlocks, of.from.waits && !of.from.deadlines ? of.programs / 2 : 0);
  EXPECT_GE(count.conflicts, of.from.conflicts ? of.programs : 0);
  if (is_long)
    std::printf("%s: %d compared, %d cut short, %d deadlocks, %d conflicts, %d differences\n", of.name,
                count.compared, count.cut_short, count.deadlocks, count.conflicts, count.differences);
}

INSTANTIATE_TEST_SUITE_P(of, the_search, ::testing::ValuesIn(families),
                         [](const auto& one_of) { return std::string(one_of.param.name); });

// ---- cases that a search once missed ----------------------------------------------------------------------

/// For the search by source sets, the one that reverses everything, and the one by states.
void expect_agreement(const random_program& of) {
  tally count;
  compare_in_all(of, true, {}, count);
  compare_in_all(of, true, {.reduce = reduction::sleep_sets_only}, count);
  compare_in_all(of, true, {.by = search::hash}, count);
  EXPECT_EQ(count.cut_short, 0);
}

TEST(what_was_missed, has_loads_of_one_word_in_either_order_of_all_that_is_sequentially_consistent) {
  // The old value is read after a value that may have come with it was seen, so only one order of steps shows
  // both.
  const std::vector<instruction> writes{store(x, 1), store(y, 1)};
  const std::vector<instruction> sees{load(y), load(x, seq_cst)};
  const std::vector<instruction> reads{load(x, seq_cst)};
  expect_agreement({writes, sees, reads});
  expect_agreement({writes, reads, sees});
  expect_agreement({reads, writes, sees});
  expect_agreement({sees, reads, writes});
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

TEST(what_was_missed, is_a_total_order_that_relaxed_reads_contradict) {
  // In the order of steps rank 1 sees that the store of y has happened. In the total order its exchange comes
  // first all the same.
  expect_agreement({{store(y, 1, seq_cst), exchange(x, 2)}, {load(x), exchange(y, 2, seq_cst)}});
  expect_agreement({{store(y, 1, seq_cst), exchange(x, 2, release)},
                    {await(action::load, x, equals, 2), exchange(y, 2, seq_cst)}});
}

TEST(what_was_missed, is_a_wait_that_the_total_order_stops) {
  // Both waits end by values that are overwritten. The fences admit one of the two ends, not both.
  expect_agreement({{store(x, 1), fence(seq_cst), await(action::load, y, equals, 0)},
                    {store(y, 1), fence(seq_cst), await(action::load, x, equals, 0)}});
  expect_agreement({{store(x, 1), fence(seq_cst), await(action::load, y, equals, 0), store(z, 1)},
                    {store(y, 1), fence(seq_cst), load(x), load(z)}});
}

// ---- the total order, rule by rule ------------------------------------------------------------------------

/// Whether a program may make all these observations, by the axioms and by each search, which agree.
bool both_allow(const random_program& of, std::initializer_list<observed> all) {
  expect_agreement(of);
  return may(of, all);
}

TEST(total_order, keeps_a_load_behind_a_store_that_it_misses) {  // SB
  const auto misses = [](const std::vector<instruction>& first, const std::vector<instruction>& second) {
    const auto last = [](const std::vector<instruction>& of) { return of.size() - 1; };
    return both_allow({first, second}, {{0, last(first), 0}, {1, last(second), 0}});
  };
  const std::vector<instruction> ordered{store(x, 1, seq_cst), load(y, seq_cst)};
  const std::vector<instruction> fenced{store(x, 1), fence(seq_cst), load(y)};
  const std::vector<instruction> weaker{store(x, 1, release), fence(acq_rel), load(y, acquire)};
  const auto other = [](std::vector<instruction> of) {
    for (instruction& each : of) each.place = 1 - each.place;
    return of;
  };
  EXPECT_FALSE(misses(ordered, other(ordered)));
  EXPECT_FALSE(misses(fenced, other(fenced)));
  EXPECT_FALSE(misses(ordered, other(fenced)));
  const std::vector<instruction> both{store(x, 1, seq_cst), fence(seq_cst), load(y)};
  EXPECT_FALSE(misses(ordered, other(both)));
  EXPECT_FALSE(misses(both, other(both)));
  EXPECT_TRUE(misses(ordered, other(weaker)));
  EXPECT_TRUE(misses(fenced, other(weaker)));
}

TEST(total_order, agrees_with_the_order_of_writes) {  // 2+2W
  const auto crosswise = [](const std::vector<instruction>& first, const std::vector<instruction>& second) {
    return both_allow({first, second}, {{at_end, x, 1}, {at_end, y, 1}});
  };
  const std::vector<instruction> ordered{store(x, 1, seq_cst), store(y, 2, seq_cst)};
  const std::vector<instruction> fenced{store(x, 1), fence(seq_cst), store(y, 2)};
  const std::vector<instruction> ordered_too{store(y, 1, seq_cst), store(x, 2, seq_cst)};
  const std::vector<instruction> fenced_too{store(y, 1), fence(seq_cst), store(x, 2)};
  const std::vector<instruction> released{store(y, 1, release), store(x, 2, release)};
  EXPECT_FALSE(crosswise(ordered, ordered_too));
  EXPECT_FALSE(crosswise(fenced, fenced_too));
  EXPECT_FALSE(crosswise(ordered, fenced_too));
  EXPECT_FALSE(crosswise(fenced, ordered_too));
  EXPECT_TRUE(crosswise(ordered, released));
  EXPECT_TRUE(crosswise(fenced, released));
}

TEST(total_order, goes_over_what_a_third_rank_has_read) {  // RWC
  const auto misses = [](const instruction& stored, const std::vector<instruction>& reader,
                         const std::vector<instruction>& last) {
    return both_allow({{stored}, reader, last},
                      {{1, 0, 1}, {1, reader.size() - 1, 0}, {2, last.size() - 1, 0}});
  };
  const std::vector<instruction> fenced{store(y, 1), fence(seq_cst), load(x)};
  const std::vector<instruction> ordered{store(y, 1, seq_cst), load(x, seq_cst)};
  EXPECT_FALSE(misses(store(x, 1), {load(x), fence(seq_cst), load(y)}, fenced));
  EXPECT_FALSE(misses(store(x, 1, seq_cst), {load(x, seq_cst), load(y, seq_cst)}, ordered));
  EXPECT_FALSE(misses(store(x, 1, seq_cst), {load(x), fence(seq_cst), load(y)}, ordered));
  EXPECT_FALSE(misses(store(x, 1), {load(x), fence(seq_cst), load(y)}, ordered));
  EXPECT_TRUE(misses(store(x, 1, seq_cst), {load(x, acquire), load(y, seq_cst)}, ordered))
      << "what an acquire learns does not strongly happen before";
}

TEST(total_order, agrees_with_what_strongly_happens_before) {  // W+RWC
  const auto misses = [](const instruction& stored, const std::vector<instruction>& reader) {
    return both_allow({{stored, store(y, 1, release)}, reader, {store(z, 1, seq_cst), load(x, seq_cst)}},
                      {{1, 0, 1}, {1, reader.size() - 1, 0}, {2, 1, 0}});
  };
  EXPECT_FALSE(misses(store(x, 1, seq_cst), {load(y, acquire), fence(seq_cst), load(z)}));
  EXPECT_FALSE(misses(store(x, 1, seq_cst), {load(y, acquire), load(z, seq_cst)}));
  EXPECT_TRUE(misses(store(x, 1, seq_cst), {load(y), load(z, seq_cst)})) << "the reader acquires nothing";
  EXPECT_FALSE(misses(store(x, 1), {load(y), fence(seq_cst), load(z)})) << "the fence acquires";
  EXPECT_TRUE(misses(store(x, 1), {load(y, acquire), load(z, seq_cst)})) << "the store is not in the order";
  EXPECT_FALSE(both_allow({{store(x, 1), store(y, 1, release)},
                           {load(y, acquire), fence(seq_cst), load(z)},
                           {store(z, 1), fence(seq_cst), load(x)}},
                          {{1, 0, 1}, {1, 2, 0}, {2, 2, 0}}));
}

TEST(total_order, may_contradict_what_only_happens_before) {  // Z6.U
  const auto misses = [](std::memory_order published, const std::vector<instruction>& between) {
    return both_allow(
        {{store(x, 1, seq_cst), store(y, 1, published)}, between, {store(y, 3, seq_cst), load(x, seq_cst)}},
        {{1, 0, 1}, {1, between.size() - 1, 3}, {2, 1, 0}});
  };
  EXPECT_TRUE(misses(release, {add(y, 1, seq_cst), load(y)}));
  EXPECT_TRUE(misses(relaxed, {add(y, 1, seq_cst), load(y)}));
  EXPECT_FALSE(misses(seq_cst, {add(y, 1, seq_cst), load(y)})) << "both are in the order";
  EXPECT_FALSE(misses(release, {load(y, acquire), add(y, 1, seq_cst), load(y)})) << "a step lies in between";
  EXPECT_TRUE(misses(release, {load(y), add(y, 1, seq_cst), load(y)}));
}

TEST(total_order, lets_readers_of_two_writers_agree) {  // IRIW
  const auto disagree = [](std::memory_order stored, const std::vector<instruction>& first,
                           std::vector<instruction> second) {
    for (instruction& each : second) each.place = 1 - each.place;
    return both_allow({{store(x, 1, stored)}, {store(y, 1, stored)}, first, second},
                      {{2, 0, 1}, {2, first.size() - 1, 0}, {3, 0, 1}, {3, second.size() - 1, 0}});
  };
  const std::vector<instruction> fenced{load(x), fence(seq_cst), load(y)};
  const std::vector<instruction> ordered{load(x, seq_cst), load(y, seq_cst)};
  const std::vector<instruction> acquired{load(x, acquire), load(y, seq_cst)};
  EXPECT_FALSE(disagree(relaxed, fenced, fenced));
  EXPECT_FALSE(disagree(seq_cst, ordered, ordered));
  EXPECT_FALSE(disagree(seq_cst, fenced, ordered));
  EXPECT_FALSE(disagree(relaxed, fenced, ordered));
  EXPECT_FALSE(disagree(relaxed, ordered, ordered)) << "the loads are in the order";
  EXPECT_TRUE(disagree(seq_cst, acquired, acquired)) << "since C++20";
  EXPECT_TRUE(disagree(seq_cst, fenced, acquired));
}

}  // namespace
}  // namespace nearfar::checker::testing
