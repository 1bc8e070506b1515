/// \file
/// Sleeping until another rank of the node, or thread of the process, says so.
///
/// Cost: the sleeping rank or thread and the one that wakes it make a system call each. The woken one has its
/// processor after some microseconds, or tens of them on a busy machine.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <ctime>
#include <optional>
#include <source_location>

#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"

namespace nearfar {

/// A word that threads or ranks of that memory sleep on.
template <typename Memory>
struct parking_word {
  typename Memory::template near<std::uint32_t> value{};
  /// Of models only. Low bits: the ranks that sleep. High bits: how often `unpark` was called.
  typename Memory::template near<std::uint64_t> sleepers{};
};

namespace detail {

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

/// A rank that sleeps is outside the communication library, for `longest_sleep` at most.
enum class between_sleeps : std::uint8_t {
  as_the_caller_does,  ///< the caller of `park` drives progress, or does not, before it sleeps again
  drives_progress      ///< the rank has driven progress just before `park`
};

/// A world that explores what nothing in the program decides.
template <typename W>
concept exploring_world = requires(W& w) {
  { w.choose(2) } -> std::same_as<int>;
  { w.wakes_for_no_reason() } -> std::same_as<bool>;
  { w.looks_before_sleep() } -> std::same_as<bool>;
  w.begins_sleep();
  { w.to_wake(1) } -> std::same_as<int>;
};

/// The futex of a model. A rank falls asleep only if the word still holds what the rank has seen. `unpark`
/// wakes as many as it is told to, and the model chooses which. It wakes all, as futex(2) permits, in a world
/// that explores no choices, and in one of more than 32 ranks.
///
/// A rank that wakes has acquired what came before `unpark`; nothing is ordered the other way.
class modelled_sleep {
 public:
  template <typename W>
  explicit modelled_sleep(const W& w)
      : knows_who_(exploring_world<W> && w.size() <= most_ranks), me_(knows_who_ ? bit(w.rank()) : 0) {}

  template <typename W, typename Memory>
  void park(W& w, parking_word<Memory>& word, std::uint32_t seen,
            const std::optional<std::chrono::nanoseconds>& deadline, between_sleeps between,
            const std::source_location& site) const {
    bool looks = true;
    [[maybe_unused]] bool is_in_library = true;
    if constexpr (exploring_world<W>) {
      if (w.wakes_for_no_reason(site)) return;
      looks = w.looks_before_sleep(site);
      if (between == between_sleeps::as_the_caller_does && !deadline) {
        const auto where = w.begins_sleep();
        if (where == decltype(where)::nowhere) return;
        is_in_library = where == decltype(where)::in_library;
      }
    }
    std::uint64_t before = word.sleepers.load(std::memory_order_acquire);
    do {
      if (looks && word.value.load(std::memory_order_acquire) != seen) return;
      // If `unpark` was called in between, the word may have changed.
    } while (!word.sleepers.compare_exchange(before, before | me_, std::memory_order_acquire,
                                             std::memory_order_acquire));
    const auto is_woken = [this, before](std::uint64_t now) {
      return knows_who_ ? (now & me_) == 0 : now != before;
    };
    if (!deadline)
      await_told(w, word, seen, is_in_library, is_woken);
    else if (!w.await_until(*deadline, word.sleepers, is_woken))
      change(word, [this](std::uint64_t now) { return now & ~me_; });
  }

  template <typename W, typename Memory>
  void unpark(W& w, parking_word<Memory>& word, int most, const std::source_location& site) const {
    if constexpr (exploring_world<W>) most = w.to_wake(most, site);
    if (most == 0) return;
    std::uint64_t woken = 0;
    change(word, [&](std::uint64_t now) {
      woken = (now & all) & ~left_asleep(w, now & all, most);
      return (now & ~woken) + told_once;
    });
    if constexpr (exploring_world<W>) w.note_woken(word.value, woken);
  }

 private:
  static constexpr int most_ranks = 32;
  static constexpr std::uint64_t told_once = std::uint64_t{1} << most_ranks;
  static constexpr std::uint64_t all = told_once - 1;

  [[nodiscard]] static constexpr std::uint64_t bit(int rank) { return std::uint64_t{1} << rank; }
  [[nodiscard]] static constexpr std::uint64_t nth_bit(std::uint64_t bits, int n) {
    for (; n > 0; --n) bits &= bits - 1;
    return bits & (~bits + 1);
  }
  /// Each set of those that are woken is chosen in one way, from the lowest rank to the highest.
  template <typename W>
  [[nodiscard]] static std::uint64_t left_asleep(W& w, std::uint64_t asleep, int most) {
    if constexpr (exploring_world<W>) {
      std::uint64_t rest = asleep;
      for (int left = std::min(most, std::popcount(asleep)); left > 0; --left) {
        const std::uint64_t woken = nth_bit(rest, w.choose(std::popcount(rest) - left + 1));
        asleep &= ~woken;
        rest &= ~(woken | (woken - 1));
      }
    }
    return asleep;
  }
  template <typename W, typename Memory, typename Predicate>
  static void await_told(W& w, parking_word<Memory>& word, [[maybe_unused]] std::uint32_t seen,
                         [[maybe_unused]] bool is_in_library, const Predicate& is_woken) {
    if constexpr (exploring_world<W>)
      w.await_asleep(word.sleepers, is_woken, word.value, seen, is_in_library);
    else
      w.await(word.sleepers, is_woken);
  }
  template <typename Memory, typename Change>
  static void change(parking_word<Memory>& word, const Change& changed) {
    std::uint64_t now = word.sleepers.load(std::memory_order_relaxed);
    while (!word.sleepers.compare_exchange(now, changed(now), std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
  }

  bool knows_who_;
  std::uint64_t me_;
};

/// Sleeps while the word is `seen`, until somebody unparks, the deadline, or for no reason. Models know the
/// place in the program.
template <near_world W, typename Memory>
void park(W& w, parking_word<Memory>& word, std::uint32_t seen,
          const std::optional<std::chrono::nanoseconds>& deadline = std::nullopt,
          [[maybe_unused]] between_sleeps between = between_sleeps::as_the_caller_does,
          [[maybe_unused]] const std::source_location& site = std::source_location::current()) {
  if constexpr (is_hardware<W>) {
    const std::chrono::nanoseconds end = w.now() + longest_sleep;
    sleep_on(word.value, seen, deadline ? std::min(*deadline, end) : end, false);
  } else {
    modelled_sleep(w).park(w, word, seen, deadline, between, site);
  }
}
/// After a change of the word; `most` of those that sleep.
template <near_world W, typename Memory>
void unpark([[maybe_unused]] W& w, parking_word<Memory>& word, int most,
            [[maybe_unused]] const std::source_location& site = std::source_location::current()) {
  if constexpr (is_hardware<W>)
    wake(word.value, most, false);
  else
    modelled_sleep(w).unpark(w, word, most, site);
}

}  // namespace detail

}  // namespace nearfar
