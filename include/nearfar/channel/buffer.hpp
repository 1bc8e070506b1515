/// \file
/// The requirements of a channel on its buffer, which is the channel's strategy.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include "nearfar/channel/event_count.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar {

/// A FIFO buffer for messages of type `T`:
///  - `put` returns `success`, `full` or `closed`, and moves from its argument only on success; `take`
///    returns the oldest message, or `empty`, or, if the buffer is closed and empty, `closed`;
///  - `close` and `reopen` return whether this call changed the state; messages sent before `close` are still
///    received;
///  - `count` is an estimate while others send and receive;
///  - `takes_capacity`: the constructor takes the memory and a capacity; otherwise it takes the memory alone;
///  - `put_order`, `take_order`: the means that orders a successful operation before the next step of its
///    caller (event_count.hpp);
///  - `has_one_sender`, `has_one_receiver`: only one thread or rank sends, or receives, at a time;
///  - `put_may_make_room` (optional): a successful `put` may give back a resource that another `put` failed
///    to get;
///  - `take_may_make_room_for_several` (optional): one `take` may give back what several `put`s failed to
///    get;
///  - `hands_back` (optional): `put` moves the message before it knows that the channel is open.
template <typename B, typename T>
concept channel_buffer = requires(B& buffer, const B& seen, T& value) {
  { buffer.put(value) } -> std::same_as<queue_status>;
  { buffer.take() } -> std::same_as<received<T>>;
  { buffer.close() } -> std::same_as<bool>;
  { buffer.reopen() } -> std::same_as<bool>;
  { seen.is_closed() } -> std::same_as<bool>;
  { seen.count() } -> std::same_as<std::size_t>;
  { seen.capacity() } -> std::same_as<std::size_t>;
  { B::takes_capacity } -> std::convertible_to<bool>;
  { B::put_order } -> std::convertible_to<detail::told_after>;
  { B::take_order } -> std::convertible_to<detail::told_after>;
  { B::has_one_sender } -> std::convertible_to<bool>;
  { B::has_one_receiver } -> std::convertible_to<bool>;
};

namespace detail {

template <typename B>
inline constexpr bool put_may_make_room = requires { requires B::put_may_make_room; };
template <typename B>
inline constexpr bool take_may_make_room_for_several =
    requires { requires B::take_may_make_room_for_several; };

template <typename B>
inline constexpr bool hands_back = requires { requires B::hands_back; };

/// Whether full and empty may be out of date, because an end has no lock and does not fence
/// (locked_ring.hpp). They are up to date if callers fence between the two calls.
template <typename B>
inline constexpr bool tells_late =
    B::put_order == told_after::light_fence || B::take_order == told_after::light_fence;

/// A buffer in which senders and receivers wait for each other. `put_until` and `take_until` do what `put`
/// and `take` do, and wait until a deadline, or without limit if there is none.
template <typename B, typename T>
concept waiting_buffer = requires(B& buffer, T& value, const channel_deadline& deadline) {
  { buffer.put_until(value, deadline) } -> std::same_as<queue_status>;
  { buffer.take_until(deadline) } -> std::same_as<received<T>>;
};

}  // namespace detail

/// Buffers that move several messages at once for less than one by one. `put_range` advances the iterator
/// past the messages that it has put. `take_range` takes at most `most` messages. Both add the number of
/// moved messages to `count`, even if they then throw. The result is that of the first message. The
/// iterators' operations must not use the channel.
template <typename B, typename It, typename End>
concept puts_ranges = requires(B& buffer, It& first, const End& last, std::size_t& count) {
  { buffer.put_range(first, last, count) } -> std::same_as<queue_status>;
};
template <typename B, typename Out>
concept takes_ranges = requires(B& buffer, Out& out, std::size_t most, std::size_t& count) {
  { buffer.take_range(out, most, count) } -> std::same_as<queue_status>;
};

/// The capacity of a buffer without a limit.
inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

namespace detail {

/// Throws `misuse` for a capacity of 0, and for 2^32 messages or more.
[[nodiscard]] inline std::uint64_t checked_capacity(std::size_t capacity) {
  constexpr std::size_t most = std::size_t{1} << 32U;
  if (capacity < 1 || capacity >= most)
    throw misuse("a channel has room for 1 to " + std::to_string(most - 1) + " messages, not " +
                 std::to_string(capacity));
  return capacity;
}

/// Number of messages in the buffer, from the numbers received and sent so far. The two numbers may be from
/// different moments, so the result is an estimate while others send and receive.
[[nodiscard]] constexpr std::size_t messages_between(std::uint64_t got, std::uint64_t sent,
                                                     std::size_t capacity) noexcept {
  return sent <= got ? 0 : std::min(static_cast<std::size_t>(sent - got), capacity);
}

/// Moves the message into the slot. If the move throws, calls `undo` and rethrows.
template <typename T, typename Slot, typename Undo>
void put_or(Slot& to, T& value, const Undo& undo) {
  if constexpr (std::is_nothrow_move_constructible_v<T>) {
    to.put(std::move(value));
  } else {
    try {
      to.put(std::move(value));
    } catch (...) {
      undo();
      throw;
    }
  }
}

/// A container passed as an rvalue.
template <typename R>
concept given_away = !std::is_lvalue_reference_v<R> && !std::ranges::view<std::remove_cvref_t<R>>;

/// The iterators of a range. They move from its elements if the range is given away.
template <typename R>
[[nodiscard]] auto first_of(R& range) {
  if constexpr (given_away<R>)
    return std::move_iterator(std::ranges::begin(range));
  else
    return std::ranges::begin(range);
}
template <typename R>
[[nodiscard]] auto last_of(R& range) {
  if constexpr (given_away<R>)
    return std::move_sentinel(std::ranges::end(range));
  else
    return std::ranges::end(range);
}

/// A range from which messages of type `T` can be sent. Either its elements are moved (they are rvalues, or
/// the range is given away), or they are copied, possibly with a conversion. A range that is given away must
/// not need a conversion: a failed attempt would lose the converted element.
template <typename R, typename T>
concept range_of_messages =
    std::ranges::input_range<R> &&
    (std::same_as<std::iter_reference_t<decltype(first_of<R>(std::declval<std::remove_reference_t<R>&>()))>,
                  T&&> ||
     (std::copy_constructible<T> && std::convertible_to<std::ranges::range_reference_t<R>, T> &&
      (!given_away<R> || std::same_as<std::ranges::range_value_t<R>, T>)&&(
          !std::is_rvalue_reference_v<std::ranges::range_reference_t<R>> ||
          std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)));

/// Calls `put` with the element at the iterator, or with a copy if the element must not be moved from.
template <typename T, typename It, typename Put>
auto with_message_at(It& at, const Put& put) {
  if constexpr (std::is_same_v<std::iter_reference_t<It>, T&&>) {
    T&& value = *at;
    return put(value);
  } else {
    T copy(*at);
    return put(copy);
  }
}

/// Takes the message out of the slot and then calls `afterwards`, even if moving the message throws.
template <typename T, typename Slot, typename Afterwards>
[[nodiscard]] received<T> take_and(Slot& from, const Afterwards& afterwards) {
  if constexpr (std::is_nothrow_move_constructible_v<T>) {
    received<T> result(from.take());
    afterwards();
    return result;
  } else {
    return and_always([&] { return received<T>(from.take()); }, afterwards);
  }
}

/// Sets or clears a bit of a word whose other bits others change, and adds `notice`. Returns whether this
/// call changed the word.
template <typename Cell, typename Word>
bool change_bit(Cell& cell, Word bit, bool is_to_be_set, Word notice = 0) {
  Word seen = cell.load(std::memory_order_relaxed);
  while (((seen & bit) != 0) != is_to_be_set)
    if (cell.compare_exchange(seen, (seen ^ bit) + notice, std::memory_order_relaxed,
                              std::memory_order_relaxed))
      return true;
  return false;
}

/// Moves a message that was put too early back to the sender, who must not notice the move. A message whose
/// move may throw is assigned (`sendable_by`), so that the sender keeps an object even if the move throws.
template <typename T, typename Slot>
void hand_back(T& to, Slot& from) {
  if constexpr (std::is_nothrow_move_constructible_v<T>) {
    std::destroy_at(std::addressof(to));
    std::construct_at(std::addressof(to), from.take());
  } else {
    to = from.take();
  }
}

/// Number of pause instructions. 32 of them took 0.8 us where this was measured, and were a third faster than
/// 16 on cores that are far from each other.
inline constexpr std::uint64_t longest_moment = 32;

/// Called by the only receiver when it finds no message at `position`. If it has received several messages
/// since the last such call, the senders are active, and it pauses for them: the more messages came, the
/// longer, up to `longest`. Without the pause it would read the senders' lines after each message, and the
/// senders would wait for these lines each time. A pause lasts about as long as the senders need for as many
/// messages as came, so more messages are there the next time. A receiver of single messages does not pause.
/// Only this function uses `looked`.
template <typename Memory, typename Near>
void let_sender_work([[maybe_unused]] Near& looked, [[maybe_unused]] std::uint64_t position,
                     [[maybe_unused]] std::uint64_t longest) {
  if constexpr (Memory::is_hardware) {
    const std::uint64_t came = position - looked.load(std::memory_order_relaxed);
    if (came > 1) pause(std::min(came, longest));
    looked.store(position, std::memory_order_relaxed);
  }
}

}  // namespace detail

}  // namespace nearfar
