/// \file
/// Reports an older C++ standard with a clear message before the compiler reports its consequences. Every
/// header includes this one before anything that needs a newer standard.
#pragma once

// GCC 10 has all that is needed and reports 201709.
#if __cplusplus < 201709L
// clang-format off
#error "nearfar needs C++20: compile with -std=c++20 or newer (CMake: target_compile_features(program PRIVATE cxx_std_20)); later errors follow from this one"
// clang-format on
#endif
