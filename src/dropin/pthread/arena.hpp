/// \file
/// Memory for the preloaded mutexes, directly from the system: the program's `malloc` may itself lock a
/// mutex.
#pragma once

#include <cstddef>

namespace nearfar::preload {

/// Returns zeroed memory, aligned to a cache line, which is never given back. Ends the program if the system
/// has none left. Call it with the table of mutexes locked, or from the library's constructor.
[[nodiscard]] void* new_memory(std::size_t bytes) noexcept;

/// Prints a line that begins with the library's name, and ends the program with status 2.
[[noreturn]] void stop(const char* what, const char* more = "") noexcept;

}  // namespace nearfar::preload
