/// \file
/// Sleeping until another rank of the node, or thread of the process, says so.
///
/// Cost: who sleeps and who wakes it make a system call each, and the one that is woken has its processor
/// after some microseconds, or tens of them on a busy machine.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <ctime>
#include <optional>

#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"

namespace nearfar {

/// A word that threads or ranks of that memory sleep on. In a model who sleeps waits for `told`, so that who
/// is not told sleeps on, though the word has changed; there all are told, also where one would be.
template <typename Memory>
struct parking_word {
  typename Memory::template near<std::uint32_t> value{};
  typename Memory::template near<std::uint32_t> told{};
};

namespace detail {

/// Whether near cells are words of real memory; elsewhere a wait is the engine's.
template <world W>
inline constexpr bool is_hardware =
    std::same_as<typename W::template near<std::uint32_t>, atomic_cell<std::uint32_t>>;

/// Sleeps while the word is `seen`; returns when it is woken, late, or for no reason. Between processes, too,
/// unless `is_private`.
inline void sleep_on(const atomic_cell<std::uint32_t>& word, std::uint32_t seen,
                     const std::optional<std::chrono::nanoseconds>& deadline, bool is_private) noexcept {
  static_assert(sizeof word == sizeof(std::uint32_t));
  timespec end{};
  if (deadline) {
    const auto time = std::max(*deadline, std::chrono::nanoseconds::zero());
    const auto whole = std::chrono::floor<std::chrono::seconds>(time);
    end.tv_sec = whole.count();
    end.tv_nsec = (time - whole).count();
  }
  // A deadline of this operation is a time, not a span; by the monotonic clock, which is the steady one.
  const int what = FUTEX_WAIT_BITSET | (is_private ? FUTEX_PRIVATE_FLAG : 0);
  syscall(SYS_futex, &word, what, seen, deadline ? &end : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
}
inline void wake(const atomic_cell<std::uint32_t>& word, int most, bool is_private) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | (is_private ? FUTEX_PRIVATE_FLAG : 0), most, nullptr, nullptr, 0);
}

/// The longest that a rank sleeps: it drives MPI's progress between two times.
inline constexpr std::chrono::milliseconds longest_sleep{1};

/// Sleeps while the word is `seen`, until somebody unparks, the deadline, or for no reason.
template <world W, typename Memory>
void park(W& w, const parking_word<Memory>& word, std::uint32_t seen,
          const std::optional<std::chrono::nanoseconds>& deadline = std::nullopt) {
  if constexpr (is_hardware<W>) {
    const std::chrono::nanoseconds end = w.now() + longest_sleep;
    sleep_on(word.value, seen, deadline ? std::min(*deadline, end) : end, false);
  } else {
    const std::uint32_t told = word.told.load(std::memory_order_acquire);
    if (word.value.load(std::memory_order_acquire) != seen) return;
    const auto is_told = [told](std::uint32_t now) { return now != told; };
    if (deadline)
      static_cast<void>(w.await_until(*deadline, word.told, is_told));
    else
      w.await(word.told, is_told);
  }
}
/// After a change of the word; `most` of those that sleep, or in a model all.
template <world W, typename Memory>
void unpark(parking_word<Memory>& word, [[maybe_unused]] int most) {
  if constexpr (is_hardware<W>)
    wake(word.value, most, false);
  else
    word.told.fetch_add(1, std::memory_order_release);
}

}  // namespace detail

}  // namespace nearfar
