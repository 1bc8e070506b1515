// What ranks ask for, and how a mutant changes it.

#include <algorithm>
#include <utility>

#include "execution.hpp"
#include "words.hpp"

namespace nearfar::checker {

using engine::action;

namespace {

bool orders(const engine::operation& what) { return what.order != std::memory_order_relaxed; }

engine::operation relaxed(engine::operation what) {
  what.order = what.failure = std::memory_order_relaxed;
  return what;
}

/// The operation without the buffers that may be gone when it is done later.
engine::operation without_buffers(engine::operation what) {
  what.origin = what.compare = nullptr;
  what.result = nullptr;
  return what;
}

}  // namespace

void execution::stop_at(kind next) {
  rank_state& me = self();
  me.at = where::at_step;
  me.next = next;
  me.site = current_site();
  note_asked(static_cast<std::uint64_t>(next));
  if (next == kind::access || next == kind::await)
    note_asked(me.operation);
  else
    note_asked(name_of_next(me));
  for (const rma& one : me.outstanding) check_buffers(me, one);
  suspend();
}

void execution::note_asked(const engine::operation& what) {
  note_asked(mixed(name_of_cell(what.word), static_cast<std::uint64_t>(what.what)));
  note_asked(mixed(what.operand, what.expected));
}

void execution::note_asked(std::uint64_t what) {
  // Ranks that a step lets run on do so in any order.
  std::uint64_t& asked = self().asked;
  asked = mixed(asked, what);
  asked_so_far_ += asked;
}

bool execution::changes(change how, std::string_view operation) {
  if (noted_ != nullptr) noted_->insert({site::of(current_site()), how, std::string(operation)});
  return options_->broken && options_->broken->how == how && options_->broken->where.is(current_site());
}

void execution::check_operands(const engine::operation& what) {
  if (what.operand == default_poison || what.expected == default_poison)
    report(fault::poison, "rank " + std::to_string(running()) + " passes to " + std::string(name(what.what)) +
                              " the result of an operation that was not complete");
}

// ---- near and direct operations ---------------------------------------------------------------------------

std::uint64_t execution::perform(const engine::operation& what) {
  self().frame = __builtin_frame_address(0);
  const std::string_view text = name(what.what);
  const bool is_plain_write = what.what == action::store || what.what == action::write_direct;
  const bool is_atomic =
      what.what == action::exchange || what.what == action::compare_exchange || what.what == action::add;
  if (is_plain_write && changes(change::dropped, text)) return 0;
  if (is_plain_write && changes(change::postponed, text)) {
    self().postponed = what;
    return 0;
  }
  const auto later = is_plain_write ? std::nullopt : std::exchange(self().postponed, std::nullopt);
  std::uint64_t result = 0;
  if (is_near(what.what) && orders(what) && changes(change::relaxed, text))
    result = perform_step(relaxed(what));
  else if (is_atomic && changes(change::split, text))
    result = split_near(what);
  else
    result = perform_step(what);
  do_postponed(later);
  return result;
}

std::uint64_t execution::perform_step(const engine::operation& what) {
  check_operands(what);
  rank_state& me = self();
  me.operation = what;
  stop_at(kind::access);
  return me.returned;
}

std::uint64_t execution::split_near(const engine::operation& what) {
  engine::operation part = what;
  part.what = action::load;
  const std::uint64_t old = perform_step(part);
  part.what = action::store;
  part.operand = result_of(what, old);
  if (what.what != action::compare_exchange || old == what.expected) perform_step(part);
  return old;
}

// ---- RMA --------------------------------------------------------------------------------------------------

void execution::issue(const engine::operation& what) {
  self().frame = __builtin_frame_address(0);
  const std::string_view text = name(what.what);
  const bool is_plain_write =
      what.what == action::put || what.what == action::replace || what.what == action::sum;
  const bool is_atomic =
      what.what == action::swap || what.what == action::fetch_add || what.what == action::compare_and_swap;
  if (is_plain_write && changes(change::dropped, text)) return;
  if (is_plain_write && changes(change::postponed, text)) {
    self().postponed = without_buffers(what);
    return;
  }
  const auto later = std::exchange(self().postponed, std::nullopt);
  if (is_atomic && changes(change::split, text)) {
    split_rma(what);
  } else if (what.what == action::compare_and_swap && changes(change::blind, text)) {
    engine::operation put = without_buffers(what);
    put.what = action::put;
    write_word(what.result, what.expected);
    issue_step(put);
  } else {
    issue_step(what);
  }
  do_postponed(later);
}

void execution::issue_step(const engine::operation& what) {
  check_operands(what);
  rank_state& me = self();
  if (what.result != nullptr) {
    write_word(what.result, poison());
    has_poison_ = true;
  }
  note_asked(what);
  me.outstanding.push_back({.what = what,
                            .number = ++me.issued,
                            .seen = me.seen,
                            .past = me.past,
                            .issued_after = static_cast<int>(schedule_.size()) - 1,
                            .site = current_site()});
  me.observed = mixed(me.observed, mixed(name_of_cell(what.word), static_cast<std::uint64_t>(what.what)));
  if (options_->mode != delivery_mode::eager) return;
  me.operation = what;
  stop_at(kind::access);
}

void execution::split_rma(const engine::operation& what) {
  engine::operation part = without_buffers(what);
  part.what = action::get;
  part.result = &self().returned;
  issue_step(part);
  complete_at(what.target);
  const std::uint64_t old = self().returned;
  part.what = action::put;
  part.result = nullptr;
  part.operand = result_of(what, old);
  if (what.what != action::compare_and_swap || old == what.expected) issue_step(part);
  write_word(what.result, old);
}

void execution::flush(int target) {
  self().frame = __builtin_frame_address(0);
  if (!changes(change::dropped, "flush")) complete_at(target);
}

void execution::complete_at(int target) {
  rank_state& me = self();
  if (has_undelivered(me, target)) {
    me.at = where::in_flush;
    me.flush_target = target;
    // Lazily delivered, an operation comes after all that its rank did before the flush.
    if (options_->mode == delivery_mode::lazy)
      for (rma& one : me.outstanding)
        if (one.what.target == target) one.past.join(me.past);
    suspend();
  }
  for (const rma& one : me.outstanding)
    if (one.what.target == target) complete(me, one);
  std::erase_if(me.outstanding, [target](const rma& one) { return one.what.target == target; });
}

void execution::complete(rank_state& of, const rma& one) {
  of.past.join(one.past);
  of.seen.join(one.seen);
  const engine::operation& what = one.what;
  of.seen.raise(find(name_of_cell(what.word))->in_view + static_cast<std::size_t>(running()), one.access);
  check_buffers(of, one);
  if (what.result == nullptr) return;
  if (fibre_of(running()).is_dangling(what.result, of.frame)) {
    report(fault::origin, "the result of " + std::string(name(what.what)) + " to " + word_text(what) +
                              " went out of scope before its flush");
    return;
  }
  write_word(what.result, one.old);
  of.observed = mixed(of.observed, one.old);
}

void execution::check_buffers(const rank_state& of, const rma& one) {
  const engine::operation& what = one.what;
  for (const auto& [buffer, value] :
       {std::pair(what.origin, what.operand), std::pair(what.compare, what.expected)}) {
    if (buffer == nullptr) continue;
    const bool is_gone = fibre_of(running()).is_dangling(buffer, of.frame);
    if (!is_gone && read_word(buffer) == value) continue;
    report(fault::origin, "an origin buffer of " + std::string(name(what.what)) + " to " + word_text(what) +
                              (is_gone ? " went out of scope" : " was changed") + " before its flush");
  }
}

// ---- waits, messages, epochs ------------------------------------------------------------------------------

std::uint64_t execution::await(const engine::wait& what) {
  self().frame = __builtin_frame_address(0);
  const engine::operation& read = what.read;
  const std::string text = "await " + std::string(name(read.what));
  check_operands(read);
  const auto later = std::exchange(self().postponed, std::nullopt);
  rank_state& me = self();
  std::uint64_t result = 0;
  if (changes(change::dropped, text)) {
    if (is_rma(read.what)) {
      engine::operation once = read;
      once.result = &me.returned;
      issue_step(once);
      complete_at(read.target);
      result = me.returned;
    } else {
      result = perform_step(read);
    }
  } else {
    engine::wait changed = what;
    if (read.what == action::load && changes(change::relaxed, text)) changed.read = relaxed(read);
    if (!is_rma(read.what) && changes(change::unaware, text)) changed.progresses = false;
    const std::source_location site = current_site();
    // A far poll flushes its target, and with it whatever is under way to there.
    if (is_rma(read.what)) complete_at(read.target);
    if (!changed.progresses && options_->mode == delivery_mode::progress) {
      engine::team::at(site);
      stop_at(kind::leave_library);
    }
    engine::team::at(site);
    me.operation = changed.read;
    me.waiting = &changed;
    me.failed_tries = 0;
    stop_at(kind::await);
    result = me.returned;
  }
  do_postponed(later);
  return result;
}

void execution::signal(int channel, int to) {
  self().frame = __builtin_frame_address(0);
  if (changes(change::dropped, "signal")) return;
  if (changes(change::postponed, "signal")) {
    self().postponed_signal = {channel, to};
    return;
  }
  const auto later = std::exchange(self().postponed, std::nullopt);
  rank_state& me = self();
  me.channel = channel;
  me.peer = to;
  stop_at(kind::signal);
  do_postponed(later);
}

void execution::await_signal(int channel, int from) {
  self().frame = __builtin_frame_address(0);
  if (changes(change::dropped, "await signal")) return;
  const auto later = std::exchange(self().postponed, std::nullopt);
  rank_state& me = self();
  me.channel = channel;
  me.peer = from;
  stop_at(kind::await_signal);
  do_postponed(later);
}

void execution::begin_exclusive(int epoch, int home) {
  if (changes(change::dropped, "begin exclusive")) return;
  rank_state& me = self();
  me.channel = epoch;
  me.peer = home;
  stop_at(kind::begin_exclusive);
}

void execution::end_exclusive(int epoch, int home) {
  if (changes(change::dropped, "end exclusive")) return;
  rank_state& me = self();
  me.channel = epoch;
  me.peer = home;
  stop_at(kind::end_exclusive);
}

void execution::barrier() {
  self().at = where::at_barrier;
  ++at_barrier_;
  suspend();
}

/// What was put off until the operation that has just been done.
void execution::do_postponed(const std::optional<engine::operation>& what) {
  if (what && is_rma(what->what)) {
    issue_step(*what);
    complete_at(what->target);
  } else if (what) {
    perform_step(*what);
  }
  if (const auto put_off = std::exchange(self().postponed_signal, std::nullopt)) {
    rank_state& me = self();
    me.channel = put_off->first;
    me.peer = put_off->second;
    stop_at(kind::signal);
  }
}

}  // namespace nearfar::checker
