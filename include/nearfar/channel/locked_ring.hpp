/// \file
/// The buffer of a channel with a fixed capacity: an array, with one lock for the senders and one for the
/// receivers. A single receiver may go without its lock.
///
/// Source: Laubert 2021, sections 3.1 to 3.4: PT ML, PT SL, SL and TL are this with the locks of locks.hpp,
/// each for several senders and several receivers (MPMC), or for one receiver (MPSC). Each side caches the
/// position of the other that it has last seen, as in the MCRingBuffer of P. Lee, T. Bu, G. Chandranmenon,
/// IPDPS 2010.
///
/// Positions only grow. Each side publishes its own (1, 2), and reads the other's only when there seems to be
/// no room, or no message. Closing is under the senders' lock.
///
/// Linearization points:
///  - success, also of several messages at once: the store of the position;
///  - full and empty: the look at the other side's position, after a fence, while nobody else changes this
///    side's;
///  - `close`: the gate's store.
///
/// A receiver without a lock does not fence. Others see its effect soon, but perhaps not yet when its call
/// has returned. Full and empty are therefore linearizable only if both sides have locks, or if the other
/// call happens before the one that looks. Progress: as the locks; a receiver without a lock is wait-free.
///
/// Cost: that of one lock; one transfer of the other side's position for as many messages as it has moved
/// meanwhile; and the lines of the messages. Memory: three lines and the locks, and the messages, as many as
/// the capacity rounded up to a power of two.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/closing_gate.hpp"
#include "nearfar/channel/locks.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Buffer for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T, typename SendLock, typename ReceiveLock>
class locked_ring {
 public:
  static constexpr bool takes_capacity = true;
  static_assert(SendLock::excludes,
                "locked_ring needs a send lock that excludes; with one sender use spsc_ring");
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = !ReceiveLock::excludes;
  static constexpr auto put_order = detail::told_after::fence;
  static constexpr auto take_order =
      has_one_receiver ? detail::told_after::light_fence : detail::told_after::fence;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  locked_ring(Memory& memory, std::size_t capacity)
      : memory_(&memory),
        capacity_(detail::checked_capacity(capacity)),
        mask_(std::bit_ceil(capacity_) - 1),
        send_lock_(memory),
        receive_lock_(memory),
        gate_(memory),
        ends_(memory, 1),
        places_(memory, std::bit_ceil(capacity)) {}
  locked_ring(const locked_ring&) = delete;
  locked_ring& operator=(const locked_ring&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~locked_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      const std::uint64_t tail = ends_[0].tail.load(std::memory_order_acquire);
      for (std::uint64_t i = ends_[0].head.load(std::memory_order_acquire); i != tail; ++i) at(i).drop();
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_); }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    return channel_lock::with_unless(
        send_lock_, [&] { return is_full(); }, queue_status::full, [&] { return put_here(value); });
  }
  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    return channel_lock::with(receive_lock_, [&] { return take_here(); });
  }
  /// Puts as many as there is seen to be room for.
  template <typename It, typename End>
  [[nodiscard]] queue_status put_range(It& first, const End& last, std::size_t& count) {
    return channel_lock::with_unless(
        send_lock_, [&] { return is_full(); }, queue_status::full,
        [&] { return put_range_here(first, last, count); });
  }
  /// Takes as many as are seen.
  template <typename Out>
  [[nodiscard]] queue_status take_range(Out& out, std::size_t most, std::size_t& count) {
    return channel_lock::with(receive_lock_, [&] { return take_range_here(out, most, count); });
  }

  /// Returns whether this call closed it.
  bool close() {
    return channel_lock::with(send_lock_, [&] { return gate_.close(ends_[0].tail); });
  }
  /// Returns whether this call opened it again.
  bool reopen() {
    return channel_lock::with(send_lock_, [&] { return gate_.reopen(); });
  }
  [[nodiscard]] bool is_closed() const { return gate_.is_closed(); }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    const std::uint64_t head = ends_[0].head.load(std::memory_order_relaxed);
    const std::uint64_t tail = ends_[0].tail.load(std::memory_order_relaxed);
    return detail::messages_between(head, tail, capacity_);
  }

 private:
  struct both_ends {
    alignas(cache_line) typename Memory::template near<std::uint64_t> tail{};
    typename Memory::template near<std::uint64_t> seen_head{};  ///< accessed only by senders
    alignas(cache_line) typename Memory::template near<std::uint64_t> head{};
    typename Memory::template near<std::uint64_t> seen_tail{};  ///< accessed only by receivers
  };
  using slot = typename Memory::template slot<T>;
  struct place {
    slot message{};
  };

  [[nodiscard]] slot& at(std::uint64_t of) const {
    return places_[static_cast<std::size_t>(of & mask_)].message;
  }

  /// For senders that wait for the lock, which give up if this holds. The caller has seen the tail and then
  /// fences, so nobody that fences later finds the buffer empty; the head that it reads after that is the
  /// latest one, or the head has moved on since. The channel was open before, and nothing can be sent while
  /// it is closed, so the buffer was full while the channel was open.
  [[nodiscard]] bool is_full() const {
    if (is_closed()) return false;
    const std::uint64_t tail = ends_[0].tail.load(std::memory_order_relaxed);
    memory_->fence(std::memory_order_seq_cst);
    return tail - ends_[0].head.load(std::memory_order_relaxed) == capacity_;
  }

  /// Called by a sender, with the current tail.
  [[nodiscard]] bool has_room(std::uint64_t tail) {
    both_ends& ends = ends_[0];
    if (tail - ends.seen_head.load(std::memory_order_relaxed) != capacity_) return true;
    channel_lock::fence_before_look<SendLock>(*memory_);
    const std::uint64_t head = ends.head.load(std::memory_order_acquire);  // pairs with (2)
    if (tail - head == capacity_) return false;
    ends.seen_head.store(head, std::memory_order_relaxed);
    return true;
  }
  [[nodiscard]] queue_status put_here(T& value) {
    both_ends& ends = ends_[0];
    if (!gate_.is_open()) return queue_status::closed;
    const std::uint64_t tail = ends.tail.load(std::memory_order_relaxed);
    if (!has_room(tail)) return gate_.is_open() ? queue_status::full : queue_status::closed;
    at(tail).put(std::move(value));
    ends.tail.store(tail + 1, std::memory_order_release);  // (1)
    return queue_status::success;
  }
  template <typename It, typename End>
  [[nodiscard]] queue_status put_range_here(It& first, const End& last, std::size_t& count) {
    both_ends& ends = ends_[0];
    if (!gate_.is_open()) return queue_status::closed;
    std::uint64_t tail = ends.tail.load(std::memory_order_relaxed);
    if (!has_room(tail)) return gate_.is_open() ? queue_status::full : queue_status::closed;
    const std::uint64_t end = ends.seen_head.load(std::memory_order_relaxed) + capacity_;
    return detail::and_always(
        [&] {
          for (; tail != end && first != last; ++first) {
            detail::with_message_at<T>(first, [&](T& value) { at(tail).put(std::move(value)); });
            ++tail;
            ++count;
          }
          return queue_status::success;
        },
        [&] { ends.tail.store(tail, std::memory_order_release); });  // (1)
  }

  /// Whether a message is at that head or, if none is, whether the channel is closed.
  [[nodiscard]] queue_status look_for_message(std::uint64_t head) {
    both_ends& ends = ends_[0];
    if (ends.seen_tail.load(std::memory_order_relaxed) != head) return queue_status::success;
    channel_lock::fence_before_look<ReceiveLock>(*memory_);
    const auto sent = gate_.look_at(ends.tail);  // pairs with (1)
    if (sent.count == head) return sent.is_closed ? queue_status::closed : queue_status::empty;
    ends.seen_tail.store(sent.count, std::memory_order_relaxed);
    return queue_status::success;
  }
  [[nodiscard]] received<T> take_here() {
    both_ends& ends = ends_[0];
    const std::uint64_t head = ends.head.load(std::memory_order_relaxed);
    const queue_status found = look_for_message(head);
    if (found != queue_status::success) return found;
    return detail::take_and<T>(at(head),
                               [&] { ends.head.store(head + 1, std::memory_order_release); });  // (2)
  }

  template <typename Out>
  [[nodiscard]] queue_status take_range_here(Out& out, std::size_t most, std::size_t& count) {
    both_ends& ends = ends_[0];
    std::uint64_t head = ends.head.load(std::memory_order_relaxed);
    const queue_status found = look_for_message(head);
    if (found != queue_status::success) return found;
    const std::uint64_t there = ends.seen_tail.load(std::memory_order_relaxed) - head;
    const std::uint64_t end = head + std::min<std::uint64_t>(there, most);
    return detail::and_always(
        [&] {
          while (head != end) {
            slot& from = at(head);
            ++head;
            ++count;
            *out++ = from.take();
          }
          return queue_status::success;
        },
        [&] { ends.head.store(head, std::memory_order_release); });  // (2)
  }

  Memory* memory_;
  std::uint64_t capacity_;
  std::uint64_t mask_;
  SendLock send_lock_;
  ReceiveLock receive_lock_;
  detail::closing_gate<Memory, true> gate_;
  typename Memory::template array<both_ends> ends_;
  typename Memory::template array<place> places_;
};

}  // namespace nearfar
