/// \file
/// Future events in the order of virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "costs.hpp"

namespace nearfar::simulation {

enum class event_kind : std::uint8_t {
  resume,    ///< a rank goes on
  arrival,   ///< a transfer reaches its target
  effect,    ///< a transfer is carried out
  progress,  ///< a polling rank looks into the library
  deadline,  ///< a rank's deadline, if it still waits
};

/// Sixteen bytes, because the queue is as fast as it moves events. Below the time lie sequence number, kind,
/// whether a repeated far poll caused the event, and the rank or the transfer. So one comparison orders
/// events of the same time by sequence number.
struct event {
  picoseconds at = 0;
  std::uint64_t packed = 0;

  static constexpr unsigned subject_bits = 24;
  static constexpr unsigned sequence_shift = 28;
  static constexpr std::uint32_t most_subjects = std::uint32_t{1} << subject_bits;

  [[nodiscard]] event_kind kind() const noexcept {
    return static_cast<event_kind>(packed >> subject_bits & 7U);
  }
  [[nodiscard]] bool is_poll() const noexcept { return (packed >> (subject_bits + 3) & 1U) != 0; }
  [[nodiscard]] std::uint32_t subject() const noexcept {
    return static_cast<std::uint32_t>(packed & (most_subjects - 1));
  }
  [[nodiscard]] bool before(const event& other) const noexcept {
    return at != other.at ? at < other.at : packed < other.packed;
  }
};

/// Binary heap of events. Events of the same time come out in the order in which they went in.
class event_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// Time of the first event. The queue must not be empty.
  [[nodiscard]] picoseconds first() const noexcept { return heap_.front().at; }
  /// Whether repeated far polls caused all events that are queued.
  [[nodiscard]] bool only_polls() const noexcept { return others_ == 0; }

  void push(picoseconds at, event_kind kind, std::uint32_t subject, bool is_poll) {
    const event added = make(at, kind, subject, is_poll);
    heap_.push_back(added);
    std::size_t hole = heap_.size() - 1;
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 2;
      if (!added.before(heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = added;
  }

  /// Takes the first event out of a queue that is not empty.
  event pop() {
    const event first = heap_.front();
    const event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    if (!first.is_poll()) --others_;
    return first;
  }

  /// `push` followed by `pop`, at the cost of one of them if the new event is not the first.
  event exchange(picoseconds at, event_kind kind, std::uint32_t subject, bool is_poll) {
    const event first = heap_.front();
    sink(make(at, kind, subject, is_poll));
    if (!first.is_poll()) --others_;
    return first;
  }

 private:
  [[nodiscard]] event make(picoseconds at, event_kind kind, std::uint32_t subject, bool is_poll) noexcept {
    if (!is_poll) ++others_;
    // A run of 2^36 events takes days.
    return {at, ++sequence_ << event::sequence_shift |
                    static_cast<std::uint64_t>(is_poll) << (event::subject_bits + 3) |
                    static_cast<std::uint64_t>(kind) << event::subject_bits | subject};
  }

  /// Puts `moved` in where the first element was.
  void sink(const event& moved) noexcept {
    const std::size_t count = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= count) break;
      if (child + 1 < count && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(moved)) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = moved;
  }

  std::vector<event> heap_;
  std::uint64_t sequence_ = 0;
  std::size_t others_ = 0;
};

}  // namespace nearfar::simulation
