// Operations on words in place, and waits for words.

#include <algorithm>

#include "substrate.hpp"

namespace nearfar::simulation {

using engine::action;

std::uint64_t cluster::perform(const engine::operation& what) {
  const int rank = running();
  rank_state& me = state_of(rank);
  turn(me);
  count_operation(me);
  const std::size_t line = line_of(checked_word(what.word));
  const std::uint64_t old = *what.word;
  // Processors make it an exchange.
  const bool is_atomic_store = what.what == action::store && what.order == std::memory_order_seq_cst;
  switch (is_atomic_store ? action::exchange : what.what) {
    case action::load:
    case action::read_direct:
      me.clock = lines_.read(line, rank, me.clock);
      break;
    case action::store:
    case action::write_direct: {
      const picoseconds visible = store(me, rank, line);
      write(what.word, line, what.operand, visible);
      break;
    }
    default:
      // An atomic operation waits until the stores before it are visible.
      me.clock = lines_.own(line, rank, std::max(me.clock, me.stores.all_done)) + costs_.atomic;
      lines_.hold(line, me.clock);
      write(what.word, line, engine::result_of(what, old), me.clock);
  }
  return old;
}

void cluster::fence(std::memory_order order) {
  if (order != std::memory_order_seq_cst) return;
  rank_state& me = state_of(running());
  ++statistics_.operations;
  me.clock = std::max(me.clock, me.stores.all_done) + costs_.atomic;
}

picoseconds cluster::store(rank_state& me, int rank, std::size_t line) {
  if (lines_.is_owned(line, rank)) {
    me.clock += costs_.hit;
    // It leaves the store buffer after those before it.
    const picoseconds visible = std::max(me.clock, me.stores.all_done);
    lines_.hold(line, visible);
    return visible;
  }
  me.clock = me.stores.room(me.clock);
  const picoseconds visible = me.stores.add(lines_.own(line, rank, me.clock));
  lines_.hold(line, visible);
  me.clock += costs_.hit;
  return visible;
}

void cluster::notify(const std::uint64_t* word, std::size_t line, std::uint64_t value, picoseconds visible) {
  std::uint32_t* link = &watchers_[line];
  while (*link != 0) {
    const int rank = static_cast<int>(*link) - 1;
    rank_state& it = state_of(rank);
    if (it.wait->read.word == word && it.wait->satisfied(value)) {
      *link = it.next_watcher;
      wake(rank, next_instant(it.polls_from, it.poll_period, visible));
    } else {
      // It polls on and pulls the line to itself, though what has changed is nothing to it.
      lines_.read(line, rank, visible);
      link = &it.next_watcher;
    }
  }
}

std::uint64_t cluster::await(const engine::wait& what) {
  rank_state& me = state_of(running());
  ++statistics_.operations;
  switch (what.read.what) {
    case action::load:
    case action::read_direct:
      return await_in_place(me, what);
    case action::get:
    case action::fetch:
      return await_far(me, what);
    case action::swap:
      return await_swap(me, what);
    default:
      throw misuse("no wait repeats a " + std::string(engine::name(what.read.what)));
  }
}

void cluster::watch(rank_state& me, const engine::wait& what, std::size_t line, picoseconds period,
                    activity doing) {
  me.wait = &what;
  me.poll_period = period;
  me.polls_from = me.clock + random_.below(period);
  me.next_watcher = watchers_[line];
  watchers_[line] = static_cast<std::uint32_t>(running()) + 1;
  block(me, doing);
}

std::uint64_t cluster::await_in_place(rank_state& me, const engine::wait& what) {
  const int rank = running();
  const std::size_t line = line_of(checked_word(what.read.word));
  const picoseconds period = what.progresses ? costs_.poll_period : costs_.bare_poll_period;
  const activity doing = what.progresses ? activity::polling : activity::bare_polling;
  for (bool is_first = true;; is_first = false) {
    turn(me);
    const std::uint64_t value = *what.read.word;
    me.clock = lines_.read(line, rank, me.clock);
    if (what.satisfied(value)) {
      me.progress_at = rank_state::no_time;
      return value;
    }
    if (is_first) me.progresses_from = me.clock + random_.below(costs_.progress_period);
    if (what.progresses && !me.pending.empty() && me.progress_at == rank_state::no_time)
      schedule_progress(rank, me.clock);
    watch(me, what, line, period, doing);
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

std::uint64_t cluster::await_far(rank_state& me, const engine::wait& what) {
  const transfer_times& times =
      costs_.of(distance_between(running(), what.read.target), transfer_of(what.read.what));
  const std::size_t line = line_of(checked_word(what.read.word));
  const picoseconds period =
      std::max<picoseconds>(1, times.overhead + times.latency + times.service + times.completion +
                                   costs_.hit + costs_.flush + costs_.progress);
  for (;;) {
    me.polls_far = times.by != executor::origin;
    me.wait = &what;
    const std::uint64_t value = poll_far(what);
    if (what.satisfied(value)) {
      me.polls_far = false;
      fruitless_ = 0;
      return value;
    }
    me.clock += costs_.progress;
    enter(me);
    if (times.by != executor::origin) {
      count_fruitless(me);
    } else {
      // Polls in place disturb nobody, so those of an unchanged word need not be played.
      turn(me);
      if (!what.satisfied(*what.read.word)) watch(me, what, line, period, activity::far_polling);
    }
  }
}

std::uint64_t cluster::await_swap(rank_state& me, const engine::wait& what) {
  for (auto span = what.pause.shortest;; span = std::min(span * 2, what.pause.longest)) {
    me.polls_far = true;
    me.wait = &what;
    delay(span);
    const std::uint64_t value = poll_far(what);
    if (what.satisfied(value)) {
      me.polls_far = false;
      fruitless_ = 0;
      return value;
    }
    count_fruitless(me);
  }
}

void cluster::count_fruitless(rank_state& me) {
  // While another event is queued, what is waited for may still happen.
  if (!queue_.only_polls()) {
    fruitless_ = 0;
    return;
  }
  const std::uint64_t most = 10000 + 100 * static_cast<std::uint64_t>(size());
  if (++fruitless_ <= most) return;
  me.doing = activity::far_polling;
  give_up(me, "and others repeat far operations, and nothing else happens any more");
}

}  // namespace nearfar::simulation
