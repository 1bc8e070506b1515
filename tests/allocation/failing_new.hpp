/// \file Allocations that fail on demand. The program's `operator new` is replaced (failing_new.cpp).
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace nearfar::testing {

/// Makes allocations fail while it lives: those of the calling thread, or those of all threads. Allocations
/// are numbered from 1, over the lives of all objects that share one `count`.
class failing_allocations {
 public:
  enum class of : std::uint8_t { this_thread, all_threads };
  /// Fails at allocation `first`, and then at every `every`-th after it; 0: at none.
  struct plan {
    std::size_t first = 0;
    std::size_t every = 0;
    of whose = of::this_thread;
    std::atomic<std::size_t> seen{0};
    std::atomic<std::size_t> failed{0};

    explicit plan(std::size_t at, std::size_t and_every = 0, of threads = of::this_thread)
        : first(at), every(and_every), whose(threads) {}
    /// Whether the next allocation fails.
    [[nodiscard]] bool fails() noexcept;
  };

  explicit failing_allocations(plan& by) noexcept;
  failing_allocations(const failing_allocations&) = delete;
  failing_allocations& operator=(const failing_allocations&) = delete;
  ~failing_allocations();

 private:
  plan* by_;
};

/// Allocations of all threads that have not been freed yet.
[[nodiscard]] std::size_t living_allocations() noexcept;

/// Whether `operation()` succeeded with those allocations; else it threw `std::bad_alloc`.
template <std::invocable Operation>
[[nodiscard]] bool goes_through(failing_allocations::plan& by, const Operation& operation) {
  try {
    const failing_allocations failing(by);
    operation();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Calls `program(plan)` with plans by which one allocation fails, each in turn until the number exceeds the
/// allocations, and then with plans by which every second, every third and so on fails.
template <std::invocable<failing_allocations::plan&> Program>
void for_failing_allocations(const Program& program,
                             failing_allocations::of whose = failing_allocations::of::this_thread) {
  for (std::size_t first = 1;; ++first) {
    failing_allocations::plan one(first, 0, whose);
    program(one);
    if (one.failed == 0) break;
  }
  for (const std::size_t every : {1U, 2U, 3U, 7U}) {
    failing_allocations::plan many(every, every, whose);
    program(many);
  }
}

}  // namespace nearfar::testing
