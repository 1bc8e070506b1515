/// \file
/// The run-time parameters of the registered locks.
#pragma once

#include <chrono>

#include "nearfar/lock/tas_lock.hpp"

namespace nearfar::bench {

/// One set of values for all locks; each takes those it has.
struct lock_parameters {
  int max_local_passes = 50;
  backoff pause{};
};

}  // namespace nearfar::bench
