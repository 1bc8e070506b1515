/// \file
/// Whether the library checks preconditions. `NEARFAR_CHECKED` (0 or 1) decides; if it is not defined, the
/// library checks unless `NDEBUG` is defined, as in CMake's Release builds.
#pragma once

#include "nearfar/language.hpp"

#ifndef NEARFAR_CHECKED
#ifdef NDEBUG
#define NEARFAR_CHECKED 0
#else
#define NEARFAR_CHECKED 1
#endif
#endif

namespace nearfar {

/// True if misuse throws; false if the checks compile to nothing.
inline constexpr bool checked_build = NEARFAR_CHECKED != 0;

}  // namespace nearfar
