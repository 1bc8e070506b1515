/// \file The outcomes that the model checker allows for a litmus program, and a check that a world has no
/// others.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/world.hpp"
#include "tests/litmus/player.hpp"
#include "tests/litmus/programs.hpp"

namespace nearfar::litmus {

/// All outcomes of a program, over every schedule and every delivery. A program with a fault should not be in
/// the list.
[[nodiscard]] inline std::set<outcome> allowed(const program& what) {
  std::set<outcome> result;
  outcome observed;
  std::vector<int> cast(what.ranks());
  std::iota(cast.begin(), cast.end(), 0);
  const checker::program checked{.where = locality::single_node(static_cast<int>(what.ranks())),
                                 .body = [&](engine::world& w, checker::monitor&) {
                                   if (w.rank() == 0) observed.assign(what.what->registers() + word_count, 0);
                                   board<engine::world> words(w);
                                   words.play(what, static_cast<std::size_t>(w.rank()), cast, observed);
                                   w.barrier();
                                   words.note_last(what, cast, observed);
                                   // The last rank leaves the barrier last.
                                   w.barrier();
                                   if (w.rank() == w.size() - 1) result.insert(observed);
                                 }};
  for (const auto mode :
       {checker::delivery_mode::eager, checker::delivery_mode::lazy, checker::delivery_mode::progress}) {
    checker::options how;
    how.mode = mode;
    const checker::report searched = checker::check(checked, how);
    EXPECT_TRUE(searched.complete) << to_string(what) << ": "
                                   << (searched.found ? searched.found->text : "incomplete");
  }
  return result;
}

/// Plays the programs of a form for which the world has enough ranks. The checker must allow each outcome.
/// Rank 0 compares, and prints how many of the allowed outcomes were met. Collective. Returns the number of
/// programs played.
template <world W>
int expect_only_allowed(W& w, player<W>& by, const form& how, std::size_t rounds) {
  int played = 0;
  std::size_t may_be = 0;
  std::size_t were = 0;
  for (const program& what : programs_in(how)) {
    if (!by.can_play(what)) continue;
    ++played;
    const counts met = by.play(what, rounds);
    if (w.rank() != 0) continue;
    const std::set<outcome> model = allowed(what);
    std::string text;
    for (const outcome& one : model) text += "\n    " + to_string(what, one);
    for (const auto& [observed, times] : met) {
      EXPECT_TRUE(model.contains(observed))
          << to_string(what) << "\n  " << to_string(what, observed) << "\n  met " << times << " times in "
          << rounds << " rounds; allowed are" << text;
      were += model.count(observed);
    }
    may_be += model.size();
  }
  if (w.rank() == 0)
    std::printf("%s: %d programs, met %zu of %zu allowed outcomes\n", how.name.c_str(), played, were, may_be);
  return played;
}

}  // namespace nearfar::litmus
