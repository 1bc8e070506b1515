#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <limits>
#include <memory_resource>
#include <mutex>
#include <new>

#include "nearfar/container/near_allocator.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::detail {

namespace {

/// Whole pages, touched by the thread that asks for them.
class touched_pages final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (alignment > page_size()) throw std::bad_alloc();
    void* const pages = map_pages(bytes);
    for (std::size_t at = 0; at < bytes; at += page_size())
      static_cast<volatile unsigned char*>(pages)[at] = 0;
    return pages;
  }

  void do_deallocate(void* pages, std::size_t bytes, std::size_t /*alignment*/) override {
    unmap_pages(pages, bytes);
  }

  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

/// The nodes of a domain. std::pmr::synchronized_pool_resource is no substitute: what a thread gave back
/// before it ended serves no other thread there.
class domain_pool {
 public:
  explicit domain_pool(std::pmr::memory_resource* pages) : nodes_(pages) {}

  [[nodiscard]] void* take(std::size_t bytes, std::size_t alignment) {
    const std::lock_guard guard(mutex_);
    return nodes_.allocate(bytes, alignment);
  }

  void give_back(void* memory, std::size_t bytes, std::size_t alignment) {
    const std::lock_guard guard(mutex_);
    nodes_.deallocate(memory, bytes, alignment);
  }

 private:
  std::mutex mutex_;
  std::pmr::unsynchronized_pool_resource nodes_;
};

/// A pool for each domain, and one for threads on an unknown domain.
class domain_pools {
 public:
  domain_pools() {
    for (int domain = unknown_domain; domain < this_machine().numa_domains(); ++domain)
      pools_.emplace_back(&pages_);
  }

  domain_pool& operator[](int domain) { return pools_[static_cast<std::size_t>(domain - unknown_domain)]; }

 private:
  touched_pages pages_;
  std::deque<domain_pool> pools_;
};

/// Never destroyed: containers of static storage duration give nodes back at the very end of the process.
domain_pools& pools() {
  static auto* const all = new domain_pools;
  return *all;
}

/// The bytes before the memory that a container sees. The last of them hold the domain's number.
std::size_t prefix_of(std::size_t alignment) noexcept {
  return std::max(alignment, alignof(std::max_align_t));
}

}  // namespace

void* take_near(std::size_t bytes, std::size_t alignment) {
  const std::size_t prefix = prefix_of(alignment);
  if (bytes > std::numeric_limits<std::size_t>::max() - prefix) throw std::bad_alloc();
  const int domain = this_thread_domain();
  auto* const memory = static_cast<std::byte*>(pools()[domain].take(prefix + bytes, prefix)) + prefix;
  std::memcpy(memory - sizeof domain, &domain, sizeof domain);
  return memory;
}

void give_back_near(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t prefix = prefix_of(alignment);
  int domain = unknown_domain;
  std::memcpy(&domain, static_cast<std::byte*>(memory) - sizeof domain, sizeof domain);
  pools()[domain].give_back(static_cast<std::byte*>(memory) - prefix, prefix + bytes, prefix);
}

}  // namespace nearfar::detail
