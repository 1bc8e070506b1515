/// \file
/// The choice of the lock of which the program's mutexes are made.
#pragma once

#include "algorithms.hpp"

namespace nearfar::preload {

/// The lock that NEARFAR_PTHREAD_LOCK names, or the default. Read at the first use, which is before or in the
/// library's constructor. An unknown name ends the program with a list of the known ones.
[[nodiscard]] const algorithm& chosen() noexcept;

}  // namespace nearfar::preload
