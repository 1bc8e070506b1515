/// \file
/// The buffer of a channel with a fixed capacity, in which senders and receivers wait for each other only at
/// the place of their own message: parallel access.
///
/// Source: Laubert 2021, section 3.5, PA: a compare-and-swap moves each end on, and each place has one flag
/// that admits its writer and one that admits its reader, each on a line of its own. Chapter 6 has one flag
/// with several states instead. `flags` selects which. A single receiver moves the head on only after it has
/// read, so no flag for writing is needed.
///
/// A flag of the source is clear or set. Two senders, a whole ring apart, may then wait for the same flag,
/// and the later one may be let in before the earlier, so that messages of one sender come out of order (the
/// checker finds it: tests/channel/checked_channel_test.cpp). `flags::binary` is that version; the others
/// hold the position whose turn it is.
///
/// Linearization points, except with `flags::binary`:
///  - success: the compare-and-swap of its end; with a single receiver, of `take` the store of the head;
///  - full and empty: the look at the other end. The head only grows, and the tail never exceeds it by more
///    than the capacity, so both ends had these values at that moment.
/// A receiver may therefore wait for a sender that has only begun, and a sender for a receiver. Progress: a
/// thread between its two steps blocks those that come to its place; all others go on.
///
/// Cost: a compare-and-swap, the lines of both ends, and those of the message and its flags. Memory: one or
/// two lines per place in addition to the messages; the number of places is the capacity rounded up to a
/// power of two.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// How the places of a flagged ring tell whose turn it is.
///
/// `await_write` and `await_read` wait for the turn of a position. `let_read` passes it on to the reader, and
/// `let_write` to the writer one ring later. If moving a message throws, `let_read` marks the place as void,
/// and `await_read` returns false for it. Until it is read, a void place takes up room and counts.
namespace flags {

/// One flag for both: twice the position, plus 1 when it may be read.
template <typename Memory>
class single {
 public:
  static constexpr bool is_fifo = true;

  single(Memory& memory, std::size_t places) : memory_(&memory), places_(places), turns_(memory, places) {
    if (memory.is_maker())
      for (std::uint64_t i = 0; i < places; ++i) turns_[i].of.store(2 * i, std::memory_order_relaxed);
    memory.made();
  }
  void await_write(std::uint64_t position) { await(position, 2 * position); }  // pairs with (2)
  void let_read(std::uint64_t position, bool is_there) {
    turn(position).store((2 * position + 1) | (is_there ? 0 : void_bit), std::memory_order_release);  // (1)
  }
  [[nodiscard]] bool await_read(std::uint64_t position) {
    return (await(position, 2 * position + 1) & void_bit) == 0;  // pairs with (1)
  }
  void let_write(std::uint64_t position) {
    turn(position).store(2 * (position + places_), std::memory_order_release);  // (2)
  }

 private:
  static constexpr std::uint64_t void_bit = std::uint64_t{1} << 63U;
  struct alignas(cache_line) flag {
    typename Memory::template near<std::uint64_t> of{};
  };

  [[nodiscard]] auto& turn(std::uint64_t position) const {
    return turns_[static_cast<std::size_t>(position & (places_ - 1))].of;
  }
  std::uint64_t await(std::uint64_t position, std::uint64_t wanted) {
    return memory_->await(turn(position),
                          [wanted](std::uint64_t now) { return (now & ~void_bit) == wanted; });
  }

  Memory* memory_;
  std::uint64_t places_;
  typename Memory::template array<flag> turns_;
};

/// One flag for writing and one for reading, each with the position whose turn it is.
template <typename Memory>
class twofold {
 public:
  static constexpr bool is_fifo = true;

  twofold(Memory& memory, std::size_t places)
      : places_(places), write_(memory, places), read_(memory, places) {}
  void await_write(std::uint64_t position) { write_.await_write(position); }
  void let_read(std::uint64_t position, bool is_there) { read_.let_read(position, is_there); }
  [[nodiscard]] bool await_read(std::uint64_t position) { return read_.await_read(position); }
  void let_write(std::uint64_t position) { write_.let_write(position); }

 private:
  std::uint64_t places_;
  single<Memory> write_;
  single<Memory> read_;
};

/// As published, with the fault described in the file's comment.
template <typename Memory>
class binary {
 public:
  static constexpr bool is_fifo = false;

  binary(Memory& memory, std::size_t places)
      : memory_(&memory), places_(places), write_(memory, places), read_(memory, places) {
    if (memory.is_maker())
      for (std::size_t i = 0; i < places; ++i) read_[i].taken.store(is_taken, std::memory_order_relaxed);
    memory.made();
  }
  void await_write(std::uint64_t position) { static_cast<void>(take(write_, position)); }  // pairs with (4)
  void let_read(std::uint64_t position, bool is_there) {
    read_[index_of(position)].taken.store(is_there ? is_free : is_void, std::memory_order_release);  // (3)
  }
  [[nodiscard]] bool await_read(std::uint64_t position) {
    return take(read_, position) == is_free;  // pairs with (3)
  }
  void let_write(std::uint64_t position) {
    write_[index_of(position)].taken.store(is_free, std::memory_order_release);  // (4)
  }

 private:
  static constexpr std::uint32_t is_free = 0;
  static constexpr std::uint32_t is_taken = 1;
  static constexpr std::uint32_t is_void = 2;
  struct alignas(cache_line) flag {
    typename Memory::template near<std::uint32_t> taken{};
  };
  using array = typename Memory::template array<flag>;

  [[nodiscard]] std::size_t index_of(std::uint64_t position) const {
    return static_cast<std::size_t>(position & (places_ - 1));
  }
  [[nodiscard]] std::uint32_t take(const array& flags, std::uint64_t position) {
    auto& taken = flags[index_of(position)].taken;
    for (;;) {
      const std::uint32_t before = taken.exchange(is_taken, std::memory_order_acquire);
      if (before != is_taken) return before;
      memory_->try_again(taken, [](std::uint32_t now) { return now != is_taken; });
    }
  }

  Memory* memory_;
  std::uint64_t places_;
  array write_;
  array read_;
};

}  // namespace flags

/// Buffer for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T, template <typename> typename Flags, bool one_receiver = false>
class flagged_ring {
 public:
  static constexpr bool takes_capacity = true;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = one_receiver;
  static constexpr auto put_order = detail::told_after::itself;
  static constexpr auto take_order = one_receiver ? detail::told_after::fence : detail::told_after::itself;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  flagged_ring(Memory& memory, std::size_t capacity)
      : memory_(&memory),
        capacity_(detail::checked_capacity(capacity)),
        mask_(std::bit_ceil(capacity_) - 1),
        ends_(memory, 1),
        flags_(memory, std::bit_ceil(capacity)),
        places_(memory, std::bit_ceil(capacity)) {}
  flagged_ring(const flagged_ring&) = delete;
  flagged_ring& operator=(const flagged_ring&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~flagged_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      const std::uint64_t tail = ends_[0].tail.load(std::memory_order_acquire) & ~closed_bit;
      for (std::uint64_t i = ends_[0].head.load(std::memory_order_acquire); i != tail; ++i)
        if (flags_.await_read(i)) at(i).drop();
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_); }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    both_ends& ends = ends_[0];
    std::uint64_t tail = ends.tail.load(std::memory_order_relaxed);
    for (;;) {
      if ((tail & closed_bit) != 0) return queue_status::closed;
      if (tail - ends.head.load(std::memory_order_acquire) >= capacity_) {  // pairs with (6)
        memory_->fence(std::memory_order_seq_cst);
        if (tail - ends.head.load(std::memory_order_relaxed) == capacity_) return queue_status::full;
        tail = ends.tail.load(std::memory_order_relaxed);
        continue;
      }
      // (5)
      if (ends.tail.compare_exchange(tail, tail + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        break;
    }
    if constexpr (!one_receiver) flags_.await_write(tail);
    detail::put_or(at(tail), value, [&] { flags_.let_read(tail, false); });
    flags_.let_read(tail, true);
    return queue_status::success;
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    both_ends& ends = ends_[0];
    std::uint64_t head = ends.head.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t tail = ends.tail.load(std::memory_order_relaxed);
      const std::uint64_t messages = (tail & ~closed_bit) - head;
      if (messages == 0 || messages > capacity_) {  // or that tail is outdated
        memory_->fence(std::memory_order_seq_cst);
        tail = ends.tail.load(std::memory_order_relaxed);
        if ((tail & ~closed_bit) == head)
          return (tail & closed_bit) != 0 ? queue_status::closed : queue_status::empty;
        head = ends.head.load(std::memory_order_relaxed);
        continue;
      }
      // (6) A receiver that takes another thread's message has seen at least that tail, so no head lies
      //     beyond it.
      if constexpr (!one_receiver)
        if (!ends.head.compare_exchange(head, head + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
          continue;
      const bool is_there = flags_.await_read(head);
      const auto pass_on = [&] {
        if constexpr (one_receiver)
          ends.head.store(head + 1, std::memory_order_release);  // (6)
        else
          flags_.let_write(head);
      };
      if (is_there) return detail::and_always([&] { return received<T>(at(head).take()); }, pass_on);
      pass_on();
      ++head;
    }
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    return (ends_[0].tail.load(std::memory_order_acquire) & closed_bit) != 0;
  }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    const std::uint64_t head = ends_[0].head.load(std::memory_order_relaxed);
    const std::uint64_t tail = ends_[0].tail.load(std::memory_order_relaxed) & ~closed_bit;
    return detail::messages_between(head, tail, capacity_);
  }

 private:
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63U;

  struct both_ends {
    alignas(cache_line) typename Memory::template near<std::uint64_t> head{};
    alignas(cache_line) typename Memory::template near<std::uint64_t> tail{};
  };
  using slot = typename Memory::template slot<T>;
  struct place {
    slot message{};
  };

  [[nodiscard]] slot& at(std::uint64_t position) const {
    return places_[static_cast<std::size_t>(position & mask_)].message;
  }
  bool set_closed(bool closes) { return detail::change_bit(ends_[0].tail, closed_bit, closes); }

  Memory* memory_;
  std::uint64_t capacity_;
  std::uint64_t mask_;
  typename Memory::template array<both_ends> ends_;
  Flags<Memory> flags_;
  typename Memory::template array<place> places_;
};

}  // namespace nearfar
