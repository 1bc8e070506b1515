// Objects of several words and plain cells: the cache lines that they cover, and their values. Each value is
// read or written at one moment.

#include <algorithm>
#include <cstring>

#include "substrate.hpp"

namespace nearfar::simulation {

picoseconds cluster::read_lines(const rank_state& me, const line_range& of) {
  picoseconds begins = me.clock;
  picoseconds all_here = me.clock;
  std::fill_n(fills_.begin(), std::min(fills_.size(), of.count()), me.clock);
  for (std::size_t line = of.first; line <= of.last; ++line) {
    // The fill buffer of the line that is `fills_.size()` lines before this one.
    picoseconds& buffer = fills_[(line - of.first) % fills_.size()];
    begins = std::max(begins, buffer);
    all_here = std::max(all_here, read_line(line, running(), begins));
    buffer = all_here;
    begins += costs_.hit;
  }
  return all_here;
}

picoseconds cluster::store_lines(rank_state& me, const line_range& of) {
  picoseconds visible = me.clock;
  for (std::size_t line = of.first; line <= of.last; ++line) visible = store(me, running(), line);
  return visible;
}

void cluster::notify_all(std::span<const std::uint64_t> written, picoseconds visible) {
  const line_range lines = checked_lines(written.data(), written.size_bytes());
  for (std::size_t line = lines.first; line <= lines.last; ++line)
    if (watching_.is_watched(line)) notify(written, line, visible);
}

void cluster::set_object(const engine::operation& what, const void* value, picoseconds visible) {
  if (std::memcmp(what.word, value, what.bytes) != 0) unchanged_ = 0;
  std::memcpy(what.word, value, what.bytes);
  notify_all({what.word, what.words()}, visible);
}

std::uint64_t cluster::read_object(rank_state& me, const engine::operation& what) {
  const line_range lines = checked_lines(what.word, what.bytes);
  std::memcpy(what.result, what.word, what.bytes);
  me.clock = read_lines(me, lines);
  return 0;
}

std::uint64_t cluster::write_object(rank_state& me, const engine::operation& what) {
  const line_range lines = checked_lines(what.word, what.bytes);
  set_object(what, what.origin, store_lines(me, lines));
  return 0;
}

void cluster::access(const engine::plain_access& what) {
  rank_state& me = state_of(running());
  turn(me);
  count_operation(me);
  const line_range lines = checked_lines(what.first, what.bytes);
  if (!what.writes) {
    me.clock = read_lines(me, lines);
    return;
  }
  unchanged_ = 0;
  notify_all({what.first, (what.bytes + sizeof *what.first - 1) / sizeof *what.first},
             store_lines(me, lines));
}

/// Makes room for the value of a put or a get. A put copies its value at once.
void cluster::carry_value(std::uint32_t which) {
  const engine::operation& what = flights_[which].what;
  if (values_.size() < flights_.size()) values_.resize(flights_.size());
  values_[which].resize(what.bytes);
  if (what.origin != nullptr) std::memcpy(values_[which].data(), what.origin, what.bytes);
}

/// Carries out a put or a get at its target.
void cluster::move_object(std::uint32_t which, picoseconds at) {
  const flight& it = flights_[which];
  if (!engine::is_write(it.what.what)) {
    std::memcpy(values_[which].data(), it.what.word, it.what.bytes);
    return finish_flight(which, sent_back(it, at));
  }
  const line_range lines = checked_lines(it.what.word, it.what.bytes);
  for (std::size_t line = lines.first; line <= lines.last; ++line)
    if (it.times->by == executor::nic)
      lines_.write_to_memory(line, at);
    else
      lines_.take(line, it.what.target, at);
  set_object(it.what, values_[which].data(), at);
  finish_flight(which, at);
}

/// The origin carries out a put or a get in place. Returns when other ranks can see it.
picoseconds cluster::move_object_in_place(rank_state& me, std::uint32_t which) {
  const flight& it = flights_[which];
  const line_range lines = checked_lines(it.what.word, it.what.bytes);
  picoseconds visible = 0;
  if (engine::is_write(it.what.what)) {
    visible = store_lines(me, lines);
    set_object(it.what, values_[which].data(), visible);
  } else {
    std::memcpy(values_[which].data(), it.what.word, it.what.bytes);
    me.clock = read_lines(me, lines);
  }
  me.clock += it.times->service;
  return visible;
}

/// A get is complete: copies its result to the program.
void cluster::hand_over_value(std::uint32_t which) {
  const engine::operation& what = flights_[which].what;
  if (what.result != nullptr) std::memcpy(what.result, values_[which].data(), what.bytes);
}

/// Time that the target's processor takes for the lines after the first. The transfer's service time covers
/// the first.
picoseconds cluster::copying(const engine::operation& what) const {
  return static_cast<picoseconds>(checked_lines(what.word, what.bytes).count() - 1) * costs_.hit;
}

/// Returns when the value that a get has read at `at` has left its target.
picoseconds cluster::sent_back(const flight& it, picoseconds at) {
  const picoseconds takes = costs_.on_the_wire(it.what.bytes);
  if (!it.remote) return it.times->by == executor::nic ? at + takes : at;
  picoseconds& free = interfaces_[index(node_of_[index(it.what.target)])];
  return free = std::max(at, free) + takes;
}

}  // namespace nearfar::simulation
