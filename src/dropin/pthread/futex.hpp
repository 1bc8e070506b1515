/// \file
/// The futex on which threads sleep while they wait for a preloaded mutex. Nothing here allocates or calls a
/// function of the threads library, because the program may have called this library from inside such a
/// function.
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

/// How often a waiting thread polls before it sleeps; NEARFAR_PTHREAD_SPIN sets it.
extern unsigned polls_before_sleep;

/// The cells and futexes of the operating system. The model checker replaces this class by a model
/// (tests/dropin/modelled_system.hpp).
class futexes {
 public:
  template <typename T>
  using cell = atomic_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  /// A word that threads can sleep on.
  using word = atomic_cell<std::uint32_t>;

  [[nodiscard]] static cell<std::uint32_t>& value(word& of) noexcept { return of; }
  static void fence(std::memory_order order) noexcept { nearfar::fence(order); }
  [[nodiscard]] static unsigned polls() noexcept { return polls_before_sleep; }
  /// One turn of a polling loop.
  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  /// Sleeps while the word is `seen`. Returns when another thread wakes this one, at time `until` of `clock`,
  /// or spuriously.
  static void sleep(const word& on, std::uint32_t seen, const timespec* until = nullptr,
                    clockid_t clock = CLOCK_MONOTONIC) noexcept {
    static_assert(sizeof on == sizeof seen);
    const int saved = errno;  // no function of the threads library sets errno
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
