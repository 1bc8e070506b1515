#include "requests.hpp"

#include <algorithm>
#include <utility>

#include "execution.hpp"
#include "names.hpp"
#include "nearfar/core/backoff.hpp"
#include "words.hpp"

namespace nearfar::checker {

namespace {

/// Longer than any span of a deadline; short enough that clocks pass it thousands of times.
constexpr std::chrono::nanoseconds beyond_deadlines{std::int64_t{1} << 50U};
/// A deadline that never comes.
constexpr std::chrono::nanoseconds no_time = std::chrono::nanoseconds::max();

/// One word of the object that the operation accesses.
engine::operation word_of(const engine::operation& what, std::size_t number) {
  constexpr std::size_t size = sizeof(std::uint64_t);
  engine::operation part = what;
  part.word += number;
  part.bytes = std::min(size, what.bytes - number * size);
  if (what.origin != nullptr) {
    part.origin = static_cast<const std::byte*>(what.origin) + number * size;
    part.operand = read_word(part.origin, part.bytes);
  }
  if (what.result != nullptr) part.result = static_cast<std::byte*>(what.result) + number * size;
  if (what.writers != nullptr) part.writers += number;
  return part;
}

/// 0 where nothing is stored.
std::uint64_t hash_of_bytes(const void* from, std::size_t bytes) {
  std::uint64_t hash = 0;
  if (from == nullptr) return hash;
  constexpr std::size_t size = sizeof(std::uint64_t);
  for (std::size_t at = 0; at < bytes; at += size)
    hash = mixed(hash, read_word(static_cast<const std::byte*>(from) + at, std::min(size, bytes - at)));
  return hash;
}

}  // namespace

std::uint64_t requests::perform(const engine::operation& what) {
  run_->check_operands(what);
  if (what.is_of_object()) {
    perform_on_object(what);
    return 0;
  }
  access_request access(*run_, what);
  return run_->stop_before(access);
}

void requests::perform_on_object(const engine::operation& what) {
  const std::source_location site = run_->current_site();
  const std::uint64_t writer = run_->next_writer();
  for (std::size_t i = 0; i < what.words(); ++i) {
    const engine::operation part = word_of(what, i);
    run_->at(site);
    access_request access(*run_, part);
    const std::uint64_t value = run_->stop_before(access);
    if (is_write(part.what)) {
      run_->words().writer_of(part.word) = writer;
    } else {
      write_word(part.result, value, part.bytes);
      run_->note_read(part, run_->words().writer_of(part.word));
    }
  }
}

void requests::issue(const engine::operation& what) {
  run_->check_operands(what);
  if (!what.is_of_object()) return issue_word(what, 0);
  const std::source_location site = run_->current_site();
  const std::uint64_t writer = run_->next_writer();
  for (std::size_t i = 0; i < what.words(); ++i) {
    run_->at(site);
    issue_word(word_of(what, i), writer);
  }
}

void requests::issue_word(const engine::operation& what, std::uint64_t writer) {
  rank_state& me = run_->self();
  const std::uint64_t filling = run_->filling(me.issued + 1);
  if (what.result != nullptr) {
    run_->expect_own_buffer(what);
    write_word(what.result, filling, width_of(what));
    run_->has_poison_ = true;
  }
  if (what.writers != nullptr) *what.writers = execution::writer_to_come;
  const std::uint64_t word = run_->words().name_of(what.word);
  run_->note_asked(mixed(word, hash_of_operands(what)));
  me.outstanding.push_back({.what = what,
                            .number = ++me.issued,
                            .filling = filling,
                            .writer = writer,
                            .seen = me.seen,
                            .past = me.past,
                            .issued_after = static_cast<int>(run_->schedule().size()) - 1,
                            .site = run_->current_site()});
  me.observed = mixed(me.observed, mixed(word, static_cast<std::uint64_t>(what.what)));
  if (run_->how().mode != delivery_mode::eager) return;
  eager_delivery delivery(*run_, what);
  run_->stop_before(delivery);
}

void requests::flush(int target) { run_->complete_at(target); }

void requests::prepare(const engine::wait& what) {
  run_->check_operands(what.read);
  const std::source_location site = run_->current_site();
  if (is_rma(what.read.what)) run_->complete_at(what.read.target);
  run_->at(site);
  leave_library(what);
}

void requests::leave_library(const engine::wait& before) {
  if (before.progresses || run_->how().mode != delivery_mode::progress) return;
  const std::source_location site = run_->current_site();
  library_exit leaving(*run_);
  run_->stop_before(leaving);
  run_->at(site);
}

std::uint64_t requests::await(const engine::wait& what) {
  prepare(what);
  wait_request waiting(*run_, what, false);
  return run_->stop_before(waiting);
}

engine::waited requests::await_any(std::span<const engine::wait> any, engine::deadline until) {
  const engine::wait& first = any.front();
  if (any.size() == 1) {
    prepare(first);
    wait_request waiting(*run_, first, until.has_value());
    const std::uint64_t value = run_->stop_before(waiting);
    if (waiting.has_timed_out()) {
      run_->note_time_over(*until);
      return {};
    }
    return {0, value};
  }
  for (const engine::wait& one : any)
    if (is_rma(one.read.what)) throw misuse("a wait for the first of several words reads them in place");
  leave_library(first);
  any_wait waiting(*run_, any, until.has_value());
  const std::uint64_t value = run_->stop_before(waiting);
  if (!waiting.which()) run_->note_time_over(*until);
  return {waiting.which(), value};
}

void requests::signal(int channel, int to) {
  signal_request sending(*run_, channel, to);
  run_->stop_before(sending);
}

void requests::await_signal(int channel, int from) {
  signal_wait receiving(*run_, channel, from, false);
  run_->stop_before(receiving);
}

bool requests::await_signal_until(int channel, int from, std::chrono::nanoseconds until) {
  signal_wait receiving(*run_, channel, from, true);
  run_->stop_before(receiving);
  if (receiving.has_timed_out()) run_->note_time_over(until);
  return !receiving.has_timed_out();
}

void requests::begin_epoch(int epoch, int home, engine::epoch_kind how) {
  epoch_begin beginning(*run_, epoch, home, how);
  run_->stop_before(beginning);
}

void requests::end_epoch(int epoch, int home, engine::epoch_kind how) {
  epoch_end ending(*run_, epoch, home, how);
  run_->stop_before(ending);
}

void requests::fence(std::memory_order order) {
  rank_state& me = run_->self();
  const int rank = run_->running();
  me.observed =
      mixed(me.observed, mixed(name_at_rank(name_kind::fences, rank), static_cast<std::uint64_t>(order)));
  run_->note_asked(mixed(name_at_rank(name_kind::fences, rank), static_cast<std::uint64_t>(order)));
  if (run_->how().near == near_model::sequential) return;
  if (order != std::memory_order_seq_cst) return run_->words().fence(rank, me, order);
  fence_request fencing(*run_, fence_kind::whole);
  run_->stop_before(fencing);
}
void requests::light_fence() { fence_by(fence_kind::light); }
void requests::heavy_fence() { fence_by(fence_kind::heavy); }
void requests::fence_by(fence_kind how) {
  rank_state& me = run_->self();
  me.observed = mixed(me.observed, mixed(heavy_fences_name, static_cast<std::uint64_t>(how)));
  run_->note_asked(mixed(heavy_fences_name, static_cast<std::uint64_t>(how)));
  if (run_->how().near == near_model::sequential) return;
  fence_request fencing(*run_, how);
  run_->stop_before(fencing);
}

// ---- requests from the fibres of ranks --------------------------------------------------------------------

// Destructors of a rank whose run is over may still make requests. These are carried out at once and are no
// steps.

std::uint64_t execution::do_at_once(const engine::operation& what) {
  const std::uint64_t old = *what.word;
  if (is_write(what.what) && !what.is_of_object()) *what.word = result_of(what, old);
  if (what.result != nullptr && !what.is_of_object()) write_word(what.result, old);
  return old;
}

engine::waited execution::wait_at_once(std::span<const engine::wait> any) {
  for (std::size_t i = 0; i < any.size(); ++i)
    if (const std::uint64_t value = *any[i].read.word; any[i].satisfied(value)) return {i, value};
  drop();
}

std::uint64_t execution::perform(const engine::operation& what) {
  if (is_unwound()) return do_at_once(what);
  self().frame = __builtin_frame_address(0);
  return mutator_.perform(what);
}

void execution::issue(const engine::operation& what) {
  if (is_unwound()) return static_cast<void>(do_at_once(what));
  note_in_library();
  self().frame = __builtin_frame_address(0);
  mutator_.issue(what);
}

void execution::flush(int target) {
  if (is_unwound()) return;
  note_in_library();
  self().frame = __builtin_frame_address(0);
  mutator_.flush(target);
}

std::uint64_t execution::await(const engine::wait& what) {
  if (is_unwound()) return wait_at_once({&what, 1}).value;
  if (what.progresses && !what.asleep) note_in_library();
  self().frame = __builtin_frame_address(0);
  return mutator_.await(what);
}

engine::waited execution::await_any(std::span<const engine::wait> any, engine::deadline until) {
  if (is_unwound()) return until ? engine::waited{} : wait_at_once(any);
  if (any.front().progresses) note_in_library();
  if (until == no_time) until.reset();
  self().frame = __builtin_frame_address(0);
  return mutator_.await_any(any, until);
}

bool execution::await_signal_until(int channel, int from, std::chrono::nanoseconds until) {
  if (is_unwound()) return false;
  note_in_library();
  self().frame = __builtin_frame_address(0);
  if (until != no_time) {
    return mutator_.await_signal_until(channel, from, until);
  }
  mutator_.await_signal(channel, from);
  return true;
}

void execution::signal(int channel, int to) {
  if (is_unwound()) return;
  note_in_library();
  self().frame = __builtin_frame_address(0);
  mutator_.signal(channel, to);
}

void execution::await_signal(int channel, int from) {
  if (is_unwound()) drop();
  note_in_library();
  self().frame = __builtin_frame_address(0);
  mutator_.await_signal(channel, from);
}

void execution::begin_epoch(int epoch, int home, engine::epoch_kind how) {
  if (is_unwound()) return;
  self().frame = __builtin_frame_address(0);
  mutator_.begin_epoch(epoch, home, how);
}

void execution::end_epoch(int epoch, int home, engine::epoch_kind how) {
  if (is_unwound()) return;
  self().frame = __builtin_frame_address(0);
  mutator_.end_epoch(epoch, home, how);
}

void execution::fence(std::memory_order order) {
  if (is_unwound()) return;
  self().frame = __builtin_frame_address(0);
  mutator_.fence(order);
}
void execution::light_fence() {
  if (is_unwound()) return;
  self().frame = __builtin_frame_address(0);
  mutator_.light_fence();
}
void execution::heavy_fence() {
  if (is_unwound()) return;
  self().frame = __builtin_frame_address(0);
  mutator_.heavy_fence();
}

void execution::barrier() {
  if (is_unwound()) drop();
  note_in_library();
  // Barriers before the first step belong to the construction of the objects.
  if (options_->crashes > 0 && !events_.empty()) {
    barrier_arrival arriving(*this);
    stop_before(arriving);
  }
  self().at = where::at_barrier;
  ++at_barrier_;
  suspend();
}

int execution::choose(int possibilities) {
  if (is_unwound() || possibilities == 1) return 0;
  self().frame = __builtin_frame_address(0);
  choice_request choosing(*this, possibilities);
  return static_cast<int>(stop_before(choosing));
}

std::chrono::nanoseconds execution::now() {
  rank_state& me = self();
  if (is_unwound()) return me.clock;
  bool passes = me.looks_in_a_row >= options_->most_looks_in_a_row;
  if (!passes) {
    me.frame = __builtin_frame_address(0);
    time_request looking(*this);
    passes = stop_before(looking) != 0;
  }
  if (passes) me.clock = later(me.clock, beyond_deadlines);
  me.looks_in_a_row = passes ? 0 : me.looks_in_a_row + 1;
  return me.clock;
}

std::chrono::nanoseconds execution::now_for_waiting() { return self().clock; }

void execution::note_time_over(std::chrono::nanoseconds deadline) {
  self().clock = std::max(self().clock, deadline);
}

engine::sleep_place execution::begins_sleep() {
  if (is_unwound() || options_->mode != delivery_mode::progress) return engine::sleep_place::in_library;
  // A real sleep is over after a moment, and only the rank's own code drives progress before the next one.
  // The first sleep ends at once, to show what the rank does until it sleeps again. The second sleep stands
  // for all further ones.
  rank_state& me = self();
  me.is_on_trial = !me.is_on_trial;
  if (me.is_on_trial) {
    me.was_in_library = false;
    return engine::sleep_place::nowhere;
  }
  return me.was_in_library ? engine::sleep_place::in_library : engine::sleep_place::outside_library;
}

bool execution::wakes_for_no_reason() {
  if (is_unwound() || self().early_wakes >= options_->most_early_wakes || choose(2) == 0) return false;
  ++self().early_wakes;
  return true;
}

void execution::note_woken(const std::uint64_t* word, std::uint64_t ranks) {
  if (is_unwound()) return;
  last_wake_up_[word] = {.by = running(), .step = events_.size(), .woken = ranks};
}

void execution::access(const engine::plain_access& what) {
  if (is_unwound()) return;
  words_.access_plain(running(), what, self().seen, current_site());
  note_asked(mixed(words_.name_of(what.first), hash_of_bytes(what.stored, what.bytes)));
  std::uint64_t& observed = self().observed;
  observed = mixed(observed, hash_of_bytes(what.first, what.bytes));
}

void execution::taken(const std::byte* from, std::size_t bytes) {
  if (is_unwound()) return;
  note_asked(mixed(words_.name_of(reinterpret_cast<const std::uint64_t*>(from)), bytes));
  words_.lend(running(), from, bytes, self().seen);
}

void execution::given_back(const std::byte* from, std::size_t bytes) {
  if (is_unwound()) return;
  note_asked(mixed(words_.name_of(reinterpret_cast<const std::uint64_t*>(from)), ~bytes));
  words_.take_back(running(), from, bytes, self().seen);
}

void execution::confirmed(const std::uint64_t* writers, std::size_t words) {
  if (is_unwound()) return;
  const auto text_of = [](std::uint64_t writer) {
    return writer == 0 ? std::string("nobody") : "rank " + std::to_string(rank_of_writer(writer));
  };
  if (std::find(writers, writers + words, writer_to_come) != writers + words)
    return report(fault::poison, "rank " + std::to_string(running()) +
                                     " uses a value that an incomplete get has yet to bring");
  for (std::size_t i = 1; i < words; ++i)
    if (writers[i] != writers[0])
      return report(fault::torn, "rank " + std::to_string(running()) +
                                     " takes words of two values for one value: they were written by " +
                                     text_of(writers[0]) + " and by " + text_of(writers[i]));
}

void execution::enter() {
  if (is_unwound()) return;
  section_entry entering(*this, holding::exclusive);
  stop_before(entering);
}

void execution::enter_shared() {
  if (is_unwound()) return;
  section_entry entering(*this, holding::shared);
  stop_before(entering);
}

void execution::leave() { give_up_section(holding::exclusive); }
void execution::leave_shared() { give_up_section(holding::shared); }

void execution::leave_to_share() {
  if (is_unwound()) return;
  section_exit leaving(*this, holding::exclusive, /*stays=*/true);
  stop_before(leaving);
}

void execution::give_up_section(holding how) {
  if (is_unwound()) return;
  const int rank = running();
  section_exit leaving(*this, how);
  stop_before(leaving);
  section_.note_left(rank, [this](int other) { return is_done(other); });
}

void execution::call(std::uint64_t object, int method, value_list arguments) {
  if (is_unwound()) return;
  if (self().called) throw misuse("a rank that has called an operation calls another before it returns");
  if (object >= name_numbers) throw misuse("objects of histories are numbers below 2^60");
  self().called = object;
  operation_call calling(*this, object, method, arguments);
  stop_before(calling);
}

void execution::returned(value_list result) {
  if (is_unwound()) return;
  if (!self().called) throw misuse("a rank returns from an operation that it has not called");
  operation_return returning(*this, *self().called, result);
  stop_before(returning);
  self().called.reset();
}

void execution::expect_complete(const char* function) {
  if (is_unwound()) return;
  for (const rma& one : self().outstanding)
    report(fault::incomplete, "rank " + std::to_string(running()) + ": " + std::string(name(one.what.what)) +
                                  " to " + word_text(one.what.word) + " was not flushed when " + function +
                                  " returned");
}

std::uint64_t execution::stop_before(request& next) {
  rank_state& me = self();
  me.at = where::at_step;
  me.next = &next;
  me.asked_events = 0;
  me.could_go_on = 0;
  me.site = current_site();
  note_asked(mixed(next.hash(), next.operands()));
  for (const rma& one : me.outstanding) check_buffers(me, one);
  suspend();
  return me.returned;
}

void execution::note_asked(std::uint64_t what) {
  // A step may let several ranks run on, in any order. The sum is independent of that order.
  std::uint64_t& asked = self().asked;
  asked = mixed(asked, what);
  asked_so_far_ += asked;
}

void execution::reach(std::string_view what) {
  if (is_unwound()) return;
  note_asked(std::hash<std::string_view>{}(what));  // so that poison reaches nothing unseen
  note_reached(what);
}

void execution::check_operands(const engine::operation& what) {
  if (what.operand == default_poison || what.expected == default_poison)
    report(fault::poison, "rank " + std::to_string(running()) + " passes to " + std::string(name(what.what)) +
                              " the result of an operation that was not complete");
}

void execution::expect_own_buffer(const engine::operation& what) {
  const auto begins = [](const engine::operation& of) { return static_cast<const std::byte*>(of.result); };
  for (const rank_state& of : ranks_)
    for (const rma& one : of.outstanding)
      if (one.what.result != nullptr && begins(one.what) < begins(what) + width_of(what) &&
          begins(what) < begins(one.what) + width_of(one.what))
        return report(fault::origin, "the result of " + std::string(name(what.what)) + " to " +
                                         word_text(what.word) + " has the buffer of an earlier " +
                                         std::string(name(one.what.what)) + " to " +
                                         word_text(one.what.word) + ", which is not flushed");
}

// ---- completion -------------------------------------------------------------------------------------------

void execution::complete_at(int target) {
  rank_state& me = self();
  if (has_undelivered(me, target)) {
    me.at = where::in_flush;
    me.flush_target = target;
    // In lazy delivery an operation comes after all that its rank did before the flush.
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
  words_.note_complete(running(), what, one.access, of.seen);
  check_buffers(of, one);
  if (what.result == nullptr) return;
  if (fibre_of(running()).is_dangling(what.result, of.frame)) {
    report(fault::origin, "the result of " + std::string(name(what.what)) + " to " + word_text(what.word) +
                              " went out of scope before its flush");
    return;
  }
  // Another value in the place of the poison may be a variable of a later call.
  if (read_word(what.result, width_of(what)) != low_bytes_of(one.filling, width_of(what))) {
    report(fault::origin, "the result of " + std::string(name(what.what)) + " to " + word_text(what.word) +
                              " was changed before its flush");
    return;
  }
  write_word(what.result, one.old, width_of(what));
  results_[one.result_number].observed = of.observed;
  of.observed = mixed(of.observed, one.old);
  note_read(what, one.writer);
}

void execution::note_read(const engine::operation& what, std::uint64_t writer) {
  if (what.writers == nullptr) return;
  *what.writers = writer;
  self().observed = mixed(self().observed, writer);
}

std::uint64_t execution::next_writer() {
  return (static_cast<std::uint64_t>(running()) + 1) << bits_of_operation |
         static_cast<std::uint64_t>(++self().issued);
}

int execution::rank_of_writer(std::uint64_t writer) {
  return static_cast<int>(writer >> bits_of_operation) - 1;
}

void execution::check_buffers(const rank_state& of, const rma& one) {
  const engine::operation& what = one.what;
  for (const auto& [buffer, value] :
       {std::pair(what.origin, what.operand), std::pair(what.compare, what.expected)}) {
    if (buffer == nullptr) continue;
    const bool is_gone = fibre_of(running()).is_dangling(buffer, of.frame);
    if (!is_gone && read_word(buffer, width_of(what)) == value) continue;
    report(fault::origin, "an origin buffer of " + std::string(name(what.what)) + " to " +
                              word_text(what.word) + (is_gone ? " went out of scope" : " was changed") +
                              " before its flush");
  }
}

}  // namespace nearfar::checker
