#include "search.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>

#include "hooks.hpp"

namespace nearfar::program {

namespace {

template <typename T>
[[nodiscard]] bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A rank goes on as long as it can. An operation that no rank waits for comes last: it may stay in flight
/// for ever, and the search finds a hang of this kind only where everything else has come first. An operation
/// that could not reach its target for a while comes at once.
[[nodiscard]] int merit_of(execution& in, const process& one, const process* last) {
  const int kind = one.flight == 0 ? 4 : in.is_overdue(one) ? 6 : in.is_certain(one) ? 2 : 0;
  return kind + (last != nullptr && one.rank == last->rank ? 1 : 0);
}

/// The process that a reader would expect to go on: the one that went last, then ranks before what is in
/// flight.
[[nodiscard]] const process* expected(execution& in, const std::vector<process>& enabled,
                                      const process* last) {
  const process* best = nullptr;
  int most = -1;
  for (const process& one : enabled) {
    const int merit = merit_of(in, one, last);
    if (merit > most) best = &one;
    most = std::max(most, merit);
  }
  return best;
}

/// A process whose next step other branches explore already.
struct sleeper {
  process who;
  footprint next;
};

/// A state on the path from the first one, and the step that leaves it.
struct node {
  std::vector<process> enabled;
  std::vector<process> backtrack;  ///< steps to be explored from here
  std::size_t number = 0;          ///< of the one in exploration
  std::vector<sleeper> sleep;
  process chosen;
  footprint touched;
  int choices = 1;
  int outcome = 0;
  bool is_prepared = false;

  void clear() {
    enabled.clear();
    backtrack.clear();
    number = 0;
    sleep.clear();
    choices = 1;
    outcome = 0;
    is_prepared = false;
  }
  [[nodiscard]] bool sleeps(const process& one) const {
    return std::any_of(sleep.begin(), sleep.end(), [&](const sleeper& other) { return other.who == one; });
  }
};

/// Executions that are repeated with other bytes in memory that nobody has written.
constexpr std::uint64_t compared_executions = 64;

void take_all(execution& what, freedom under, const schedule& how) {
  what.restart(under);
  for (const choice& one : how) {
    if (what.is_over() || !contains(what.enabled(), one.by)) return;
    what.take(one.by, one.outcome < what.choices(one.by) ? one.outcome : 0);
  }
}

/// A fault if the program takes another course where fresh memory has other bytes.
[[nodiscard]] std::optional<fault> compare_fresh_memory(execution& what, freedom under, const schedule& how) {
  std::vector<std::vector<const void*>> before;
  traces_course = true;
  take_all(what, under, how);
  for (int i = 0; i < what.ranks(); ++i) before.push_back(what.at_rank(i).course);
  heap::fresh_byte = 0x5a;
  take_all(what, under, how);
  heap::fresh_byte = 0;
  traces_course = false;
  for (int i = 0; i < what.ranks(); ++i) {
    const auto& a = before[static_cast<std::size_t>(i)];
    const auto& b = what.at_rank(i).course;
    if (a == b) continue;
    fault found{.kind = "uninitialised",
                .text = "what the program does depends on memory that nobody has written",
                .places = {},
                .rule = {}};
    auto at =
        static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    while (at > 0 && a[at - 1] == nullptr) --at;
    site where;
    if (at > 0) where.pcs[0] = a[at - 1];
    found.places.push_back({.rank = i, .what = "goes on in another way after this access", .where = where});
    return found;
  }
  return std::nullopt;
}

class search_of_traces {
 public:
  search_of_traces(execution& what, freedom under, const limits& within)
      : run_(&what), under_(under), within_(&within) {}

  void go(result& to) {
    explore_all(to);
    if (!to.found) return;
    if (to.found_in == 0) to.found_in = to.executions;
  }

 private:
  /// Without another fault, the first leak counts.
  void take_leak(result& to) {
    if (!leaked_) return;
    to.found = leaked_;
    to.how = leaking_;
    to.found_in = leaked_in_;
  }
  [[nodiscard]] schedule taken() const {
    schedule result;
    for (std::size_t i = 0; i < depth_; ++i) result.push_back({path_[i].chosen, path_[i].outcome});
    return result;
  }

  void explore_all(result& to) {
    do {
      run_->restart(under_);
      const bool is_new = explore();
      to.steps += run_->size();
      if (run_->found()) {
        ++to.executions;
        to.found = run_->found();
        to.how = taken();
        return;
      }
      ++(is_new ? to.executions : to.pruned);
      if (run_->leaked() && !leaked_) {
        leaked_ = run_->leaked();
        leaking_ = taken();
        leaked_in_ = to.executions;
      }
      if (is_new && to.executions <= compared_executions) {
        to.found = compare_fresh_memory(*run_, under_, taken());
        if (to.found) {
          to.how = taken();
          return;
        }
      }
      const bool is_spent = (within_->executions != 0 && to.executions + to.pruned >= within_->executions) ||
                            (within_->seconds != 0 && watch_.seconds() >= within_->seconds);
      if (is_spent) return take_leak(to);
    } while (go_back());
    to.is_complete = true;
    take_leak(to);
  }

  /// Takes the steps of the path, then new ones to the end. False if the end was seen before.
  bool explore() {
    for (std::size_t i = 0; i < depth_ && !run_->found(); ++i) {
      if (i + 1 == depth_) prepare(path_[i]);
      run_->take(path_[i].chosen, path_[i].outcome);
    }
    while (!run_->is_over()) {
      node& next = push();
      next.enabled = run_->enabled();
      if (depth_ > 1) put_to_sleep(path_[depth_ - 2], next);
      const process* const first = choose(next);
      if (first == nullptr) {
        for (const process& one : next.enabled) reverse_races_of(one, depth_ - 1);
        for (const process& one : run_->blocked()) reverse_races_of(one, depth_ - 1);
        --depth_;
        return false;
      }
      next.chosen = *first;
      next.backtrack.push_back(*first);
      prepare(next);
      run_->take(next.chosen, next.outcome);
    }
    if (!run_->found())
      for (const process& one : run_->blocked()) reverse_races_of(one, depth_);
    return true;
  }

  node& push() {
    if (depth_ == path_.size()) path_.emplace_back();
    node& next = path_[depth_++];
    next.clear();
    return next;
  }

  /// Those that slept before the step, unless it woke them, and those that were explored before it.
  void put_to_sleep(const node& before, node& now) {
    for (const sleeper& one : before.sleep)
      if (!one.next.conflicts_with(before.touched) && contains(now.enabled, one.who))
        now.sleep.push_back(one);
  }

  /// Prepares the step that is about to be taken for the first time.
  void prepare(node& at) {
    if (at.is_prepared) return;
    at.is_prepared = true;
    at.touched = run_->next_footprint(at.chosen);
    at.choices = run_->choices(at.chosen);
    at.outcome = 0;
    reverse_races_of(at.chosen, depth_ - 1);
  }

  /// The next branch of the deepest node that has one.
  bool go_back() {
    for (; depth_ > 0; --depth_) {
      node& last = path_[depth_ - 1];
      if (++last.outcome < last.choices) return true;
      // Later branches need not begin with this step, until something wakes it.
      last.sleep.push_back({last.chosen, last.touched});
      while (++last.number < last.backtrack.size()) {
        if (last.sleeps(last.backtrack[last.number])) continue;
        last.chosen = last.backtrack[last.number];
        last.is_prepared = false;
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] const process* choose(const node& at) const {
    const process* const last = depth_ > 1 ? &path_[depth_ - 2].chosen : nullptr;
    const process* best = nullptr;
    int most = -1;
    for (const process& one : at.enabled) {
      if (at.sleeps(one)) continue;
      const int merit = merit_of(*run_, one, last);
      if (merit > most) best = &one;
      most = std::max(most, merit);
    }
    return best;
  }

  /// For each of the first `end` steps that the next step of `who` races with: makes sure that the state
  /// before it is also left by a step that leads to the opposite order.
  void reverse_races_of(const process& who, std::size_t end) {
    const footprint next = run_->next_footprint(who);
    if (next.is_empty()) return;
    const event_set& past = run_->past_of(who);
    const int last = run_->last_event_of(who);
    conflicts_.clear();
    past.for_each_absent(std::min(end, run_->size()), [&](std::size_t i) {
      const event& earlier = run_->at(i);
      if (earlier.by == who || !earlier.touched.conflicts_with(next)) return;
      if (static_cast<int>(i) > last) {
        // Its step was the same before the earlier one, so it is known whether it could be taken there.
        if (!contains(path_[i].enabled, who)) return;
      } else if (std::any_of(conflicts_.begin(), conflicts_.end(),
                             [&](std::size_t later) { return run_->at(later).before.contains(i); })) {
        conflicts_.push_back(i);  // which a later conflict precedes
        return;
      }
      reverse(i, who, next, past);
      conflicts_.push_back(i);
    });
  }

  /// Adds a process to the node before event `earlier` that begins a continuation in which the step of `who`
  /// precedes that event: an initial of the events that do not depend on it, followed by that step.
  void reverse(std::size_t earlier, const process& who, const footprint& next, const event_set& past) {
    others_.clear();
    initials_.clear();
    for (std::size_t i = earlier + 1; i < run_->size(); ++i) {
      const event& one = run_->at(i);
      if (one.before.contains(earlier)) continue;
      const bool is_initial = std::none_of(others_.begin(), others_.end(),
                                           [&](std::size_t other) { return one.before.contains(other); });
      if (is_initial && !contains(initials_, one.by)) initials_.push_back(one.by);
      others_.push_back(i);
    }
    const bool is_initial = std::none_of(others_.begin(), others_.end(), [&](std::size_t one) {
      return past.contains(one) || run_->at(one).touched.conflicts_with(next);
    });
    if (is_initial) initials_.insert(initials_.begin(), who);
    node& before = path_[earlier];
    for (const process& one : initials_)
      if (contains(before.backtrack, one)) return;
    for (const process& one : initials_)
      if (contains(before.enabled, one)) return before.backtrack.push_back(one);
    for (const process& one : before.enabled)
      if (!contains(before.backtrack, one)) before.backtrack.push_back(one);
  }

  execution* run_;
  freedom under_;
  const limits* within_;
  stopwatch watch_;
  std::optional<fault> leaked_;
  schedule leaking_;
  std::uint64_t leaked_in_ = 0;
  std::vector<node> path_;
  std::size_t depth_ = 0;
  std::vector<std::size_t> conflicts_;
  std::vector<std::size_t> others_;
  std::vector<process> initials_;
};

/// Goes on to the end as `run_once` does.
void go_on(execution& what, schedule& how) {
  std::optional<process> last;
  if (!how.empty()) last = how.back().by;
  while (!what.is_over()) {
    const process next = *expected(what, what.enabled(), last ? &*last : nullptr);
    how.push_back({next, 0});
    what.take(next, 0);
    last = next;
  }
}

}  // namespace

result run_once(execution& what, freedom under) {
  result to;
  to.executions = 1;
  to.under = under;
  what.restart(under);
  go_on(what, to.how);
  to.steps = what.size();
  to.found = what.found_or_leaked();
  to.found_in = 1;
  return to;
}

result search_exhaustively(execution& what, freedom under, const limits& within) {
  const stopwatch watch;
  result to;
  to.under = under;
  what.keep_dependence(true);
  search_of_traces(what, under, within).go(to);
  what.keep_dependence(false);
  to.seconds = watch.seconds();
  return to;
}

result search_at_random(execution& what, freedom under, const limits& within, std::uint64_t seed) {
  const stopwatch watch;
  std::mt19937_64 random(seed);
  result to;
  to.under = under;
  for (;;) {
    to.how.clear();
    what.restart(under);
    while (!what.is_over()) {
      const std::vector<process>& enabled = what.enabled();
      const process next = enabled[random() % enabled.size()];
      const int outcome = static_cast<int>(random() % static_cast<std::uint64_t>(what.choices(next)));
      to.how.push_back({next, outcome});
      what.take(next, outcome);
    }
    ++to.executions;
    to.steps += what.size();
    to.seconds = watch.seconds();
    to.found = what.found_or_leaked();
    to.found_in = to.executions;
    if (to.found) return to;
    if ((within.executions != 0 && to.executions >= within.executions) ||
        (within.seconds != 0 && to.seconds >= within.seconds))
      return to;
  }
}

result replay(execution& what, freedom under, const schedule& how) {
  result to;
  to.executions = 1;
  to.under = under;
  what.restart(under);
  for (const choice& one : how) {
    if (what.is_over()) break;
    if (!contains(what.enabled(), one.by))
      throw std::runtime_error("the schedule does not fit the program: step " +
                               std::to_string(to.how.size() + 1) + " of rank " + std::to_string(one.by.rank) +
                               " is not possible; was the program compiled anew?");
    to.how.push_back(one);
    what.take(one.by, one.outcome < what.choices(one.by) ? one.outcome : 0);
  }
  go_on(what, to.how);
  to.steps = what.size();
  to.found = what.found_or_leaked();
  to.found_in = 1;
  return to;
}

namespace {

[[nodiscard]] std::size_t changes_in(const schedule& one) {
  std::size_t n = 0;
  for (std::size_t i = 1; i < one.size(); ++i)
    if (one[i].by.rank != one[i - 1].by.rank) ++n;
  return n;
}

/// The schedule as far as it is possible, then to the end; empty if it leads to another kind of fault.
[[nodiscard]] schedule attempt(execution& what, const result& found, const schedule& wish) {
  schedule taken;
  what.restart(found.under);
  for (const choice& one : wish) {
    if (what.is_over()) break;
    if (!contains(what.enabled(), one.by)) continue;
    const int outcome = one.outcome < what.choices(one.by) ? one.outcome : 0;
    taken.push_back({one.by, outcome});
    what.take(one.by, outcome);
  }
  go_on(what, taken);
  const std::optional<fault>& now = what.found_or_leaked();
  const bool is_same = now && now->kind == found.found->kind && now->outcome == found.found->outcome;
  return is_same ? taken : schedule{};
}

}  // namespace

schedule shorten(execution& what, const result& found) {
  schedule best = found.how;
  // Moves the steps of a rank after those that follow, where a rank is interrupted.
  for (int round = 0; round < 8; ++round) {
    bool is_better = false;
    for (std::size_t i = 1; i < best.size(); ++i) {
      if (best[i].by.rank == best[i - 1].by.rank) continue;
      schedule wish = best;
      // The rank of the step before goes on first.
      const auto later = std::find_if(wish.begin() + static_cast<std::ptrdiff_t>(i), wish.end(),
                                      [&](const choice& one) { return one.by.rank == best[i - 1].by.rank; });
      if (later == wish.end()) continue;
      std::rotate(wish.begin() + static_cast<std::ptrdiff_t>(i), later, later + 1);
      schedule taken = attempt(what, found, wish);
      if (taken.empty() || taken.size() > best.size()) continue;
      if (changes_in(taken) < changes_in(best) || taken.size() < best.size()) {
        best = std::move(taken);
        is_better = true;
      }
    }
    if (!is_better) break;
  }
  return best;
}

}  // namespace nearfar::program
