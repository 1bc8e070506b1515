#include "nearfar/checker/checker.hpp"

#include <algorithm>
#include <iterator>

#include "execution.hpp"
#include "searches.hpp"

namespace nearfar::checker {

namespace {

/// Follows a schedule as far as possible, and then lets any process go on.
template <typename Late>
std::size_t follow_once(execution& run, const std::vector<step>& schedule, const Late& is_late,
                        fill_with what = fill_with::poison) {
  std::size_t refused = 0;
  std::vector<int> victims;
  for (const step& next : schedule)
    if (next.delivery == step::crash) victims.push_back(next.rank);
  run.let_crash(victims);
  try {
    run.restart(what);
    for (const step& next : schedule) {
      if (run.found()) break;
      const process who{next.rank, next.delivery};
      if (!run.is_enabled(who) || next.choice >= run.choices(who)) {
        ++refused;
        continue;
      }
      run.take(who, next.choice);
    }
    while (!run.is_over() && !is_late()) run.take(run.enabled().front(), 0);
  } catch (...) {
    run.report_thrown("what ranks wait by");
  }
  return refused;
}

/// Follows a schedule, and repeats it if that finds no fault: the effect of a result that is used too early
/// depends on its value.
template <typename Late>
std::size_t follow(execution& run, const std::vector<step>& schedule, const Late& is_late) {
  run.forget_runs();
  run.note_waits(true);
  std::size_t refused = follow_once(run, schedule, is_late);
  const auto again = [&](fill_with what) {
    if (run.has_poison() && !run.found() && !is_late()) refused = follow_once(run, schedule, is_late, what);
  };
  again(fill_with::results);
  for (std::size_t i = 1; i < execution::different_runs; ++i) again(fill_with::poison);
  return refused;
}

/// Length, and changes between ranks. Both make a schedule hard to read.
std::pair<std::size_t, std::size_t> cost_of(const std::vector<step>& schedule) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < schedule.size(); ++i)
    changes += static_cast<std::size_t>(schedule[i].rank != schedule[i - 1].rank);
  return {schedule.size(), changes};
}

/// All sets of at most `most` ranks, small ones first.
std::vector<std::vector<int>> sets_of_victims(int ranks, int most) {
  std::vector<std::vector<int>> result{{}};
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (static_cast<int>(result[i].size()) == most) break;
    for (int next = result[i].empty() ? 0 : result[i].back() + 1; next < ranks; ++next) {
      std::vector<int> larger = result[i];
      larger.push_back(next);
      result.push_back(std::move(larger));
    }
  }
  return result;
}

/// Chooses first which ranks crash, so that each run that is not cut short has the same crashes.
template <typename Search>
void search_for_all_victims(execution& run, const program& what, const options& how, report& result,
                            Search search) {
  for (const std::vector<int>& victims : sets_of_victims(what.where.size(), how.crashes)) {
    run.let_crash(victims);
    result.complete = false;
    search();
    if (!result.complete) return;
  }
}

void search_as_asked(execution& run, const program& what, const options& how, const budget& within,
                     report& result) {
  switch (how.by) {
    case search::exhaustive:
      return search_for_all_victims(run, what, how, result,
                                    [&] { search_exhaustively(run, what, how, within, result); });
    case search::hash:
      return search_for_all_victims(run, what, how, result, [&] { search_states(run, how, within, result); });
    case search::random:
      return search_randomly(run, how, within, result);
  }
}

/// To be called after a search. A search that is not complete may have left out the schedules that reach
/// more.
void demand(const program& what, report& of) {
  if (of.found) return;
  std::ranges::copy_if(what.demands, std::back_inserter(of.unmet),
                       [&](const std::string& one) { return !of.reached.contains(one); });
  if (!of.complete || of.unmet.empty()) return;
  of.complete = false;
  of.found = violation{fault::unreached, "no schedule reaches: " + of.unmet.front(), {}};
}

/// Throws `error` for options or programs that make no sense.
void refuse_nonsense(const program& what, const options& how) {
  if (how.crashes < 0) throw error("the number of crashing ranks must be 0 or more");
  if (how.most_early_wakes < 0) throw error("the number of wake-ups without a reason must be 0 or more");
  for (const std::vector<int>& set : what.alike)
    for (const int rank : set)
      if (rank < 0 || rank >= what.where.size())
        throw error("there is no rank " + std::to_string(rank) +
                    " among the ranks of the program that could be like others");
  if (how.by == search::hash && (what.judge || what.most_steps_between_returns != 0))
    throw error(
        "the search by state hashes does not know the order of operations: judge histories by another "
        "search");
}

}  // namespace

report check(const program& what, const options& how) {
  refuse_nonsense(what, how);
  if (how.by == search::hash && how.near != near_model::sequential)
    throw error("the search by state hashes knows sequential near cells only");
  if (how.by == search::random && how.most_executions == 0 &&
      how.most_time == std::chrono::nanoseconds::max())
    throw error("a random search needs a number of executions or a time after which it ends");
  engine::stack_pool stacks;
  execution run(what, how, stacks);
  report result;
  const budget within(how);
  try {
    search_as_asked(run, what, how, within, result);
  } catch (const cannot_start& problem) {
    throw error(problem.why);
  } catch (...) {
    run.report_thrown("what ranks wait by");
    result.found = run.found();
    result.complete = false;
  }
  result.reached.insert(run.reached().begin(), run.reached().end());
  demand(what, result);
  if (result.undecided != 0) result.complete = false;
  result.time = within.elapsed();
  return result;
}

replayed replay(const program& what, const options& how, const std::vector<step>& schedule) {
  engine::stack_pool stacks;
  execution run(what, how, stacks);
  replayed result;
  run.show_steps(&result.steps);
  result.refused = follow(run, schedule, [] { return false; });
  result.found = run.found();
  result.why_undecided = run.why_undecided();
  return result;
}

violation minimised(const program& what, const options& how, const violation& found) {
  engine::stack_pool stacks;
  execution run(what, how, stacks);
  violation best = found;
  const budget within(how);
  const auto try_schedule = [&](const std::vector<step>& candidate) {
    follow(run, candidate, [&] { return within.is_late(); });
    if (!run.found() || run.found()->what != found.what) return false;
    // The fault may lie before the end of the schedule. The steps that were taken count, but not where a
    // result of a later step shows the fault.
    violation again = *run.found();
    if (run.fills_with_results()) again.schedule = candidate;
    if (again.schedule.empty() && !best.schedule.empty()) return false;  // a file of no steps shows nothing
    if (cost_of(again.schedule) >= cost_of(best.schedule)) return false;
    best = std::move(again);
    return true;
  };
  constexpr int most_rounds = 20;
  bool is_better = best.what != fault::livelock;
  for (int round = 0; is_better && round < most_rounds && !within.is_late(); ++round) {
    is_better = false;
    for (std::size_t i = best.schedule.size(); i-- > 0 && !within.is_late();) {
      if (i >= best.schedule.size()) continue;
      std::vector<step> shorter = best.schedule;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
      is_better = try_schedule(shorter) || is_better;
    }
    // Moving a step next to one of the same rank.
    for (std::size_t i = 1; i < best.schedule.size() && !within.is_late(); ++i)
      for (std::size_t j = i; j-- > 0;) {
        if (best.schedule[j].rank != best.schedule[i].rank) continue;
        if (j + 1 == i) break;
        std::vector<step> moved = best.schedule;
        std::rotate(moved.begin() + static_cast<std::ptrdiff_t>(j) + 1,
                    moved.begin() + static_cast<std::ptrdiff_t>(i),
                    moved.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        is_better = try_schedule(moved) || is_better;
        break;
      }
  }
  return best;
}

}  // namespace nearfar::checker
