#include "execution.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "words.hpp"

namespace nearfar::checker {

execution::execution(const program& what, const options& how, engine::stack_pool& stacks)
    : team(what.where, what.bytes, stacks),
      program_(&what),
      options_(&how),
      ranks_(static_cast<std::size_t>(what.where.size())),
      words_(*this, how, *this),
      section_(*this, what),
      requests_(*this),
      mutator_(*this, requests_, how.broken) {}

void execution::restart() {
  abandon();
  ++runs_;
  if (shown_ != nullptr) shown_->clear();
  schedule_before_ = std::move(schedule_);
  asked_before_ = std::move(asked_);
  asked_.clear();
  asked_so_far_ = 0;
  is_as_before_ = true;
  has_poison_ = false;
  words_.clear();
  section_.clear();
  mutator_.clear();
  events_.clear();
  schedule_.clear();
  found_.reset();
  ranks_.assign(ranks_.size(), {});
  ended_ = at_barrier_ = 0;
  start([this](engine::world& w) { program_->body(w, *this); });
  const engine::current_team scope(*this);
  for (int rank = 0; rank < size(); ++rank) run_on(rank);
  collect_enabled();
  note_blocked();
  compare_with_run_before();
}

void execution::repeat() {
  const std::vector<step> again = schedule_;
  restart();
  for (const step& next : again) {
    if (found_) return;
    take({next.rank, next.delivery}, next.choice);
  }
}

std::uint64_t execution::poison() const {
  // What looks like a flag, a rank or nobody may hide a fault or show one.
  static constexpr std::array<std::uint64_t, different_runs> all{default_poison, 0, 1, ~std::uint64_t{0}};
  return options_->poison.value_or(all[(runs_ - 1) % all.size()]);
}

void execution::compare_with_run_before() {
  asked_.push_back(asked_so_far_);
  const std::size_t taken = schedule_.size();
  is_as_before_ = is_as_before_ && taken < asked_before_.size() &&
                  (taken == 0 || schedule_.back() == schedule_before_[taken - 1]);
  if (is_as_before_ && asked_so_far_ != asked_before_[taken]) report_difference();
}

void execution::report_difference() {
  const std::string text = "after the same steps ranks ask for something else than in another run: ";
  if (has_poison_ && !options_->poison)
    report(fault::poison, text + "they use a result of an operation that was not complete");
  else
    report(fault::exception, text + "the program depends on something that is not in its world");
}

// ---- what can be taken ------------------------------------------------------------------------------------

const rma* execution::find_rma(const process& one) const {
  for (const rma& candidate : state(one.rank).outstanding)
    if (candidate.number == one.delivery) return &candidate;
  return nullptr;
}

footprint execution::next_footprint(const process& one) const {
  footprint result;
  if (one.delivery != 0) {
    const engine::operation& what = find_rma(one)->what;
    result.add({words_.name_of(what.word), is_write(what.what)});
  } else {
    const request& next = *state(one.rank).next;
    result.add({next.word(), next.writes()});
    if (options_->near != near_model::sequential && next.is_before_or_behind_fences()) {
      result.add({total_order, false});
      // Loads of one word too: what one has seen is as far as the next goes back.
      result.add({total_order + 1 + next.word(), true});
    }
  }
  if (const int server = server_of(one); server >= 0) result.add({library_name(server), false});
  if (one.delivery == 0 && is_outside_library(one.rank))
    result.add({library_name(one.rank), true});  // where it comes back
  return result;
}

const event_set& execution::past_of(const process& one) const {
  return one.delivery != 0 ? find_rma(one)->past : state(one.rank).past;
}

std::optional<bool> execution::could_go_before(const process& one, std::size_t event) const {
  std::optional<bool> result;
  for (const access& mine : next_footprint(one))
    for (const access& theirs : events_[event].touched)
      if (mine.conflicts_with(theirs))
        if (const auto held = held_before(one, mine, event, theirs.before))
          result = result.value_or(true) && *held;
  return result;
}

/// The same for one of the words, which held `value` before the event.
std::optional<bool> execution::held_before(const process& one, const access& mine, std::size_t event,
                                           std::uint64_t value) const {
  if (const int server = server_of(one); server >= 0 && mine.word == library_name(server)) return value == 0;
  if (one.delivery != 0 || mine.word != state(one.rank).next->word()) return std::nullopt;
  return state(one.rank).next->could_be_taken(event, value);
}

int execution::choices(const process& one) const {
  return one.delivery != 0 ? 1 : state(one.rank).next->choices();
}

bool execution::is_newest_elsewhere(const process& one, int choice) const {
  return one.delivery == 0 && state(one.rank).next->is_newest_elsewhere(choice);
}

int execution::server_of(const process& one) const {
  return server_of(one.rank, one.delivery != 0 ? find_rma(one)->what.target : state(one.rank).next->server());
}

bool execution::is_outside_library(int rank) const {
  const rank_state& of = state(rank);
  return of.next != nullptr && of.next->is_outside_library();
}

bool execution::can_go_on(int rank) const {
  const rank_state& of = state(rank);
  return of.next != nullptr && of.next->can_be_taken();
}

bool execution::can_deliver(int origin, const rma& one) const {
  if (one.comes_again) return true;
  // Delivered eagerly, an operation is a step of its rank.
  if (one.delivered || options_->mode == delivery_mode::eager) return false;
  const rank_state& of = state(origin);
  if (options_->mode == delivery_mode::lazy &&
      (of.at != where::in_flush || of.flush_target != one.what.target))
    return false;
  if (const int server = server_of({origin, one.number}); server >= 0 && is_outside_library(server))
    return false;
  // MPI orders accumulates of one origin at one location, and nothing else.
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

void execution::collect_enabled() {
  enabled_.clear();
  for (int rank = 0; rank < size(); ++rank)
    if (can_go_on(rank)) enabled_.push_back({rank, 0});
  for (int rank = 0; rank < size(); ++rank)
    for (const rma& one : state(rank).outstanding)
      if (can_deliver(rank, one)) enabled_.push_back({rank, one.number});
}

bool execution::is_over() {
  if (found_) return true;
  const bool nobody_can_go_on = std::all_of(enabled_.begin(), enabled_.end(),
                                            [this](const process& one) { return waits_for_past(one); });
  if (nobody_can_go_on && ended_ != size())
    report_deadlock();
  else if (!enabled_.empty() && events_.size() > options_->most_steps)
    report_livelock();
  return found_ || enabled_.empty();
}

bool execution::waits_for_past(const process& one) const {
  return one.delivery == 0 && state(one.rank).next->waits_for_past();
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
  return std::find(enabled_.begin(), enabled_.end(), one) != enabled_.end();
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
  // What a rank waits for is known by asking only: a step of the run before may not be there any more.
  const bool waits = one.delivery == 0 && state(one.rank).next != nullptr && state(one.rank).next->waits();
  if (is_as_before_ && waits && (!is_enabled(one) || choice >= choices(one))) return report_difference();
  const engine::current_team scope(*this);
  schedule_.push_back({one.rank, one.delivery, choice});
  if (one.delivery != 0)
    take_delivery(one);
  else
    take_rank_step(one.rank, choice);
  collect_enabled();
  note_blocked();
  compare_with_run_before();
}

void execution::take_rank_step(int rank, int choice) {
  rank_state& of = state(rank);
  request& next = *of.next;
  footprint touches = next_footprint({rank, 0});
  words_.at(touches.word().word, next.cell());
  const touched values = next.take(choice);
  note_values(touches, values.before);
  record({rank, 0}, touches, values.read, of.past);
  next.note_event();
  const bool is_again = next.is_asked_again(values);
  if (shown_ != nullptr)
    show(next.text(is_again), next.cell(), next.acts_on(), values, touches.word().writes, -1, of.site);
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
  const touched values = is_again ? deliver_again(one) : deliver(by.rank, one);
  note_values(touches, values.before);
  record(by, touches, values.read, one.past);
  if (shown_ != nullptr)
    show("deliver " + std::string(name(one.what.what)) + (is_again ? " again" : ""), one.what.word,
         name_of(one.what.word).rank, values, touches.word().writes, one.issued_after, one.site);
  if (origin.at == where::in_flush && !has_undelivered(origin, origin.flush_target)) run_on(by.rank);
}

touched execution::deliver(int origin, rma& one) {
  const shared_memory::far_access done = words_.apply_far(origin, one.what, one.seen);
  one.old = done.values.before;
  one.written = done.values.after;
  one.access = done.number;
  one.delivered = true;
  one.comes_again = done.wrote && options_->conflict == conflicts::enacted;
  return done.values;
}

touched execution::deliver_again(rma& one) {
  one.comes_again = false;
  return words_.write_again(one.what, one.access, one.written);
}

void execution::note_values(footprint& of, std::uint64_t before) {
  of.word().before = before;
  for (access* each = of.begin() + 1; each < of.end(); ++each) {
    shared_word& word = words_.at(each->word);
    each->before = word.value;
    if (each->writes) word.value = 0;
  }
}

void execution::record(const process& by, const footprint& of, std::uint64_t read, event_set& past) {
  event taken{.by = by, .touched = of, .read = read, .happens_before = past};
  const auto follow = [&](int earlier) {
    taken.happens_before.join(events_[static_cast<std::size_t>(earlier)].happens_before);
    taken.happens_before.insert(static_cast<std::size_t>(earlier));
  };
  const int number = static_cast<int>(events_.size());
  for (const access& each : of) {
    shared_word& word = words_.at(each.word);
    if (word.last_write >= 0) follow(word.last_write);
    if (!each.writes) {
      word.reads.push_back(number);
      continue;
    }
    for (const int earlier : word.reads) follow(earlier);
    word.last_write = number;
    word.reads.clear();
  }
  past = taken.happens_before;
  past.insert(events_.size());
  events_.push_back(std::move(taken));
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
      } catch (const std::exception& thrown) {
        report(fault::exception, "rank " + std::to_string(rank) + " threw: " + thrown.what());
      } catch (...) {
        report(fault::exception, "rank " + std::to_string(rank) + " threw something");
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
    for (view* of : {&one.seen, &one.released, &one.unacquired}) action(*of);
    for (rma& operation : one.outstanding) action(operation.seen);
  }
}

}  // namespace nearfar::checker
