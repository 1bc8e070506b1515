// Operations on words in place.

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
  // Processors execute a sequentially consistent store as an exchange.
  const bool is_atomic_store = what.what == action::store && what.order == std::memory_order_seq_cst;
  if (is_atomic_store || (engine::is_write(what.what) && engine::is_read(what.what))) drain_stores(me);
  const std::uint64_t old = *what.word;
  switch (is_atomic_store ? action::exchange : what.what) {
    case action::read_direct:
      if (what.is_of_object()) return read_object(me, what);
      [[fallthrough]];
    case action::load:
      me.clock = read_line(line, rank, me.clock);
      break;
    case action::write_direct:
      if (what.is_of_object()) return write_object(me, what);
      [[fallthrough]];
    case action::store: {
      const picoseconds visible = store(me, rank, line);
      write(what.word, line, what.operand, visible);
      break;
    }
    default:
      me.clock = own_line(line, rank, me.clock) + costs_.atomic;
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

void cluster::light_fence() { fence(std::memory_order_seq_cst); }
void cluster::heavy_fence() { fence(std::memory_order_seq_cst); }

picoseconds cluster::store(rank_state& me, int rank, std::size_t line) {
  if (lines_.is_owned(line, rank)) {
    me.clock += costs_.hit;
    // The store becomes visible after those before it in the store buffer.
    const picoseconds visible = std::max(me.clock, me.stores.all_done);
    lines_.hold(line, visible);
    return visible;
  }
  me.clock = me.stores.room(me.clock);
  const picoseconds visible = me.stores.add(own_line(line, rank, me.clock));
  lines_.hold(line, visible);
  me.clock += costs_.hit;
  return visible;
}

void cluster::let_poll(std::size_t line, picoseconds before) {
  if (before <= lines_.unread_until(line)) return;
  polls_.clear();
  picoseconds next = never;
  for (watch_lists::handle which = watching_.first(line); which != watch_lists::none;
       which = watching_[which].next) {
    const int rank = static_cast<int>(watching_[which].rank);
    if (lines_.has_copy(line, rank)) continue;
    rank_state& it = state_of(rank);
    // The rank's polls before the write no longer matter, and skipping them makes the next call cheaper.
    it.polls_from = next_instant(it.polls_from, it.poll_period, lines_.written_at(line));
    if (it.polls_from < before)
      polls_.emplace_back(it.polls_from, rank);
    else
      next = std::min(next, it.polls_from);
  }
  // A rank that begins to wait later has just read the line.
  lines_.set_unread(line, next);
  if (polls_.size() > 1) std::ranges::sort(polls_);
  for (const auto& [polls, rank] : polls_) lines_.read(line, rank, polls);
}

void cluster::notify(std::span<const std::uint64_t> written, std::size_t line, picoseconds visible) {
  for (watch_lists::handle which = watching_.first(line); which != watch_lists::none;) {
    const watch_lists::watcher& one = watching_[which];
    const int rank = static_cast<int>(one.rank);
    rank_state& it = state_of(rank);
    const std::uint64_t* word = one.wait->read.word;
    const bool is_written = word >= written.data() && word < written.data() + written.size();
    if (is_written && one.wait->satisfied(*word)) {
      // A rank whose next poll would come after its deadline looks once more at the deadline.
      const picoseconds notices = next_instant(it.polls_from, it.poll_period, visible);
      which = it.waits.size() > 1 ? watching_.next_rank(which) : one.next;
      if (notices > it.until) continue;
      end_wait(rank);
      wake(rank, notices);
    } else {
      // The rank polls on. Its next poll moves the line to its core, although the change does not end its
      // wait.
      which = one.next;
    }
  }
}

}  // namespace nearfar::simulation
