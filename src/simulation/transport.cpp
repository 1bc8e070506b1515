// Operations and messages between ranks: how they travel, which rank or device carries them out, and when
// their origin knows.

#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

#include "substrate.hpp"

namespace nearfar::simulation {

using engine::action;

namespace {

void fill(void* result, std::uint64_t value) { std::memcpy(result, &value, sizeof value); }

void fill_with_poison(const engine::operation& what) {
  if (!what.is_of_object()) return fill(what.result, poison);
  auto* to = static_cast<std::byte*>(what.result);
  for (std::size_t done = 0; done < what.bytes; done += sizeof poison)
    std::memcpy(to + done, &poison, std::min(sizeof poison, what.bytes - done));
}

}  // namespace

std::uint32_t cluster::new_flight(const flight& of) {
  if (!free_flights_.empty()) {
    const std::uint32_t which = free_flights_.back();
    free_flights_.pop_back();
    flights_[which] = of;
    return which;
  }
  if (flights_.size() >= event::most_subjects)
    throw out_of_memory("more than " + std::to_string(event::most_subjects) +
                        " far operations at once: flush more often");
  flights_.push_back(of);
  return static_cast<std::uint32_t>(flights_.size() - 1);
}

void cluster::append(flight_queue& to, std::uint32_t which) {
  flights_[which].next = no_flight;
  if (to.empty())
    to.first = which;
  else
    flights_[to.last].next = which;
  to.last = which;
}

std::uint32_t cluster::take_first(flight_queue& from) {
  const std::uint32_t which = from.first;
  from.first = flights_[which].next;
  return which;
}

picoseconds cluster::jittered(picoseconds latency) {
  if (costs_.jitter <= 0) return latency;
  const double factor = std::max(0.5, 1 + costs_.jitter * random_.normal());
  return static_cast<picoseconds>(static_cast<double>(latency) * factor);
}

void cluster::issue(const engine::operation& what) {
  const int rank = running();
  rank_state& me = state_of(rank);
  // A wait with a deadline repeats its operation only until then, so the repetitions are no hang.
  if (me.is_timed)
    ++statistics_.operations;
  else
    count_operation(me);
  (void)checked_word(what.word);
  if (what.is_of_object()) (void)checked_lines(what.word, what.bytes);
  const distance how_far = distance_between(rank, what.target);
  const transfer_times& times = costs_.of(how_far, transfer_of(what.what));
  // An operation in place takes its turn when it reaches the word.
  if (times.by == executor::origin)
    serve(me);
  else
    enter(me);
  if (what.result != nullptr) fill_with_poison(what);
  const std::uint32_t which = new_flight(
      {.what = what, .times = &times, .origin = rank, .remote = is_remote(how_far), .is_poll = me.polls_far});
  if (what.is_of_object()) carry_value(which);
  me.clock += times.overhead;
  if (times.by == executor::origin) {
    do_in_place(me, which);
  } else {
    keep_order(me, which);
    launch(me, which);
  }
  me.outstanding.push_back(which);
}

/// MPI orders the accumulates of one origin to one word, whatever their latencies.
void cluster::keep_order(const rank_state& me, std::uint32_t which) {
  flight& added = flights_[which];
  if (!engine::is_accumulate(added.what.what)) return;
  for (const std::uint32_t before : std::views::reverse(me.outstanding)) {
    flight& other = flights_[before];
    if (other.what.word != added.what.word || !engine::is_accumulate(other.what.what)) continue;
    if (!other.done) {
      added.behind = before;
      other.follower = which;
    }
    return;
  }
}

void cluster::do_in_place(rank_state& me, std::uint32_t which) {
  const int rank = running();
  me.clock += flights_[which].times->latency;
  turn(me);
  const bool takes_turns = is_locked(flights_[which].what, rank);
  if (takes_turns) {
    me.clock = locked(rank, me.clock);
    // A rank that asks meanwhile queues behind this one.
    unlock(rank, me.clock + flights_[which].times->service);
    turn(me);
  }
  flight& it = flights_[which];
  picoseconds visible = 0;
  const auto finish = [&] {
    it.done = true;
    it.known_at = std::max(me.clock, visible) + it.times->completion;
  };
  if (it.what.is_of_object()) {
    visible = move_object_in_place(me, which);
    return finish();
  }
  const std::size_t line = line_of(word_index(it.what.word));
  it.old = *it.what.word;
  switch (it.what.what) {
    case action::get:
    case action::fetch:
      visible = me.clock = read_line(line, rank, me.clock) + it.times->service;
      break;
    case action::put:
      visible = store(me, rank, line);
      me.clock += it.times->service;
      break;
    default:
      me.clock = own_line(line, rank, std::max(me.clock, me.stores.all_done)) + it.times->service;
      lines_.hold(line, me.clock);
      visible = me.clock;
  }
  if (takes_turns) unlock(rank, me.clock);
  if (engine::is_write(it.what.what)) write(it.what.word, line, engine::result_of(it.what, it.old), visible);
  finish();
}

void cluster::launch(const rank_state& me, std::uint32_t which) {
  const flight& it = flights_[which];
  const picoseconds takes = engine::is_write(it.what.what) ? costs_.on_the_wire(it.what.bytes) : 0;
  picoseconds arrival = me.clock + it.times->latency + (it.times->by == executor::nic ? takes : 0);
  if (it.remote) {
    picoseconds& free = interfaces_[index(node_of_[index(it.origin)])];
    const picoseconds departure = std::max(me.clock, free);
    free = departure + costs_.injection_gap + takes;
    arrival = departure + jittered(it.times->latency) + takes;
  }
  queue_.push(arrival, event_kind::arrival, which, it.is_poll);
}

void cluster::arrive(std::uint32_t which, picoseconds at) {
  flight& it = flights_[which];
  if (it.is == flight::role::message) return deliver(which, at);
  if (it.behind != no_flight) {
    it.held_back = true;
    return;
  }
  const int target = it.what.target;
  if (it.times->by == executor::nic) {
    const bool is_memory = it.is == flight::role::memory;
    picoseconds& free = is_memory ? units_[word_index(it.what.word)] : epoch(it.id).free_at;
    free = std::max(at, free) + (is_memory ? it.times->service : costs_.exclusive);
    queue_.push(free, event_kind::effect, which, it.is_poll);
    return;
  }
  rank_state& there = state_of(target);
  append(there.pending, which);
  if (is_inside(there.doing))
    drain(target, at);
  else if (there.doing == activity::polling && there.progress_at == rank_state::no_time)
    schedule_progress(target, at);
}

void cluster::schedule_progress(int rank, picoseconds at) {
  rank_state& it = state_of(rank);
  it.progress_at = next_instant(it.progresses_from, costs_.progress_period, at);
  queue_.push(it.progress_at, event_kind::progress, static_cast<std::uint32_t>(rank),
              flights_[it.pending.first].is_poll);
}

void cluster::drain(int rank, picoseconds at, unsigned most) {
  rank_state& it = state_of(rank);
  for (; !it.pending.empty() && most > 0; --most) {
    const std::uint32_t which = take_first(it.pending);
    const flight& one = flights_[which];
    const bool is_memory = one.is == flight::role::memory;
    const bool takes_turns = is_memory && is_locked(one.what, one.origin);
    it.handler_free = std::max({it.handler_free, it.inside_from, at});
    if (takes_turns) it.handler_free = locked(rank, it.handler_free);
    it.handler_free += is_memory ? one.times->service : costs_.exclusive;
    if (takes_turns) unlock(rank, it.handler_free);
    if (one.what.is_of_object()) it.handler_free += copying(one.what);
    queue_.push(it.handler_free, event_kind::effect, which, one.is_poll);
  }
}

void cluster::take_effect(std::uint32_t which, picoseconds at) {
  flight& it = flights_[which];
  switch (it.is) {
    case flight::role::memory: {
      if (it.what.is_of_object()) return move_object(which, at);
      it.old = *it.what.word;
      const std::uint64_t value = engine::result_of(it.what, it.old);
      const bool leaves_alone = it.what.what == action::compare_and_swap && value == it.old;
      if (engine::is_write(it.what.what) && !leaves_alone) {
        const std::size_t line = line_of(word_index(it.what.word));
        if (it.times->by == executor::nic)
          lines_.write_to_memory(line, at);
        else
          lines_.take(line, it.what.target, at);
        write(it.what.word, line, value, at);
      }
      return finish_flight(which, at);
    }
    case flight::role::begin_epoch: {
      epoch_state& lock = epoch(it.id);
      if (!lock.waiting.empty() || !lock.admits(it.kind)) return append(lock.waiting, which);
      lock.add(it.kind);
      return finish_flight(which, at);
    }
    case flight::role::end_epoch: {
      epoch_state& lock = epoch(it.id);
      lock.remove(it.kind);
      while (!lock.waiting.empty() && lock.admits(flights_[lock.waiting.first].kind)) {
        const std::uint32_t granted = take_first(lock.waiting);
        lock.add(flights_[granted].kind);
        finish_flight(granted, at);
      }
      return finish_flight(which, at);
    }
    case flight::role::message:
      return;
  }
}

void cluster::finish_flight(std::uint32_t which, picoseconds at) {
  flight& it = flights_[which];
  it.done = true;
  it.known_at = at + it.times->completion;
  if (it.awaited) {
    rank_state& origin = state_of(it.origin);
    origin.latest_known = std::max(origin.latest_known, it.known_at);
    if (--origin.awaited == 0) wake(it.origin, origin.latest_known);
  }
  if (it.follower == no_flight) return;
  flight& follower = flights_[it.follower];
  follower.behind = no_flight;
  if (follower.held_back) arrive(it.follower, at);
}

void cluster::flush(int target) {
  rank_state& me = state_of(running());
  serve(me);
  ++statistics_.operations;
  me.latest_known = me.clock;
  me.waits_at = target;
  const auto is_at_target = [&](std::uint32_t which) { return flights_[which].what.target == target; };
  for (const std::uint32_t which : me.outstanding) {
    flight& one = flights_[which];
    if (!is_at_target(which)) continue;
    if (one.done) {
      me.latest_known = std::max(me.latest_known, one.known_at);
    } else {
      one.awaited = true;
      ++me.awaited;
    }
  }
  if (me.awaited > 0)
    block(me, activity::flushing);
  else
    stay_inside(me, activity::flushing, me.latest_known);
  me.clock += costs_.flush;
  // Of a write that its origin could know as complete by now, no later flush can tell more.
  const auto is_over = [&](std::uint32_t which) {
    const flight& one = flights_[which];
    return one.done && one.known_at <= me.clock && one.what.result == nullptr && !one.what.is_of_object();
  };
  std::erase_if(me.outstanding, [&](std::uint32_t which) {
    if (!is_at_target(which) && !is_over(which)) return false;
    if (const flight& one = flights_[which]; one.what.is_of_object())
      hand_over_value(which);
    else if (one.what.result != nullptr)
      fill(one.what.result, one.old);
    free_flight(which);
    return true;
  });
}

epoch_state& cluster::epoch(int id) {
  if (index(id) >= epochs_.size()) epochs_.resize(index(id) + 1);
  return epochs_[index(id)];
}

void cluster::begin_epoch(int epoch, int home, engine::epoch_kind how) {
  change_epoch(epoch, home, flight::role::begin_epoch, how);
}

void cluster::end_epoch(int epoch, int home, engine::epoch_kind how) {
  change_epoch(epoch, home, flight::role::end_epoch, how);
}

void cluster::change_epoch(int epoch, int home, flight::role is, engine::epoch_kind how) {
  const int rank = running();
  rank_state& me = state_of(rank);
  enter(me);
  ++statistics_.operations;
  const distance how_far = distance_between(rank, home);
  const transfer_times& in_general = costs_.of(how_far, transfer::atomic);
  const bool asks_home =
      how_far == distance::node && in_general.by == executor::origin && costs_.is_requested;
  const transfer_times& times = asks_home ? costs_.request : in_general;
  const std::uint32_t which = new_flight({.what = {.target = home},
                                          .times = &times,
                                          .origin = rank,
                                          .id = epoch,
                                          .is = is,
                                          .kind = how,
                                          .remote = is_remote(how_far)});
  me.clock += times.overhead;
  if (times.by == executor::origin) {
    me.clock += times.latency;
    turn(me);
    picoseconds& free = this->epoch(epoch).free_at;
    free = std::max(free, me.clock) + costs_.exclusive;
    me.clock = free;
    take_effect(which, me.clock);
  } else {
    launch(me, which);
  }
  if (const flight& asked = flights_[which]; asked.done) {
    stay_inside(me, activity::in_epoch, asked.known_at);
  } else {
    flights_[which].awaited = true;
    me.awaited = 1;
    me.latest_known = me.clock;
    me.waits_for = epoch;
    me.waits_as = how;
    me.waits_at = home;
    block(me, activity::in_epoch);
  }
  free_flight(which);
}

void cluster::signal(int channel, int to) {
  const int rank = running();
  rank_state& me = state_of(rank);
  enter(me);
  ++statistics_.operations;
  const distance how_far = distance_between(rank, to);
  const transfer_times& times = costs_.of(how_far, transfer::message);
  me.clock += times.overhead;
  launch(me, new_flight({.what = {.target = to},
                         .times = &times,
                         .origin = rank,
                         .id = channel,
                         .is = flight::role::message,
                         .remote = is_remote(how_far)}));
}

void cluster::deliver(std::uint32_t which, picoseconds at) {
  const flight& it = flights_[which];
  rank_state& there = state_of(it.what.target);
  const bool is_awaited = there.doing == activity::awaiting_signal && there.awaited > 0 &&
                          there.waits_for == it.id &&
                          (there.waits_at == any_rank || there.waits_at == it.origin);
  if (is_awaited) {
    there.awaited = 0;
    end_wait(it.what.target);
    there.received_service = it.times->service;
    wake(it.what.target, std::max(at, there.clock));
  } else {
    there.mailbox.push_back({it.id, it.origin, it.times->service});
  }
  free_flight(which);
}

void cluster::await_signal(int channel, int from) { (void)receive(channel, from, never); }

bool cluster::await_signal_until(int channel, int from, std::chrono::nanoseconds until) {
  return receive(channel, from, instant_of(until));
}

bool cluster::receive(int channel, int from, picoseconds until) {
  rank_state& me = state_of(running());
  // Messages that have arrived by now count, even if the deadline is long past.
  if (until != never) turn(me);
  serve(me);
  count_wait(me, until);
  const auto first = std::find_if(me.mailbox.begin(), me.mailbox.end(), [&](const delivered& one) {
    return one.channel == channel && (from == any_rank || one.from == from);
  });
  if (first != me.mailbox.end()) {
    me.received_service = first->service;
    me.mailbox.erase(first);
  } else {
    if (me.clock >= until) return false;
    me.waits_for = channel;
    me.waits_at = from;
    me.awaited = 1;
    me.is_timed = until != never;
    block(me, activity::awaiting_signal, until);
    me.is_timed = false;
    if (std::exchange(me.awaited, 0) != 0) return false;
  }
  me.clock += me.received_service;
  return true;
}

}  // namespace nearfar::simulation
