// The three ways to choose schedules.
#pragma once

#include <chrono>
#include <string>

#include "execution.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::checker {

/// Ends a search that has used up its limits.
class budget {
 public:
  explicit budget(const options& how) : how_(&how), start_(std::chrono::steady_clock::now()) {}
  /// To be asked after each execution.
  [[nodiscard]] bool is_spent(const report& so_far) const {
    return is_spent(so_far.executions + so_far.pruned);
  }
  [[nodiscard]] bool is_spent(std::uint64_t all) const {
    if (how_->on_progress && all % 1024 == 0) how_->on_progress(all);
    if (how_->most_executions != 0 && all >= how_->most_executions) return true;
    // An execution takes far longer than a look at the clock, and some take seconds.
    return is_late();
  }
  [[nodiscard]] bool is_late() const {
    return how_->most_time != std::chrono::nanoseconds::max() && elapsed() >= how_->most_time;
  }
  [[nodiscard]] std::chrono::nanoseconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  const options* how_;
  std::chrono::steady_clock::time_point start_;
};

/// Thrown by a search that cannot begin, which is no fault of the program.
struct cannot_start {
  std::string why;
};

/// Notes how a run ended that has come to its end without a fault.
inline void note_how_it_ended(const execution& run, report& result) {
  if (run.is_blocked_by_crash()) ++result.blocked;
  if (run.ends_in_waits()) ++result.waiting;
  if (!run.why_undecided()) return;
  if (result.undecided++ == 0) result.why_undecided = *run.why_undecided();
}

/// Takes the steps of a run that has come to its end again, until `is_late()`: with its results where an
/// operation has a new one, and with other poison. The latter happens thoroughly for the first run of a
/// search, now and then for later ones. A fault that a repeat finds is the run's.
template <typename Late>
void repeat_now_and_then(execution& run, std::uint64_t number, const Late& is_late) {
  constexpr std::uint64_t interval = 32;
  std::size_t times = number % interval == 0 ? 1 : 0;
  if (number == 1) times = execution::different_runs - 1;
  for (std::size_t i = 0; i < times && !run.found() && !is_late(); ++i) run.repeat(fill_with::poison);
  if (run.found() || is_late() || !run.has_new_situations()) return;
  // This repeat notes with what values ranks can go on, and the next one compares.
  if (run.has_new_results()) run.repeat(fill_with::poison);
  if (!run.found() && !is_late()) run.repeat(fill_with::results);
}

void search_exhaustively(execution& run, const program& what, const options& how, const budget& within,
                         report& result);
void search_states(execution& run, const options& how, const budget& within, report& result);
void search_randomly(execution& run, const options& how, const budget& within, report& result);

}  // namespace nearfar::checker
