// The program's memory: its heap, and the functions of libc that read and write memory for it. Only calls
// from the program's own code count: what a library keeps for itself must outlast an execution.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "execution.hpp"
#include "hooks.hpp"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): names of the GNU C library
void* __libc_malloc(std::size_t);
void __libc_free(void*);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace nearfar::program {

namespace {

/// Whether the program under test calls, rather than a library or the checker. While a program is loaded its
/// place is not known yet; libraries are loaded by then, and the loader's own memory is told by its caller.
[[nodiscard]] bool is_program(const void* caller) noexcept {
  return is_inside && current != nullptr &&
         (current->program.contains(caller) ||
          (current->program.entry() == nullptr && !is_in_loader(caller)));
}

void* take(std::size_t bytes, std::size_t alignment) noexcept {
  void* const block = self().memory.allocate(bytes, alignment);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

void give_back(void* block, const void* caller) {
  const checker_scope scope;
  rank& by = self();
  if (!by.memory.is_block(block))
    fail("memory",
         heap::rank_of(block) != by.number ? "frees memory of another rank"
                                           : "frees memory that is not allocated, or was freed before",
         caller);
  end_memory(block, by.memory.size_of(block), "frees", caller);
  by.memory.release(block);
}

void reads(const void* at, std::size_t bytes, const void* caller) {
  if (bytes == 0 || !is_program(caller)) return;
  const checker_scope scope;
  access_memory(at, bytes, false, caller);
}

void writes(void* at, std::size_t bytes, const void* caller) {
  if (bytes == 0 || !is_program(caller)) return;
  const checker_scope scope;
  access_memory(at, bytes, true, caller);
}

struct block16 {
  std::uint64_t words[2];
};

void copy_block(void* to, const void* from) noexcept {
  block16 one;
  __builtin_memcpy(&one, from, sizeof one);
  __builtin_memcpy(to, &one, sizeof one);
  __asm__ volatile("" : : : "memory");  // else the compiler makes the loop around it a call of this function
}

// The functions below are those that a compiler would call for a loop. The instruction pays for long copies.
void copy_forward(void* to, const void* from, std::size_t bytes) noexcept {
  auto* x = static_cast<char*>(to);
  const auto* y = static_cast<const char*>(from);
#if defined(__x86_64__)
  if (bytes >= 512) {
    __asm__ volatile("rep movsb" : "+D"(x), "+S"(y), "+c"(bytes) : : "memory");
    return;
  }
#endif
  for (; bytes >= sizeof(block16); bytes -= sizeof(block16), x += sizeof(block16), y += sizeof(block16))
    copy_block(x, y);
  for (; bytes > 0; --bytes) *static_cast<volatile char*>(x++) = *y++;
}

void copy_backward(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const x = static_cast<char*>(to);
  const auto* const y = static_cast<const char*>(from);
  for (; bytes >= sizeof(block16); bytes -= sizeof(block16))
    copy_block(x + bytes - sizeof(block16), y + bytes - sizeof(block16));
  for (; bytes > 0; --bytes) static_cast<volatile char*>(x)[bytes - 1] = y[bytes - 1];
}

void fill(void* at, int value, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
#else
  for (std::size_t i = 0; i < bytes; ++i) static_cast<volatile char*>(at)[i] = static_cast<char>(value);
#endif
}

[[nodiscard]] std::size_t length(const char* text) noexcept {
  std::size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

char* token_of_checker = nullptr;

[[nodiscard]] int compare(const void* a, const void* b, std::size_t bytes) noexcept {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

#define NEARFAR_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t bytes) {
  return is_program(NEARFAR_CALLER) ? take(bytes, 16) : __libc_malloc(bytes);
}

void free(void* block) {
  if (block == nullptr) return;
  if (!heap::contains(block)) return __libc_free(block);
  if (current != nullptr) give_back(block, NEARFAR_CALLER);
}

void* calloc(std::size_t n, std::size_t bytes) {
  if (!is_program(NEARFAR_CALLER)) return __libc_calloc(n, bytes);
  void* const block = bytes != 0 && n > SIZE_MAX / bytes ? nullptr : take(n * bytes, 16);
  if (block != nullptr && !heap::is_zero_when_fresh(n * bytes)) fill(block, 0, n * bytes);
  return block;
}

void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr ? !is_program(NEARFAR_CALLER) : !heap::contains(block))
    return __libc_realloc(block, bytes);
  void* const larger = take(bytes, 16);
  if (block != nullptr && larger != nullptr) {
    const std::size_t before = self().memory.is_block(block) ? self().memory.size_of(block) : 0;
    copy_forward(larger, block, before < bytes ? before : bytes);
    give_back(block, NEARFAR_CALLER);
  }
  return larger;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  return is_program(NEARFAR_CALLER) ? take(bytes, alignment) : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return is_program(NEARFAR_CALLER) ? take(bytes, alignment) : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  *to = is_program(NEARFAR_CALLER) ? take(bytes, alignment) : __libc_memalign(alignment, bytes);
  return *to == nullptr ? ENOMEM : 0;
}

char* strdup(const char* text) noexcept {
  const std::size_t bytes = length(text) + 1;
  void* const block = is_program(NEARFAR_CALLER) ? take(bytes, 16) : __libc_malloc(bytes);
  reads(text, bytes, NEARFAR_CALLER);
  if (block != nullptr) copy_forward(block, text, bytes);
  return static_cast<char*>(block);
}

void* memcpy(void* to, const void* from, std::size_t bytes) noexcept {
  if (is_inside) {
    reads(from, bytes, NEARFAR_CALLER);
    writes(to, bytes, NEARFAR_CALLER);
  }
  copy_forward(to, from, bytes);
  return to;
}

void* memmove(void* to, const void* from, std::size_t bytes) noexcept {
  if (is_inside) {
    reads(from, bytes, NEARFAR_CALLER);
    writes(to, bytes, NEARFAR_CALLER);
  }
  const bool is_safe = to <= from || static_cast<char*>(to) >= static_cast<const char*>(from) + bytes;
  (is_safe ? copy_forward : copy_backward)(to, from, bytes);
  return to;
}

void* memset(void* at, int value, std::size_t bytes) noexcept {
  if (is_inside) writes(at, bytes, NEARFAR_CALLER);
  fill(at, value, bytes);
  return at;
}

void bzero(void* at, std::size_t bytes) noexcept {
  if (is_inside) writes(at, bytes, NEARFAR_CALLER);
  fill(at, 0, bytes);
}

int memcmp(const void* a, const void* b, std::size_t bytes) noexcept {
  if (is_inside) {
    reads(a, bytes, NEARFAR_CALLER);
    reads(b, bytes, NEARFAR_CALLER);
  }
  return compare(a, b, bytes);
}

std::size_t strlen(const char* text) noexcept {
  const std::size_t n = length(text);
  if (is_inside) reads(text, n + 1, NEARFAR_CALLER);
  return n;
}

char* strcpy(char* to, const char* from) noexcept {
  const std::size_t bytes = length(from) + 1;
  if (is_inside) {
    reads(from, bytes, NEARFAR_CALLER);
    writes(to, bytes, NEARFAR_CALLER);
  }
  copy_forward(to, from, bytes);
  return to;
}

char* strncpy(char* to, const char* from, std::size_t bytes) noexcept {
  std::size_t n = 0;
  while (n < bytes && from[n] != '\0') ++n;
  if (is_inside) {
    reads(from, n, NEARFAR_CALLER);
    writes(to, bytes, NEARFAR_CALLER);
  }
  copy_forward(to, from, n);
  fill(to + n, 0, bytes - n);
  return to;
}

char* strcat(char* to, const char* from) noexcept {
  const std::size_t before = length(to);
  const std::size_t bytes = length(from) + 1;
  if (is_inside) {
    reads(from, bytes, NEARFAR_CALLER);
    reads(to, before + 1, NEARFAR_CALLER);
    writes(to + before, bytes, NEARFAR_CALLER);
  }
  copy_forward(to + before, from, bytes);
  return to;
}

int strncmp(const char* a, const char* b, std::size_t bytes) noexcept {
  std::size_t n = 0;
  while (n < bytes && a[n] != '\0' && a[n] == b[n]) ++n;
  if (is_inside) {
    reads(a, n < bytes ? n + 1 : n, NEARFAR_CALLER);
    reads(b, n < bytes ? n + 1 : n, NEARFAR_CALLER);
  }
  return n == bytes ? 0 : static_cast<unsigned char>(a[n]) - static_cast<unsigned char>(b[n]);
}

char* strncat(char* to, const char* from, std::size_t bytes) noexcept {
  const std::size_t before = length(to);
  std::size_t n = 0;
  while (n < bytes && from[n] != '\0') ++n;
  if (is_inside) {
    reads(from, n, NEARFAR_CALLER);
    reads(to, before + 1, NEARFAR_CALLER);
    writes(to + before, n + 1, NEARFAR_CALLER);
  }
  copy_forward(to + before, from, n);
  to[before + n] = '\0';
  return to;
}

std::size_t strnlen(const char* text, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && text[n] != '\0') ++n;
  if (is_inside) reads(text, n < most ? n + 1 : n, NEARFAR_CALLER);
  return n;
}

/// libc keeps one place for all callers, and a rank needs its own.
char* strtok(char* text, const char* separators) noexcept {
  char*& next = current != nullptr ? current->next_token : token_of_checker;
  return strtok_r(text, separators, &next);
}

int strcmp(const char* a, const char* b) noexcept {
  std::size_t n = 0;
  while (a[n] != '\0' && a[n] == b[n]) ++n;
  if (is_inside) {
    reads(a, n + 1, NEARFAR_CALLER);
    reads(b, n + 1, NEARFAR_CALLER);
  }
  return static_cast<unsigned char>(a[n]) - static_cast<unsigned char>(b[n]);
}
}

// The program's `new` counts as the program's, and that of a library as the library's.
void* operator new(std::size_t bytes) {
  void* const block = is_program(NEARFAR_CALLER) ? take(bytes, 16) : __libc_malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](std::size_t bytes) {
  void* const block = is_program(NEARFAR_CALLER) ? take(bytes, 16) : __libc_malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_program(NEARFAR_CALLER) ? take(bytes, 16) : __libc_malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_program(NEARFAR_CALLER) ? take(bytes, 16) : __libc_malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  void* const block = is_program(NEARFAR_CALLER) ? take(bytes, to) : __libc_memalign(to, bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  void* const block = is_program(NEARFAR_CALLER) ? take(bytes, to) : __libc_memalign(to, bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  if (heap::contains(block) && current != nullptr)
    give_back(block, NEARFAR_CALLER);
  else
    __libc_free(block);
}
void operator delete[](void* block) noexcept {
  if (heap::contains(block) && current != nullptr)
    give_back(block, NEARFAR_CALLER);
  else
    __libc_free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t) noexcept { operator delete[](block); }
void operator delete(void* block, std::align_val_t) noexcept { operator delete(block); }
void operator delete[](void* block, std::align_val_t) noexcept { operator delete[](block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { operator delete[](block); }
#pragma GCC visibility pop
