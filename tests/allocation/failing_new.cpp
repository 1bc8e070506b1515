// Replacements of the program's allocation functions.
#include "tests/allocation/failing_new.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace nearfar::testing {
namespace {

std::atomic<std::size_t> living{0};
thread_local failing_allocations::plan* of_thread = nullptr;
std::atomic<failing_allocations::plan*> of_all{nullptr};

[[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (of_thread != nullptr && of_thread->fails()) return nullptr;
  if (auto* plan = of_all.load(std::memory_order_acquire); plan != nullptr && plan->fails()) return nullptr;
  if (bytes == 0) bytes = 1;
  void* const result = alignment <= alignof(std::max_align_t)
                           ? std::malloc(bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (result != nullptr) living.fetch_add(1, std::memory_order_relaxed);
  return result;
}
[[nodiscard]] void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const result = allocate(bytes, alignment);
  if (result == nullptr) throw std::bad_alloc();
  return result;
}
void release(void* at) noexcept {
  if (at == nullptr) return;
  living.fetch_sub(1, std::memory_order_relaxed);
  std::free(at);
}

}  // namespace

bool failing_allocations::plan::fails() noexcept {
  const std::size_t number = seen.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool result = number == first || (every != 0 && number > first && (number - first) % every == 0);
  if (result) failed.fetch_add(1, std::memory_order_relaxed);
  return result;
}

failing_allocations::failing_allocations(plan& by) noexcept : by_(&by) {
  if (by.whose == of::this_thread)
    of_thread = by_;
  else
    of_all.store(by_, std::memory_order_release);
}
failing_allocations::~failing_allocations() {
  if (by_->whose == of::this_thread)
    of_thread = nullptr;
  else
    of_all.store(nullptr, std::memory_order_release);
}

std::size_t living_allocations() noexcept { return living.load(std::memory_order_relaxed); }

}  // namespace nearfar::testing

using nearfar::testing::allocate;
using nearfar::testing::allocate_or_throw;
using nearfar::testing::release;

// The program replaces all forms: a sanitizer would take the rest for its own.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*how*/) noexcept { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*how*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 1); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*how*/) noexcept { return allocate(bytes, 1); }
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*how*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept { release(at); }
void operator delete(void* at, std::size_t /*bytes*/) noexcept { release(at); }
void operator delete(void* at, std::align_val_t /*alignment*/) noexcept { release(at); }
void operator delete(void* at, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  release(at);
}
void operator delete(void* at, const std::nothrow_t& /*how*/) noexcept { release(at); }
void operator delete(void* at, std::align_val_t /*alignment*/, const std::nothrow_t& /*how*/) noexcept {
  release(at);
}
void operator delete[](void* at) noexcept { release(at); }
void operator delete[](void* at, std::size_t /*bytes*/) noexcept { release(at); }
void operator delete[](void* at, std::align_val_t /*alignment*/) noexcept { release(at); }
void operator delete[](void* at, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  release(at);
}
void operator delete[](void* at, const std::nothrow_t& /*how*/) noexcept { release(at); }
void operator delete[](void* at, std::align_val_t /*alignment*/, const std::nothrow_t& /*how*/) noexcept {
  release(at);
}
