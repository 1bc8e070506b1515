#include "run_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace nearfar::program {

namespace {

struct chunk {
  std::byte* memory;
  std::size_t bytes;
};

constexpr std::size_t usual = std::size_t{1} << 20U;

struct state {
  std::vector<chunk> chunks;
  std::size_t current = 0;
  std::size_t used = 0;  // of the current chunk
};

state& here() {
  static state one;
  return one;
}

}  // namespace

void* run_memory::take(std::size_t bytes, std::size_t alignment) {
  state& s = here();
  for (;; ++s.current, s.used = 0) {
    if (s.current == s.chunks.size()) {
      const std::size_t size = std::max(usual, bytes + alignment);
      auto* memory = static_cast<std::byte*>(::operator new(size));
      s.chunks.push_back({memory, size});
    }
    const chunk& at = s.chunks[s.current];
    const std::size_t begin = (s.used + alignment - 1) / alignment * alignment;
    if (begin + bytes > at.bytes) continue;
    s.used = begin + bytes;
    return at.memory + begin;
  }
}

void run_memory::reset() noexcept {
  here().current = 0;
  here().used = 0;
}

}  // namespace nearfar::program
