#include "nearfar/lock/local_passes.hpp"

#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar {

int checked_local_passes(int limit, int least) {
  if (limit < least || limit > most_local_passes)
    throw misuse("max_local_passes must be " + std::to_string(least) + " to " +
                 std::to_string(most_local_passes) + ", not " + std::to_string(limit));
  return limit;
}

std::chrono::nanoseconds checked_turn(std::chrono::nanoseconds longest) {
  if (longest < std::chrono::nanoseconds::zero())
    throw misuse("max_turn must not be negative, but is " + std::to_string(longest.count()) + " ns");
  return longest;
}

}  // namespace nearfar
