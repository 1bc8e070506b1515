// Exhaustive search over traces: source sets and sleep sets, by repeated execution, on several processors if
// the options ask for them. Each worker has an execution and a path of its own. Workers share the nodes of
// paths, and an idle worker takes a branch from the path of another. Branches of a node are ordered: each
// branch sleeps on those before it, whichever worker explores them and when.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "searches.hpp"

namespace nearfar::checker {

namespace {

template <typename T>
[[nodiscard]] bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Tells which ranks the program treats alike.
class symmetry {
 public:
  symmetry(const execution& run, const program& of, const options& how)
      : set_of_(static_cast<std::size_t>(run.size()), none) {
    if (!how.use_symmetry || how.reduce != reduction::source_sets) return;
    for (std::size_t set = 0; set < of.alike.size(); ++set)
      for (const int rank : of.alike[set])
        // Crashing ranks are alike, and so are the others.
        set_of_.at(static_cast<std::size_t>(rank)) =
            static_cast<int>(2 * set) + (contains(run.victims(), rank) ? 1 : 0);
  }

  /// The pairs of ranks that can change places now without a change of the steps so far.
  [[nodiscard]] std::vector<std::pair<int, int>> exchanges_in(const execution& run) const {
    std::vector<std::pair<int, int>> result;
    for (std::size_t a = 0; a < set_of_.size(); ++a)
      for (std::size_t b = a + 1; b < set_of_.size() && set_of_[a] != none; ++b)
        if (set_of_[a] == set_of_[b] && run.may_be_exchanged(static_cast<int>(a), static_cast<int>(b)))
          result.emplace_back(static_cast<int>(a), static_cast<int>(b));
    return result;
  }

 private:
  static constexpr int none = -1;
  std::vector<int> set_of_;
};

/// A state to explore. Several processors may take branches of it.
struct node {
  std::vector<process> enabled;                // processes with a choice worth trying
  std::vector<process> backtrack;              // to be explored from here
  std::size_t taken = 0;                       // the number of these that workers have taken
  std::vector<std::pair<int, int>> exchanges;  // ranks that may change places here
  struct sleeper {
    process who;
    footprint next;
  };
  std::vector<sleeper> sleep;  // processes that other branches explore already

  [[nodiscard]] bool sleeps(const process& one) const {
    return std::any_of(sleep.begin(), sleep.end(), [&](const sleeper& other) { return other.who == one; });
  }
  /// The next process to explore, if any is left.
  [[nodiscard]] std::optional<std::size_t> take_next() {
    while (taken < backtrack.size())
      if (const std::size_t next = taken++; !sleeps(backtrack[next]) && !is_image(next)) return next;
    return std::nullopt;
  }
  /// Whether the continuations after `a` are those after `b` under other names.
  [[nodiscard]] bool are_images(const process& a, const process& b) const {
    // Ranks that have done the same have issued equally many operations, so the numbers of these are the
    // same.
    if (a.delivery != b.delivery || a.is_crash()) return false;
    return contains(exchanges, std::pair(std::min(a.rank, b.rank), std::max(a.rank, b.rank)));
  }

 private:
  /// Whether the branch is an image of an earlier one.
  [[nodiscard]] bool is_image(std::size_t number) const {
    const auto end = backtrack.begin() + static_cast<std::ptrdiff_t>(number);
    return std::any_of(backtrack.begin(), end, [&](const process& one) {
      return !sleeps(one) && are_images(one, backtrack[number]);
    });
  }
};

/// A branch from a node, on the path from the first state to the current one.
struct branch {
  std::shared_ptr<node> from;
  std::size_t number = 0;  // index in `backtrack` of the node
  process chosen{};
  footprint touched{};                 // words of the chosen step
  std::vector<node::sleeper> sleep{};  // sleepers of the node, and the branches before this one
  std::vector<int> choices{};          // of the chosen step, tried one after the other
  std::size_t tried = 0;
  bool is_prepared = false;
  bool is_mine = true;  // the remaining choices are mine, too

  [[nodiscard]] int choice() const { return choices[tried]; }
  [[nodiscard]] bool sleeps(const process& one) const {
    return std::any_of(sleep.begin(), sleep.end(),
                       [&](const node::sleeper& other) { return other.who == one; });
  }
};

using branches = std::vector<branch>;

/// State that the workers of a search share.
class shared_search {
 public:
  /// `explored` is the number of paths that earlier searches have explored.
  shared_search(std::size_t workers, symmetry names, const budget& within, std::uint64_t explored)
      : names_(std::move(names)), within_(&within), paths_(workers), explored_(explored) {}

  [[nodiscard]] const symmetry& names() const noexcept { return names_; }

  /// Guards nodes and paths.
  [[nodiscard]] std::unique_lock<std::mutex> lock() {
    return paths_.size() > 1 ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  [[nodiscard]] branches& path_of(std::size_t worker) { return paths_[worker]; }

  /// Announces work in a node that may be on the paths of others. The caller holds the lock.
  void tell() {
    if (idle_ > 0) more_.notify_all();
  }

  /// Makes the worker's path lead to a branch that no worker has explored. Returns false once no branch is
  /// left anywhere. `lock` holds the lock.
  [[nodiscard]] bool find_work(std::size_t worker, std::unique_lock<std::mutex>& lock) {
    for (;;) {
      if (is_stopped_) return false;
      if (go_back(paths_[worker])) return true;
      paths_[worker].clear();
      if (paths_.size() > 1 && steal(worker)) return true;
      if (++idle_ == paths_.size()) {
        is_stopped_ = true;
        more_.notify_all();
        return false;
      }
      more_.wait(lock);
      --idle_;
    }
  }

  void stop() {
    const auto held = lock();
    is_stopped_ = true;
    more_.notify_all();
  }
  [[nodiscard]] bool is_late() const { return within_->is_late(); }
  /// Counts a path that has been explored to its end. Returns whether the search has to end here.
  [[nodiscard]] bool is_spent() {
    const auto held = lock();
    return within_->is_spent(++explored_);
  }

 private:
  /// Goes back from the end of the path to the next branch.
  static bool go_back(branches& path) {
    while (!path.empty()) {
      branch& last = path.back();
      if (last.is_mine && last.is_prepared && ++last.tried < last.choices.size()) return true;
      if (const auto next = last.from->take_next()) {
        last = {.from = last.from, .number = *next, .chosen = last.from->backtrack[*next]};
        return true;
      }
      path.pop_back();
    }
    return false;
  }

  /// Takes the first open branch on the path of another worker: an early branch most likely has the most left
  /// to explore.
  bool steal(std::size_t worker) {
    for (const branches& other : paths_)
      for (std::size_t i = 0; i < other.size(); ++i) {
        const auto next = other[i].from->take_next();
        if (!next) continue;
        branches& mine = paths_[worker];
        mine.assign(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        for (branch& one : mine) one.is_mine = false;
        mine.back() = {
            .from = mine.back().from, .number = *next, .chosen = mine.back().from->backtrack[*next]};
        return true;
      }
    return false;
  }

  symmetry names_;
  const budget* within_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<branches> paths_;
  std::size_t idle_ = 0;
  bool is_stopped_ = false;
  std::uint64_t explored_;
};

/// Thrown in the middle of an execution once the search is to end.
struct out_of_time {};

class search_of_traces {
 public:
  search_of_traces(execution& run, const options& how, shared_search& shared, std::size_t worker)
      : run_(&run), how_(&how), shared_(&shared), worker_(worker), path_(&shared.path_of(worker)) {}

  /// The first worker begins at the first state, others at any open branch.
  void go(report& result) {
    if (worker_ == 0) explore(result);
    while (has_work()) explore(result);
  }

 private:
  [[nodiscard]] bool has_work() {
    auto held = shared_->lock();
    return shared_->find_work(worker_, held);
  }

  void explore(report& result) {
    bool is_new = false;
    try {
      replay_path();
      is_new = extend_path();
    } catch (const out_of_time&) {
      is_cut_short_ = true;
      return shared_->stop();
    } catch (...) {
      run_->report_thrown("what ranks wait by");
    }
    result.steps += run_->events().size();
    if (is_new && !run_->found()) note_end(result);
    if (run_->found()) {
      ++result.executions;
      result.found = run_->found();
    } else if (is_new) {
      ++result.executions;
      repeat_now_and_then(*run_, result.executions, [&] { return shared_->is_late(); });
      result.found = run_->found();
    } else {
      ++result.pruned;
    }
    if (result.found) return shared_->stop();
    if (shared_->is_spent()) {
      is_cut_short_ = true;
      shared_->stop();
    }
  }

  void note_end(report& result) {
    note_how_it_ended(*run_, result);
    if (how_->keep_traces) result.traces.insert(run_->trace_hash());
    if (how_->keep_end_states) result.end_states.insert(run_->state_hash());
  }

  /// Takes the steps of the path; the last one is new.
  void replay_path() {
    run_->restart();
    for (std::size_t i = 0; i < path_->size() && !run_->found(); ++i) {
      if (i + 1 == path_->size())
        take((*path_)[i]);
      else
        run_->take((*path_)[i].chosen, (*path_)[i].choice());
    }
  }

  /// Takes the step at the end of the path. Executions may be long, and races are looked for at each step.
  void take(branch& at) {
    if (shared_->is_late()) throw out_of_time();
    // The rank may wait for a value that depends on a result that is not complete, and is different in this
    // run.
    if (!at.is_prepared && !run_->is_enabled(at.chosen)) return run_->report_difference();
    prepare(at);
    if (at.choices.empty()) return run_->report_difference();
    run_->take(at.chosen, at.choice());
  }

  /// Prepares a branch whose step is about to be taken for the first time.
  void prepare(branch& at) {
    if (at.is_prepared) return;
    branch prepared = at;
    prepared.touched = run_->next_footprint(at.chosen);
    prepared.choices = worth_trying(at.chosen);
    prepared.sleep = at.from->sleep;
    for (std::size_t i = 0; i < at.number; ++i) {
      const process before = backtrack_of(at, i);
      if (at.from->sleeps(before)) continue;
      for (const process& one : at.from->enabled)
        if ((one == before || at.from->are_images(before, one)) && !prepared.sleeps(one))
          prepared.sleep.push_back({one, run_->next_footprint(one)});
    }
    prepared.is_prepared = true;
    {
      const auto held = shared_->lock();
      at = std::move(prepared);
    }
    if (how_->reduce == reduction::source_sets) reverse_races_of(at.chosen);
  }
  [[nodiscard]] process backtrack_of(const branch& at, std::size_t number) const {
    const auto held = shared_->lock();
    return at.from->backtrack[number];
  }

  /// Goes on to the end of an execution. False if the execution turned out to be one that was explored
  /// before.
  bool extend_path() {
    while (!run_->is_over()) {
      auto next = std::make_shared<node>();
      for (const process& one : run_->enabled())
        if (is_worth_trying(one)) next->enabled.push_back(one);
      next->exchanges = shared_->names().exchanges_in(*run_);
      if (!path_->empty()) next->sleep = still_asleep(path_->back(), *next);
      put_images_to_sleep(*next);
      const process* first = choose(*next);
      if (first == nullptr) {
        // The other processes do not go on here any more, but their steps may have come earlier in another
        // order.
        if (how_->reduce == reduction::source_sets) {
          for (const process& one : run_->blocked()) reverse_races_of(one);
          for (const process& one : run_->enabled())
            if (!contains(next->enabled, one)) reverse_races_of(one);
        }
        return false;
      }
      const process chosen = *first;
      const bool is_enough = how_->reduce == reduction::source_sets && !run_->may_be_prevented(chosen);
      next->backtrack = is_enough ? std::vector{chosen} : in_order(*next, chosen);
      next->taken = 1;
      push({.from = std::move(next), .chosen = chosen});
      take(path_->back());
    }
    // A rank that waits for ever may go on where its step comes earlier. So may the operations that a crashed
    // rank was to carry out.
    if (!run_->found() && how_->reduce == reduction::source_sets)
      for (const process& one : run_->blocked()) reverse_races_of(one);
    return true;
  }

  /// The continuations of a sleeper's image are explored with the sleeper, so the image sleeps, too.
  void put_images_to_sleep(node& at) const {
    for (std::size_t i = 0; i < at.sleep.size(); ++i)
      for (const process& one : at.enabled)
        if (at.are_images(at.sleep[i].who, one) && !at.sleeps(one))
          at.sleep.push_back({one, run_->next_footprint(one)});
  }

  void push(branch next) {
    const auto held = shared_->lock();
    if (next.from->backtrack.size() > 1) shared_->tell();
    path_->push_back(std::move(next));
  }

  /// All enabled processes, the chosen one first.
  [[nodiscard]] static std::vector<process> in_order(const node& at, const process& chosen) {
    std::vector<process> all = at.enabled;
    std::stable_partition(all.begin(), all.end(), [&](const process& one) { return one == chosen; });
    return all;
  }

  /// The choices of an enabled process that no other order of steps shows. A search by sleep sets alone tries
  /// all choices, so that the two searches check each other.
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

  /// The rank that went last, if it can go on: fewer changes make shorter reports. The holder of the critical
  /// section gives it up last: of the schedules of one trace, overtaking shows in those where the other ranks
  /// have come as far as they can. A process that waits for an old value comes after all others, as it may
  /// wait until the others can go on no more.
  [[nodiscard]] const process* choose(const node& at) const {
    const process* best = nullptr;
    int most = 0;
    for (const process& one : at.enabled) {
      if (at.sleeps(one)) continue;
      const bool goes_on = !path_->empty() && one.rank == path_->back().chosen.rank;
      const int merit = run_->is_last_resort(one) ? 1 : (run_->leaves(one) ? 2 : 4) + (goes_on ? 1 : 0);
      if (merit > most) best = &one;
      most = std::max(most, merit);
    }
    return best;
  }

  /// The sleepers before the step of `at` that do not depend on it and can be taken now.
  [[nodiscard]] static std::vector<node::sleeper> still_asleep(const branch& at, const node& now) {
    std::vector<node::sleeper> result;
    for (const node::sleeper& one : at.sleep)
      if (!one.next.conflicts_with(at.touched) && contains(now.enabled, one.who)) result.push_back(one);
    return result;
  }

  /// For each earlier step that the next step of `who` races with: makes sure that the state before is also
  /// left by a step that leads to the opposite order.
  void reverse_races_of(const process& who) {
    if (shared_->is_late()) throw out_of_time();
    const std::vector<event>& events = run_->events();
    const event_set& past = run_->past_of(who);
    const footprint next = run_->next_footprint(who);
    std::vector<std::size_t> conflicts;  // later ones first
    past.for_each_absent(events.size(), [&](std::size_t i) {
      if (events[i].by == who || !events[i].touched.conflicts_with(next)) return;
      const std::optional<bool> could = run_->could_go_before(who, i);
      if (could) {
        // A wait races with every write before which it could have ended, even where other writes lie
        // between: a write in between may have disabled it.
        if (*could) reverse(i, who, next, past);
      } else {
        const bool is_direct = std::none_of(conflicts.begin(), conflicts.end(), [&](std::size_t later) {
          return events[later].happens_before.contains(i);
        });
        if (is_direct) reverse(i, who, next, past);
      }
      if (could.value_or(true)) conflicts.push_back(i);
    });
  }

  /// Adds a process to the node before event `earlier`. The process begins a continuation in which `who`'s
  /// step precedes that event: an initial of the events that do not depend on it, followed by that step.
  void reverse(std::size_t earlier, const process& who, const footprint& next, const event_set& past) {
    const std::vector<event>& events = run_->events();
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
    const auto held = shared_->lock();
    node& before = *(*path_)[earlier].from;
    for (const process& one : initials)
      if (contains(before.backtrack, one)) return;
    for (const process& one : initials)
      if (contains(before.enabled, one)) {
        before.backtrack.push_back(one);
        return shared_->tell();
      }
    for (const process& one : before.enabled)
      if (!contains(before.backtrack, one)) before.backtrack.push_back(one);
    shared_->tell();
  }

 public:
  [[nodiscard]] bool is_cut_short() const noexcept { return is_cut_short_; }

 private:
  execution* run_;
  const options* how_;
  shared_search* shared_;
  std::size_t worker_;
  branches* path_;
  bool is_cut_short_ = false;
};

/// Adds the findings of one worker to the total.
void add(report& to, report&& one) {
  to.executions += one.executions;
  to.pruned += one.pruned;
  to.steps += one.steps;
  to.blocked += one.blocked;
  to.waiting += one.waiting;
  if (to.undecided == 0) to.why_undecided = std::move(one.why_undecided);
  to.undecided += one.undecided;
  to.traces.merge(one.traces);
  to.end_states.merge(one.end_states);
  to.reached.merge(one.reached);
  if (!to.found) to.found = std::move(one.found);
}

}  // namespace

void search_exhaustively(execution& run, const program& what, const options& how, const budget& within,
                         report& result) {
  const auto workers = static_cast<std::size_t>(std::max(how.jobs, 1));
  shared_search shared(workers, symmetry(run, what, how), within, result.executions + result.pruned);
  std::vector<report> found(workers);
  std::atomic<bool> is_cut_short = false;
  const auto work = [&](std::size_t worker, execution& own) {
    search_of_traces search(own, how, shared, worker);
    search.go(found[worker]);
    if (search.is_cut_short()) is_cut_short = true;
  };
  // A worker that cannot go on stops the others, and the caller gets its exception.
  std::vector<std::exception_ptr> thrown(workers);
  const auto guarded = [&](std::size_t worker, const auto& task) noexcept {
    try {
      task();
    } catch (...) {
      thrown[worker] = std::current_exception();
      shared.stop();
    }
  };
  const auto work_beside = [&](std::size_t worker) {
    engine::stack_pool stacks;
    execution own(what, how, stacks);
    own.let_crash(run.victims());
    work(worker, own);
    found[worker].reached = own.reached();
  };
  std::vector<std::thread> others;
  guarded(0, [&] {
    try {
      for (std::size_t worker = 1; worker < workers; ++worker)
        others.emplace_back([&, worker] { guarded(worker, [&] { work_beside(worker); }); });
    } catch (const std::system_error& problem) {
      throw cannot_start{"cannot start " + std::to_string(workers - 1) +
                         (workers == 2 ? " thread (" : " threads (") + problem.code().message() +
                         "): use fewer jobs"};
    }
    work(0, run);
  });
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
  for (report& one : found) add(result, std::move(one));
  result.complete = !result.found && !is_cut_short;
}

}  // namespace nearfar::checker
