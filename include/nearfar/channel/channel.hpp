/// \file
/// Channels, by which threads of a process, or ranks of a node, send messages to each other through a buffer.
///
/// Source: Laubert's thesis on channels between the threads of a runtime system (2021, in German), section
/// 2.5, after A. Prell, "Embracing explicit communication in work-stealing runtime systems", dissertation,
/// Bayreuth 2016. Channels are FIFO there, and `try_send` and `try_receive` fail if the buffer is full or
/// empty. Waiting, closing and the results are those of L. Crowl, C. Mysen, D. Gustafsson, "C++ Concurrent
/// Queues", P0260.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/event_count.hpp"
#include "nearfar/channel/locked_ring.hpp"
#include "nearfar/channel/locks.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/channel/ring_buffer.hpp"
#include "nearfar/core/agreement.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

namespace detail {
struct case_access;
}

/// A type whose objects a channel can send: a movable object type other than `queue_status`, which reports
/// why there is no message.
template <typename T>
concept sendable = std::is_object_v<T> && !std::is_const_v<T> && std::move_constructible<T> &&
                   !std::same_as<T, queue_status>;

/// A type that this strategy can send. A strategy that moves a message before it knows that the channel is
/// open hands the message back if it is closed. It does so by move assignment if the move constructor may
/// throw, so the type must then be move-assignable.
template <typename T, template <typename, typename> typename Buffer, typename Memory = process_memory>
concept sendable_by = sendable<T> && (std::is_nothrow_move_constructible_v<T> ||
                                      std::is_move_assignable_v<T> || !detail::hands_back<Buffer<Memory, T>>);

/// A channel over a buffer, which is its strategy. Linearizability and progress are those of the buffer.
/// `send`, `receive` and their timed forms wait: they poll first and then sleep. The woken thread need not be
/// the one that has waited longest.
///
/// A send throws if moving its message throws. A message that is not sent is unchanged, with one exception:
/// if the channel closes during a send, a strategy that hands messages back (`sendable_by`) has moved the
/// message already. If a move on the way back throws, the message is lost.
template <typename Memory, typename T, template <typename, typename> typename Buffer>
class basic_channel {
 protected:
  struct of_any_size {};

 public:
  using value_type = T;
  using memory_type = Memory;
  using buffer_type = Buffer<Memory, T>;
  static_assert(channel_buffer<Buffer<Memory, T>, T>);
  /// Whether the constructor takes a capacity. Otherwise the strategy fixes the capacity, or only the
  /// available memory limits it.
  static constexpr bool takes_capacity = Buffer<Memory, T>::takes_capacity;
  /// Whether only one thread or rank may send at a time, and whether only one may receive.
  static constexpr bool has_one_sender = Buffer<Memory, T>::has_one_sender;
  static constexpr bool has_one_receiver = Buffer<Memory, T>::has_one_receiver;

  basic_channel(const basic_channel&) = delete;
  basic_channel& operator=(const basic_channel&) = delete;

  /// Does not wait: `success`, `full` or `closed`.
  [[nodiscard]] queue_status try_send(T&& value) { return put(value); }
  [[nodiscard]] queue_status try_send(const T& value)
    requires std::copy_constructible<T>
  {
    T copy(value);
    return put(copy);
  }
  /// Waits for room: `success` or `closed`.
  [[nodiscard]] queue_status send(T&& value) { return send_by(value, std::nullopt); }
  [[nodiscard]] queue_status send(const T& value)
    requires std::copy_constructible<T>
  {
    T copy(value);
    return send_by(copy, std::nullopt);
  }
  /// The same with a deadline, a time of the steady clock or of the world's clock; then `timed_out`.
  [[nodiscard]] queue_status send_until(T&& value, std::chrono::nanoseconds deadline) {
    return send_by(value, deadline);
  }
  [[nodiscard]] queue_status send_until(const T& value, std::chrono::nanoseconds deadline)
    requires std::copy_constructible<T>
  {
    T copy(value);
    return send_by(copy, deadline);
  }
  template <typename Rep, typename Period>
  [[nodiscard]] queue_status send_for(T&& value, std::chrono::duration<Rep, Period> span) {
    return send_by(value, end_of(span));
  }
  template <typename Rep, typename Period>
  [[nodiscard]] queue_status send_for(const T& value, std::chrono::duration<Rep, Period> span)
    requires std::copy_constructible<T>
  {
    T copy(value);
    return send_by(copy, end_of(span));
  }

  /// Does not wait. Returns the oldest message, or `empty`, or, if the channel is closed and empty, `closed`.
  [[nodiscard]] received<T> try_receive() { return take(); }
  /// Waits for a message and returns the oldest. Returns `closed` if the channel is closed and empty.
  [[nodiscard]] received<T> receive() { return receive_by(std::nullopt); }
  /// The same with a deadline, a time of the steady clock or of the world's clock; then `timed_out`.
  [[nodiscard]] received<T> receive_until(std::chrono::nanoseconds deadline) { return receive_by(deadline); }
  template <typename Rep, typename Period>
  [[nodiscard]] received<T> receive_for(std::chrono::duration<Rep, Period> span) {
    return receive_by(end_of(span));
  }

  /// Sends the elements of the range in order until there is no room. Returns `success` if all were sent;
  /// otherwise the reason, and in `count` how many were. Each element is a message of its own, and messages
  /// of other senders may come between them. Waiting threads are told once for the whole range.
  ///
  /// Elements are copied, or moved if they are rvalues or the range is a container that is given away. An
  /// element that is not sent is not moved from. If sending one throws, the elements before it are sent. Only
  /// copied elements may be converted. An element that a view computes on access is computed for each
  /// attempt.
  template <detail::range_of_messages<T> R>
  queue_range_result try_send_range(R&& range) {
    auto first = detail::first_of<R>(range);
    return put_all(first, detail::last_of<R>(range));
  }
  /// The same, but waits for room: `success` or `closed`.
  template <detail::range_of_messages<T> R>
  queue_range_result send_range(R&& range) {
    auto first = detail::first_of<R>(range);
    const auto last = detail::last_of<R>(range);
    std::size_t count = 0;
    for (;;) {
      const queue_range_result some = put_all(first, last);
      count += some.count;
      if (some.status != queue_status::full) return {count, some.status};
      const queue_status status =
          detail::with_message_at<T>(first, [this](T& value) { return send_by(value, std::nullopt); });
      if (status != queue_status::success) return {count, status};
      ++first;
      ++count;
    }
  }
  /// Receives the oldest messages, at most `most`: `success` if at least one, or if `most` is 0. Each message
  /// is received separately; other receivers may take messages in between. Threads that wait for room are
  /// told once. If assigning a message through `out` throws, that message is lost, as is one whose move
  /// throws.
  template <std::output_iterator<T> Out>
  queue_range_result try_receive_range(Out out, std::size_t most) {
    return take_all(out, most);
  }
  /// The same, but waits for the first message: `success` or `closed`.
  template <std::output_iterator<T> Out>
  queue_range_result receive_range(Out out, std::size_t most) {
    const queue_range_result at_once = take_all(out, most);
    if (at_once.status != queue_status::empty) return at_once;
    received<T> first = receive_by(std::nullopt);
    if (!first) return {0, first.status()};
    *out++ = *std::move(first);
    return {1 + take_all(out, most - 1).count, queue_status::success};
  }

  /// From now on nothing can be sent. Messages sent before are still received. Any thread or rank may call
  /// it, any number of times.
  void close() {
    buffer_.close();
    tell_all();
  }
  /// Opens the channel again.
  void reopen() {
    buffer_.reopen();
    memory_.fence(std::memory_order_seq_cst);  // so that nobody finds it closed after the return
  }
  [[nodiscard]] bool is_closed() const { return buffer_.is_closed(); }
  /// Number of messages ready to be received; an estimate while others send and receive.
  [[nodiscard]] std::size_t peek() const { return buffer_.count(); }
  [[nodiscard]] std::size_t capacity() const { return buffer_.capacity(); }

  /// Receives until the channel is closed and empty: `for (T& message : channel)`. `begin` receives the first
  /// message.
  using iterator = message_iterator<basic_channel, T>;
  [[nodiscard]] iterator begin() { return iterator(*this); }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 protected:
  template <typename... Where>
  explicit basic_channel(std::size_t capacity, Where&&... where)
    requires(takes_capacity)
      : memory_(std::forward<Where>(where)...), events_(memory_), buffer_(memory_, capacity) {}
  template <typename... Where>
  explicit basic_channel(of_any_size /*size*/, Where&&... where)
    requires(!takes_capacity)
      : memory_(std::forward<Where>(where)...), events_(memory_), buffer_(memory_) {}
  ~basic_channel() = default;

 private:
  friend struct detail::case_access;
  using buffer = buffer_type;
  static constexpr bool waits_itself = detail::waiting_buffer<buffer, T>;
  static constexpr bool throws_nothing = std::is_nothrow_move_constructible_v<T>;
  enum event_of : std::size_t { room, message };

  [[nodiscard]] event_count<Memory>& event(event_of which) { return events_[which]; }

  template <typename Rep, typename Period>
  [[nodiscard]] channel_deadline end_of(std::chrono::duration<Rep, Period> span) {
    return later(memory_.now(), in_nanoseconds(span));
  }

  void tell_all() {
    detail::tell(memory_, event(room), true);
    detail::tell(memory_, event(message), true);
  }

  [[nodiscard]] queue_status put(T& value) {
    if constexpr (waits_itself) return buffer_.put(value);
    const queue_status status = put_in(value);
    if (status == queue_status::success) detail::tell<buffer::put_order>(memory_, event(message));
    tell_of_room_kept(status);
    return status;
  }
  /// A sender may have held a node or segment that another sender waits for, until it found that it did not
  /// need it.
  void tell_of_room_kept(queue_status found) {
    if (found == queue_status::closed ||
        (detail::put_may_make_room<buffer> && found == queue_status::success))
      detail::tell(memory_, event(room), detail::put_may_make_room<buffer>);
  }
  /// A message whose move throws may leave room, or a place that the next receiver passes over.
  [[nodiscard]] queue_status put_in(T& value) {
    if constexpr (throws_nothing) return buffer_.put(value);
    try {
      return buffer_.put(value);
    } catch (...) {
      tell_all();
      throw;
    }
  }
  [[nodiscard]] received<T> take() {
    if constexpr (waits_itself) return buffer_.take();
    if constexpr (throws_nothing) {
      received<T> result = buffer_.take();
      if (result) tell_of_room(false, true);
      return result;
    } else {
      return detail::and_always([&] { return buffer_.take(); }, [&] { tell_of_room(true, true); });
    }
  }
  /// Tells all waiting senders if one `take` may make room for several, or if a message may throw and leave
  /// passed-over places. Tells nobody if the channel always has room, since then nobody waits.
  void tell_of_room(bool tells_all, bool is_sure) {
    if ((takes_capacity || buffer_.capacity() != unbounded) && (is_sure || !throws_nothing))
      detail::tell<buffer::take_order>(
          memory_, event(room),
          tells_all || !throws_nothing || detail::take_may_make_room_for_several<buffer>);
  }
  /// Tells all waiting threads if there is something for several of them.
  template <detail::told_after how>
  void tell_of(std::size_t count, event_of which) {
    if (count != 0) detail::tell<how>(memory_, event(which), count > 1);
  }
  template <typename It, typename End>
  [[nodiscard]] queue_range_result put_all(It& first, const End& last) {
    queue_range_result result;
    bool is_thrown = true;
    result.status = detail::and_always(
        [&] {
          queue_status status = queue_status::success;
          while (status == queue_status::success && first != last)
            status = put_some(first, last, result.count);
          is_thrown = false;
          return status;
        },
        [&] {
          if (is_thrown)
            tell_all();  // a throw may leave room, or passed-over places
          else
            tell_of<buffer::put_order>(result.count, message);
        });
    tell_of_room_kept(result.count != 0 && result.status != queue_status::closed ? queue_status::success
                                                                                 : result.status);
    return result;
  }
  template <typename It, typename End>
  [[nodiscard]] queue_status put_some(It& first, const End& last, std::size_t& count) {
    if constexpr (puts_ranges<buffer, It, End>) {
      return buffer_.put_range(first, last, count);
    } else {
      const queue_status status =
          detail::with_message_at<T>(first, [this](T& value) { return buffer_.put(value); });
      if (status != queue_status::success) return status;
      ++count;
      ++first;
      return status;
    }
  }
  template <typename Out>
  [[nodiscard]] queue_range_result take_all(Out& out, std::size_t most) {
    queue_range_result result;
    const queue_status status = detail::and_always(
        [&] {
          queue_status last = queue_status::success;
          while (last == queue_status::success && result.count < most)
            last = take_some(out, most - result.count, result.count);
          return last;
        },
        [&] { tell_of_room(result.count > 1, result.count != 0); });
    if (result.count == 0) result.status = status;
    return result;
  }
  template <typename Out>
  [[nodiscard]] queue_status take_some(Out& out, [[maybe_unused]] std::size_t most, std::size_t& count) {
    if constexpr (takes_ranges<buffer, Out>) {
      return buffer_.take_range(out, most, count);
    } else {
      received<T> got = buffer_.take();
      if (!got) return got.status();
      ++count;
      *out++ = *std::move(got);
      return queue_status::success;
    }
  }
  [[nodiscard]] queue_status send_by(T& value, const channel_deadline& deadline) {
    const queue_status status = [&] {
      if constexpr (waits_itself)
        return buffer_.put_until(value, deadline);
      else
        return detail::attempt_until<buffer::take_order>(
            memory_, event(room), deadline, [&] { return put(value); },
            [](queue_status now) { return now == queue_status::full; });
    }();
    return status == queue_status::full ? queue_status::timed_out : status;
  }
  [[nodiscard]] received<T> receive_by(const channel_deadline& deadline) {
    received<T> result = [&] {
      if constexpr (waits_itself)
        return buffer_.take_until(deadline);
      else
        return detail::attempt_until<buffer::put_order>(
            memory_, event(message), deadline, [&] { return take(); },
            [](const received<T>& now) { return now.status() == queue_status::empty; });
    }();
    if (result.status() == queue_status::empty) return queue_status::timed_out;
    return result;
  }

  Memory memory_;
  typename Memory::template few<event_count<Memory>, 2> events_;
  buffer buffer_;
};

/// The strategy of a channel that names none. If moving a message may throw, it is a ring with locks: in the
/// lock-free ring such a message would occupy its place until a receiver passes over it.
template <typename Memory, typename T>
using default_buffer =
    std::conditional_t<std::is_nothrow_move_constructible_v<T>, ring_buffer<Memory, T>,
                       locked_ring<Memory, T, channel_lock::parking<Memory>, channel_lock::parking<Memory>>>;

/// Channel between the threads of a process: one object for all of them, which must outlive every call.
/// Messages are of any movable type; nearly all strategies require nothing more (`sendable_by`).
template <sendable T, template <typename, typename> typename Buffer = default_buffer>
  requires sendable_by<T, Buffer>
class channel : public basic_channel<process_memory, T, Buffer> {
  using base = basic_channel<process_memory, T, Buffer>;

 public:
  /// Throws `misuse` for a capacity that the buffer does not support.
  explicit channel(std::size_t capacity)
    requires(base::takes_capacity)
      : base(capacity) {}
  channel()
    requires(!base::takes_capacity)
      : base(typename base::of_any_size()) {}
};

/// Channel between the ranks of a node. Each rank has its own object, used by one thread. Messages are copied
/// byte by byte.
template <world W, plain_value T, template <typename, typename> typename Buffer = ring_buffer>
  requires sendable<T>
class node_channel : public basic_channel<node_memory<W>, T, Buffer> {
  using base = basic_channel<node_memory<W>, T, Buffer>;

 public:
  /// Collective. The channel is in the near memory of rank `home`. Throws `misuse` for a capacity that the
  /// buffer does not support, and if the ranks of the world are not all on one node. Throws
  /// `collective_mismatch` on all ranks if they pass different arguments or make channels of different types.
  node_channel(W& w, std::size_t capacity, int home = 0)
    requires(base::takes_capacity)
      : base(alike(w, capacity, home, capacity), w, home) {}
  explicit node_channel(W& w, int home = 0)
    requires(!base::takes_capacity)
      : base(alike(w, 0, home, typename base::of_any_size()), w, home) {}

 private:
  /// Returns the argument of the base's constructor, once all ranks are known to make the same channel.
  template <typename Size>
  [[nodiscard]] static Size alike(W& w, std::size_t capacity, int home, Size size) {
    expect_alike<node_channel>(w, {{"capacity", static_cast<std::int64_t>(capacity)}, {"home", home}});
    return size;
  }
};

}  // namespace nearfar
