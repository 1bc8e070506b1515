#include "arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "nearfar/core/layout.hpp"

namespace nearfar::preload {

namespace {

void print(const char* text) noexcept {
  while (*text != '\0') {
    const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
    if (written <= 0) return;
    text += written;
  }
}

std::byte* next = nullptr;
std::size_t left = 0;

}  // namespace

void stop(const char* what, const char* more) noexcept {
  print("libnearfar_pthread: ");
  print(what);
  print(more);
  print("\n");
  _exit(2);
}

void* new_memory(std::size_t bytes) noexcept {
  constexpr std::size_t chunk = std::size_t{1} << 20U;
  bytes = (bytes + cache_line - 1) / cache_line * cache_line;
  if (bytes > left) {
    const std::size_t size = bytes > chunk ? bytes : chunk;
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) stop("the system has no memory left for mutexes");
    next = static_cast<std::byte*>(mapped);
    left = size;
  }
  void* result = next;
  next += bytes;
  left -= bytes;
  return result;
}

}  // namespace nearfar::preload

// For the one allocation of the library's own C++ code, a table of ranks. The version script hides these
// operators from the program.

void* operator new(std::size_t bytes) { return nearfar::preload::new_memory(bytes); }
void operator delete(void* /*memory*/) noexcept {}
void operator delete(void* /*memory*/, std::size_t /*bytes*/) noexcept {}
