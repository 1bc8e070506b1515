/// \file
/// How those that wait for room, or for a message, sleep, and are woken by who makes it.
///
/// Source: the eventcount of D. Reed, R. Kanodia, "Synchronization with eventcounts and sequencers", CACM 22,
/// 1979, doi 10.1145/359060.359076, in the form in which nobody is told where nobody waits: D. Vyukov's, as
/// in folly's `EventCount`.
///
/// Who waits registers (1), looks again at what it waits for, and sleeps until the count moves on from what
/// it was before that look. Who makes what others wait for does so, and then looks whether any have
/// registered (2), and moves the count on (3). By the fence at (1), and what is between making and (2), one
/// of the two sees the other: the one that waits what was made, or the other that it waits. What that is the
/// buffer says, by `told_after`.
///
/// Who waits for several events at once, or as a coroutine, does not sleep on any of them, but observes them:
/// it registers in the same way, and is told by the decision about it (waiting_list.hpp). All that observe
/// are told, beside one of those that sleep.
///
/// Cost: telling nobody is the load of a word that is in every cache, and a fence if there has to be one.
/// Memory: 64 bytes.
#pragma once

#include <atomic>
#include <cstdint>

#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/waiting_list.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// In memory that all who wait and tell share. See the file's comment.
template <typename Memory>
struct alignas(cache_line) event_count {
  parking_word<Memory> count{};
  typename Memory::template near<std::uint32_t> waiting{};   ///< those that observe, too
  typename Memory::template near<std::uint32_t> observed{};  ///< only those
  typename Memory::template near<std::uint32_t> guard{};     ///< a lock of the list
  detail::waiting_list<Memory> observers{};
};

namespace detail {

/// What orders that something was made before the look for those that wait for it.
enum class told_after : std::uint8_t {
  fence,        ///< a fence here
  itself,       ///< it was made by an operation that is sequentially consistent
  light_fence,  ///< one that costs nothing here, and much for those that go to sleep
};

/// Between that and a look at what those make who are told so.
template <told_after how, typename Memory>
void register_before_look(Memory& memory) {
  // (1)
  if constexpr (how == told_after::light_fence)
    memory.heavy_fence();
  else
    memory.fence(std::memory_order_seq_cst);
}

/// What `attempt()` brings, which is repeated after events until `in_vain` does not hold for it, or until the
/// deadline has passed. `how` are those told that wait for this.
template <told_after how, typename Memory, typename Attempt, typename InVain>
[[nodiscard]] auto attempt_until(Memory& memory, event_count<Memory>& event, const channel_deadline& deadline,
                                 const Attempt& attempt, const InVain& in_vain) {
  auto first = attempt();
  if (!in_vain(first)) return first;
  for (;;) {
    event.waiting.fetch_add(1, std::memory_order_relaxed);
    auto result = and_always(
        [&] {
          register_before_look<how>(memory);
          const std::uint32_t seen = event.count.value.load(std::memory_order_acquire);  // pairs with (3)
          auto again = attempt();
          if (!in_vain(again)) return again;
          memory.park(event.count, seen, deadline);
          return attempt();
        },
        [&] { event.waiting.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed); });
    if (!in_vain(result) || (deadline && memory.now() >= *deadline)) return result;
  }
}

/// Of one that waits for this event, and perhaps for others.
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

/// The observer's waiter is told of the event until `unobserve`; what was made before it finds by a look.
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

/// Of those that wait, if there are any. Apart, so that who tells nobody pays for a load and no more.
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
/// Tells one of those that wait, if there are any; or all.
template <told_after how = told_after::fence, typename Memory>
void tell(Memory& memory, event_count<Memory>& event, bool tells_all = false) {
  if constexpr (how == told_after::fence) memory.fence(std::memory_order_seq_cst);
  if constexpr (how == told_after::light_fence) memory.light_fence();
  constexpr auto order = how == told_after::itself ? std::memory_order_seq_cst : std::memory_order_relaxed;
  if (event.waiting.load(order) != 0) tell_those_that_wait<how>(memory, event, tells_all);  // (2)
}

}  // namespace detail

}  // namespace nearfar
