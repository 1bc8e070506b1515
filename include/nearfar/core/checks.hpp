/// \file
/// Whether preconditions are checked. On unless the build says otherwise: define `NEARFAR_CHECKED` to 0 or 1,
/// or leave it to `NDEBUG`, as CMake's Release does.
#pragma once

#include "nearfar/core/language.hpp"

#ifndef NEARFAR_CHECKED
#ifdef NDEBUG
#define NEARFAR_CHECKED 0
#else
#define NEARFAR_CHECKED 1
#endif
#endif

namespace nearfar {

/// True where misuse throws; false where the check compiles to nothing.
inline constexpr bool checked_build = NEARFAR_CHECKED != 0;

}  // namespace nearfar
