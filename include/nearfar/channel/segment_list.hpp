/// \file
/// The buffer of a channel as a linked list of segments, each with places for many messages: an unbounded
/// number of messages for about the price of a ring.
///
/// Source: the list flavour of crossbeam-channel (S. Glavina), in which senders and receivers each move a
/// position on and link a segment for all that come after. Here a count tells which receiver leaves a segment
/// last and so gives it back, and if nodes stay readable, a receiver looks at the place before it looks at
/// the other end.
///
/// Positions number all places; one extra number after each segment stands for its end and has no message. A
/// sender that finds the tail there waits for the sender of the last place, which links the next segment and
/// moves the tail on; receivers do likewise. A thread looks into a segment only after it has moved the
/// position, and so owns a place there: until then nobody else gives the segment back. The word of the
/// segment is read after that of the position, and changes before it, so it is the right one if moving the
/// position succeeds.
///
/// If moving a message throws, receivers pass over its place; until then it counts.
///
/// Linearization points:
///  - `put`: the compare-and-swap of the tail (1);
///  - `take`: the compare-and-swap of the head (2), or the store of the only receiver;
///  - empty and closed: the read of the tail; the head cannot be past it, since (1) is sequentially
///    consistent;
///  - `close`: the change of the tail's bit.
/// A receiver therefore waits for a sender that is at its place. Progress: a thread between two steps blocks
/// those that come to its place, or to the end of its segment; all others go on.
///
/// Cost: `put` takes a compare-and-swap and a store, `take` a compare-and-swap and an addition, or with one
/// receiver two stores; transfers of 2 lines: that of one end, and that of the place, which neighbouring
/// messages share. A segment is obtained and given back once in `Places` messages. Memory: three lines, and
/// segments of `Places` messages with a word each: one segment more than the messages need, or with a fixed
/// number two more. With a fixed number, full is also reported while a receiver is late to leave a segment,
/// or while other senders have taken all free segments and need only one of them; so it is not linearizable.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Buffer for messages of type `T` in `Memory`, `Places` in each segment. See the file's comment.
template <typename Memory, typename T, template <typename, typename> typename Nodes, std::size_t Places,
          bool HasOneReceiver>
class segment_list {
  struct place {
    typename Memory::template near<std::uint32_t> state{};
    typename Memory::template slot<T> message{};
  };
  struct alignas(cache_line) segment {
    typename Memory::template near<std::uint64_t> next{};
    /// Number of receivers that are done with their place in it.
    typename Memory::template near<std::uint64_t> taken{};
    std::array<place, Places> places{};
  };
  using nodes = Nodes<Memory, segment>;
  static_assert(Places >= 2);

 public:
  static constexpr bool takes_capacity = nodes::takes_capacity;
  /// A sender may obtain a segment that it then does not need; and a segment has places for several messages.
  static constexpr bool put_may_make_room = takes_capacity;
  static constexpr bool take_may_make_room_for_several = takes_capacity;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = HasOneReceiver;
  static constexpr auto put_order = detail::told_after::itself;
  /// The segment is given back after the compare-and-swap.
  static constexpr auto take_order = detail::told_after::fence;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  segment_list(Memory& memory, std::size_t capacity)
    requires(takes_capacity)
      : segment_list(memory, detail::checked_capacity(capacity), (capacity + Places - 1) / Places + 1) {}
  explicit segment_list(Memory& memory)
    requires(!takes_capacity)
      : segment_list(memory, unbounded) {}
  segment_list(const segment_list&) = delete;
  segment_list& operator=(const segment_list&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~segment_list() {
    if constexpr (!takes_capacity || !std::is_trivially_destructible_v<T>) {
      for (claim of = claimed(); of.in != none; of = claimed()) {
        place_of(of).message.drop();
        leave(of);
      }
      nodes_.give_back(ends_[0].head.in.load(std::memory_order_acquire));
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    end& tail = ends_[0].tail;
    std::uint64_t spare = none;
    std::uint64_t position = tail.position.load(std::memory_order_acquire);  // pairs with (3)
    for (;;) {
      if ((position & closed_bit) != 0) {
        if (spare != none) nodes_.give_back(spare);
        return queue_status::closed;
      }
      if (is_after_last(position)) {
        position = await_next_segment(tail, position);
        continue;
      }
      const bool is_last = is_after_last(position + 1);
      bool has_room = !is_full(position);
      if (has_room && is_last && spare == none) {
        spare = obtain();
        has_room = spare != none;
      }
      if (!has_room) {
        const std::uint64_t now = tail.position.load(std::memory_order_acquire);
        if (now == position && spare == none) return queue_status::full;
        // A receiver may have made room meanwhile, and woken a sender that found no segment. Nobody wakes it
        // again unless this one sends.
        if (spare != none) nodes_.give_back(std::exchange(spare, none));
        position = now;
        continue;
      }
      const std::uint64_t in = tail.in.load(std::memory_order_relaxed);
      // (1)
      if (!tail.position.compare_exchange(position, position + 1, std::memory_order_seq_cst,
                                          std::memory_order_acquire))
        continue;
      if (is_last) {
        tail.in.store(spare, std::memory_order_relaxed);
        tail.position.fetch_add(1, std::memory_order_release);    // (3) closers may change it, too
        nodes_[in].next.store(spare, std::memory_order_release);  // (4)
        spare = none;
      }
      if (spare != none) nodes_.give_back(spare);  // another sender reached the end with its own segment
      fill(nodes_[in].places[index_of(position)], value);
      return queue_status::success;
    }
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    const claim of = claimed();
    if (of.in == none) return of.why;
    return detail::take_and<T>(place_of(of).message, [&] { leave(of); });
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    return (ends_[0].tail.position.load(std::memory_order_acquire) & closed_bit) != 0;
  }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    const std::uint64_t got = number_of(ends_[0].head.position.load(std::memory_order_relaxed));
    const std::uint64_t sent = number_of(ends_[0].tail.position.load(std::memory_order_relaxed));
    return detail::messages_between(got, sent, capacity_);
  }

 private:
  static constexpr std::uint64_t none = 0;
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63U;
  /// States of a place; 0 at first.
  static constexpr std::uint32_t has_message = 1;
  static constexpr std::uint32_t is_void = 2;  ///< the message was not made

  struct alignas(cache_line) end {
    typename Memory::template near<std::uint64_t> position{};
    typename Memory::template near<std::uint64_t> in{};  ///< the segment of that place
    /// In the tail: the number of received messages when a sender last looked. In the head: where the only
    /// receiver found no message.
    typename Memory::template near<std::uint64_t> seen{};
  };
  struct both_ends {
    end head{};
    end tail{};
  };
  /// A place whose message belongs to this receiver, or the reason why there is none.
  struct claim {
    std::uint64_t in = none;
    std::size_t index = 0;
    queue_status why = queue_status::success;
  };

  template <typename... Segments>
  segment_list(Memory& memory, std::uint64_t checked, Segments... segments)
      : memory_(&memory),
        capacity_(static_cast<std::size_t>(checked)),
        nodes_(memory, segments...),
        ends_(memory, 1) {
    if (memory.is_maker()) {
      const std::uint64_t first = obtain();
      ends_[0].tail.in.store(first, std::memory_order_relaxed);
      ends_[0].head.in.store(first, std::memory_order_relaxed);
    }
    memory.made();
  }

  [[nodiscard]] static std::size_t index_of(std::uint64_t position) noexcept {
    return static_cast<std::size_t>(position % (Places + 1));
  }
  /// Number of messages before that position.
  [[nodiscard]] static std::uint64_t number_of(std::uint64_t position) noexcept {
    position &= ~closed_bit;
    return position / (Places + 1) * Places + index_of(position);
  }
  [[nodiscard]] static bool is_after_last(std::uint64_t position) noexcept {
    return index_of(position & ~closed_bit) == Places;
  }
  [[nodiscard]] place& place_of(const claim& of) const { return nodes_[of.in].places[of.index]; }

  /// Returns an initialised segment, or none. Others reach it only by (3) or (4).
  [[nodiscard]] std::uint64_t obtain() {
    const std::uint64_t result = nodes_.obtain();
    if (result == none) return none;
    segment& made = nodes_[result];
    made.next.store(none, std::memory_order_relaxed);
    if constexpr (!HasOneReceiver) made.taken.store(0, std::memory_order_relaxed);
    for (place& each : made.places) each.state.store(0, std::memory_order_relaxed);
    return result;
  }
  /// Valid if the tail is at that position.
  [[nodiscard]] bool is_full([[maybe_unused]] std::uint64_t position) {
    if constexpr (!takes_capacity) return false;
    both_ends& ends = ends_[0];
    const auto leaves_no_room = [&](std::uint64_t got) {
      return detail::messages_between(got, number_of(position), capacity_) == capacity_;
    };
    if (!leaves_no_room(ends.tail.seen.load(std::memory_order_relaxed))) return false;
    memory_->fence(std::memory_order_seq_cst);
    const std::uint64_t got = number_of(ends.head.position.load(std::memory_order_relaxed));
    ends.tail.seen.store(got, std::memory_order_relaxed);
    return leaves_no_room(got);
  }
  [[nodiscard]] std::uint64_t await_next_segment(end& of, std::uint64_t position) {
    return memory_->await(of.position, [=](std::uint64_t now) { return now != position; });
  }
  void fill(place& at, T& value) {
    detail::put_or(at.message, value, [&] { at.state.store(is_void, std::memory_order_release); });
    at.state.store(has_message, std::memory_order_release);  // (5)
  }

  [[nodiscard]] claim claimed() {
    end& head = ends_[0].head;
    std::uint64_t position = head.position.load(std::memory_order_acquire);  // pairs with (2, 6)
    for (;;) {
      if (is_after_last(position)) {
        position = await_next_segment(head, position);
        continue;
      }
      const std::uint64_t in = head.in.load(std::memory_order_relaxed);
      bool may_be_empty = !may_hold_message(in, position);
      if constexpr (HasOneReceiver) {
        if (may_be_empty) {
          detail::let_sender_work<Memory>(head.seen, position, detail::longest_moment);
          may_be_empty = !may_hold_message(in, position);
        }
      }
      if (may_be_empty) {
        memory_->fence(std::memory_order_seq_cst);
        // Not behind the head that was read: the receiver that moved the head had seen the tail at least as
        // far.
        const std::uint64_t tail = ends_[0].tail.position.load(std::memory_order_relaxed);
        if ((tail & ~closed_bit) == position)
          return {.why = (tail & closed_bit) != 0 ? queue_status::closed : queue_status::empty};
      }
      if constexpr (HasOneReceiver)
        head.position.store(position + 1, std::memory_order_relaxed);
      else if (!head.position.compare_exchange(position, position + 1, std::memory_order_seq_cst,
                                               std::memory_order_acquire))
        continue;  // (2)
      const claim mine{.in = in, .index = index_of(position)};
      if (is_after_last(++position)) {
        go_to_next_segment(in);
        ++position;
      }
      const std::uint32_t state =
          memory_->await(place_of(mine).state, [](std::uint32_t now) { return now != 0; });  // pairs with (5)
      if (state == has_message) return mine;
      leave(mine);
    }
  }
  /// If true, the tail has passed this position, also for a thread that finds the head moved. If false, the
  /// tail decides.
  [[nodiscard]] bool may_hold_message(std::uint64_t in, std::uint64_t position) const {
    if constexpr (HasOneReceiver || nodes::stay_readable)
      return nodes_[in].places[index_of(position)].state.load(std::memory_order_acquire) != 0;  // with (5)
    else
      return false;
  }
  /// Called by the receiver of the last place, for all later receivers, which wait at the end of this
  /// segment.
  void go_to_next_segment(std::uint64_t from) {
    end& head = ends_[0].head;
    const std::uint64_t next =
        memory_->await(nodes_[from].next, [](std::uint64_t now) { return now != none; });  // pairs with (4)
    head.in.store(next, std::memory_order_relaxed);
    const std::uint64_t at_end = head.position.load(std::memory_order_relaxed);
    head.position.store(at_end + 1, std::memory_order_release);  // (6)
  }
  /// The last receiver to leave a segment gives it back. A single receiver does so at the last place.
  void leave(const claim& of) {
    const bool is_last = HasOneReceiver
                             ? of.index + 1 == Places
                             : nodes_[of.in].taken.fetch_add(1, std::memory_order_acq_rel) + 1 == Places;
    if (is_last) nodes_.give_back(of.in);
  }
  bool set_closed(bool closes) { return detail::change_bit(ends_[0].tail.position, closed_bit, closes); }

  Memory* memory_;
  std::size_t capacity_;
  nodes nodes_;
  typename Memory::template array<both_ends> ends_;
};

}  // namespace nearfar
