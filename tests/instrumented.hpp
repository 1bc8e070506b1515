/// \file
/// Whether this is compiled with a sanitizer. Instrumented code is slow, and looks for other faults.
#pragma once

namespace nearfar::testing {

// GCC's way to tell, and Clang's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_instrumented = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_instrumented = true;
#else
inline constexpr bool is_instrumented = false;
#endif
#else
inline constexpr bool is_instrumented = false;
#endif

}  // namespace nearfar::testing
