/// \file
/// The futexes on which the preloaded mutexes sleep, and the lock of their bookkeeping. Nothing here
/// allocates or calls a function of the threads library, since the program may be calling this library from
/// either.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

namespace nearfar::preload {

/// Sleeps while the word is `seen`. Returns when woken, at `until` by that clock, or spuriously.
inline void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                     const timespec* until = nullptr, clockid_t clock = CLOCK_MONOTONIC) noexcept {
  const int saved = errno;  // no function of the threads library sets it
  const int what =
      FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
  syscall(SYS_futex, &word, what, seen, until, nullptr, FUTEX_BITSET_MATCH_ANY);
  errno = saved;
}
inline void wake(const std::atomic<std::uint32_t>& word, int most = INT_MAX) noexcept {
  const int saved = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, most, nullptr, nullptr, 0);
  errno = saved;
}

/// Called once per iteration of a polling loop.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Lets threads sleep until something that they check themselves has changed.
///
/// A thread that changes it calls `tell` after a change that is a sequentially consistent operation. A
/// waiting thread calls `announce`, then checks, then calls `sleep`. Either the check sees the change, or
/// `tell` sees the announcement: the fence lies between an announcement and a check, and both operations of
/// the other thread are in the same total order.
class change {
 public:
  [[nodiscard]] std::uint32_t announce() noexcept {
    const std::uint32_t seen = word_.fetch_or(awaited, std::memory_order_relaxed) | awaited;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return seen;
  }
  void sleep(std::uint32_t announced, const timespec* until = nullptr,
             clockid_t clock = CLOCK_MONOTONIC) const noexcept {
    sleep_on(word_, announced, until, clock);
  }
  void tell() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_seq_cst);
    if ((seen & awaited) == 0) [[likely]]
      return;
    // To the next even number. If this fails, another thread has told already.
    if (word_.compare_exchange_strong(seen, seen + 1, std::memory_order_relaxed)) wake(word_);
  }

 private:
  static constexpr std::uint32_t awaited = 1;
  std::atomic<std::uint32_t> word_{};
};

/// Lock of the bookkeeping. A thread may lock it again, as handlers of `fork` do that run after ours.
class inner_lock {
 public:
  void lock(std::uint32_t thread) noexcept {
    if (holder_.load(std::memory_order_relaxed) == thread) {
      ++depth_;
      return;
    }
    std::uint32_t expected = is_free;
    if (!word_.compare_exchange_strong(expected, is_held, std::memory_order_acquire))
      while (word_.exchange(has_sleepers, std::memory_order_acquire) != is_free)
        sleep_on(word_, has_sleepers);
    holder_.store(thread, std::memory_order_relaxed);
    depth_ = 1;
  }
  void unlock() noexcept {
    if (--depth_ != 0) return;
    holder_.store(nobody, std::memory_order_relaxed);
    if (word_.exchange(is_free, std::memory_order_release) == has_sleepers) wake(word_, 1);
  }

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t is_free = 0;
  static constexpr std::uint32_t is_held = 1;
  static constexpr std::uint32_t has_sleepers = 2;
  std::atomic<std::uint32_t> word_{};
  std::atomic<std::uint32_t> holder_{};
  unsigned depth_ = 0;
};

}  // namespace nearfar::preload
