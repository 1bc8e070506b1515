// Exhaustive search over states, each known by what every rank has observed: slower and simpler than the
// search over traces, and its check.

#include <unordered_set>
#include <vector>

#include "searches.hpp"

namespace nearfar::checker {

void search_states(execution& run, const options& how, const budget& within, report& result) {
  struct frame {
    std::vector<process> enabled;
    std::size_t next = 0;
  };
  std::unordered_set<std::uint64_t> visited;
  std::vector<frame> path;
  const auto finish = [&] {
    result.found = run.found();
    result.complete = !result.found;
  };

  run.restart();
  if (run.is_deadlocked()) run.report_deadlock();
  if (run.found()) return finish();
  if (run.all_ended()) {
    ++result.executions;
    if (how.keep_end_states) result.end_states.insert(run.state_hash());
  }
  visited.insert(run.state_hash());
  path.push_back({run.enabled()});
  bool is_here = true;  // whether the run stands at the end of the path
  while (!path.empty()) {
    frame& last = path.back();
    if (last.next == last.enabled.size()) {
      path.pop_back();
      is_here = false;
      continue;
    }
    if (!is_here) {
      run.restart();
      for (std::size_t i = 0; i + 1 < path.size(); ++i) run.take(path[i].enabled[path[i].next - 1], 0);
    }
    run.take(last.enabled[last.next++], 0);
    ++result.steps;
    is_here = false;
    if (run.found()) return finish();
    if (!visited.insert(run.state_hash()).second) {
      ++result.pruned;
    } else if (run.enabled().empty()) {
      ++result.executions;
      if (run.is_deadlocked()) {
        run.report_deadlock();
        return finish();
      }
      if (how.keep_end_states) result.end_states.insert(run.state_hash());
    } else if (run.events().size() > how.most_steps) {
      run.report_livelock();
      return finish();
    } else {
      path.push_back({run.enabled()});
      is_here = true;
      continue;
    }
    if (within.is_spent(result)) return;
  }
  finish();
}

}  // namespace nearfar::checker
