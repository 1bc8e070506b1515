/// \file
/// Allocations that fail when a test wants them to: `operator new` of the program is replaced
/// (failing_new.cpp).
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace nearfar::testing {

/// Which allocations fail while one lives: those that the calling thread makes, or all threads' do. They are
/// counted from 1, over the lives of all that are made with one `count`.
class failing_allocations {
 public:
  enum class of : std::uint8_t { this_thread, all_threads };
  /// Allocation `first`, and then each that is a multiple of `every` later; 0: none.
  struct plan {
    std::size_t first = 0;
    std::size_t every = 0;
    of whose = of::this_thread;
    std::atomic<std::size_t> seen{0};
    std::atomic<std::size_t> failed{0};

    explicit plan(std::size_t at, std::size_t and_every = 0, of threads = of::this_thread)
        : first(at), every(and_every), whose(threads) {}
    /// Of the next allocation.
    [[nodiscard]] bool fails() noexcept;
  };

  explicit failing_allocations(plan& by) noexcept;
  failing_allocations(const failing_allocations&) = delete;
  failing_allocations& operator=(const failing_allocations&) = delete;
  ~failing_allocations();

 private:
  plan* by_;
};

/// Allocations of all threads that have not been given back.
[[nodiscard]] std::size_t living_allocations() noexcept;

/// Whether `operation()` went through, with those allocations; else it threw `std::bad_alloc`.
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

/// Calls `program(plan)` with plans by which one allocation fails, each in turn until none does any more, and
/// then by which every second, third, and so on.
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
