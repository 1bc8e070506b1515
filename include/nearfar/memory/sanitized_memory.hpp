/// \file
/// Tells AddressSanitizer about mapped memory that must not be accessed.
#pragma once

#include <cstddef>

#include "nearfar/language.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace nearfar {

/// From here on AddressSanitizer, if the program has it, reports an access to these bytes as an error.
inline void forbid_access([[maybe_unused]] const std::byte* from,
                          [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(from, bytes);
#endif
}

/// From here on it does not.
inline void allow_access([[maybe_unused]] const std::byte* from,
                         [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(from, bytes);
#endif
}

}  // namespace nearfar
