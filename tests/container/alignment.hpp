/// \file Whether memory is aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfar::test {

[[nodiscard]] inline bool is_aligned(const void* p, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

}  // namespace nearfar::test
