/// \file
/// Channels: what threads of a process, or ranks of a node, send to each other through a buffer.
///
/// Source: Laubert's thesis on channels between the threads of a runtime system (2021, in German), section
/// 2.5, after A. Prell, "Embracing explicit communication in work-stealing runtime systems", dissertation,
/// Bayreuth 2016: FIFO, `try_send` and `try_receive` that fail if the buffer is full or empty. Waiting,
/// closing and the results are those of L. Crowl, C. Mysen, D. Gustafsson, "C++ Concurrent Queues", P0260.
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

/// What a channel can send: an object that can be moved, and is no reason why there is none.
template <typename T>
concept sendable = std::is_object_v<T> && !std::is_const_v<T> && std::move_constructible<T> &&
                   !std::same_as<T, queue_status>;

/// The same by that strategy. One that moves a message before it knows that the channel is open gives it back
/// where it is not: to a message whose move may throw by assigning it, which must be possible then.
template <typename T, template <typename, typename> typename Buffer, typename Memory = process_memory>
concept sendable_by = sendable<T> && (std::is_nothrow_move_constructible_v<T> ||
                                      std::is_move_assignable_v<T> || !detail::hands_back<Buffer<Memory, T>>);

/// The face of a channel over a buffer, which is what its strategy is. Linearizable, and its progress is, as
/// the buffer's; `send` and `receive` and their timed forms wait, at first awake and then asleep. Who is
/// woken is not who has waited longest.
///
/// A message that is not sent stays what it was: all forms move from their argument only if they succeed.
template <typename Memory, typename T, template <typename, typename> typename Buffer>
class basic_channel {
 protected:
  struct of_any_size {};

 public:
  using value_type = T;
  using memory_type = Memory;
  using buffer_type = Buffer<Memory, T>;
  static_assert(channel_buffer<Buffer<Memory, T>, T>);
  /// Whether it is made with a capacity; else it has room for as many messages as there is memory for, or
  /// its strategy says for how many.
  static constexpr bool takes_capacity = Buffer<Memory, T>::takes_capacity;
  /// Whether only one thread, or rank, sends at a time, and whether one receives.
  static constexpr bool has_one_sender = Buffer<Memory, T>::has_one_sender;
  static constexpr bool has_one_receiver = Buffer<Memory, T>::has_one_receiver;

  basic_channel(const basic_channel&) = delete;
  basic_channel& operator=(const basic_channel&) = delete;

  /// `success`, `full` or `closed`, at once.
  [[nodiscard]] queue_status try_send(T&& value) { return put(value); }
  [[nodiscard]] queue_status try_send(const T& value)
    requires std::copy_constructible<T>
  {
    T copy(value);
    return put(copy);
  }
  /// `success` or `closed`, when there is room.
  [[nodiscard]] queue_status send(T&& value) { return send_by(value, std::nullopt); }
  [[nodiscard]] queue_status send(const T& value)
    requires std::copy_constructible<T>
  {
    T copy(value);
    return send_by(copy, std::nullopt);
  }
  /// The same until a time of the steady clock, or of the world's, or `timed_out`.
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

  /// The oldest message, if there is one: else `empty`, or `closed`, when none will come.
  [[nodiscard]] received<T> try_receive() { return take(); }
  /// The oldest message, when there is one, or `closed`.
  [[nodiscard]] received<T> receive() { return receive_by(std::nullopt); }
  /// The same until a time of the steady clock, or of the world's, or `timed_out`.
  [[nodiscard]] received<T> receive_until(std::chrono::nanoseconds deadline) { return receive_by(deadline); }
  template <typename Rep, typename Period>
  [[nodiscard]] received<T> receive_for(std::chrono::duration<Rep, Period> span) {
    return receive_by(end_of(span));
  }

  /// Sends what is in the range, in its order, until there is no room: `success` if all, else why not more
  /// than the first `count`. Each is a message of its own, and others' may come between them; who waits is
  /// told once. Elements are copied, or moved where they are rvalues or the range is a container that is
  /// given away; what is not sent is not moved from. If one throws, those before it are sent. Only elements
  /// that are copied are converted, and one that a view makes anew when it is looked at is made for each
  /// attempt.
  template <detail::range_of_messages<T> R>
  queue_range_result try_send_range(R&& range) {
    auto first = detail::first_of<R>(range);
    return put_all(first, detail::last_of<R>(range));
  }
  /// The same, waiting for room: `success` or `closed`.
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
  /// The oldest messages, up to `most`: `success` if at least one, or if none is wanted. Each is received for
  /// itself, as above; who waits for room is told once. If assigning a message through `out` throws, that
  /// message is lost, as one is whose move throws.
  template <std::output_iterator<T> Out>
  queue_range_result try_receive_range(Out out, std::size_t most) {
    return take_all(out, most);
  }
  /// The same, waiting for the first: `success` or `closed`.
  template <std::output_iterator<T> Out>
  queue_range_result receive_range(Out out, std::size_t most) {
    const queue_range_result at_once = take_all(out, most);
    if (at_once.status != queue_status::empty) return at_once;
    received<T> first = receive_by(std::nullopt);
    if (!first) return {0, first.status()};
    *out++ = *std::move(first);
    return {1 + take_all(out, most - 1).count, queue_status::success};
  }

  /// From now on nothing can be sent; what was is still received. By anybody, any number of times.
  void close() {
    buffer_.close();
    tell_all();
  }
  /// Ends that.
  void reopen() {
    buffer_.reopen();
    memory_.fence(std::memory_order_seq_cst);  // so that nobody finds it closed after the return
  }
  [[nodiscard]] bool is_closed() const { return buffer_.is_closed(); }
  /// Messages that wait to be received: an estimate where others send and receive.
  [[nodiscard]] std::size_t peek() const { return buffer_.count(); }
  [[nodiscard]] std::size_t capacity() const { return buffer_.capacity(); }

  /// Receives until the channel is closed and empty: `for (T& message : channel)`. `begin` receives the
  /// first.
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
  /// Who sends may have kept what another waits for until it found that it did not need it.
  void tell_of_room_kept(queue_status found) {
    if (found == queue_status::closed ||
        (detail::put_may_make_room<buffer> && found == queue_status::success))
      detail::tell(memory_, event(room), detail::put_may_make_room<buffer>);
  }
  /// A message that throws may leave room, or a place that is passed over by who receives next.
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
  /// All where there is room for several, as there may be, or places are passed over, if a message throws;
  /// nobody where there always is, as then nobody waits.
  void tell_of_room(bool tells_all, bool is_sure) {
    if ((takes_capacity || buffer_.capacity() != unbounded) && (is_sure || !throws_nothing))
      detail::tell<buffer::take_order>(
          memory_, event(room),
          tells_all || !throws_nothing || detail::take_may_make_room_for_several<buffer>);
  }
  /// All who wait, where there is something for several of them.
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
            tell_all();  // as above
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

/// The strategy of a channel for whose messages none is named. Where a move may throw it has locks, as such a
/// message would else take its place until it is passed over by who receives.
template <typename Memory, typename T>
using default_buffer =
    std::conditional_t<std::is_nothrow_move_constructible_v<T>, ring_buffer<Memory, T>,
                       locked_ring<Memory, T, channel_lock::parking<Memory>, channel_lock::parking<Memory>>>;

/// Channel of the threads of a process: one object for all of them, of messages that can be moved; nearly all
/// strategies need no more (`sendable_by`). It must outlive every call.
template <sendable T, template <typename, typename> typename Buffer = default_buffer>
  requires sendable_by<T, Buffer>
class channel : public basic_channel<process_memory, T, Buffer> {
  using base = basic_channel<process_memory, T, Buffer>;

 public:
  /// Throws `misuse` for a capacity that the buffer cannot have.
  explicit channel(std::size_t capacity)
    requires(base::takes_capacity)
      : base(capacity) {}
  channel()
    requires(!base::takes_capacity)
      : base(typename base::of_any_size()) {}
};

/// Channel of the ranks of a node: each has its object for it, used by one thread. Messages can be copied
/// byte by byte.
template <world W, plain_value T, template <typename, typename> typename Buffer = ring_buffer>
  requires sendable<T>
class node_channel : public basic_channel<node_memory<W>, T, Buffer> {
  using base = basic_channel<node_memory<W>, T, Buffer>;

 public:
  /// Collective. `home` is whose memory the channel is in. Throws `misuse` for a capacity that the buffer
  /// cannot have, and where not all ranks of the world are on one node; `collective_mismatch`, on all of
  /// them, where ranks give different arguments or make channels of different types.
  node_channel(W& w, std::size_t capacity, int home = 0)
    requires(base::takes_capacity)
      : base(alike(w, capacity, home, capacity), w, home) {}
  explicit node_channel(W& w, int home = 0)
    requires(!base::takes_capacity)
      : base(alike(w, 0, home, typename base::of_any_size()), w, home) {}

 private:
  /// What the base is made with, when all ranks make the same.
  template <typename Size>
  [[nodiscard]] static Size alike(W& w, std::size_t capacity, int home, Size size) {
    expect_alike<node_channel>(w, {{"capacity", static_cast<std::int64_t>(capacity)}, {"home", home}});
    return size;
  }
};

}  // namespace nearfar
