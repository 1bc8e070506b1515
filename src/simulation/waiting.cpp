// Waits for words: one or several in place, one by far operations; with a deadline or without.

#include <algorithm>

#include "substrate.hpp"

namespace nearfar::simulation {

using engine::action;

template <std::size_t count>
void cluster::watch(rank_state& me, std::span<const engine::wait, count> any, picoseconds period,
                    activity doing, picoseconds until) {
  me.waits = any;
  me.poll_period = period;
  me.polls_from = me.clock + random_.below(period);
  me.watches = true;
  const auto line = [&](const engine::wait& one) { return line_of(word_index(one.read.word)); };
  watching_.add(line(any.front()), running(), any.front());
  for (std::size_t other = 1; other < any.size(); ++other)
    watching_.add_also(line(any[other]), running(), any[other]);
  block(me, doing, until);
}

/// Reads the words one after the other, up to the first that satisfies its predicate.
template <std::size_t count>
cluster::outcome cluster::poll(rank_state& me, std::span<const engine::wait, count> any,
                               std::size_t begins_with) {
  std::size_t which = begins_with;
  do {
    const engine::wait& one = any[which];
    turn(me);
    if (is_write(one.read.what)) drain_stores(me);
    const std::uint64_t value = *one.read.word;
    const std::size_t line = line_of(word_index(one.read.word));
    me.clock = is_write(one.read.what) ? own_line(line, running(), me.clock) + costs_.atomic
                                       : read_line(line, running(), me.clock);
    if (one.satisfied(value)) return {which, value};
    if (++which == any.size()) which = 0;
  } while (which != begins_with);
  return {};
}

namespace {

/// Returns which of `count` words a wait looks at first, so that no word always precedes the others. Steps of
/// the golden ratio avoid a fixed period over a rank's waits as well.
std::size_t next_start(rank_state& me, std::size_t count) {
  me.begins_with += 0x9e3779b9U;
  return static_cast<std::size_t>(std::uint64_t{me.begins_with} * count >> 32U);
}

}  // namespace

template <std::size_t count>
cluster::outcome cluster::await_in_place(rank_state& me, std::span<const engine::wait, count> any,
                                         picoseconds until) {
  for (const engine::wait& one : any) (void)checked_word(one.read.word);
  const bool progresses = any.front().progresses;
  const picoseconds period =
      (progresses ? costs_.poll_period : costs_.bare_poll_period) * static_cast<picoseconds>(any.size());
  const activity doing = progresses ? activity::polling : activity::bare_polling;
  const std::size_t begins_with = any.size() > 1 ? next_start(me, any.size()) : 0;
  if (any.front().looks_after_pauses) return await_after_pauses(me, any, until, begins_with);
  const auto is_satisfied = [&] {
    return std::ranges::any_of(any, [](const engine::wait& one) { return one.satisfied(*one.read.word); });
  };
  outcome result;
  for (bool is_first = true;; is_first = false) {
    result = poll(me, any, begins_with);
    if (result.is_satisfied()) break;
    if (is_first) me.progresses_from = me.clock + random_.below(costs_.progress_period);
    const bool is_over = me.clock >= until;
    if (is_over) turn(me);
    // While the rank read one word, a word that it had read before may have been written.
    if ((is_over || any.size() > 1) && is_satisfied()) continue;
    if (is_over) break;
    if (progresses && !me.pending.empty() && me.progress_at == rank_state::no_time)
      schedule_progress(running(), me.clock);
    watch(me, any, period, doing, until);
    if (me.clock >= until && !is_satisfied()) break;
  }
  me.progress_at = rank_state::no_time;
  return result;
}

template <std::size_t count>
cluster::outcome cluster::await_after_pauses(rank_state& me, std::span<const engine::wait, count> any,
                                             picoseconds until, std::size_t begins_with) {
  const backoff times = any.front().pause;
  for (auto span = times.shortest;; span = times.after(span)) {
    pause(me, std::min(later(me.clock, span), until));
    const bool is_last = me.clock >= until;
    const outcome result = poll(me, any, begins_with);
    if (result.is_satisfied() || is_last) return result;
    count_operation(me);
  }
}

std::uint64_t cluster::poll_far(const engine::wait& what) {
  std::uint64_t value = 0;
  engine::operation once = what.read;
  once.result = &value;
  issue(once);
  flush(once.target);
  return value;
}

cluster::outcome cluster::await_far(rank_state& me, const engine::wait& what, picoseconds until) {
  const transfer_times& times =
      costs_.of(distance_between(running(), what.read.target), transfer_of(what.read.what));
  const picoseconds period =
      std::max<picoseconds>(1, times.overhead + times.latency + times.service + times.completion +
                                   costs_.hit + costs_.flush + costs_.progress);
  // Polls that take the lock of the node's atomics keep other ranks from it, and so does what others carry
  // out.
  const bool disturbs = times.by != executor::origin || is_locked(what.read, running());
  me.waits = {&what, 1};
  outcome result;
  for (bool is_last = false;;) {
    me.polls_far = disturbs;
    result.value = poll_far(what);
    if (what.satisfied(result.value)) {
      result.which = 0;
      break;
    }
    if (is_last) break;
    me.clock += costs_.progress;
    enter(me);
    is_last = me.clock >= until;
    if (disturbs) {
      count_fruitless(me);
    } else {
      // Other polls in place disturb no rank, so polls of an unchanged word need not be simulated.
      turn(me);
      if (what.satisfied(*what.read.word)) continue;
      if (is_last) break;
      watch(me, std::span<const engine::wait, 1>(&what, 1), period, activity::far_polling, until);
      is_last = me.clock >= until;
      if (is_last && !what.satisfied(*what.read.word)) break;
    }
  }
  me.polls_far = false;
  fruitless_ = 0;
  return result;
}

cluster::outcome cluster::await_by_writing(rank_state& me, const engine::wait& what, picoseconds until) {
  const bool is_near = engine::is_near(what.read.what);
  me.waits = {&what, 1};
  outcome result;
  for (auto span = what.pause.shortest;; span = what.pause.after(span)) {
    me.polls_far = !is_near;
    pause(me, std::min(later(me.clock, span), until));
    const bool is_last = me.clock >= until;
    result.value = is_near ? perform(what.read) : poll_far(what);
    if (what.satisfied(result.value)) {
      result.which = 0;
      break;
    }
    if (is_last) break;
    count_fruitless(me);
  }
  me.polls_far = false;
  fruitless_ = 0;
  return result;
}

cluster::outcome cluster::await_one(rank_state& me, const engine::wait& what, picoseconds until) {
  switch (what.read.what) {
    case action::load:
    case action::add:
    case action::read_direct:
      return await_in_place(me, std::span<const engine::wait, 1>(&what, 1), until);
    case action::get:
    case action::fetch:
      return await_far(me, what, until);
    case action::swap:
    case action::compare_and_swap:
    case action::exchange:
      return await_by_writing(me, what, until);
    default:
      throw misuse("no wait repeats a " + std::string(engine::name(what.read.what)));
  }
}

std::uint64_t cluster::await(const engine::wait& what) {
  ++statistics_.operations;
  return await_one(state_of(running()), what, never).value;
}

engine::waited cluster::await_any(std::span<const engine::wait> any, engine::deadline until) {
  if (any.empty()) throw misuse("a wait for no word at all would never end");
  for (const engine::wait& one : any)
    if (any.size() > 1 && one.read.what != action::load && one.read.what != action::read_direct)
      throw misuse("several words at once are waited for in place, not by a " +
                   std::string(engine::name(one.read.what)));
  rank_state& me = state_of(running());
  const picoseconds at = until ? instant_of(*until) : never;
  count_wait(me, at);
  // A predicate may throw, so a destructor resets the flag.
  struct timed {
    rank_state* of;
    timed(rank_state& whose, bool is_timed) : of(&whose) { whose.is_timed = is_timed; }
    timed(const timed&) = delete;
    timed& operator=(const timed&) = delete;
    ~timed() { of->is_timed = false; }
  } const while_it_waits(me, at != never);
  const outcome found = any.size() == 1 ? await_one(me, any.front(), at) : await_in_place(me, any, at);
  if (!found.is_satisfied()) return {};
  return {found.which, found.value};
}

void cluster::count_fruitless(rank_state& me) {
  // While another event is queued, the awaited change may still happen.
  if (!queue_.only_polls()) {
    fruitless_ = 0;
    return;
  }
  const std::uint64_t most = 10000 + 100 * static_cast<std::uint64_t>(size());
  if (++fruitless_ <= most) return;
  // The awaited change may also happen after a rank's deadline.
  if (std::ranges::any_of(ranks_, &rank_state::is_timed)) {
    fruitless_ = 0;
    return;
  }
  me.doing = activity::far_polling;
  give_up(me, "and other ranks only repeat far operations");
}

}  // namespace nearfar::simulation
