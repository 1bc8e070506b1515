// Memory of one execution. A search gives up most executions in the middle, with objects on the stacks of
// ranks that nothing will ever destroy. Whatever an execution needs therefore comes from here, and goes all
// at once.
#pragma once

#include <cstddef>
#include <map>
#include <new>
#include <utility>
#include <vector>

namespace nearfar::program {

class run_memory {
 public:
  [[nodiscard]] static void* take(std::size_t bytes, std::size_t alignment);
  /// Takes back all that was handed out. The next execution gets the same addresses.
  static void reset() noexcept;
};

template <typename T>
struct run_allocator {
  using value_type = T;
  run_allocator() = default;
  template <typename U>
  run_allocator(const run_allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(run_memory::take(n * sizeof(T), alignof(T)));
  }
  void deallocate(T*, std::size_t) noexcept {}
  friend bool operator==(const run_allocator&, const run_allocator&) noexcept { return true; }
};

template <typename T>
using run_vector = std::vector<T, run_allocator<T>>;
template <typename K, typename V>
using run_map = std::map<K, V, std::less<K>, run_allocator<std::pair<const K, V>>>;

/// Makes an object that lasts until the execution ends, and is not destroyed then.
template <typename T, typename... Args>
[[nodiscard]] T* make_for_run(Args&&... args) {
  return ::new (run_memory::take(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
}

}  // namespace nearfar::program
