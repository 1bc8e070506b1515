/// \file
/// Lists of threads that wait for the first of several events. A rendezvous, a selection among channels, and
/// a coroutine wait by them.
///
/// Source: the waiting of `select` in Go's runtime, and crossbeam-channel's `Context` (S. Glavina): a waiting
/// thread is in a list at each thing that it waits for, and the thread that provides one decides on it by a
/// compare-and-swap.
///
/// A `waiter` is undecided until somebody changes that (1). A thread that has something for one of its
/// entries claims that entry by its number, does what is to be done, and marks it as done (2). A thread that
/// knows only that there may be something says `again`; so does the waiter itself when its deadline has
/// passed. A thread that loses this race leaves the waiter alone.
///
/// Lists are first come, first served, each under a lock of its owner. Their links are distances from the
/// list, which are the same in all processes that share its memory, at whatever address.
///
/// Cost: a compare-and-swap for each waiter decided on. Memory: a waiter has 16 bytes, or 24 where coroutines
/// may wait, and an entry 32.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "nearfar/channel/channel_memory.hpp"

namespace nearfar::detail {

/// A waiting thread or rank, or within a process a coroutine.
template <typename Memory>
struct waiter {
  parking_word<Memory> state{};
};
template <>
struct waiter<process_memory> {
  parking_word<process_memory> state{};
  /// Resumes a coroutine. Called by the thread that decides on it, if it is suspended.
  void (*resume)(waiter& whom) = nullptr;
};

/// The states of a waiter.
namespace decision {

inline constexpr std::uint32_t none = 0;
inline constexpr std::uint32_t suspended = 1;  ///< undecided, and a coroutine is not running
inline constexpr std::uint32_t again = 2;      ///< there may be something
/// Another thread is at the entry of that number; then the entry is done.
[[nodiscard]] constexpr std::uint32_t claimed(std::uint32_t number) noexcept { return 4 + 2 * number; }
[[nodiscard]] constexpr std::uint32_t done(std::uint32_t number) noexcept { return claimed(number) + 1; }

[[nodiscard]] constexpr bool is_open(std::uint32_t state) noexcept { return state <= suspended; }
[[nodiscard]] constexpr bool is_claimed(std::uint32_t state) noexcept {
  return state >= claimed(0) && state % 2 == 0;
}
/// The entry that is done.
[[nodiscard]] constexpr std::optional<std::uint32_t> entry_of(std::uint32_t state) noexcept {
  return state > claimed(0) ? std::optional((state - done(0)) / 2) : std::nullopt;
}

}  // namespace decision

/// A waiter that this thread or rank has decided on and has to wake. The waiter may cease to exist once its
/// state holds the result, so from then on only its address is used; a suspended coroutine stays until it is
/// resumed.
template <typename Memory>
class decided {
 public:
  /// Returns nothing if somebody else has decided.
  [[nodiscard]] static std::optional<decided> on(waiter<Memory>& whom, std::uint32_t what) {
    decided result(whom);
    std::uint32_t seen = whom.state.value.load(std::memory_order_relaxed);
    while (decision::is_open(seen))
      if (whom.state.value.compare_exchange(seen, what, std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {  // (1)
        result.is_suspended_ = seen == decision::suspended;
        return result;
      }
    return std::nullopt;
  }

  /// Stores what became of the claimed entry, and wakes the waiter.
  void settle(Memory& memory, std::uint32_t what) const {
    whom_->state.value.store(what, std::memory_order_release);  // (2)
    wake(memory);
  }
  void wake(Memory& memory) const {
    if (!is_coroutine_)
      memory.unpark_one(whom_->state);
    else if (is_suspended_)
      resume(*whom_);
  }

 private:
  explicit decided(waiter<Memory>& whom) : whom_(&whom) {
    if constexpr (requires { whom.resume; }) is_coroutine_ = whom.resume != nullptr;
  }
  static void resume([[maybe_unused]] waiter<Memory>& whom) {
    if constexpr (requires { whom.resume; }) whom.resume(whom);
  }

  waiter<Memory>* whom_;
  bool is_coroutine_ = false;
  bool is_suspended_ = false;
};

/// Waits for the decision on the waiter, and returns it; `none` if the deadline passes before.
template <typename Memory>
[[nodiscard]] std::uint32_t await_decision(Memory& memory, waiter<Memory>& mine,
                                           const channel_deadline& deadline) {
  typename Memory::sleeping_wait wait;
  for (;;) {
    const std::uint32_t state = mine.state.value.load(std::memory_order_acquire);  // pairs with (1, 2)
    if (decision::is_claimed(state))
      return memory.await(mine.state.value, [](std::uint32_t now) { return !decision::is_claimed(now); });
    if (!decision::is_open(state)) return state;
    if (deadline && memory.now() >= *deadline) {
      if (decided<Memory>::on(mine, decision::again)) return decision::none;
    } else {
      memory.park(wait, mine.state, state, deadline);
    }
  }
}

/// Links an entry into a list, and names its waiter and the number by which the waiter knows it.
template <typename Memory>
struct list_link {
  typename Memory::template near<std::uint64_t> next{};    ///< from the list; 0: none
  typename Memory::template near<std::uint64_t> before{};  ///< the same
  typename Memory::template near<std::uint64_t> whom{};    ///< from the entry
  typename Memory::template near<std::uint32_t> number{};
  typename Memory::template near<std::uint32_t> is_listed{};
};

/// List of entries of a type that has a `link`. All members except `aim` are called under one lock.
template <typename Memory>
struct waiting_list {
  typename Memory::template near<std::uint64_t> first{};
  typename Memory::template near<std::uint64_t> last{};

  template <typename Entry>
  static void aim(Entry& entry, waiter<Memory>& whom, std::uint32_t number) {
    entry.link.whom.store(distance(entry, whom), std::memory_order_relaxed);
    entry.link.number.store(number, std::memory_order_relaxed);
  }
  template <typename Entry>
  void append(Entry& entry) {
    const std::uint64_t mine = distance(*this, entry);
    const std::uint64_t end = last.load(std::memory_order_relaxed);
    entry.link.next.store(0, std::memory_order_relaxed);
    entry.link.before.store(end, std::memory_order_relaxed);
    entry.link.is_listed.store(1, std::memory_order_relaxed);
    (end == 0 ? first : at<Entry>(end).link.next).store(mine, std::memory_order_relaxed);
    last.store(mine, std::memory_order_relaxed);
  }
  /// Does nothing if the entry is not listed.
  template <typename Entry>
  void remove(Entry& entry) {
    if (entry.link.is_listed.load(std::memory_order_relaxed) == 0) return;
    const std::uint64_t next = entry.link.next.load(std::memory_order_relaxed);
    const std::uint64_t before = entry.link.before.load(std::memory_order_relaxed);
    (before == 0 ? first : at<Entry>(before).link.next).store(next, std::memory_order_relaxed);
    (next == 0 ? last : at<Entry>(next).link.before).store(before, std::memory_order_relaxed);
    entry.link.is_listed.store(0, std::memory_order_relaxed);
  }

  template <typename Entry>
  struct claimed {
    Entry* entry;
    std::uint32_t number;
    decided<Memory> whom;
  };
  /// Takes entries off until it finds one whose waiter is undecided, and claims it.
  template <typename Entry>
  [[nodiscard]] std::optional<claimed<Entry>> claim_first() {
    for (;;) {
      const std::uint64_t head = first.load(std::memory_order_relaxed);
      if (head == 0) return std::nullopt;
      Entry& entry = at<Entry>(head);
      const std::uint32_t number = entry.link.number.load(std::memory_order_relaxed);
      remove(entry);
      if (const auto whom = decided<Memory>::on(waiter_of(entry), decision::claimed(number)))
        return claimed<Entry>{&entry, number, *whom};
    }
  }
  /// Whether an entry is there that could be claimed.
  template <typename Entry>
  [[nodiscard]] bool has_undecided() {
    for (std::uint64_t i = first.load(std::memory_order_relaxed); i != 0;
         i = at<Entry>(i).link.next.load(std::memory_order_relaxed))
      if (decision::is_open(waiter_of(at<Entry>(i)).state.value.load(std::memory_order_relaxed))) return true;
    return false;
  }
  /// Says `again` to all undecided waiters.
  template <typename Entry>
  void tell_all(Memory& memory) {
    for (std::uint64_t i = first.load(std::memory_order_relaxed); i != 0;
         i = at<Entry>(i).link.next.load(std::memory_order_relaxed))
      if (const auto whom = decided<Memory>::on(waiter_of(at<Entry>(i)), decision::again)) whom->wake(memory);
  }

 private:
  template <typename From, typename To>
  [[nodiscard]] static std::uint64_t distance(const From& from, const To& to) noexcept {
    return reinterpret_cast<std::uintptr_t>(&to) - reinterpret_cast<std::uintptr_t>(&from);
  }
  template <typename To, typename From>
  [[nodiscard]] static To& at_distance(const From& from, std::uint64_t distance) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number that means the same in every process
    return *reinterpret_cast<To*>(reinterpret_cast<std::uintptr_t>(&from) + distance);
  }
  template <typename Entry>
  [[nodiscard]] Entry& at(std::uint64_t distance) const noexcept {
    return at_distance<Entry>(*this, distance);
  }
  template <typename Entry>
  [[nodiscard]] static waiter<Memory>& waiter_of(const Entry& entry) {
    return at_distance<waiter<Memory>>(entry, entry.link.whom.load(std::memory_order_relaxed));
  }
};

}  // namespace nearfar::detail
