/// \file
/// The state of each rank and of each operation under way.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "costs.hpp"
#include "nearfar/engine/operation.hpp"

namespace nearfar::simulation {

/// The activity of a rank, as far as other ranks or the text about a deadlock depend on it.
enum class activity : std::uint8_t {
  computing,     ///< outside the library, between operations
  bare_polling,  ///< outside the library, for the whole wait
  polling,       ///< waits, and enters the library now and then
  // Inside the library from here on.
  far_polling,
  flushing,
  awaiting_signal,
  in_epoch,
  in_barrier,
  delaying,
  ended,
};

[[nodiscard]] constexpr bool is_inside(activity doing) noexcept { return doing >= activity::far_polling; }

/// A deadline that never comes.
inline constexpr picoseconds never = std::numeric_limits<picoseconds>::max();

/// A deadline by the ranks' clocks; `never` if it is beyond their range of 106 days.
[[nodiscard]] constexpr picoseconds instant_of(std::chrono::nanoseconds since_start) noexcept {
  constexpr picoseconds last = never / picoseconds_per_nanosecond;
  if (since_start.count() >= last) return never;
  return std::max<picoseconds>(0, since_start.count()) * picoseconds_per_nanosecond;
}

/// The end of a pause. Longer pauses end after 53 days, so that no clock overflows.
[[nodiscard]] constexpr picoseconds later(picoseconds from, std::chrono::nanoseconds span) noexcept {
  constexpr picoseconds last = never / 2;
  const picoseconds pause = instant_of(span);
  return pause < last - from ? from + pause : std::max(from, last);
}

inline constexpr std::uint32_t no_flight = std::numeric_limits<std::uint32_t>::max();

/// An operation or a message on its way.
struct flight {
  enum class role : std::uint8_t { memory, message, begin_epoch, end_epoch };

  engine::operation what;
  const transfer_times* times = nullptr;
  picoseconds known_at = 0;  ///< when the origin can know that the operation is done
  std::uint64_t old = 0;     ///< the word's value before
  int origin = 0;
  int id = 0;  ///< of the channel or the epoch
  role is = role::memory;
  engine::epoch_kind kind{};  ///< of the epoch
  bool remote = false;
  bool done = false;
  bool awaited = false;              ///< its origin is suspended until it is done
  bool is_poll = false;              ///< of a far wait
  bool held_back = false;            ///< arrived before the operation that it has to follow
  std::uint32_t behind = no_flight;  ///< the operation that has to take effect before this one
  std::uint32_t follower = no_flight;
  std::uint32_t next = no_flight;  ///< in a queue
};

/// A queue of flights, linked through their `next`.
struct flight_queue {
  std::uint32_t first = no_flight;
  std::uint32_t last = no_flight;

  [[nodiscard]] bool empty() const noexcept { return first == no_flight; }
};

/// The lock of an epoch at its home. It grants requests in the order of arrival, and shared ones together.
struct epoch_state {
  picoseconds free_at = 0;
  flight_queue waiting;
  bool is_exclusive = false;
  int sharers = 0;

  /// Whether the first request in the queue can be granted.
  [[nodiscard]] bool admits(engine::epoch_kind how) const noexcept {
    return !is_exclusive && (how == engine::epoch_kind::shared || sharers == 0);
  }
  void add(engine::epoch_kind how) noexcept {
    if (how == engine::epoch_kind::shared)
      ++sharers;
    else
      is_exclusive = true;
  }
  void remove(engine::epoch_kind how) noexcept {
    if (how == engine::epoch_kind::shared)
      --sharers;
    else
      is_exclusive = false;
  }
};

/// A message that has arrived and that its receiver has not received yet.
struct delivered {
  int channel;
  int from;
  picoseconds service;
};

/// Stores that a processor has issued in program order while their lines are on the way.
struct store_buffer {
  static constexpr std::size_t entries = 32;

  std::array<picoseconds, entries> done_at{};
  std::size_t oldest = 0;
  picoseconds all_done = 0;

  /// Returns when the buffer has room for one more store, if asked at `at`.
  [[nodiscard]] picoseconds room(picoseconds at) const noexcept {
    return at > done_at[oldest] ? at : done_at[oldest];
  }
  /// Returns when a store whose line arrives at `at` becomes visible, which is after the stores before it.
  picoseconds add(picoseconds at) noexcept {
    if (at > all_done) all_done = at;
    done_at[oldest] = all_done;
    oldest = (oldest + 1) % entries;
    return all_done;
  }
};

struct rank_state {
  picoseconds clock = 0;
  /// Until when the rank's processor is busy with requests of other ranks.
  picoseconds handler_free = 0;
  /// When the rank entered the library, or will enter it.
  picoseconds inside_from = 0;
  store_buffer stores;
  activity doing = activity::computing;
  bool polls_far = false;
  bool watches = false;   ///< is in the lists of the lines that it waits for
  bool is_timed = false;  ///< waits with a deadline

  flight_queue pending;                    ///< arrived requests that this rank has to carry out
  std::vector<std::uint32_t> outstanding;  ///< issued and not flushed
  // While the rank is suspended until flights are done:
  std::uint32_t awaited = 0;
  picoseconds latest_known = 0;
  int waits_at = 0;   ///< target of a flush, sender of a signal, or home of an epoch
  int waits_for = 0;  ///< channel or epoch
  engine::epoch_kind waits_as{};
  std::vector<delivered> mailbox;
  picoseconds received_service = 0;

  // While the rank waits for words:
  std::span<const engine::wait> waits;
  picoseconds polls_from = 0;
  picoseconds poll_period = 1;
  picoseconds until = never;  ///< when it goes on in any case while suspended
  picoseconds progresses_from = 0;
  picoseconds progress_at = no_time;  ///< when its next progress call matters
  std::uint32_t begins_with = 0;      ///< which of several words the next wait looks at first, as a fraction
  /// Times of its queued deadlines. Each is earlier than the one queued before it.
  std::vector<picoseconds> deadlines;

  // Calls of `now` in a row between which no time passed.
  picoseconds asked_at = no_time;
  std::uint32_t asked = 0;

  static constexpr picoseconds no_time = -1;
};

/// The first of the times `from`, `from` + `period`, ... that is not before `at`.
[[nodiscard]] constexpr picoseconds next_instant(picoseconds from, picoseconds period,
                                                 picoseconds at) noexcept {
  if (at <= from) return from;
  return from + (at - from + period - 1) / period * period;
}

}  // namespace nearfar::simulation
