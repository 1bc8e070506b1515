/// \file
/// The buffer of a channel with a fixed capacity, in which no word counts the messages sent or received: the
/// places alone tell whose turn it is.
///
/// Source: Laubert 2021, chapter 6, proposes parallel access (PA, flagged_ring.hpp) with flags of more than
/// two states and without head and tail, and leaves the algorithm open. This one is nearfar's.
///
/// Each place has one word: the position that it serves, and the step of the position's message. A position
/// is claimed for writing by the compare-and-swap from `writable` to `writing`, and for reading by that from
/// `readable` to `reading`. A thread claims a position only if it knows that the position before is claimed.
/// Positions are therefore claimed in order, for writing and for reading, and the first position that is not
/// claimed is the end of the queue. Each thread remembers how far it came, and walks on from there, over the
/// places that others have claimed meanwhile.
///
/// A mark in the word closes the channel: no sender claims the next position that the place serves. Closing
/// sets the mark at the end of the queue.
///
/// Linearization points:
///  - success: the compare-and-swap that claims (1, 2);
///  - full: the look at a place that still serves the position one ring before, since all positions between
///    were claimed for writing, and this one not for reading;
///  - empty and closed: the look at a place that serves a position that is not claimed for writing, or not
///  yet
///    served;
///  - `close` and `reopen`: the compare-and-swap of the mark.
/// Progress: a thread between its two steps blocks those that come to its place; all others go on.
///
/// Cost: a compare-and-swap and an addition; the lines of the message and its word, and a read of each place
/// that others have claimed since the caller's last operation. Memory: a line per place in addition to the
/// messages, and `lines` more.
#pragma once

#include <atomic>
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
class headless_ring {
 public:
  static constexpr bool takes_capacity = true;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = false;
  static constexpr auto put_order = detail::told_after::itself;
  static constexpr auto take_order = detail::told_after::itself;
  /// The number of lines in which threads remember how far they came; threads share lines if there are more.
  static constexpr std::size_t lines = 16;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  headless_ring(Memory& memory, std::size_t capacity)
      : memory_(&memory),
        capacity_(detail::checked_capacity(capacity)),
        reached_(memory, lines),
        places_(memory, capacity) {
    if (memory.is_maker())
      for (std::uint64_t i = 0; i < capacity_; ++i)
        places_[static_cast<std::size_t>(i)].turn.store(steps * i, std::memory_order_relaxed);
    memory.made();
  }
  headless_ring(const headless_ring&) = delete;
  headless_ring& operator=(const headless_ring&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~headless_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (std::uint64_t i = 0; i < capacity_; ++i) {
        place& each = places_[static_cast<std::size_t>(i)];
        const turn of{each.turn.load(std::memory_order_acquire)};
        if (of.step() == readable && !of.is_void()) each.message.drop();
      }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_); }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    auto& reached = mine().sent;
    std::uint64_t position = reached.load(std::memory_order_acquire);  // pairs with (5)
    for (;;) {
      const end at = end_of_sent(position);
      position = at.position;
      place& here = place_of(position);
      if (at.seen.is_closed()) {
        if (is_still(here, at.seen)) return queue_status::closed;
      } else if (at.seen.position() == position) {
        if (!claim(here, at.seen)) continue;                     // (1)
        reached.store(position + 1, std::memory_order_release);  // (5)
        detail::put_or(here.message, value, [&] {
          here.turn.fetch_add(readable + void_bit - writing, std::memory_order_release);  // (3)
        });
        here.turn.fetch_add(readable - writing, std::memory_order_release);  // (3)
        return queue_status::success;
      } else if (at.seen.step() == reading) {
        await_change(here, at.seen);
      } else if (is_still(here, at.seen)) {
        return queue_status::full;
      }
    }
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    auto& reached = mine().received;
    std::uint64_t position = reached.load(std::memory_order_acquire);  // pairs with (6)
    for (;;) {
      const end at = end_of_received(position);
      position = at.position;
      place& here = place_of(position);
      if (at.seen.position() != position || at.seen.step() == writable) {
        if (is_still(here, at.seen)) return at.seen.is_closed() ? queue_status::closed : queue_status::empty;
      } else if (at.seen.step() == writing) {
        await_change(here, at.seen);
      } else if (claim(here, at.seen)) {                         // (2), pairs with (3)
        reached.store(position + 1, std::memory_order_release);  // (6)
        const std::uint64_t next_ring = steps * capacity_ - reading;
        if (!at.seen.is_void())
          return detail::take_and<T>(here.message, [&] {
            here.turn.fetch_add(next_ring, std::memory_order_release);  // (4)
          });
        here.turn.fetch_add(next_ring - void_bit, std::memory_order_release);  // (4)
      }
    }
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    return end_of_sent(mine().sent.load(std::memory_order_acquire)).seen.is_closed();
  }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    const std::uint64_t got = end_of_received(mine().received.load(std::memory_order_acquire)).position;
    const std::uint64_t sent = end_of_sent(mine().sent.load(std::memory_order_acquire)).position;
    return detail::messages_between(got, sent, capacity());
  }

 private:
  // The steps of a message, in a word's last two bits.
  static constexpr std::uint64_t writable = 0;
  static constexpr std::uint64_t writing = 1;
  static constexpr std::uint64_t readable = 2;
  static constexpr std::uint64_t reading = 3;
  /// Its sender threw.
  static constexpr std::uint64_t void_bit = 4;
  /// No sender claims the first position of this place that is not claimed.
  static constexpr std::uint64_t closed_bit = 8;
  static constexpr std::uint64_t steps = 16;

  /// A place's word at some moment.
  struct turn {
    std::uint64_t bits;

    [[nodiscard]] std::uint64_t position() const noexcept { return bits / steps; }
    [[nodiscard]] std::uint64_t step() const noexcept { return bits % void_bit; }
    [[nodiscard]] bool is_void() const noexcept { return (bits & void_bit) != 0; }
    [[nodiscard]] bool is_closed() const noexcept { return (bits & closed_bit) != 0; }
  };
  struct place {
    alignas(cache_line) typename Memory::template near<std::uint64_t> turn{};
    typename Memory::template slot<T> message{};
  };
  /// A position that is not claimed, behind one that is, and the word of its place.
  struct end {
    std::uint64_t position;
    headless_ring::turn seen;
  };
  /// Positions behind ones that are claimed.
  struct alignas(cache_line) positions {
    typename Memory::template near<std::uint64_t> sent{};
    typename Memory::template near<std::uint64_t> received{};
  };

  [[nodiscard]] place& place_of(std::uint64_t position) const {
    return places_[static_cast<std::size_t>(position % capacity_)];
  }
  [[nodiscard]] positions& mine() const { return reached_[memory_->caller() % lines]; }

  [[nodiscard]] end end_of_sent(std::uint64_t from) const {
    return end_from(from, [](turn of) { return of.step() != writable; });
  }
  [[nodiscard]] end end_of_received(std::uint64_t from) const {
    return end_from(from, [](turn of) { return of.step() == reading; });
  }
  /// `is_claimed` tells of a position that its place serves.
  template <typename IsClaimed>
  [[nodiscard]] end end_from(std::uint64_t position, const IsClaimed& is_claimed) const {
    for (;;) {
      const turn seen{place_of(position).turn.load(std::memory_order_acquire)};  // pairs with (1, 2, 4)
      if (seen.position() > position)
        position = seen.position() - capacity_ + 1;
      else if (seen.position() == position && is_claimed(seen))
        ++position;
      else
        return {position, seen};
    }
  }
  [[nodiscard]] bool is_still(place& here, turn seen) const {
    memory_->fence(std::memory_order_seq_cst);
    return here.turn.load(std::memory_order_relaxed) == seen.bits;
  }
  void await_change(place& here, turn seen) const {
    memory_->await(here.turn, [seen](std::uint64_t now) { return now != seen.bits; });
  }
  /// The step after the one that was seen.
  [[nodiscard]] static bool claim(place& here, turn seen) {
    return here.turn.compare_exchange(seen.bits, seen.bits + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed);
  }
  bool set_closed(bool closes) {
    std::uint64_t position = mine().sent.load(std::memory_order_acquire);
    for (;;) {
      end at = end_of_sent(position);
      position = at.position;
      place& here = place_of(position);
      if (at.seen.is_closed() == closes) {
        if (is_still(here, at.seen)) return false;
      } else if (here.turn.compare_exchange(at.seen.bits, at.seen.bits ^ closed_bit,
                                            std::memory_order_seq_cst, std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  Memory* memory_;
  std::uint64_t capacity_;
  typename Memory::template array<positions> reached_;
  typename Memory::template array<place> places_;
};

}  // namespace nearfar
