/// \file
/// Says what is wrong to who compiles nearfar for an older C++, before the compiler does. Every header comes
/// to this one before it needs anything newer.
#pragma once

// GCC 10 has what is needed and calls itself 201709.
#if __cplusplus < 201709L
// clang-format off
#error "nearfar needs C++20: compile with -std=c++20 or newer (CMake: target_compile_features(program PRIVATE cxx_std_20)); what follows is a consequence"
// clang-format on
#endif
