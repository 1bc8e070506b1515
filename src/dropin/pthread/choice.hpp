/// \file
/// Which lock the program's mutexes are made of.
#pragma once

#include "algorithms.hpp"

namespace nearfar::preload {

/// What NEARFAR_PTHREAD_LOCK names, or the default. Read at the first use, which is before or in the
/// library's constructor. A name that is none ends the program with a list of those that are.
[[nodiscard]] const algorithm& chosen() noexcept;

}  // namespace nearfar::preload
