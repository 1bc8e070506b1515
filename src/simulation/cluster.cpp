#include "nearfar/simulation/cluster.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "substrate.hpp"

namespace nearfar::simulation {

namespace {

/// Rounds up to whole cache lines, so that no two ranks share one.
std::size_t whole_lines(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + cache_line - 1) / cache_line) * cache_line;
}

const nearfar::locality& checked(const nearfar::locality& where) {
  if (where.size() >= static_cast<int>(event::most_subjects))
    throw topology_error("the simulation has room for fewer than " + std::to_string(event::most_subjects) +
                         " ranks, not " + std::to_string(where.size()));
  return where;
}

}  // namespace

cluster::cluster(const machine& on, const nearfar::locality& where, const options& chosen,
                 engine::stack_pool& stacks)
    : substrate(checked(where), whole_lines(chosen.bytes), stacks),
      costs_(costs_of(on)),
      random_(chosen.seed),
      near_random_(~chosen.seed),
      ranks_(index(where.size())),
      node_of_(index(where.size())),
      island_of_(index(where.size())),
      lines_(where, costs_, bytes(), near_random_),
      watching_(bytes() / cache_line * index(where.size()), where.size()),
      fills_(costs_.lines_at_once),
      units_(bytes() / sizeof(std::uint64_t) * index(where.size())),
      interfaces_(index(where.groups(level::node))),
      locks_(index(where.groups(level::node))),
      words_(bytes() / sizeof(std::uint64_t) * index(where.size())),
      stop_after_(std::numeric_limits<picoseconds>::max()),
      most_fruitless_(chosen.most_fruitless) {
  bool has_islands = false;
  for (int rank = 0; rank < where.size(); ++rank) {
    node_of_[index(rank)] = where.group(level::node, rank);
    has_islands = has_islands || where.known(level::island, rank);
  }
  for (int rank = 0; rank < where.size(); ++rank) {
    int& island = island_of_[index(rank)];
    if (has_islands)
      island = where.group(level::island, rank);
    else if (costs_.nodes_per_island > 0)
      island = node_of_[index(rank)] / costs_.nodes_per_island;
  }
  // As for the simulation's own arrays; see `sparse_array`.
  madvise(memory(0), bytes() * index(where.size()), MADV_NOHUGEPAGE);
  distance widest = distance::node;
  for (int rank = 1; rank < where.size(); ++rank) widest = std::max(widest, distance_between(0, rank));
  barrier_span_ =
      std::bit_width(static_cast<unsigned>(where.size()) - 1) * costs_.of(widest, transfer::message).latency;
}

run_statistics cluster::run(const rank_body& body) {
  const engine::current_substrate here(*this);
  start(body);
  unfinished_ = size();
  for (int rank = 0; rank < size(); ++rank) wake(rank, 0);
  while (gave_up_.empty() && (is_handed_ || !queue_.empty())) {
    const event next = is_handed_ ? handed_ : queue_.pop();
    is_handed_ = false;
    // Ranks that throw at the same time still run, so that the lowest rank's exception is found.
    if (next.at > stop_after_) break;
    dispatch(next);
  }
  const bool has_thrown = stop_after_ != std::numeric_limits<picoseconds>::max();
  const std::string stuck = unfinished_ > 0 && !has_thrown ? stuck_text() : std::string();
  abandoning_ = true;
  finish();
  if (!stuck.empty()) throw engine::deadlock(stuck);
  return statistics_;
}

void cluster::dispatch(const event& next) {
  switch (next.kind()) {
    case event_kind::resume:
      return go_on(static_cast<int>(next.subject()), next.at);
    case event_kind::arrival:
      return arrive(next.subject(), next.at);
    case event_kind::effect:
      return take_effect(next.subject(), next.at);
    case event_kind::deadline:
      return reach_deadline(static_cast<int>(next.subject()), next.at);
    case event_kind::progress: {
      const int rank = static_cast<int>(next.subject());
      rank_state& it = state_of(rank);
      if (it.progress_at != next.at) return;
      it.progress_at = rank_state::no_time;
      // The rank's wait may have ended since.
      if (it.doing != activity::polling) return;
      drain(rank, next.at, costs_.served_per_call);
      if (!it.pending.empty()) schedule_progress(rank, next.at + 1);
      return;
    }
  }
}

void cluster::go_on(int rank, picoseconds at) {
  rank_state& it = state_of(rank);
  it.clock = std::max(it.clock, at);
  ++statistics_.switches;
  resume(rank);
  if (!has_ended(rank)) return;
  it.doing = activity::ended;
  --unfinished_;
  statistics_.span =
      std::max(statistics_.span, std::chrono::nanoseconds(it.clock / picoseconds_per_nanosecond));
  if (fibre_of(rank).thrown()) stop_after_ = std::min(stop_after_, it.clock);
  drain(rank, it.clock);
}

void cluster::give_way(rank_state& me) {
  // While the ranks are ended, the operations of their destructors take effect at once.
  if (abandoning_) return;
  handed_ =
      queue_.exchange(me.clock, event_kind::resume, static_cast<std::uint32_t>(running()), me.polls_far);
  is_handed_ = true;
  suspend();
}

void cluster::block(rank_state& me, activity doing, picoseconds until) {
  if (abandoning_) throw engine::fibre::cancelled();
  me.doing = doing;
  me.until = until;
  if (until != never) queue_deadline(running());
  // Carries out what arrived after this rank entered the library, while other ranks had their turn.
  if (is_inside(doing) && !me.pending.empty()) drain(running(), me.clock);
  suspend();
  me.doing = activity::computing;
  me.clock = std::max(me.clock, me.handler_free);
}

void cluster::queue_deadline(int rank) {
  rank_state& it = state_of(rank);
  // An earlier event, of a wait that has ended since, queues this deadline when it comes. So a rank that
  // waits repeatedly with late deadlines has one event in the queue instead of one for each wait.
  if (!it.deadlines.empty() && it.deadlines.back() <= it.until) return;
  it.deadlines.push_back(it.until);
  // A queued deadline promises no progress: the wait may have ended long before.
  constexpr bool is_poll = true;
  queue_.push(it.until, event_kind::deadline, static_cast<std::uint32_t>(rank), is_poll);
}

void cluster::reach_deadline(int rank, picoseconds at) {
  rank_state& it = state_of(rank);
  it.deadlines.pop_back();
  if (it.until == never) return;
  if (it.until > at) return queue_deadline(rank);
  end_wait(rank);
  go_on(rank, at);
}

void cluster::serve(rank_state& me) {
  me.inside_from = me.clock;
  if (me.pending.empty()) return;
  drain(running(), me.clock, costs_.served_per_call);
  me.clock = std::max(me.clock, me.handler_free);
}

void cluster::stay_inside(rank_state& me, activity doing, picoseconds until) {
  me.doing = doing;
  if (until > me.clock && !me.pending.empty()) drain(running(), me.clock);
  me.clock = std::max(me.clock, until);
  turn(me);
  me.doing = activity::computing;
  me.clock = std::max(me.clock, me.handler_free);
}

void cluster::delay(std::chrono::nanoseconds span) {
  rank_state& me = state_of(running());
  pause(me, later(me.clock, span));
}

void cluster::compute(std::chrono::nanoseconds span) {
  rank_state& me = state_of(running());
  me.clock = later(me.clock, span);
  turn(me);
}

void cluster::barrier() {
  rank_state& me = state_of(running());
  const int rank = running();
  serve(me);
  ++statistics_.operations;
  barrier_latest_ = std::max(barrier_latest_, me.clock);
  if (++in_barrier_ < size()) return block(me, activity::in_barrier);
  const picoseconds leaves = barrier_latest_ + barrier_span_;
  in_barrier_ = 0;
  barrier_latest_ = 0;
  for (int other = 0; other < size(); ++other)
    if (other != rank) wake(other, leaves);
  stay_inside(me, activity::in_barrier, leaves);
}

std::chrono::nanoseconds cluster::now() {
  rank_state& me = state_of(running());
  // A loop that looks only at the time would hang, because no time passes between its questions.
  constexpr std::uint32_t most_questions = 1U << 20U;
  me.asked = me.clock == me.asked_at ? me.asked + 1 : 0;
  me.asked_at = me.clock;
  if (me.asked > most_questions)
    give_up(me, "asks for the time in a loop that takes no simulated time: use delay");
  return std::chrono::nanoseconds(me.clock / picoseconds_per_nanosecond);
}

std::chrono::nanoseconds cluster::after_turn(std::chrono::nanoseconds at) {
  if (costs_.clock == 0) return at;
  rank_state& me = state_of(running());
  me.clock += near_random_.varied(costs_.clock, costs_.near_jitter);
  turn(me);
  return std::chrono::nanoseconds(me.clock / picoseconds_per_nanosecond);
}

void cluster::give_up(rank_state& me, const std::string& why) {
  gave_up_ = "rank " + std::to_string(running()) + " " + why;
  block(me, me.doing);
}

std::size_t cluster::checked_word(const void* word) const {
  const std::size_t at = word_index(word);
  if (at >= words_) throw misuse("a word outside the simulated ranks' memory: cells live in segments only");
  return at;
}

cluster::line_range cluster::checked_lines(const std::uint64_t* first, std::size_t bytes) const {
  const std::byte* last = reinterpret_cast<const std::byte*>(first) + (bytes - 1);
  return {line_of(checked_word(first)), line_of(checked_word(last))};
}

distance cluster::distance_between(int origin, int target) const noexcept {
  if (origin == target) return distance::self;
  const int from = node_of_[index(origin)];
  const int to = node_of_[index(target)];
  if (from == to) return distance::node;
  return island_of_[index(origin)] == island_of_[index(target)] ? distance::remote : distance::island;
}

std::string cluster::stuck_text() const {
  std::string text = gave_up_.empty() ? "no rank can go on" : "the ranks would go on for ever: " + gave_up_;
  for (int rank = 0; rank < size(); ++rank)
    if (ranks_[index(rank)].doing != activity::ended) text += "\n  rank " + waits_text(rank);
  return text;
}

std::string cluster::waits_text(int rank) const {
  const rank_state& it = ranks_[index(rank)];
  const std::string who = std::to_string(rank) + " ";
  const auto word_text = [&](const engine::operation& what) {
    const engine::word_name word = name_of(what.word);
    return word.text + " of rank " + std::to_string(word.rank);
  };
  const auto wait_text = [&](const engine::wait& one) {
    return word_text(one.read) + " by " + std::string(engine::name(one.read.what)) + ", which is " +
           std::to_string(*one.read.word);
  };
  switch (it.polls_far ? activity::far_polling : it.doing) {
    case activity::computing:
    case activity::delaying:
    case activity::ended:
      break;
    case activity::bare_polling:
    case activity::polling:
    case activity::far_polling: {
      if (it.waits.empty()) break;
      std::string text = who + "waits for " + wait_text(it.waits.front());
      for (const engine::wait& other : it.waits.subspan(1)) text += ", or for " + wait_text(other);
      return text;
    }
    case activity::flushing: {
      std::string text = who + "flushes rank " + std::to_string(it.waits_at) + " and waits for";
      for (const std::uint32_t which : it.outstanding)
        if (const flight& one = flights_[which]; one.awaited && !one.done)
          text += " " + std::string(engine::name(one.what.what)) + " of " + word_text(one.what);
      return text;
    }
    case activity::awaiting_signal:
      return who + "waits for a signal from " +
             (it.waits_at == any_rank ? std::string("any rank") : "rank " + std::to_string(it.waits_at)) +
             " on channel " + std::to_string(it.waits_for);
    case activity::in_epoch:
      return who + "waits for the " + std::string(engine::name(it.waits_as)) + " epoch " +
             std::to_string(it.waits_for) + " at rank " + std::to_string(it.waits_at);
    case activity::in_barrier:
      return who + "waits in a barrier";
  }
  return std::string(who).append("is between operations");
}

run_statistics run(const machine& on, const locality& where, const std::function<void(engine::world&)>& body,
                   const options& chosen) {
  engine::stack_pool stacks(chosen.stack_bytes);
  cluster simulated(on, where, chosen, stacks);
  return simulated.run(body);
}

}  // namespace nearfar::simulation
