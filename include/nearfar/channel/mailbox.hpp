/// \file
/// The buffer of a channel with one place and no positions; the source calls such a channel unbuffered.
///
/// Source: Laubert 2021, section 3.1 for `locked_mailbox`: one lock, and the head says whether there is a
/// message; section 3.5 for `two_flag_mailbox`, with head and tail as two flags. `mailbox` has the states of
/// the two flags in one word. Closing is nearfar's.
///
/// Linearization points of `mailbox`: the compare-and-swap from `empty` to `writing`, and from `full` to
/// `reading`. A thread that finds another between its two steps waits for it if it must. Of `locked_mailbox`:
/// a point under the lock. Of `two_flag_mailbox`: of `put` the store of the tail, or if the mailbox is closed
/// before that, a point before the closing; of `take` the compare-and-swap of the tail. Its full is not
/// linearizable: a sender says so, too, while a receiver still reads. Progress: of `mailbox` as in
/// flagged_ring.hpp; of `locked_mailbox` as the lock; of `two_flag_mailbox` wait-free, except that a receiver
/// of a closed one waits for a sender or receiver between its two steps.
///
/// Cost: a compare-and-swap and an addition, or the lock; 1 or 2 lines, of `two_flag_mailbox` 3. Memory:
/// these lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/locks.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Mailbox for a message of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T>
class mailbox {
 public:
  static constexpr bool takes_capacity = false;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = false;
  static constexpr auto put_order = detail::told_after::itself;
  static constexpr auto take_order = detail::told_after::itself;

  /// Collective for the memory of ranks.
  explicit mailbox(Memory& memory) : memory_(&memory), box_(memory, 1) {}
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  /// Destroys a message that was not received. No other thread or rank may still use the mailbox.
  ~mailbox() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      if ((box_[0].state.load(std::memory_order_acquire) & ~closed_bit) == full) box_[0].message.drop();
  }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return 1; }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    auto& at = box_[0].state;
    std::uint32_t state = at.load(std::memory_order_relaxed);
    for (;;) {
      if ((state & closed_bit) != 0) return queue_status::closed;
      if (state == empty) {
        if (at.compare_exchange(state, writing, std::memory_order_seq_cst, std::memory_order_relaxed))
          break;  // pairs with (2)
      } else if (state == reading) {
        state = memory_->await(at, [](std::uint32_t now) { return now != reading; });
      } else {
        memory_->fence(std::memory_order_seq_cst);
        const std::uint32_t now = at.load(std::memory_order_relaxed);
        if (now == state) return queue_status::full;
        state = now;
      }
    }
    detail::put_or(box_[0].message, value, [&] { at.fetch_add(empty - writing, std::memory_order_release); });
    at.fetch_add(full - writing, std::memory_order_release);  // (1)
    return queue_status::success;
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    auto& at = box_[0].state;
    std::uint32_t state = at.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t closed = state & closed_bit;
      if ((state & ~closed_bit) == full) {
        if (at.compare_exchange(state, reading | closed, std::memory_order_seq_cst,
                                std::memory_order_relaxed))
          break;  // pairs with (1)
      } else if ((state & ~closed_bit) == writing) {
        state = memory_->await(at, [](std::uint32_t now) { return (now & ~closed_bit) != writing; });
      } else {
        memory_->fence(std::memory_order_seq_cst);
        const std::uint32_t now = at.load(std::memory_order_relaxed);
        if (now == state) return closed != 0 ? queue_status::closed : queue_status::empty;
        state = now;
      }
    }
    return detail::take_and<T>(box_[0].message,
                               [&] { at.fetch_add(empty - reading, std::memory_order_release); });  // (2)
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    return (box_[0].state.load(std::memory_order_acquire) & closed_bit) != 0;
  }
  /// Exact at some moment between call and return.
  [[nodiscard]] std::size_t count() const {
    const std::uint32_t state = box_[0].state.load(std::memory_order_relaxed) & ~closed_bit;
    return state == writing || state == full ? 1 : 0;
  }

 private:
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t writing = 1;
  static constexpr std::uint32_t full = 2;
  static constexpr std::uint32_t reading = 3;
  static constexpr std::uint32_t closed_bit = 4;

  struct alignas(cache_line) place {
    typename Memory::template near<std::uint32_t> state{};
    typename Memory::template slot<T> message{};
  };

  bool set_closed(bool closes) { return detail::change_bit(box_[0].state, closed_bit, closes); }

  Memory* memory_;
  typename Memory::template array<place> box_;
};

/// Mailbox for a message of type `T` in `Memory`, as published. See the file's comment.
template <typename Memory, typename T>
class two_flag_mailbox {
 public:
  static constexpr bool takes_capacity = false;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = false;
  static constexpr auto put_order = detail::told_after::fence;
  static constexpr auto take_order = detail::told_after::fence;

  /// Collective for the memory of ranks.
  explicit two_flag_mailbox(Memory& memory) : memory_(&memory), box_(memory, 1) {}
  two_flag_mailbox(const two_flag_mailbox&) = delete;
  two_flag_mailbox& operator=(const two_flag_mailbox&) = delete;
  /// Destroys a message that was not received. No other thread or rank may still use the mailbox.
  ~two_flag_mailbox() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      if (box_[0].tail.load(std::memory_order_acquire) == is_there) box_[0].message.drop();
  }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return 1; }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    place& box = box_[0];
    std::uint32_t seen = box.head.load(std::memory_order_relaxed);
    do {
      if ((seen & closed_bit) != 0) return queue_status::closed;
      if ((seen & is_taken) != 0) return queue_status::full;
    } while (!box.head.compare_exchange(seen, seen | is_taken, std::memory_order_acquire,
                                        std::memory_order_relaxed));  // pairs with (2)
    detail::put_or(box.message, value, [&] { give_back(box); });
    box.tail.store(is_there, std::memory_order_seq_cst);  // (1)
    // (3) A receiver that has seen the mark in the head, and then no message, waits for the head to change.
    if ((box.head.load(std::memory_order_seq_cst) & closed_bit) != 0)
      box.head.fetch_add(one_notice, std::memory_order_relaxed);
    return queue_status::success;
  }

  /// Returns the message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    place& box = box_[0];
    for (;;) {
      const std::uint32_t head = box.head.load(std::memory_order_seq_cst);
      std::uint32_t tail = box.tail.load(std::memory_order_seq_cst);
      if (tail == is_there) {
        if (box.tail.compare_exchange(tail, nothing, std::memory_order_seq_cst, std::memory_order_relaxed))
          break;  // pairs with (1)
      } else if ((head & closed_bit) == 0) {
        // Otherwise another may have closed it, and then a third have received the last message. The third's
        // swap of the tail tells of the closing.
        if (box.head.load(std::memory_order_relaxed) == head) return queue_status::empty;
      } else if ((head & is_taken) == 0) {
        return queue_status::closed;
      } else {
        memory_->await(box.head, [head](std::uint32_t now) { return now != head; });  // for (2) to (4)
      }
    }
    return detail::take_and<T>(box.message, [&] { give_back(box); });
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    return (box_[0].head.load(std::memory_order_acquire) & closed_bit) != 0;
  }
  /// Exact at some moment between call and return.
  [[nodiscard]] std::size_t count() const { return box_[0].tail.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t nothing = 0;
  static constexpr std::uint32_t is_there = 1;
  static constexpr std::uint32_t is_taken = 1;
  static constexpr std::uint32_t closed_bit = 2;
  static constexpr std::uint32_t one_notice = 4;

  struct place {
    alignas(cache_line) typename Memory::template near<std::uint32_t> head{};
    alignas(cache_line) typename Memory::template near<std::uint32_t> tail{};
    alignas(cache_line) typename Memory::template slot<T> message{};
  };

  static void give_back(place& box) {
    box.head.fetch_add(0U - is_taken, std::memory_order_release);  // (2)
  }
  /// (4) With a notice, so that the head of an earlier closed period does not come again: a receiver that
  ///     missed the opening between them would wait on.
  bool set_closed(bool closes) { return detail::change_bit(box_[0].head, closed_bit, closes, one_notice); }

  Memory* memory_;
  typename Memory::template array<place> box_;
};

/// Mailbox for a message of type `T` in `Memory`, under a lock. See the file's comment.
template <typename Memory, typename T, typename Lock>
class locked_mailbox {
 public:
  static constexpr bool takes_capacity = false;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = false;
  static constexpr auto put_order = detail::told_after::fence;
  static constexpr auto take_order = detail::told_after::fence;
  static_assert(Lock::excludes,
                "locked_mailbox needs a lock that excludes: senders and receivers change the same words");

  /// Collective for the memory of ranks.
  explicit locked_mailbox(Memory& memory) : lock_(memory), box_(memory, 1) {}
  locked_mailbox(const locked_mailbox&) = delete;
  locked_mailbox& operator=(const locked_mailbox&) = delete;
  /// Destroys a message that was not received. No other thread or rank may still use the mailbox.
  ~locked_mailbox() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      if (count() != 0) box_[0].message.drop();
  }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return 1; }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    auto& at = box_[0].state;
    return channel_lock::with(lock_, [&] {
      const std::uint32_t state = at.load(std::memory_order_relaxed);
      if ((state & closed_bit) != 0) return queue_status::closed;
      if (state == full) return queue_status::full;
      box_[0].message.put(std::move(value));
      at.store(full, std::memory_order_relaxed);
      return queue_status::success;
    });
  }
  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    auto& at = box_[0].state;
    return channel_lock::with(lock_, [&]() -> received<T> {
      const std::uint32_t state = at.load(std::memory_order_relaxed);
      if ((state & full) == 0) return state == closed_bit ? queue_status::closed : queue_status::empty;
      return detail::take_and<T>(box_[0].message, [&] { at.store(state - full, std::memory_order_relaxed); });
    });
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    return (box_[0].state.load(std::memory_order_acquire) & closed_bit) != 0;
  }
  /// Exact at some moment between call and return.
  [[nodiscard]] std::size_t count() const {
    return (box_[0].state.load(std::memory_order_relaxed) & full) != 0 ? 1 : 0;
  }

 private:
  static constexpr std::uint32_t full = 1;
  static constexpr std::uint32_t closed_bit = 2;

  struct alignas(cache_line) place {
    typename Memory::template near<std::uint32_t> state{};
    typename Memory::template slot<T> message{};
  };

  bool set_closed(bool closes) {
    auto& at = box_[0].state;
    return channel_lock::with(lock_, [&] {
      const std::uint32_t state = at.load(std::memory_order_relaxed);
      if (((state & closed_bit) != 0) == closes) return false;
      at.store(state ^ closed_bit, std::memory_order_relaxed);
      return true;
    });
  }

  Lock lock_;
  typename Memory::template array<place> box_;
};

}  // namespace nearfar
