/// \file
/// The buffer of a channel with a fixed capacity: a ring whose cells tell whose turn it is.
///
/// Source: D. Vyukov's bounded MPMC queue. Lap and index in one word, and the ways to tell full, empty and
/// closed, are those of the array flavour of crossbeam-channel (S. Glavina).
///
/// A position is a lap and an index. A cell's stamp is the position at which a sender may fill it, or that
/// position plus 1 while it holds the message; the receiver sets it to the position of the next lap. A sender
/// or receiver moves the channel's tail or head on by a compare-and-swap, then owns the cell's message, and
/// then stamps the cell. The tail also has a closed bit, so that senders and closers agree on their order.
///
/// If moving a message throws, its cell is void: receivers pass over it, and nobody waits for it. Until a
/// receiver comes to it, it takes up room and counts.
///
/// Linearization points: of a success the compare-and-swap; of full and empty the look at the other end, if
/// this end has not moved since the look at the cell; of `close` its compare-and-swap. Hence all operations
/// are linearizable; for that, a receiver waits for a sender that is at its cell, and a sender for a
/// receiver. If a thread sees one end moved (3, 4) and then fences, it sees the other end at least as far as
/// the mover did; so no thread waits for a step that was taken long before. Since (3) and (4) are
/// sequentially consistent, and a closer fences, a later look does not see the state before them. Progress: a
/// thread between the two steps blocks those that come to its cell; all others go on.
///
/// Cost: a compare-and-swap, and transfers of 2 cache lines: that of one end, and the cell. Memory: a cache
/// line or more per message of the capacity.
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

/// Buffer for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T>
class ring_buffer {
 public:
  static constexpr bool takes_capacity = true;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = false;
  static constexpr auto put_order = detail::told_after::itself;
  static constexpr auto take_order = detail::told_after::itself;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  ring_buffer(Memory& memory, std::size_t capacity)
      : memory_(&memory),
        capacity_(detail::checked_capacity(capacity)),
        lap_(std::bit_ceil(capacity_ + 1)),
        ends_(memory, 1),
        cells_(memory, capacity) {
    if (memory.is_maker())
      for (std::uint64_t i = 0; i < capacity_; ++i) cells_[i].stamp.store(i, std::memory_order_relaxed);
    memory.made();
  }
  ring_buffer(const ring_buffer&) = delete;
  ring_buffer& operator=(const ring_buffer&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~ring_buffer() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (claim of = claimed(); of.at != nullptr; of = claimed()) {
        of.at->message.drop();
        pass_on(of);
      }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_); }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    auto& end = ends_[0].tail;
    std::uint64_t tail = end.load(std::memory_order_relaxed);
    for (;;) {
      if ((tail & closed_bit) != 0) return queue_status::closed;
      cell& at = cells_[index_of(tail)];
      const std::uint64_t stamp = at.stamp.load(std::memory_order_acquire);  // pairs with (2)
      if (stamp == tail) {
        // (3)
        if (!end.compare_exchange(tail, next(tail), std::memory_order_seq_cst, std::memory_order_relaxed))
          continue;
        fill(at, tail, value);
        return queue_status::success;
      }
      memory_->fence(std::memory_order_seq_cst);
      if (ends_[0].head.load(std::memory_order_relaxed) + lap_ == tail) return queue_status::full;
      const std::uint64_t now = end.load(std::memory_order_relaxed);
      if (now == tail) await_turn(at, stamp);
      tail = now;
    }
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    const claim of = claimed();
    if (of.at == nullptr) return of.why;
    return detail::take_and<T>(of.at->message, [&] { pass_on(of); });
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
    const auto number = [this](std::uint64_t position) {
      return position / lap_ * capacity_ + index_of(position);
    };
    const std::uint64_t got = number(ends_[0].head.load(std::memory_order_relaxed));
    const std::uint64_t sent = number(ends_[0].tail.load(std::memory_order_relaxed) & ~closed_bit);
    return detail::messages_between(got, sent, capacity_);
  }

 private:
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63U;
  /// Marks the stamp of a cell whose message was not made.
  static constexpr std::uint64_t void_bit = std::uint64_t{1} << 62U;

  struct alignas(cache_line) cell {
    typename Memory::template near<std::uint64_t> stamp{};
    typename Memory::template slot<T> message{};
  };
  struct both_ends {
    alignas(cache_line) typename Memory::template near<std::uint64_t> head{};
    alignas(cache_line) typename Memory::template near<std::uint64_t> tail{};
  };
  /// A cell whose message belongs to this receiver, or the reason why there is none.
  struct claim {
    cell* at = nullptr;
    std::uint64_t next_lap = 0;
    queue_status why = queue_status::success;
  };
  [[nodiscard]] std::size_t index_of(std::uint64_t position) const noexcept {
    return static_cast<std::size_t>(position & (lap_ - 1));
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t position) const noexcept {
    return index_of(position) + 1 < capacity_ ? position + 1 : (position & ~(lap_ - 1)) + lap_;
  }
  /// Gives the cell to the next lap.
  static void pass_on(const claim& of) { of.at->stamp.store(of.next_lap, std::memory_order_release); }  // (2)
  [[nodiscard]] claim claimed() {
    auto& end = ends_[0].head;
    std::uint64_t head = end.load(std::memory_order_relaxed);
    for (;;) {
      cell& at = cells_[index_of(head)];
      const std::uint64_t stamp = at.stamp.load(std::memory_order_acquire);  // pairs with (1)
      if ((stamp & ~void_bit) == head + 1) {
        // (4)
        if (!end.compare_exchange(head, next(head), std::memory_order_seq_cst, std::memory_order_relaxed))
          continue;
        const claim mine{.at = &at, .next_lap = head + lap_};
        if ((stamp & void_bit) == 0) return mine;
        pass_on(mine);
        head = next(head);
        continue;
      }
      if (stamp == head) {
        memory_->fence(std::memory_order_seq_cst);
        const std::uint64_t tail = ends_[0].tail.load(std::memory_order_relaxed);
        if ((tail & ~closed_bit) == head)
          return {.why = (tail & closed_bit) != 0 ? queue_status::closed : queue_status::empty};
      }
      const std::uint64_t now = end.load(std::memory_order_relaxed);
      if (now == head) await_turn(at, stamp);
      head = now;
    }
  }
  void fill(cell& at, std::uint64_t position, T& value) {
    detail::put_or(at.message, value,
                   [&] { at.stamp.store((position + 1) | void_bit, std::memory_order_release); });
    at.stamp.store(position + 1, std::memory_order_release);  // (1)
  }
  /// Waits for the thread that is between its two steps at that cell.
  void await_turn(cell& at, std::uint64_t seen) {
    memory_->await(at.stamp, [seen](std::uint64_t stamp) { return stamp != seen; });
  }
  bool set_closed(bool closes) { return detail::change_bit(ends_[0].tail, closed_bit, closes); }

  Memory* memory_;
  std::uint64_t capacity_;
  std::uint64_t lap_;  ///< distance to the same index in the next lap
  typename Memory::template array<both_ends> ends_;
  typename Memory::template array<cell> cells_;
};

}  // namespace nearfar
