#include "heap.hpp"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "clock.hpp"

namespace nearfar::program {

namespace {

constexpr std::uintptr_t first_address = 0x100000000000;
constexpr unsigned bits_of_heap = 34;  // 16 GiB each
constexpr std::size_t bytes_of_heap = std::size_t{1} << bits_of_heap;
constexpr std::uint64_t in_use = 0x6e656172666172aa;
constexpr std::uint64_t freed = 0x6e656172666172ff;
constexpr std::size_t classes = 48;

}  // namespace

/// Lies directly before each block.
struct heap::header {
  std::uint64_t state;
  std::uint32_t size_class;
  std::uint32_t unused;
  std::uint64_t bytes;
  header* next;  ///< free block of the same class
};

namespace {

/// From this size on, the system provides the zeros of fresh memory, when it is used.
constexpr std::size_t large = std::size_t{1} << 24U;

void make_fresh(std::byte* block, std::size_t bytes) noexcept {
  if (bytes < large) {
    std::memset(block, heap::fresh_byte, bytes);
    return;
  }
  constexpr std::uintptr_t page = 4096;
  const auto at = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t begin = (at + page - 1) / page * page;
  const std::uintptr_t end = (at + bytes) / page * page;
  std::memset(block, 0, begin - at);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(end), 0, at + bytes - end);
}

}  // namespace

struct heap::bookkeeping {
  std::size_t used;
  std::array<header*, classes> free_blocks;
};

void heap::open(int rank) {
  const std::uintptr_t at = first_address + (static_cast<std::uintptr_t>(rank) << bits_of_heap);
  void* memory = mmap(reinterpret_cast<void*>(at), bytes_of_heap, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory != reinterpret_cast<void*>(at))
    throw std::runtime_error("cannot reserve 16 GiB of addresses for the heap of rank " +
                             std::to_string(rank) + ": raise the limit of virtual memory (ulimit -v)");
  base_ = static_cast<std::byte*>(memory);
  books_ = ::new (memory) bookkeeping{};
  books_->used = (sizeof(bookkeeping) + 63) / 64 * 64;
}

void heap::keep() {
  kept_bytes_ = books_->used;
  kept_ = static_cast<std::byte*>(::operator new(kept_bytes_));
  std::memcpy(kept_, base_, kept_bytes_);
}

void heap::restore() noexcept { std::memcpy(base_, kept_, kept_bytes_); }

void* heap::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > bytes_of_heap / 4) return nullptr;
  const std::size_t rounded = std::bit_ceil(bytes < 16 ? std::size_t{16} : bytes);
  const auto size_class = static_cast<std::size_t>(std::bit_width(rounded));
  if (alignment <= 16)
    if (header* const reused = books_->free_blocks[size_class]; reused != nullptr) {
      books_->free_blocks[size_class] = reused->next;
      reused->state = in_use;
      reused->bytes = bytes;
      void* const block = reused + 1;
      make_fresh(static_cast<std::byte*>(block), bytes);
      return block;
    }
  if (alignment < 16) alignment = 16;
  const std::size_t begin = (books_->used + sizeof(header) + alignment - 1) / alignment * alignment;
  if (begin + rounded > bytes_of_heap) return nullptr;
  books_->used = begin + rounded;
  auto* const block = base_ + begin;
  auto* const head = reinterpret_cast<header*>(block) - 1;
  *head = {.state = in_use,
           .size_class = static_cast<std::uint32_t>(size_class),
           .unused = 0,
           .bytes = bytes,
           .next = nullptr};
  make_fresh(block, bytes);
  return block;
}

bool heap::is_zero_when_fresh(std::size_t bytes) noexcept { return bytes >= large || fresh_byte == 0; }

bool heap::is_block(const void* block) const noexcept {
  const auto* at = static_cast<const std::byte*>(block);
  if (at < base_ + sizeof(bookkeeping) + sizeof(header) || at >= base_ + books_->used) return false;
  if (reinterpret_cast<std::uintptr_t>(block) % 16 != 0) return false;
  return (static_cast<const header*>(block) - 1)->state == in_use;
}

std::size_t heap::size_of(const void* block) const noexcept {
  return (static_cast<const header*>(block) - 1)->bytes;
}

void heap::release(void* block) noexcept {
  auto* const head = static_cast<header*>(block) - 1;
  head->state = freed;
  head->next = books_->free_blocks[head->size_class];
  books_->free_blocks[head->size_class] = head;
}

bool heap::contains(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= first_address &&
         at < first_address + (static_cast<std::uintptr_t>(most_ranks) << bits_of_heap);
}

int heap::rank_of(const void* address) noexcept {
  return static_cast<int>((reinterpret_cast<std::uintptr_t>(address) - first_address) >> bits_of_heap);
}

}  // namespace nearfar::program
