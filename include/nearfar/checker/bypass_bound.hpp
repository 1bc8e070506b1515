/// \file
/// What a lock promises about overtaking; apart from the checker, since the registry of locks states it.
#pragma once

#include <cstdint>

namespace nearfar::checker {

/// How many ranks may overtake one that waits.
enum class bypass_bound : std::uint8_t {
  none,          ///< no promise
  fifo,          ///< none that asks after the other has begun to wait
  local_passes,  ///< `max_local_passes` of another node in a row, once no rank outside that node has steps to
                 ///< take
};

}  // namespace nearfar::checker
