/// \file
/// A machine's costs as the simulation computes with them: checked, in whole picoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "nearfar/engine/operation.hpp"
#include "nearfar/simulation/machine.hpp"

namespace nearfar::simulation {

/// Virtual time or a span of it. Integers make sums independent of the order of addition.
using picoseconds = std::int64_t;
inline constexpr picoseconds picoseconds_per_nanosecond = 1000;

/// Where a cache line comes from, nearest first.
enum class line_source : std::uint8_t { same_core, same_cache, same_numa, same_node };
inline constexpr std::size_t line_source_count = 4;

/// Whether a network lies between the two ranks.
[[nodiscard]] constexpr bool is_remote(distance how_far) noexcept { return how_far >= distance::remote; }

struct transfer_times {
  picoseconds overhead = 0;
  picoseconds latency = 0;
  picoseconds service = 0;
  picoseconds completion = 0;
  executor by = executor::origin;
};

struct costs {
  std::array<std::array<transfer_times, transfer_count>, distance_count + 1> transfers{};
  picoseconds hit = 0;
  picoseconds atomic = 0;
  std::array<picoseconds, line_source_count> move{};
  std::size_t lines_at_once = 1;
  picoseconds readers_at_once = 1;
  picoseconds clock = 0;
  double near_jitter = 0;
  picoseconds progress = 0;
  picoseconds flush = 0;
  picoseconds exclusive = 0;
  picoseconds lock_handover = 0;
  /// A request for a window's lock by another rank of the home's node, if the home carries it out.
  transfer_times request;
  bool is_requested = false;
  unsigned served_per_call = 1;
  picoseconds injection_gap = 0;
  picoseconds per_byte = 0;
  double jitter = 0;
  int nodes_per_island = 0;  ///< 0: all
  /// From one poll of a waiting rank to its next, averaged over polls with and without a progress call.
  picoseconds poll_period = 1;
  /// The same for a wait without progress calls.
  picoseconds bare_poll_period = 1;
  /// From one progress call of a waiting rank to its next.
  picoseconds progress_period = 1;

  [[nodiscard]] const transfer_times& of(distance how_far, transfer what) const noexcept {
    return transfers[static_cast<std::size_t>(how_far)][static_cast<std::size_t>(what)];
  }
  /// Additional time on the wire for an object, compared with one word.
  [[nodiscard]] picoseconds on_the_wire(std::size_t bytes) const noexcept {
    return bytes > sizeof(std::uint64_t) ? static_cast<picoseconds>(bytes - sizeof(std::uint64_t)) * per_byte
                                         : 0;
  }
};

/// Throws `nearfar::error`, which names the machine and the field, for impossible costs: negative, not
/// finite, longer than an hour, remote transfers that the origin's processor carries out, or atomics and
/// accumulates of which the origin's processor carries out only one kind.
[[nodiscard]] costs costs_of(const machine& on);

[[nodiscard]] constexpr transfer transfer_of(engine::action what) noexcept {
  switch (what) {
    case engine::action::put:
      return transfer::put;
    case engine::action::get:
      return transfer::get;
    case engine::action::replace:
    case engine::action::sum:
      return transfer::accumulate;
    default:
      return transfer::atomic;
  }
}

}  // namespace nearfar::simulation
