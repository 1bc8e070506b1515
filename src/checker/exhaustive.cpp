// Exhaustive search over traces: source sets and sleep sets, by repeated execution.

#include <algorithm>
#include <vector>

#include "searches.hpp"

namespace nearfar::checker {

namespace {

template <typename T>
[[nodiscard]] bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// One state on the path that is explored, and what is left to do there.
struct node {
  std::vector<process> enabled;    // with something to try
  std::vector<process> backtrack;  // to be explored from here
  struct sleeper {
    process who;
    footprint next;
  };
  std::vector<sleeper> sleep;  // explored elsewhere already
  process chosen;
  footprint touched;         // by the chosen step
  std::vector<int> choices;  // of the chosen step, to be tried one after the other
  std::size_t tried = 0;

  [[nodiscard]] int choice() const { return choices[tried]; }
  [[nodiscard]] bool sleeps(const process& one) const {
    return std::any_of(sleep.begin(), sleep.end(), [&](const sleeper& other) { return other.who == one; });
  }
};

class search_of_traces {
 public:
  search_of_traces(execution& run, const options& how) : run_(&run), how_(&how) {}

  void go(const budget& within, report& result) {
    do {
      replay_path();
      const bool is_new = extend_path();
      result.steps += run_->events().size();
      if (run_->found()) {
        ++result.executions;
        result.found = run_->found();
        return;
      }
      if (is_new) {
        ++result.executions;
        if (how_->keep_traces) result.traces.insert(run_->trace_hash());
        if (how_->keep_end_states) result.end_states.insert(run_->state_hash());
        repeat_now_and_then(*run_, result.executions);
        result.found = run_->found();
        if (result.found) return;
      } else {
        ++result.pruned;
      }
      if (within.is_spent(result)) return;
    } while (next_alternative());
    result.complete = true;
  }

 private:
  /// Takes the steps of the path; the last one is new.
  void replay_path() {
    run_->restart();
    for (std::size_t i = 0; i < path_.size() && !run_->found(); ++i) {
      if (i + 1 == path_.size())
        take(path_[i]);
      else
        run_->take(path_[i].chosen, path_[i].choice());
    }
  }

  /// A step at the end of the path.
  void take(node& at) {
    prepare(at);
    run_->take(at.chosen, at.choice());
  }

  /// At a node whose chosen step is to be taken for the first time.
  void prepare(node& at) {
    if (!at.choices.empty()) return;
    at.touched = run_->next_footprint(at.chosen);
    at.choices = worth_trying(at.chosen);
    if (how_->reduce == reduction::source_sets) reverse_races_of(at.chosen);
  }

  /// Goes on to the end of an execution. False if it turned out to be one that was explored before.
  bool extend_path() {
    while (!run_->is_over()) {
      node next;
      for (const process& one : run_->enabled())
        if (is_worth_trying(one)) next.enabled.push_back(one);
      if (!path_.empty()) next.sleep = still_asleep(path_.back(), next);
      const process* first = choose(next);
      if (first == nullptr) {
        // The others do not go on here any more, but may where they came earlier.
        if (how_->reduce == reduction::source_sets) {
          for (const process& one : run_->blocked()) reverse_races_of(one);
          for (const process& one : run_->enabled())
            if (!contains(next.enabled, one)) reverse_races_of(one);
        }
        return false;
      }
      next.chosen = *first;
      next.backtrack = how_->reduce == reduction::source_sets ? std::vector{next.chosen} : next.enabled;
      path_.push_back(std::move(next));
      take(path_.back());
    }
    return true;
  }

  /// The choices of an enabled process that no other order of steps shows too. Searched by sleep sets alone,
  /// all are tried, so that the two searches check each other.
  [[nodiscard]] std::vector<int> worth_trying(const process& one) const {
    std::vector<int> result;
    for (int choice = 0; choice < run_->choices(one); ++choice)
      if (how_->reduce != reduction::source_sets || !run_->is_newest_elsewhere(one, choice))
        result.push_back(choice);
    return result;
  }
  [[nodiscard]] bool is_worth_trying(const process& one) const {
    return !run_->is_newest_elsewhere(one, 0) || !worth_trying(one).empty();
  }

  /// The rank that went last, if it can go on: fewer changes make shorter reports. Whoever holds the critical
  /// section gives it up last of all: of the schedules that are one trace, overtaking shows in those in which
  /// the others have come as far as they can. Whoever waits for the past comes after all others, as it may
  /// wait until they can go on no more.
  [[nodiscard]] const process* choose(const node& at) const {
    const process* best = nullptr;
    int most = 0;
    for (const process& one : at.enabled) {
      if (at.sleeps(one)) continue;
      const bool goes_on = !path_.empty() && one.rank == path_.back().chosen.rank;
      const int merit = run_->waits_for_past(one) ? 1 : (run_->leaves(one) ? 2 : 4) + (goes_on ? 1 : 0);
      if (merit > most) best = &one;
      most = std::max(most, merit);
    }
    return best;
  }

  /// What slept before the step of `at`, does not depend on it, and could be taken now.
  [[nodiscard]] static std::vector<node::sleeper> still_asleep(const node& at, const node& now) {
    std::vector<node::sleeper> result;
    for (const node::sleeper& one : at.sleep)
      if (!one.next.conflicts_with(at.touched) && contains(now.enabled, one.who)) result.push_back(one);
    return result;
  }

  /// Moves on to the next step to be tried, from the end of the path back.
  bool next_alternative() {
    while (!path_.empty()) {
      node& last = path_.back();
      if (++last.tried < last.choices.size()) return true;
      last.tried = 0;
      last.choices.clear();
      last.sleep.push_back({last.chosen, last.touched});
      const auto next = std::find_if(last.backtrack.begin(), last.backtrack.end(),
                                     [&](const process& one) { return !last.sleeps(one); });
      if (next != last.backtrack.end()) {
        last.chosen = *next;
        return true;
      }
      path_.pop_back();
    }
    return false;
  }

  /// For each earlier step that the next step of `who` races with, sees to it that the state before is also
  /// left by a step that leads to the opposite order.
  void reverse_races_of(const process& who) {
    const std::vector<event>& events = run_->events();
    const event_set& past = run_->past_of(who);
    const footprint next = run_->next_footprint(who);
    std::vector<std::size_t> conflicts;  // later ones first
    for (std::size_t i = events.size(); i-- > 0;) {
      if (events[i].by == who || past.contains(i) || !events[i].touched.conflicts_with(next)) continue;
      const std::optional<bool> could = run_->could_go_before(who, i);
      if (could) {
        // A wait races with every write before which it could have ended, also where others lie between: a
        // write in between may have disabled it.
        if (*could) reverse(i, who, next, past);
      } else {
        const bool is_direct = std::none_of(conflicts.begin(), conflicts.end(), [&](std::size_t later) {
          return events[later].happens_before.contains(i);
        });
        if (is_direct) reverse(i, who, next, past);
      }
      if (could.value_or(true)) conflicts.push_back(i);
    }
  }

  /// Adds to the node before event `earlier` a process that begins a continuation in which `who`'s step comes
  /// before that event: an initial of the events that do not depend on it, followed by that step.
  void reverse(std::size_t earlier, const process& who, const footprint& next, const event_set& past) {
    const std::vector<event>& events = run_->events();
    node& before = path_[earlier];
    std::vector<std::size_t> others;
    std::vector<process> initials;
    for (std::size_t i = earlier + 1; i < events.size(); ++i) {
      if (events[i].happens_before.contains(earlier)) continue;
      const bool is_initial = std::none_of(others.begin(), others.end(), [&](std::size_t one) {
        return events[i].happens_before.contains(one);
      });
      if (is_initial) initials.push_back(events[i].by);
      others.push_back(i);
    }
    const bool is_initial = std::none_of(others.begin(), others.end(), [&](std::size_t one) {
      return past.contains(one) || events[one].touched.conflicts_with(next);
    });
    if (is_initial) initials.insert(initials.begin(), who);
    for (const process& one : initials)
      if (contains(before.backtrack, one)) return;
    for (const process& one : initials)
      if (contains(before.enabled, one)) {
        before.backtrack.push_back(one);
        return;
      }
    for (const process& one : before.enabled)
      if (!contains(before.backtrack, one)) before.backtrack.push_back(one);
  }

  execution* run_;
  const options* how_;
  std::vector<node> path_;
};

}  // namespace

void search_exhaustively(execution& run, const options& how, const budget& within, report& result) {
  search_of_traces(run, how).go(within, result);
}

}  // namespace nearfar::checker
