/// \file
/// What AddressSanitizer is told of memory that is mapped but nobody's.
#pragma once

#include <cstddef>

#include "nearfar/core/language.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace nearfar {

/// From here on an access of these bytes is an error to AddressSanitizer, if the program has it.
inline void forbid_access([[maybe_unused]] const std::byte* from,
                          [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(from, bytes);
#endif
}

/// From here on it is none.
inline void allow_access([[maybe_unused]] const std::byte* from,
                         [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(from, bytes);
#endif
}

}  // namespace nearfar
