// Functions of libc that the runner replaces, for calls that do not come from the program under test.
#pragma once

#include <dlfcn.h>

namespace nearfar::program {

/// The function that libc has under this name.
template <typename Function>
[[nodiscard]] Function* in_libc(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace nearfar::program
