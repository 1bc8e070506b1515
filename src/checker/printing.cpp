// Readable texts: faults, blocked ranks and their conditions, the steps of a schedule.

#include <algorithm>

#include "execution.hpp"

namespace nearfar::checker {

std::string_view name(fault what) noexcept {
  switch (what) {
    case fault::exclusion:
      return "exclusion";
    case fault::order:
      return "order";
    case fault::deadlock:
      return "deadlock";
    case fault::livelock:
      return "livelock";
    case fault::bypass:
      return "bypass";
    case fault::incomplete:
      return "incomplete";
    case fault::origin:
      return "origin";
    case fault::poison:
      return "poison";
    case fault::conflict:
      return "conflict";
    case fault::race:
      return "race";
    case fault::torn:
      return "torn";
    case fault::gone:
      return "gone";
    case fault::history:
      return "history";
    case fault::unreached:
      return "unreached";
    case fault::mixed:
      return "mixed";
    case fault::exception:
      return "exception";
  }
  return "?";
}

void execution::report(fault what, std::string text) {
  if (!found_) found_ = violation{what, std::move(text), schedule_};
}

void execution::report_deadlock(const std::string& why) {
  std::string text = "no rank can go on:";
  const bool is_one = std::count_if(ranks_.begin(), ranks_.end(), [this](const rank_state& one) {
                        return !is_done(static_cast<int>(&one - ranks_.data()));
                      }) == 1;
  for (int rank = 0; rank < size(); ++rank)
    if (!is_done(rank))
      text += (is_one ? " rank " : "\n  rank ") + std::to_string(rank) + " " + waiting_text(rank);
  if (!why.empty()) text += "\n" + why;
  report(fault::deadlock, std::move(text));
}

std::string execution::last_waker_text(const std::uint64_t* word) const {
  const auto last = last_wake_up_.find(word);
  if (last == last_wake_up_.end()) return "Nobody has woken sleepers of this word.";
  const auto& [by, step, woken] = last->second;
  std::string whom;
  for (int rank = 0; rank < size(); ++rank)
    if ((woken >> static_cast<unsigned>(rank) & 1U) != 0)
      whom += (whom.empty() ? "rank " : " and rank ") + std::to_string(rank);
  return "Rank " + std::to_string(by) + " woke sleepers of this word last, in step " + std::to_string(step) +
         (whom.empty() ? ", when nobody slept." : ": " + whom + ".");
}

void execution::report_livelock() {
  if (events_.size() <= options_->most_steps)
    return report(fault::livelock, "more than " + std::to_string(program_->most_steps_between_returns) +
                                       " steps in which no operation returns");
  report(fault::livelock,
         "more than " + std::to_string(options_->most_steps) +
             " steps: something repeats without waiting through its world, or repeats a wait with a deadline"
             " without end");
}

std::string execution::word_text(const std::uint64_t* cell) const {
  const engine::word_name known = name_of(cell);
  return known.text + " of rank " + std::to_string(known.rank);
}

std::string execution::waiting_text(int rank) const {
  const rank_state& of = state(rank);
  if (of.at == where::at_barrier) return "waits in a barrier";
  if (of.at == where::in_flush)
    return "waits in a flush of rank " + std::to_string(of.flush_target) +
           ", which does not enter the library";
  return of.next->waiting_text();
}

namespace {

/// "lock/mcs_lock.hpp:72"; empty for a step that no line asks for.
std::string site_text(const std::source_location& at) {
  const site place = site::of(at);
  constexpr std::string_view own = "nearfar/";
  const std::string file = place.file.starts_with(own) ? place.file.substr(own.size()) : place.file;
  return place.line == 0 ? "" : file + ":" + std::to_string(place.line);
}

}  // namespace

void execution::show(std::string operation, const std::uint64_t* cell, int acts_on, touched values,
                     bool writes, int issued_after, const std::source_location& at) {
  shown_step shown;
  shown.taken = schedule_.back();
  shown.operation = std::move(operation);
  shown.acts_on = acts_on;
  shown.issued_after = issued_after;
  shown.site = site_text(at);
  if (cell != nullptr) {
    shown.word = word_text(cell);
    shown.detail = std::to_string(values.read);
    if (values.read != values.before)
      shown.detail += " (stale, " + std::to_string(values.before) + " by now)";
    else if (writes)
      shown.detail = std::to_string(values.before) + " -> " + std::to_string(values.after);
  }
  shown_->push_back(std::move(shown));
}

}  // namespace nearfar::checker
