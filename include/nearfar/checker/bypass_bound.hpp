/// \file
/// The promise of a lock about overtaking; apart from the checker, since the registry of locks states it.
#pragma once

#include <cstdint>
#include <optional>

#include "nearfar/language.hpp"

namespace nearfar::checker {

/// How many ranks may overtake one that waits.
enum class bypass_bound : std::uint8_t {
  none,          ///< no promise
  fifo,          ///< none that asks after the other has begun to wait
  local_passes,  ///< `max_local_passes` of another node in a row, once no rank outside that node has steps to
                 ///< take
  level_passes,  ///< the same, and `max_local_passes` hand-overs in a row from node to node of another
                 ///< island, once no rank outside that island has steps to take
};

/// How many ranks that ask after another has begun to wait may enter before it does; nothing: no promise.
/// Writers hold exclusively, readers share.
struct overtaking_limits {
  std::optional<int> writers_past_writer{};
  std::optional<int> readers_past_writer{};
  std::optional<int> writers_past_reader{};
  std::optional<int> readers_past_reader{};
};

}  // namespace nearfar::checker
