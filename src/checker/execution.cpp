#include "execution.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "names.hpp"
#include "words.hpp"

namespace nearfar::checker {

execution::execution(const program& what, const options& how, engine::stack_pool& stacks)
    : substrate(what.where, what.bytes, stacks),
      program_(&what),
      options_(&how),
      ranks_(static_cast<std::size_t>(what.where.size())),
      words_(*this, how, *this),
      section_(*this, what),
      requests_(*this),
      mutator_(*this, requests_, how.broken),
      is_victim_(ranks_.size()),
      has_crashed_(ranks_.size()) {}

void execution::let_crash(const std::vector<int>& victims) {
  victims_ = victims;
  is_victim_.assign(is_victim_.size(), 0);
  for (const int rank : victims) is_victim_[static_cast<std::size_t>(rank)] = 1;
}

void execution::restart(fill_with what) {
  abandon();
  filling_ = what;
  if (what == fill_with::poison) ++runs_with_poison_;
  results_before_.clear();
  if (what == fill_with::results)
    for (const result& one : results_) results_before_[{one.rank, one.number}] = one.value;
  results_.clear();
  if (shown_ != nullptr) shown_->clear();
  schedule_before_.swap(schedule_);
  asked_before_.swap(asked_);
  asked_.clear();
  could_go_on_before_.swap(could_go_on_);
  could_go_on_.clear();
  asked_so_far_ = 0;
  is_as_before_ = true;
  has_poison_ = false;
  words_.clear();
  section_.clear();
  mutator_.clear();
  events_.clear();
  schedule_.clear();
  found_.reset();
  why_undecided_.reset();
  history_ = {};
  last_wake_up_.clear();
  last_return_ = 0;
  open_operations_ = 0;
  has_crashed_.assign(has_crashed_.size(), 0);
  has_crash_ = is_blocked_by_crash_ = ends_in_waits_ = false;
  ranks_.assign(ranks_.size(), {});
  ended_ = at_barrier_ = 0;
  start([this](engine::world& w) { program_->body(w, *this); });
  const engine::current_substrate scope(*this);
  for (int rank = 0; rank < size(); ++rank) run_on(rank);
  is_collected_ = false;
  note_blocked();
  compare_with_run_before();
}

void execution::forget_runs() {
  asked_.clear();
  could_go_on_.clear();
  results_.clear();
  runs_with_poison_ = 0;
}

void execution::repeat(fill_with what) {
  if (what == fill_with::results)
    for (const result& one : results_)
      repeated_results_.insert({hash_of(one), mixed(hash_of(one), one.observed)});
  const std::vector<step> again = schedule_;
  note_waits(true);
  restart(what);
  for (std::size_t i = 0; i < again.size() && !found_; ++i)
    take({again[i].rank, again[i].delivery}, again[i].choice);
  note_waits(false);
  if (found_) found_->schedule = again;
}

std::uint64_t execution::poison() const {
  // Poison that looks like a flag, a rank or "nobody" may hide a fault or show one.
  static constexpr std::array<std::uint64_t, different_runs> all{default_poison, 0, 1, ~std::uint64_t{0}};
  return options_->poison.value_or(all[(runs_with_poison_ - 1) % all.size()]);
}

std::uint64_t execution::filling(int number) const {
  const auto known = results_before_.find({running(), number});
  return known != results_before_.end() ? known->second : poison();
}

std::uint64_t execution::hash_of(const result& one) {
  const auto number = static_cast<std::uint64_t>(one.number);
  return mixed(mixed(one.place, static_cast<std::uint64_t>(one.rank) << 32 | number), one.value);
}

bool execution::has_new_results() const {
  return !options_->poison && std::ranges::any_of(results_, [this](const result& one) {
    return !repeated_results_.contains(hash_of(one));
  });
}

bool execution::has_new_situations() const {
  return !options_->poison && std::ranges::any_of(results_, [this](const result& one) {
    return !repeated_results_.contains(mixed(hash_of(one), one.observed));
  });
}

void execution::compare_with_run_before() {
  asked_.push_back(asked_so_far_);
  const std::size_t taken = schedule_.size();
  is_as_before_ = is_as_before_ && taken < asked_before_.size() &&
                  (taken == 0 || schedule_.back() == schedule_before_[taken - 1]);
  if (is_as_before_ && asked_so_far_ != asked_before_[taken]) report_difference();
  if (notes_waits_) compare_waits();
}

void execution::compare_waits() {
  std::uint64_t hash = 0;
  for (int rank = 0; rank < size(); ++rank) {
    rank_state& of = state(rank);
    if (of.at != where::at_step || of.next == nullptr || !of.next->waits()) continue;
    hash = mixed(hash, static_cast<std::uint64_t>(can_go_on(rank) ? 1 + choices({rank, 0}) : 0));
    // In another order the rank may wait while the word has an earlier value. The answers for earlier events
    // stay while the rank waits.
    const footprint touches = next_footprint({rank, 0});
    for (; of.asked_events < events_.size(); ++of.asked_events)
      if (const std::optional<bool> could = could_go_before({rank, 0}, touches, of.asked_events))
        of.could_go_on = mixed(of.could_go_on, *could ? 2 : 1);
    hash = mixed(hash, of.could_go_on);
  }
  could_go_on_.push_back(hash);
  const std::size_t taken = schedule_.size();
  if (is_as_before_ && taken < could_go_on_before_.size() && hash != could_go_on_before_[taken])
    report_difference();
}

void execution::report_difference() {
  const std::string text = "after the same steps ranks ask for something else than in another run: ";
  if (has_poison_ && !options_->poison)
    report(fault::poison, text + "they use the result of an operation that was not complete");
  else
    report(fault::exception, text + "the program depends on something outside its world");
}

// ---- steps that can be taken ------------------------------------------------------------------------------

const rma* execution::find_rma(const process& one) const {
  for (const rma& candidate : state(one.rank).outstanding)
    if (candidate.number == one.delivery) return &candidate;
  return nullptr;
}

footprint execution::next_footprint(const process& one) const {
  footprint result;
  if (one.is_crash()) {
    result.add({name_at_rank(name_kind::life, one.rank), use::write});
    if (options_->mode == delivery_mode::progress)
      result.add({name_at_rank(name_kind::library, one.rank), use::write});
    return result;
  }
  if (one.is_delivery()) {
    const engine::operation& what = find_rma(one)->what;
    result.add({words_.name_of(what.word), is_write(what.what) ? use::write : use::read});
  } else {
    const request& next = *state(one.rank).next;
    next.touch(result);
  }
  if (const int server = server_of(one); server >= 0)
    result.add({name_at_rank(name_kind::library, server), use::read});
  if (one.is_rank() && state(one.rank).next->is_outside_library())
    result.add({name_at_rank(name_kind::library, one.rank), use::write});  // the wait brings the rank back
  // A step of a rank depends on its crash. So does a delivery, since the last one that a flush waits for lets
  // the rank go on.
  if (may_crash(one.rank)) result.add({name_at_rank(name_kind::life, one.rank), use::read});
  return result;
}

const event_set& execution::past_of(const process& one) const {
  if (one.is_crash()) return nothing_;
  return one.is_delivery() ? find_rma(one)->past : state(one.rank).past;
}

std::optional<bool> execution::could_go_before(const process& one, const footprint& mine,
                                               std::size_t event) const {
  std::optional<bool> result;
  for (const word_access& ours : mine)
    for (const word_access& theirs : events_[event].touched)
      if (ours.conflicts_with(theirs))
        if (const auto held = held_before(one, ours, event, theirs.before))
          result = result.value_or(true) && *held;
  return result;
}

/// Whether the next step's condition on the word `mine` held before the event, when that word held `value`.
std::optional<bool> execution::held_before(const process& one, const word_access& mine, std::size_t event,
                                           std::uint64_t value) const {
  if (const int server = server_of(one); server >= 0 && mine.word == name_at_rank(name_kind::library, server))
    return value == 0;
  if (!one.is_rank()) return std::nullopt;
  return state(one.rank).next->could_be_taken(mine.word, event, value);
}

int execution::choices(const process& one) const {
  return one.is_rank() ? state(one.rank).next->choices() : 1;
}

bool execution::is_newest_elsewhere(const process& one, int choice) const {
  return one.is_rank() && state(one.rank).next->is_newest_elsewhere(choice);
}

int execution::server_of(const process& one) const {
  if (one.is_crash()) return -1;
  return server_of(one.rank, one.is_delivery() ? find_rma(one)->what.target : state(one.rank).next->server());
}

bool execution::is_outside_library(int rank) const {
  const rank_state& of = state(rank);
  return has_crashed(rank) || (of.next != nullptr && of.next->is_outside_library());
}

bool execution::can_go_on(int rank) const {
  const rank_state& of = state(rank);
  return of.next != nullptr && of.at != where::crashed && of.next->can_be_taken();
}

bool execution::can_deliver(int origin, const rma& one) const {
  if (one.comes_again) return true;
  // In eager delivery an operation is a step of its rank.
  if (one.delivered || options_->mode == delivery_mode::eager) return false;
  const rank_state& of = state(origin);
  if (options_->mode == delivery_mode::lazy && of.at != where::crashed &&
      (of.at != where::in_flush || of.flush_target != one.what.target))
    return false;
  if (const int server = server_of({origin, one.number}); server >= 0 && is_outside_library(server))
    return false;
  // MPI orders accumulates of one origin at one location, and no other operations.
  if (!is_accumulate(one.what.what)) return true;
  return std::none_of(of.outstanding.begin(), of.outstanding.end(), [&](const rma& other) {
    return !other.delivered && other.number < one.number && other.what.word == one.what.word &&
           is_accumulate(other.what.what);
  });
}

bool execution::has_undelivered(const rank_state& of, int target) const {
  return std::any_of(of.outstanding.begin(), of.outstanding.end(), [&](const rma& one) {
    return (!one.delivered || one.comes_again) && one.what.target == target;
  });
}

void execution::collect_enabled() const {
  is_collected_ = true;
  enabled_.clear();
  for (int rank = 0; rank < size(); ++rank)
    if (can_go_on(rank)) enabled_.push_back({rank, 0});
  for (int rank = 0; rank < size(); ++rank)
    for (const rma& one : state(rank).outstanding)
      if (can_deliver(rank, one)) enabled_.push_back({rank, one.number});
  for (int rank = 0; rank < size(); ++rank)
    if (may_crash(rank) && !has_crashed(rank) && (state(rank).at != where::at_barrier || has_crash_))
      enabled_.push_back({rank, step::crash});
}

bool execution::is_done(int rank) const {
  const where at = state(rank).at;
  return at == where::ended || at == where::crashed || (at == where::at_barrier && has_crash_);
}

bool execution::is_over() {
  if (found_) return true;
  const bool nobody_can_go_on = std::all_of(enabled().begin(), enabled().end(), [this](const process& one) {
    // An operation of a crashed rank need never arrive.
    return waits_for_past(one) || (one.is_delivery() && has_crashed(one.rank));
  });
  if (nobody_can_go_on && !is_all_done()) {
    if (has_crash_ && !program_->is_nonblocking)
      is_blocked_by_crash_ = enabled().empty();
    else if (!has_crash_ && program_->judge_of_waits)
      judge_waits();
    else
      report_deadlock();
  } else if (!enabled().empty() && is_livelock()) {
    report_livelock();
  }
  if (enabled().empty() && !found_ && !ends_in_waits_) judge_history();
  return found_ || enabled().empty();
}

bool execution::is_livelock() const {
  if (events_.size() > options_->most_steps) return true;
  const std::size_t most = program_->most_steps_between_returns;
  return most != 0 && open_operations_ > 0 && events_.size() - last_return_ > most;
}

void execution::report_thrown(const std::string& by) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;  // the search itself is short of memory, and no schedule leads to that
  } catch (const std::exception& thrown) {
    report(fault::exception, by + " threw: " + thrown.what());
  } catch (...) {
    report(fault::exception, by + " threw something");
  }
}

void execution::judge_history() {
  why_undecided_.reset();
  if (!program_->judge) return;
  try {
    judgement said = program_->judge(history_);
    if (said.is_wrong())
      report(fault::history, std::move(*said.text));
    else if (!said.is_decided)
      why_undecided_ = std::move(said.text).value_or("");
  } catch (...) {
    report_thrown("the judge of the history");
  }
}

void execution::judge_waits() {
  judge_history();
  if (found_) return;
  if (!waits_in_operations()) return report_deadlock();
  try {
    judgement said = program_->judge_of_waits(history_);
    if (said.is_wrong()) return report_deadlock(*said.text);
    ends_in_waits_ = enabled().empty();
    if (!said.is_decided && ends_in_waits_) why_undecided_ = std::move(said.text).value_or("");
  } catch (...) {
    report_thrown("the judge of waits");
  }
}

bool execution::waits_in_operations() const {
  bool is_any_inside = false;
  bool is_any_at_barrier = false;
  for (int rank = 0; rank < size(); ++rank) {
    if (is_done(rank)) continue;
    const bool is_inside = history_.has_pending(rank);
    const bool is_at_barrier = state(rank).at == where::at_barrier;
    if (!is_inside && !is_at_barrier) return false;
    is_any_inside = is_any_inside || is_inside;
    is_any_at_barrier = is_any_at_barrier || is_at_barrier;
  }
  // No rank comes to a barrier after its end.
  return is_any_inside && (!is_any_at_barrier || ended_ == 0);
}

bool execution::is_all_done() const {
  if (!has_crash_) return ended_ == size();
  for (int rank = 0; rank < size(); ++rank)
    if (!is_done(rank)) return false;
  return true;
}

bool execution::waits_for_past(const process& one) const {
  return one.is_rank() && state(one.rank).next->waits_for_past();
}

bool execution::may_be_prevented(const process& one) const {
  return words_.has_total_order() && waits_for_past(one);
}

bool execution::is_last_resort(const process& one) const {
  if (one.is_rank()) return waits_for_past(one) || state(one.rank).next->is_out_of_patience();
  return one.is_crash() || has_crashed(one.rank);
}

std::vector<process> execution::blocked() const {
  std::vector<process> result;
  for (int rank = 0; rank < size(); ++rank) {
    const rank_state& of = state(rank);
    const process itself{rank, 0};
    if (of.next != nullptr && !is_enabled(itself)) result.push_back(itself);
    for (const rma& one : of.outstanding) {
      const int server = one.delivered ? -1 : server_of({rank, one.number});
      if (server >= 0 && is_outside_library(server)) result.push_back({rank, one.number});
    }
  }
  return result;
}

bool execution::is_enabled(const process& one) const {
  return std::find(enabled().begin(), enabled().end(), one) != enabled().end();
}

void execution::note_blocked() {
  for (int rank = 0; rank < size(); ++rank) {
    if (!section_.is_asked_for_by(rank)) continue;
    const request* next = state(rank).next;
    section_.note(rank, next != nullptr && next->waits() && !next->can_be_taken(), events_.size());
  }
}

// ---- steps ------------------------------------------------------------------------------------------------

void execution::take(const process& one, int choice) {
  // Only the request of a waiting rank tells whether the rank can go on. A step of the run before may be
  // impossible now.
  const bool waits = one.is_rank() && state(one.rank).next != nullptr && state(one.rank).next->waits();
  if (is_as_before_ && waits && (!can_go_on(one.rank) || choice >= choices(one))) return report_difference();
  const engine::current_substrate scope(*this);
  schedule_.push_back({one.rank, one.delivery, choice});
  if (one.is_crash())
    take_crash(one.rank);
  else if (one.is_delivery())
    take_delivery(one);
  else
    take_rank_step(one.rank, choice);
  is_collected_ = false;
  note_blocked();
  compare_with_run_before();
}

void execution::take_rank_step(int rank, int choice) {
  rank_state& of = state(rank);
  request& next = *of.next;
  footprint touches = next_footprint({rank, 0});
  for (word_access& each : touches) each.before = value_of(each.word);
  const touched values = next.take(choice);
  // A rank that leaves the library for a wait is outside until that wait returns.
  if (next.is_outside_library()) note_return(touches);
  record({rank, 0}, touches, values, of.past);
  next.note_event();
  const bool is_again = next.is_asked_again(values);
  if (shown_ != nullptr)
    show(next.text(is_again), next.cell(), next.acts_on(), values, touches.word().writes(), -1, of.site);
  of.returned = values.read;
  of.observed = mixed(mixed(of.observed, touches.word().word), mixed(next.hash(), next.observed(values)));
  if (is_again) return;
  of.next = nullptr;
  run_on(rank);
}

void execution::take_delivery(const process& by) {
  rank_state& origin = state(by.rank);
  rma& one = *std::find_if(origin.outstanding.begin(), origin.outstanding.end(),
                           [&](const rma& candidate) { return candidate.number == by.delivery; });
  footprint touches = next_footprint(by);
  const bool is_again = one.comes_again;
  for (word_access& each : touches) each.before = value_of(each.word);
  const touched values = is_again ? deliver_again(one) : deliver(by.rank, one);
  record(by, touches, values, one.past);
  if (shown_ != nullptr)
    show("deliver " + std::string(name(one.what.what)) + (is_again ? " again" : ""), one.what.word,
         name_of(one.what.word).rank, values, touches.word().writes(), one.issued_after, one.site);
  if (origin.at == where::in_flush && !has_undelivered(origin, origin.flush_target)) run_on(by.rank);
}

void execution::take_crash(int rank) {
  rank_state& of = state(rank);
  event_set past;
  record({rank, step::crash}, next_footprint({rank, step::crash}), {}, past);
  if (shown_ != nullptr) show("CRASH", nullptr, rank, {}, false, -1, {});
  has_crash_ = true;
  has_crashed_[static_cast<std::size_t>(rank)] = 1;
  if (options_->mode == delivery_mode::progress) words_.at(name_at_rank(name_kind::library, rank)).value = 1;
  section_.crash(rank);
  if (of.called && of.at != where::ended) --open_operations_;
  // The rank's next step may have happened before the crash, so `next` stays.
  if (of.at != where::ended) of.at = where::crashed;
}

touched execution::deliver(int origin, rma& one) {
  const shared_memory::far_access done = words_.apply_far(origin, one.what, one.seen);
  one.old = done.values.before;
  one.written = done.values.after;
  one.access = done.number;
  one.delivered = true;
  one.comes_again = done.wrote && options_->conflict == conflicts::enacted;
  note_writer(one);
  if (one.what.result != nullptr) {
    const std::uint64_t place = mixed(one.site.line(), one.site.column());
    one.result_number = results_.size();
    results_.push_back({.rank = origin, .number = one.number, .place = place, .value = one.old});
  }
  return done.values;
}

touched execution::deliver_again(rma& one) {
  one.comes_again = false;
  note_writer(one);
  return words_.write_again(one.what, one.access, one.written);
}

void execution::note_writer(rma& one) {
  if (!one.what.is_of_object()) return;
  std::uint64_t& writer = words_.writer_of(one.what.word);
  (is_write(one.what.what) ? writer : one.writer) = is_write(one.what.what) ? one.writer : writer;
}

std::uint64_t execution::value_of(std::uint64_t name) {
  const shared_word& word = words_.at(name);
  return word.cell != nullptr ? *word.cell : word.value;
}

void execution::note_return(const footprint& of) {
  for (const word_access& each : of)
    if (kind_of(each.word) == name_kind::library && each.writes()) words_.at(each.word).value = 0;
}

void execution::record(const process& by, const footprint& of, const touched& values, event_set& past) {
  event taken{.by = by, .touched = of, .read = values.read, .behind = values.behind, .happens_before = past};
  const auto follow = [&](int earlier) {
    taken.happens_before.join(events_[static_cast<std::size_t>(earlier)].happens_before);
    taken.happens_before.insert(static_cast<std::size_t>(earlier));
  };
  const int number = static_cast<int>(events_.size());
  for (const word_access& each : of) {
    shared_word& word = words_.at(each.word);
    if (each.how != word.last_use || each.writes()) {
      word.events_before.swap(word.last_events);
      word.last_events.clear();
      word.last_use = each.how;
    }
    for (const int earlier : word.events_before) follow(earlier);
    word.last_events.push_back(number);
  }
  past = taken.happens_before;
  past.insert(events_.size());
  events_.push_back(std::move(taken));
  section_.note_step(by.rank, events_.size());
}

void execution::run_on(int rank) {
  rank_state& of = state(rank);
  of.at = where::at_step;
  resume(rank);
  if (has_ended(rank)) {
    of.at = where::ended;
    ++ended_;
    if (fibre_of(rank).thrown()) {
      try {
        std::rethrow_exception(fibre_of(rank).thrown());
      } catch (...) {
        report_thrown("rank " + std::to_string(rank));
      }
    }
  }
  if (at_barrier_ == size()) open_barrier();
}

void execution::open_barrier() {
  at_barrier_ = 0;
  event_set all;
  view seen;
  for (const rank_state& one : ranks_) {
    all.join(one.past);
    seen.join(one.seen);
  }
  for (rank_state& one : ranks_) {
    one.past = all;
    one.seen = seen;
    one.at = where::at_step;
  }
  for (int rank = 0; rank < size(); ++rank) run_on(rank);
}

void execution::for_each_view(const std::function<void(view&)>& action) {
  for (rank_state& one : ranks_) {
    for (view* of : {&one.seen, &one.released, &one.unacquired, &one.shown}) action(*of);
    for (rma& operation : one.outstanding) action(operation.seen);
  }
}

view execution::all_shown() const {
  view result;
  for (const rank_state& one : ranks_) result.join(one.shown);
  return result;
}

}  // namespace nearfar::checker
