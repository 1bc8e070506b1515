#include "execution.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "exits.hpp"
#include "hooks.hpp"
#include "loops.hpp"
#include "mpi_state.hpp"
#include "signals.hpp"

namespace nearfar::program {

namespace context = boost::context::detail;

rank* current = nullptr;
bool is_inside = false;

namespace {

execution* the_run = nullptr;
/// Where the current rank goes back to.
context::fcontext_t scheduler = nullptr;

/// A rank has its own state of exceptions, as a thread has.
void exchange_exceptions(rank& one) noexcept {
  std::array<std::byte, 16> now{};
  void* const globals = abi::__cxa_get_globals();
  std::memcpy(now.data(), globals, now.size());
  std::memcpy(globals, one.exceptions.data(), now.size());
  one.exceptions = now;
}

/// The first function on the stack of a rank.
void run_program(context::transfer_t from) {
  scheduler = from.fctx;
  rank& self = *static_cast<rank*>(from.data);
  is_inside = true;
  try {
    const int code =
        self.program.entry()(static_cast<int>(self.arguments.size()) - 1, self.arguments.data(), environ);
    finish_program(code, self.last_access);
  } catch (...) {
    is_inside = false;
    const char* what = nullptr;
    std::string text;
    try {
      throw;
    } catch (const std::exception& thrown) {
      text = thrown.what();
      what = text.c_str();
    } catch (...) {
    }
    fail("crash",
         what == nullptr ? std::string("the program throws an exception that it does not catch")
                         : "the program throws an exception that it does not catch: " + text,
         self.last_access);
  }
}

}  // namespace

execution& run() noexcept { return *the_run; }

site rank::here(const void* pc) const noexcept {
  site result;
  std::size_t n = 0;
  result.pcs[n++] = pc != nullptr ? pc : call_site;
  if (pc == nullptr) result.call = call;
  // The frame of the function itself is the last one.
  for (std::size_t i = std::min(depth, most_frames); i > 0 && n < result.pcs.size(); --i)
    result.pcs[n++] = frames[i - 1].return_address;
  return result;
}

void fail(fault what) {
  is_inside = false;
  run().report(std::move(what));
  run().leave(self());
}

void fail(std::string kind, std::string text, const void* pc, std::string rule) {
  // A function that the checker lacks says nothing about the program.
  const verdict outcome = kind == "missing" ? verdict::undecided : verdict::fault;
  fault what{.outcome = outcome,
             .kind = std::move(kind),
             .text = std::move(text),
             .places = {},
             .rule = std::move(rule)};
  what.places.push_back({.rank = self().number, .what = {}, .where = self().here(pc)});
  fail(std::move(what));
}

execution::execution(settings how) : how_(std::move(how)) {
  if (how_.ranks < 1 || how_.ranks > most_ranks)
    throw std::runtime_error("the checker runs 1 to " + std::to_string(most_ranks) + " ranks, not " +
                             std::to_string(how_.ranks));
  the_run = this;
  catch_signals();
  const program_file file(how_.program);
  keep_input();
  for (int number = 0; number < how_.ranks; ++number) {
    ranks_.push_back(std::make_unique<rank>());
    rank& one = *ranks_.back();
    one.number = number;
    one.memory.open(number);
    void* const memory = mmap(nullptr, rank::stack_bytes + rank::guard_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
      throw std::runtime_error("no memory for the stack of rank " + std::to_string(number));
    mprotect(memory, rank::guard_bytes, PROT_NONE);
    one.stack = static_cast<std::byte*>(memory) + rank::guard_bytes;
    one.lowest_stack = reinterpret_cast<std::uintptr_t>(one.stack) + rank::stack_bytes - 4096;
    current = &one;
    const auto copy = [&](const std::string& text) {
      auto* const to = static_cast<char*>(one.memory.allocate(text.size() + 1));
      std::memcpy(to, text.c_str(), text.size() + 1);
      return to;
    };
    one.arguments.push_back(copy(how_.program));
    for (const std::string& argument : how_.arguments) one.arguments.push_back(copy(argument));
    one.arguments.push_back(nullptr);
    try {
      one.program.load(file);
    } catch (...) {
      current = nullptr;
      throw;
    }
    current = nullptr;
  }
  for (const auto& one : ranks_) {
    one->program.keep();
    one->memory.keep();
    one->kept_exit_functions = one->exit_functions;
  }
  keep_files();
}

execution::~execution() { the_run = nullptr; }

void execution::restart(freedom choose) {
  freedom_ = choose;
  event_count_ = 0;
  flight_count_ = 0;
  active_flights_.clear();
  arrivals_ = 0;
  is_known_ = false;
  found_.reset();
  leaked_.reset();
  is_spent = false;
  run_memory::reset();
  begin_mpi();
  forget_watched();
  begin_files_anew();
  for (const auto& one : ranks_) start(*one);
  for (const auto& one : ranks_) {
    if (found_) return;
    resume(*one);
  }
}

void execution::start(rank& one) {
  one.program.restore();
  one.memory.restore();
  // A program that reads its stack without having written it reads the same each time.
  auto* const top = one.stack + rank::stack_bytes;
  auto* const low = std::max(one.stack, reinterpret_cast<std::byte*>(one.lowest_stack) - 1024);
  std::memset(low, heap::fresh_byte, static_cast<std::size_t>(top - low));
  one.context = context::make_fcontext(top, rank::stack_bytes, run_program);
  one.next = nullptr;
  one.has_ended = false;
  one.past.clear();
  one.last_event = -1;
  one.knows = {};
  one.knows[one.number] = 1;
  one.flights.clear();
  one.exit_functions = one.kept_exit_functions;
  one.saved_errno = 0;
  one.exceptions = {};
  one.depth = 0;
  one.buffers.clear();
  one.call = nullptr;
  one.call_site = nullptr;
  one.last_access = nullptr;
  one.random = 1;
  one.next_token = nullptr;
  one.signal_handlers = {};
  one.virtual_nanoseconds = 0;
  one.turns.clear();
  one.idle_turns = 0;
  one.enters_mpi = false;
  one.was_inside = false;
  one.waits_outside = false;
  one.course.clear();
}

void execution::resume(rank& one) {
  current = &one;
  one.next = nullptr;
  exchange_exceptions(one);
  errno = one.saved_errno;
  const context::transfer_t back = context::jump_fcontext(one.context, &one);
  one.saved_errno = errno;
  one.context = back.fctx;
  exchange_exceptions(one);
  is_inside = false;
  current = nullptr;
}

void execution::perform(rank& self, step& what) {
  self.next = &what;
  const context::transfer_t back = context::jump_fcontext(scheduler, nullptr);
  scheduler = back.fctx;
}

void execution::leave(rank& self) {
  self.has_ended = true;
  self.next = nullptr;
  context::jump_fcontext(scheduler, nullptr);
  std::abort();  // nobody resumes a rank that has ended
}

void execution::report(fault what) {
  if (!found_) found_ = std::move(what);
}

void execution::report_leak(fault what) {
  if (!leaked_) leaked_ = std::move(what);
}

flight& execution::flight_of(process one) { return flights_[at_rank(one.rank).flights.at(one.flight - 1)]; }

step* execution::next_step(process one) {
  return one.flight == 0 ? at_rank(one.rank).next : flight_of(one).next;
}

const event_set& execution::past_of(process one) {
  return one.flight == 0 ? at_rank(one.rank).past : flight_of(one).past;
}

int execution::last_event_of(process one) {
  return one.flight == 0 ? at_rank(one.rank).last_event : flight_of(one).last_event;
}

const std::vector<process>& execution::enabled() {
  if (is_known_) return enabled_;
  enabled_.clear();
  last_resorts_.clear();
  for (const auto& one : ranks_)
    if (one->next != nullptr && one->next->is_enabled())
      (one->next->is_last_resort() ? last_resorts_ : enabled_).push_back({one->number, 0});
  const std::size_t ranks = enabled_.size();
  bool is_certain = ranks > 0;
  std::erase_if(active_flights_, [&](std::size_t i) { return flights_[i].next == nullptr; });
  for (const std::size_t i : active_flights_)
    if (flights_[i].next->is_enabled()) {
      enabled_.push_back(flights_[i].self);
      is_certain = is_certain || flights_[i].next->is_certain();
    }
  // An operation that no rank completes may stay where it is, so that ranks that wait for its effect wait for
  // ever.
  if (!is_certain) enabled_.clear();
  if (enabled_.empty()) enabled_ = last_resorts_;
  is_known_ = true;
  return enabled_;
}

const std::vector<process> execution::blocked() {
  std::vector<process> result;
  for (const auto& one : ranks_)
    if (one->next != nullptr && !one->next->is_enabled()) result.push_back({one->number, 0});
  for (const std::size_t i : active_flights_)
    if (flights_[i].next != nullptr && !flights_[i].next->is_enabled()) result.push_back(flights_[i].self);
  return result;
}

bool execution::is_over() {
  if (found_) return true;
  if (event_count_ >= how_.most_steps) {
    report(
        {.outcome = verdict::undecided,
         .kind = "limit",
         .text = "an execution takes more than " + std::to_string(how_.most_steps) +
                 " steps; a loop that changes something in each turn may never end, or --steps is too small",
         .places = {},
         .rule = {}});
    for (const auto& one : ranks_)
      if (one->next != nullptr)
        found_->places.push_back({.rank = one->number, .what = "is here", .where = one->here()});
    return true;
  }
  if (!enabled().empty()) return false;
  find_hang();
  return true;
}

bool execution::is_unfair() {
  return std::any_of(active_flights_.begin(), active_flights_.end(), [this](std::size_t i) {
    const process one = flights_[i].self;
    if (!is_overdue(one)) return false;
    const rank& target = at_rank(next_step(one)->goes_to().rank);
    return target.waits_outside && target.was_inside;
  });
}

void execution::find_hang() {
  const bool is_complete =
      std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) { return one->has_ended; });
  if (is_complete || is_unfair()) return;
  fault what{.kind = "hang", .text = "no rank can go on", .places = {}, .rule = {}};
  for (const auto& one : ranks_) {
    if (one->has_ended) continue;
    std::string text;
    one->next->describe(text);
    what.places.push_back({.rank = one->number, .what = std::move(text), .where = one->here()});
  }
  report(std::move(what));
}

void execution::correct_last(rank& by, bool changed) {
  events_[static_cast<std::size_t>(by.last_event)].changed = changed;
  if (!by.turns.empty()) by.turns.back().changed = changed;
}

footprint execution::next_footprint(process one) {
  footprint result;
  next_step(one)->touch(result);
  return result;
}

flight& execution::launch(rank& by, step& first) {
  if (flight_count_ == flights_.size()) flights_.emplace_back();
  active_flights_.push_back(flight_count_);
  flight& one = flights_[flight_count_++];
  one.self = {by.number, static_cast<std::uint32_t>(by.flights.size()) + 1};
  by.flights.push_back(flight_count_ - 1);
  one.next = &first;
  one.past = by.past;
  // It is not there before this event.
  one.last_event = by.last_event;
  one.issued_after = by.last_event;
  if (tells_) one.issued_at = by.here();
  is_known_ = false;
  return one;
}

std::vector<shown_event> execution::undelivered() const {
  std::vector<shown_event> result;
  for (const std::size_t i : active_flights_) {
    const flight& one = flights_[i];
    if (one.next == nullptr) continue;
    shown_event shown{.by = one.self.rank,
                      .text = {},
                      .where = one.issued_at,
                      .to = one.next->goes_to(),
                      .issued_after = one.issued_after};
    one.next->describe(shown.text);
    result.push_back(std::move(shown));
  }
  return result;
}

void execution::join_past(event_set& past, int last) {
  if (last < 0 || !keeps_dependence_) return;
  const auto index = static_cast<std::size_t>(last);
  past.join(events_[index].before);
  past.insert(index);
}

void execution::depend(rank& one, int last) { join_past(one.past, last); }

void execution::depend(flight& one, int last) { join_past(one.past, last); }

void execution::take(process one, int choice) {
  is_known_ = false;
  if (event_count_ == events_.size()) events_.emplace_back();
  const std::size_t index = event_count_;
  event& now = events_[index];
  now.by = one;
  now.touched = footprint{};
  now.choice = choice;
  step& what = *next_step(one);
  what.touch(now.touched);
  flight* const flying = one.flight == 0 ? nullptr : &flight_of(one);
  event_set& past = flying == nullptr ? at_rank(one.rank).past : flying->past;
  if (keeps_dependence_ && !now.touched.is_empty())
    past.for_each_absent(index, [&](std::size_t i) {
      if (!past.contains(i) && events_[i].touched.conflicts_with(now.touched))
        join_past(past, static_cast<int>(i));
    });
  rank& by = at_rank(one.rank);
  if (tells_) {
    now.shown = {};
    now.shown.by = one.rank;
    what.describe(now.shown.text);
    now.shown.where = flying == nullptr ? by.here() : flying->issued_at;
    now.shown.to = what.goes_to();
    if (flying != nullptr) now.shown.issued_after = flying->issued_after;
  }
  std::uint64_t place = flying == nullptr ? reinterpret_cast<std::uint64_t>(by.call_site) : 1;
  what.take(choice);
  now.changed = what.changed;
  const bool is_sleep = what.is_sleep;
  const bool awaits_arrivals = what.awaits_arrivals;
  if (keeps_dependence_) {
    now.before = past;
    past.insert(index);
  }
  ++event_count_;
  if (!is_sleep) {
    for (const touched_bytes& range : now.touched)
      place = place * 0x100000001b3 + range.begin * 31 + range.end + range.how;
    note_turn(by, {.what = place * 0x100000001b3 + what.seen,
                   .changed = now.changed,
                   .event = index,
                   .awaits_arrivals = awaits_arrivals,
                   .enters_mpi = flying == nullptr && std::exchange(by.enters_mpi, false)});
  }
  if (flying != nullptr) {
    flying->last_event = static_cast<int>(index);
    return;
  }
  by.last_event = static_cast<int>(index);
  if (!found_) resume(by);
}

}  // namespace nearfar::program
