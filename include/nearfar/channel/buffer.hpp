/// \file
/// What a channel asks of its buffer, which is its strategy.
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

/// FIFO for messages of type `T`:
///  - `put` moves from its argument only if it succeeds, else `full` or `closed`; `take` brings the oldest
///    message, or `empty`, or `closed`, which is closed and empty;
///  - `close` and `reopen` say whether that call did it; what was sent is received all the same;
///  - `count` is an estimate where others send and receive;
///  - `takes_capacity`: made with their memory and a capacity, others with their memory alone;
///  - `put_order`, `take_order`: what comes between what succeeded and what its caller does next
///    (event_count.hpp);
///  - `has_one_sender`, `has_one_receiver`: one thread or rank sends, or receives, at a time;
///  - `put_may_make_room`, if it exists and holds: a `put` that succeeds may give back what another missed;
///  - `take_may_make_room_for_several`, the same: one `take` may give back what several missed;
///  - `hands_back`, the same: `put` moves the message before it knows that the channel is open.
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

/// Whether an end without a lock may tell full and empty late (locked_ring.hpp): such a call knows of those
/// that have returned only where its caller fences.
template <typename B>
inline constexpr bool tells_late =
    B::put_order == told_after::light_fence || B::take_order == told_after::light_fence;

/// One in which those that send and receive wait for each other: `put_until` and `take_until` are as `put`
/// and `take`, and wait for a deadline, or for ever.
template <typename B, typename T>
concept waiting_buffer = requires(B& buffer, T& value, const channel_deadline& deadline) {
  { buffer.put_until(value, deadline) } -> std::same_as<queue_status>;
  { buffer.take_until(deadline) } -> std::same_as<received<T>>;
};

}  // namespace detail

/// Those in which several at once cost less: `put_range` moves the iterator on past what it has put, and
/// `take_range` takes no more than `most`; each counts what it has moved, also if it then throws. The result
/// is that of the first of them. What iterators do must not use the channel.
template <typename B, typename It, typename End>
concept puts_ranges = requires(B& buffer, It& first, const End& last, std::size_t& count) {
  { buffer.put_range(first, last, count) } -> std::same_as<queue_status>;
};
template <typename B, typename Out>
concept takes_ranges = requires(B& buffer, Out& out, std::size_t most, std::size_t& count) {
  { buffer.take_range(out, most, count) } -> std::same_as<queue_status>;
};

/// The capacity of a buffer that has none.
inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

namespace detail {

/// Throws `misuse` for no room, or for 2^32 messages and more.
[[nodiscard]] inline std::uint64_t checked_capacity(std::size_t capacity) {
  constexpr std::size_t most = std::size_t{1} << 32U;
  if (capacity < 1 || capacity >= most)
    throw misuse("a channel has room for 1 to " + std::to_string(most - 1) + " messages, not " +
                 std::to_string(capacity));
  return capacity;
}

/// Messages, of how many have been received and sent; these may be of different moments, and so only an
/// estimate while others send and receive.
[[nodiscard]] constexpr std::size_t messages_between(std::uint64_t got, std::uint64_t sent,
                                                     std::size_t capacity) noexcept {
  return sent <= got ? 0 : std::min(static_cast<std::size_t>(sent - got), capacity);
}

/// Moves the message there; if that throws, does what is to be done then, and throws on.
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

/// A container that is given away.
template <typename R>
concept given_away = !std::is_lvalue_reference_v<R> && !std::ranges::view<std::remove_cvref_t<R>>;

/// The iterators of a range, which move from its elements if it is given away.
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

/// What a range may bring for messages of type `T`: those themselves where it gives them away; or what they
/// are copied from, also by conversion. Of what is given away and has to be converted first the rest would be
/// lost with an attempt in vain.
template <typename R, typename T>
concept range_of_messages =
    std::ranges::input_range<R> &&
    (std::same_as<std::iter_reference_t<decltype(first_of<R>(std::declval<std::remove_reference_t<R>&>()))>,
                  T&&> ||
     (std::copy_constructible<T> && std::convertible_to<std::ranges::range_reference_t<R>, T> &&
      (!given_away<R> || std::same_as<std::ranges::range_value_t<R>, T>)&&(
          !std::is_rvalue_reference_v<std::ranges::range_reference_t<R>> ||
          std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)));

/// What `put` brings for what the iterator is at, or for a copy where that is not to be moved from.
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

/// Takes the message from there, and then does what is to be done, also if the message throws.
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

/// Sets that bit of a word in which others change other bits, or clears it. Whether this call did it.
template <typename Cell, typename Word>
bool change_bit(Cell& cell, Word bit, bool is_to_be_set) {
  Word seen = cell.load(std::memory_order_relaxed);
  while (((seen & bit) != 0) != is_to_be_set)
    if (cell.compare_exchange(seen, seen ^ bit, std::memory_order_relaxed, std::memory_order_relaxed))
      return true;
  return false;
}

/// What was put too early is the sender's again, who must not see that it was moved. A message whose move may
/// throw is assigned, so that the sender has an object in any case (`sendable_by`).
template <typename T, typename Slot>
void hand_back(T& to, Slot& from) {
  if constexpr (std::is_nothrow_move_constructible_v<T>) {
    std::destroy_at(std::addressof(to));
    std::construct_at(std::addressof(to), from.take());
  } else {
    to = from.take();
  }
}

/// Pauses: 32 are 0.8 us where that was measured, and a third faster than 16 on cores that are far from each
/// other.
inline constexpr std::uint64_t longest_moment = 32;

/// Of the only one who receives, at that position, where there was no message. If there were several since it
/// was so, senders are at work, and get a moment, the longer the more: if their lines were looked at after
/// each message, they would wait for these each time. About as long as the senders take for so many, so that
/// there are more the next time, until it is the longest. Who is sent one at a time does not wait. `looked`
/// is for this alone.
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
