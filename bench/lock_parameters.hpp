/// \file
/// The run-time parameters of the registered locks.
#pragma once

#include "nearfar/core/backoff.hpp"
#include "nearfar/lock/local_passes.hpp"

namespace nearfar::bench {

/// One set of values for all locks; each takes those it has.
struct lock_parameters {
  int max_local_passes = default_max_local_passes;
  backoff pause{};
};

}  // namespace nearfar::bench
