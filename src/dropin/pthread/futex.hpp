/// \file
/// What the preloaded mutexes sleep on: nothing here allocates, nor calls a function of the threads library,
/// as both may be what the program calls us from.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

#include "nearfar/core/fence.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/plain_cell.hpp"

namespace nearfar::preload {

/// How often who waits looks before it sleeps.
extern unsigned polls_before_sleep;

/// Cells, and how threads sleep on one of them: the system's, which the model checker has a model of
/// (tests/dropin/modelled_system.hpp).
class futexes {
 public:
  template <typename T>
  using cell = atomic_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  /// That one can sleep on.
  using word = atomic_cell<std::uint32_t>;

  [[nodiscard]] static cell<std::uint32_t>& value(word& of) noexcept { return of; }
  static void fence(std::memory_order order) noexcept { nearfar::fence(order); }
  [[nodiscard]] static unsigned polls() noexcept { return polls_before_sleep; }
  /// One turn of a loop that looks at a word.
  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  /// Sleeps while the word is `seen`; returns when it is woken, at `until` by that clock, or for no reason.
  static void sleep(const word& on, std::uint32_t seen, const timespec* until = nullptr,
                    clockid_t clock = CLOCK_MONOTONIC) noexcept {
    static_assert(sizeof on == sizeof seen);
    const int saved = errno;  // which no function of the threads library sets
    const int what =
        FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
    syscall(SYS_futex, &on, what, seen, until, nullptr, FUTEX_BITSET_MATCH_ANY);
    errno = saved;
  }
  static void wake_one(const word& on) noexcept { wake(on, 1); }
  static void wake_all(const word& on) noexcept { wake(on, INT_MAX); }

 private:
  static void wake(const word& on, int most) noexcept {
    const int saved = errno;
    syscall(SYS_futex, &on, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, most, nullptr, nullptr, 0);
    errno = saved;
  }
};

}  // namespace nearfar::preload
