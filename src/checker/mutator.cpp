#include "mutator.hpp"

#include <string>

#include "words.hpp"

namespace nearfar::checker {

using engine::action;

namespace {

bool orders(const engine::operation& what) { return what.order != std::memory_order_relaxed; }

engine::operation relaxed(engine::operation what) {
  what.order = what.failure = std::memory_order_relaxed;
  return what;
}

/// The operation without its buffers, which may be gone by the time the operation is carried out later.
engine::operation without_buffers(engine::operation what) {
  what.compare = nullptr;
  if (!what.is_of_object()) what.origin = nullptr;
  what.result = nullptr;
  return what;
}

bool is_read_modify_write(action what) { return is_read(what) && is_write(what); }

}  // namespace

bool mutator::changes(change how, std::string_view operation) {
  const std::source_location& here = substrate_->current_site();
  if (noted_ != nullptr) noted_->insert({site::of(here), how, std::string(operation)});
  return *broken_ && (*broken_)->how == how && (*broken_)->where.is(here) &&
         (*broken_)->operation == operation;
}

mutator::put_off<engine::operation> mutator::postponed(const engine::operation& what) const {
  put_off<engine::operation> result{what, substrate_->current_site(), {}};
  if (!what.is_of_object()) return result;
  const auto* first = static_cast<const std::byte*>(what.origin);
  result.object.assign(first, first + what.bytes);
  result.what.origin = result.object.data();
  return result;
}

template <typename Ask>
void mutator::ask_in_turn(bool is_plain_write, Ask ask) {
  const auto operation = is_plain_write ? std::nullopt : std::exchange(self().operation, std::nullopt);
  const auto signal = std::exchange(self().signal, std::nullopt);
  ask();
  if (operation && is_rma(operation->what.what)) {
    next_at(operation->site).issue(operation->what);
    next_->flush(operation->what.target);
  } else if (operation) {
    next_at(operation->site).perform(operation->what);
  }
  if (signal) next_at(signal->site).signal(signal->what.first, signal->what.second);
}

// ---- near and direct operations ---------------------------------------------------------------------------

std::uint64_t mutator::perform(const engine::operation& what) {
  const std::string_view text = name(what.what);
  const bool is_plain_write = is_write(what.what) && !is_read(what.what);
  if (is_plain_write && changes(change::dropped, text)) return 0;
  if (is_plain_write && changes(change::postponed, text)) {
    self().operation = postponed(what);
    return 0;
  }
  std::uint64_t result = 0;
  const bool is_relaxed = is_near(what.what) && orders(what) && changes(change::relaxed, text);
  const bool is_split = !is_relaxed && is_read_modify_write(what.what) && changes(change::split, text);
  ask_in_turn(is_plain_write, [&] {
    result = is_split ? split_near(what) : next_->perform(is_relaxed ? relaxed(what) : what);
  });
  return result;
}

std::uint64_t mutator::split_near(const engine::operation& what) {
  const std::source_location here = substrate_->current_site();
  engine::operation part = what;
  part.what = action::load;
  const std::uint64_t old = next_->perform(part);
  part.what = action::store;
  part.operand = result_of(what, old);
  if (what.what != action::compare_exchange || old == what.expected) next_at(here).perform(part);
  return old;
}

// ---- RMA --------------------------------------------------------------------------------------------------

void mutator::issue(const engine::operation& what) {
  const std::string_view text = name(what.what);
  const bool is_plain_write = !is_read(what.what);
  if (is_plain_write && changes(change::dropped, text)) return;
  if (is_plain_write && changes(change::postponed, text)) {
    self().operation = postponed(without_buffers(what));
    return;
  }
  const bool is_split = is_read_modify_write(what.what) && changes(change::split, text);
  const bool is_blind = !is_split && what.what == action::compare_and_swap && changes(change::blind, text);
  ask_in_turn(false, [&] {
    if (is_split) return split_rma(what);
    if (!is_blind) return next_->issue(what);
    engine::operation put = without_buffers(what);
    put.what = action::put;
    write_word(what.result, what.expected);
    next_->issue(put);
  });
}

void mutator::split_rma(const engine::operation& what) {
  const std::source_location here = substrate_->current_site();
  engine::operation part = without_buffers(what);
  part.what = action::get;
  part.result = &self().result;
  next_->issue(part);
  next_->flush(what.target);
  const std::uint64_t old = self().result;
  part.what = action::put;
  part.result = nullptr;
  part.operand = result_of(what, old);
  if (what.what != action::compare_and_swap || old == what.expected) next_at(here).issue(part);
  write_word(what.result, old);
}

void mutator::flush(int target) {
  if (!changes(change::dropped, "flush")) next_->flush(target);
}

// ---- waits, messages, epochs ------------------------------------------------------------------------------

engine::wait mutator::changed(const engine::wait& what, std::string_view text) {
  engine::wait result = what;
  if (what.read.what == action::load && changes(change::relaxed, text)) result.read = relaxed(what.read);
  if (!is_rma(what.read.what) && changes(change::unaware, text)) result.progresses = false;
  return result;
}

std::uint64_t mutator::read_once(const engine::operation& read) {
  if (!is_rma(read.what)) return next_->perform(read);
  engine::operation once = read;
  once.result = &self().result;
  next_->issue(once);
  next_->flush(read.target);
  return self().result;
}

std::uint64_t mutator::await(const engine::wait& what) {
  const std::string text = "await " + std::string(name(what.read.what));
  const bool is_dropped = changes(change::dropped, text);
  const engine::wait instead = is_dropped ? what : changed(what, text);
  std::uint64_t result = 0;
  ask_in_turn(false, [&] { result = is_dropped ? read_once(what.read) : next_->await(instead); });
  return result;
}

engine::waited mutator::await_any(std::span<const engine::wait> any, engine::deadline until) {
  const std::string text = "await " + std::string(name(any.front().read.what));
  const bool is_dropped = changes(change::dropped, text);
  std::vector<engine::wait> instead(any.begin(), any.end());
  if (!is_dropped)
    for (engine::wait& one : instead) one = changed(one, text);
  engine::waited result;
  ask_in_turn(false, [&] {
    if (is_dropped)
      result = {0, read_once(any.front().read)};
    else
      result = next_->await_any(instead, until);
  });
  return result;
}

bool mutator::await_signal_until(int channel, int from, std::chrono::nanoseconds until) {
  if (changes(change::dropped, "await signal")) return true;
  bool result = false;
  ask_in_turn(false, [&] { result = next_->await_signal_until(channel, from, until); });
  return result;
}

void mutator::signal(int channel, int to) {
  if (changes(change::dropped, "signal")) return;
  if (changes(change::postponed, "signal")) {
    self().signal = {{channel, to}, substrate_->current_site(), {}};
    return;
  }
  ask_in_turn(false, [&] { next_->signal(channel, to); });
}

void mutator::await_signal(int channel, int from) {
  if (changes(change::dropped, "await signal")) return;
  ask_in_turn(false, [&] { next_->await_signal(channel, from); });
}

void mutator::begin_epoch(int epoch, int home, engine::epoch_kind how) {
  if (!changes(change::dropped, "begin " + std::string(name(how)))) next_->begin_epoch(epoch, home, how);
}

void mutator::end_epoch(int epoch, int home, engine::epoch_kind how) {
  if (!changes(change::dropped, "end " + std::string(name(how)))) next_->end_epoch(epoch, home, how);
}

void mutator::fence(std::memory_order order) {
  if (!changes(change::dropped, "fence")) next_->fence(order);
}
void mutator::light_fence() {
  if (!changes(change::dropped, "light fence")) next_->light_fence();
}
void mutator::heavy_fence() {
  if (!changes(change::dropped, "heavy fence")) next_->heavy_fence();
}

// ---- sleep ------------------------------------------------------------------------------------------------

bool mutator::looks_before_sleep() { return !changes(change::hasty, "sleep"); }

int mutator::to_wake(int most) {
  if (changes(change::dropped, "wake")) return 0;
  return most > 1 && changes(change::fewer, "wake") ? 1 : most;
}

}  // namespace nearfar::checker
