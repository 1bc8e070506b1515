/// \file
/// The run-time parameters of the registered locks.
#pragma once

#include <string>

#include "bench/axis.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/lock/local_passes.hpp"

namespace nearfar::bench {

/// One set of values for all locks; each takes those it has.
struct lock_parameters {
  int max_local_passes = default_max_local_passes;
  backoff pause{};

  /// Those that the point names, and the defaults of the others.
  [[nodiscard]] static lock_parameters at(const point& where);
};

/// Why the pauses of a lock that tries again do not go together, or nothing.
[[nodiscard]] std::string refuse_pauses(const point& at);

}  // namespace nearfar::bench
