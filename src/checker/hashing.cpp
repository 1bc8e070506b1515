// Exhaustive search over states. A state is known by what every rank has observed. This search is slower and
// simpler than the search over traces, and checks it.

#include <unordered_set>
#include <utility>
#include <vector>

#include "searches.hpp"

namespace nearfar::checker {

void search_states(execution& run, const options& how, const budget& within, report& result) {
  using alternative = std::pair<process, int>;
  struct frame {
    std::vector<alternative> steps;
    std::size_t next = 0;
  };
  const auto steps_of = [&run] {
    std::vector<alternative> all;
    for (const process& one : run.enabled())
      for (int choice = 0; choice < run.choices(one); ++choice) all.emplace_back(one, choice);
    return all;
  };
  const auto take = [&run](const alternative& step) { run.take(step.first, step.second); };
  std::unordered_set<std::uint64_t> visited;
  std::vector<frame> path;
  const auto finish = [&] {
    result.found = run.found();
    result.complete = !result.found;
  };

  const auto note_end = [&] {
    ++result.executions;
    note_how_it_ended(run, result);
    if (how.keep_end_states) result.end_states.insert(run.state_hash());
  };

  run.restart();
  if (run.is_over()) {
    if (!run.found()) note_end();
    return finish();
  }
  visited.insert(run.state_hash());
  path.push_back({steps_of()});
  bool is_here = true;  // whether the run stands at the end of the path
  while (!path.empty()) {
    frame& last = path.back();
    if (last.next == last.steps.size()) {
      path.pop_back();
      is_here = false;
      continue;
    }
    if (!is_here) {
      run.restart();
      for (std::size_t i = 0; i + 1 < path.size() && !run.found(); ++i) take(path[i].steps[path[i].next - 1]);
      if (run.found()) return finish();
    }
    take(last.steps[last.next++]);
    ++result.steps;
    is_here = false;
    const bool is_over = run.is_over();
    if (run.found()) return finish();
    if (!visited.insert(run.state_hash()).second) {
      ++result.pruned;
    } else if (is_over) {
      note_end();
      repeat_now_and_then(run, result.executions, [&] { return within.is_late(); });
      if (run.found()) return finish();
    } else {
      path.push_back({steps_of()});
      is_here = true;
      continue;
    }
    if (within.is_spent(result)) return;
  }
  finish();
}

}  // namespace nearfar::checker
