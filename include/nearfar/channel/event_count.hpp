/// \file
/// How threads and ranks sleep that wait for room or for a message, and how the threads that provide it wake
/// them.
///
/// Source: the eventcount of D. Reed, R. Kanodia, "Synchronization with eventcounts and sequencers", CACM 22,
/// 1979, doi 10.1145/359060.359076, in the form that wakes nobody if nobody waits: D. Vyukov's, as in folly's
/// `EventCount`.
///
/// A waiting thread registers (1), checks again for what it waits for, and sleeps until the count has moved
/// on from its value before that check. A thread that provides room or a message does so, then checks for
/// registered threads (2), and increments the count (3). The fence at (1), and an ordering between providing
/// and (2), ensure that at least one of the two sees the other: the waiting thread sees what was provided, or
/// the provider sees the waiting thread. The buffer states which ordering that is, by `told_after`.
///
/// A thread that waits for several events at once, or a coroutine, does not sleep on any of them but observes
/// them: it registers in the same way, and is told by a decision on its waiter (waiting_list.hpp). `tell`
/// wakes one sleeping thread and, in addition, tells all observers.
///
/// Cost: if nobody waits, the load of a word that is in every cache, and a fence if the ordering requires
/// one. Memory: 64 bytes.
#pragma once

#include <atomic>
#include <cstdint>

#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/waiting_list.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// In memory shared by all that wait and tell. See the file's comment.
template <typename Memory>
struct alignas(cache_line) event_count {
  parking_word<Memory> count{};
  typename Memory::template near<std::uint32_t> waiting{};   ///< including observers
  typename Memory::template near<std::uint32_t> observed{};  ///< observers only
  typename Memory::template near<std::uint32_t> guard{};     ///< lock of the list
  detail::waiting_list<Memory> observers{};
};

namespace detail {

/// The means that orders providing room or a message before the check for waiting threads.
enum class told_after : std::uint8_t {
  fence,        ///< a fence in `tell`
  itself,       ///< it was provided by a sequentially consistent operation
  light_fence,  ///< a light fence: free in `tell`, expensive for threads that go to sleep
};

/// Called between registering and the next check, for an event whose providers tell by `how`.
template <told_after how, typename Memory>
void register_before_look(Memory& memory) {
  // (1)
  if constexpr (how == told_after::light_fence)
    memory.heavy_fence();
  else
    memory.fence(std::memory_order_seq_cst);
}

/// Tells one of the waiting threads, if there are any, or all of them.
template <told_after how = told_after::fence, typename Memory>
void tell(Memory& memory, event_count<Memory>& event, bool tells_all = false);

/// Repeats `attempt()` after events until `in_vain` is false for its result, or until the deadline has
/// passed, and returns the last result. `how` is the order by which the providers tell this event. If an
/// attempt throws, tells all other waiting threads, since it may have used up the event that woke this one.
template <told_after how, typename Memory, typename Attempt, typename InVain>
[[nodiscard]] auto attempt_until(Memory& memory, event_count<Memory>& event, const channel_deadline& deadline,
                                 const Attempt& attempt, const InVain& in_vain) {
  auto first = attempt();
  if (!in_vain(first)) return first;
  typename Memory::sleeping_wait wait;
  for (;;) {
    event.waiting.fetch_add(1, std::memory_order_relaxed);
    auto result = and_always(
        [&] {
          try {
            register_before_look<how>(memory);
            const std::uint32_t seen = event.count.value.load(std::memory_order_acquire);  // pairs with (3)
            auto again = attempt();
            if (!in_vain(again)) return again;
            memory.park(wait, event.count, seen, deadline);
            return attempt();
          } catch (...) {
            tell<how>(memory, event, true);
            throw;
          }
        },
        [&] { event.waiting.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed); });
    if (!in_vain(result) || (deadline && memory.now() >= *deadline)) return result;
  }
}

/// Entry of a waiter for this event, and perhaps for others.
template <typename Memory>
struct observer {
  list_link<Memory> link{};
};

template <typename Memory, typename Inside>
void with_observers(Memory& memory, event_count<Memory>& event, const Inside& inside) {
  while (event.guard.exchange(1, std::memory_order_acquire) != 0)  // pairs with (5)
    memory.await(event.guard, [](std::uint32_t now) { return now == 0; });
  inside(event.observers);
  event.guard.store(0, std::memory_order_release);  // (5)
}

/// Until `unobserve`, the observer's waiter is told of the event. Its owner must check for what was provided
/// before.
template <told_after how, typename Memory>
void observe(Memory& memory, event_count<Memory>& event, observer<Memory>& mine) {
  with_observers(memory, event, [&](auto& list) { list.append(mine); });
  event.observed.fetch_add(1, std::memory_order_release);  // (4)
  event.waiting.fetch_add(1, std::memory_order_relaxed);
  register_before_look<how>(memory);
}
template <typename Memory>
void unobserve(Memory& memory, event_count<Memory>& event, observer<Memory>& mine) {
  with_observers(memory, event, [&](auto& list) { list.remove(mine); });
  event.observed.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
  event.waiting.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
}

/// Tells the waiting threads, if there are any. Out of line, so that `tell` costs only a load if nobody
/// waits.
template <told_after how, typename Memory>
[[gnu::noinline]] void tell_those_that_wait(Memory& memory, event_count<Memory>& event, bool tells_all) {
  event.count.value.fetch_add(1, std::memory_order_release);  // (3)
  if (tells_all)
    memory.unpark_all(event.count);
  else
    memory.unpark_one(event.count);
  constexpr auto order =
      how == told_after::itself ? std::memory_order_seq_cst : std::memory_order_acquire;  // pairs with (4)
  if (event.observed.load(order) != 0)
    with_observers(memory, event, [&](auto& list) { list.template tell_all<observer<Memory>>(memory); });
}
template <told_after how, typename Memory>
void tell(Memory& memory, event_count<Memory>& event, bool tells_all) {
  if constexpr (how == told_after::fence) memory.fence(std::memory_order_seq_cst);
  if constexpr (how == told_after::light_fence) memory.light_fence();
  constexpr auto order = how == told_after::itself ? std::memory_order_seq_cst : std::memory_order_relaxed;
  if (event.waiting.load(order) != 0) tell_those_that_wait<how>(memory, event, tells_all);  // (2)
}

}  // namespace detail

}  // namespace nearfar
