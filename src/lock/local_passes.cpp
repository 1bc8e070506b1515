#include "nearfar/lock/local_passes.hpp"

#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar {

int checked_local_passes(int limit) {
  if (limit < 0 || limit > most_local_passes)
    throw misuse("max_local_passes must be 0 to " + std::to_string(most_local_passes) + ", not " +
                 std::to_string(limit));
  return limit;
}

}  // namespace nearfar
