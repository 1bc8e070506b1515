/// \file
/// The buffer of a channel as a linked list without locks.
///
/// Source: Laubert 2021, section 3.6, LF LL: the non-blocking queue of M. Michael, M. Scott, PODC 1996, doi
/// 10.1145/248052.248106. A channel is closed by a mark in the last node's link, as A. Morrison, Y. Afek,
/// "Fast concurrent queues for x86 processors", PPoPP 2013, close their rings.
///
/// Reclamation: either nodes come from a free list (list_nodes.hpp). Then the memory of a node stays a node,
/// and each link has a tag, so that a compare-and-swap on a node that is in use again fails; the source
/// leaves that case out. A tag has 32 bits: a thread that is delayed for exactly a multiple of 2^32 changes
/// of one link goes unnoticed. Or nodes come from the heap and are guarded by hazard pointers. Then no node
/// is given back while a thread looks at it, so that a compared node cannot be in use again. Since messages
/// are of any type, only the receiver that took a message reads it, after its compare-and-swap. A node is
/// therefore given back by the second of two: the receiver that has taken its message, and the one that has
/// moved the head past it.
///
/// Linearization points: of `put` the compare-and-swap of the last link (1); of `take` that of the head (2);
/// of empty and closed the look at the head's link, if the head has not moved meanwhile; of `close` the
/// compare-and-swap of the last link. Full is not linearizable, as in locked_list.hpp. Progress: lock-free,
/// except for the first use of memory from the heap.
///
/// A single receiver alone moves the head, so it stores the head (2) instead, and gives each node back
/// itself.
///
/// Cost: `put` 2 compare-and-swaps, `take` 1 and one or two additions (none with a single receiver), and 1
/// each for the free list; the lines of the end, of two nodes, and of the free list's top. Memory: three
/// lines, and one or more per message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Buffer for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T, template <typename, typename> typename Nodes,
          bool one_receiver = false>
class lock_free_list {
  struct alignas(cache_line) node {
    typename Memory::template near<std::uint64_t> next{};
    typename Memory::template near<std::uint32_t> done{};  ///< steps done of the two before it is given back
    typename Memory::template near<std::uint64_t> number{};  ///< of all messages so far
    typename Memory::template slot<T> message{};
  };
  using nodes = Nodes<Memory, node>;
  using guard = typename nodes::guard;

 public:
  static constexpr bool takes_capacity = nodes::takes_capacity;
  /// One `take` may complete the second step of two nodes, and so give both back.
  static constexpr bool take_may_make_room_for_several = takes_capacity && !one_receiver;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = one_receiver;
  static constexpr bool hands_back = true;
  static constexpr auto put_order = detail::told_after::itself;
  /// The node is given back after the head has moved.
  static constexpr auto take_order = detail::told_after::fence;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  lock_free_list(Memory& memory, std::size_t capacity)
    requires(takes_capacity)
      : lock_free_list(memory, detail::checked_capacity(capacity), capacity) {}
  explicit lock_free_list(Memory& memory)
    requires(!takes_capacity)
      : lock_free_list(memory, unbounded) {}
  lock_free_list(const lock_free_list&) = delete;
  lock_free_list& operator=(const lock_free_list&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~lock_free_list() {
    if constexpr (!std::is_trivially_destructible_v<T> || !nodes::stay_readable) {
      std::uint64_t at = number_of(ends_[0].head.load(std::memory_order_acquire));
      for (;;) {
        const std::uint64_t next = number_of(nodes_[at].next.load(std::memory_order_acquire));
        if constexpr (!nodes::stay_readable) nodes_.give_back(at);
        if (next == none || next == closed_mark) break;
        nodes_[next].message.drop();
        at = next;
      }
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    guard held(nodes_);
    const auto is_closed = [&] { return number_of(last(held).next) == closed_mark; };
    if (is_closed()) return queue_status::closed;
    const std::uint64_t mine = nodes_.obtain();
    if (mine == none) return is_closed() ? queue_status::closed : queue_status::full;
    node& made = nodes_[mine];
    // (3) A thread that looks at this node in its former use, and sees this, also sees that the tail has
    //     moved on.
    made.next.store(changed(made.next.load(std::memory_order_relaxed), none), std::memory_order_release);
    made.done.store(0, std::memory_order_relaxed);
    detail::put_or(made.message, value, [&] { nodes_.give_back(mine); });
    if (hang_on(held, mine)) return queue_status::success;
    return detail::and_always(
        [&] {
          detail::hand_back(value, made.message);
          return queue_status::closed;
        },
        [&] { nodes_.give_back(mine); });
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    both_ends& ends = ends_[0];
    guard held(nodes_);
    for (;;) {
      std::uint64_t head = held_end(held, 0, ends.head);  // pairs with (2)
      std::uint64_t tail = ends.tail.load(std::memory_order_acquire);
      const std::uint64_t next = nodes_[number_of(head)].next.load(std::memory_order_acquire);  // with (1)
      const std::uint64_t to = number_of(next);
      if (to == none || to == closed_mark) {
        memory_->fence(std::memory_order_seq_cst);
        if (ends.head.load(std::memory_order_relaxed) != head ||
            nodes_[number_of(head)].next.load(std::memory_order_relaxed) != next)
          continue;
        return to == closed_mark ? queue_status::closed : queue_status::empty;
      }
      if (number_of(head) == number_of(tail)) {
        // The tail lags behind; the head must not pass it.
        static_cast<void>(ends.tail.compare_exchange(tail, changed(tail, to), std::memory_order_release,
                                                     std::memory_order_relaxed));
        continue;
      }
      if (!move_head(head, to)) continue;
      if constexpr (one_receiver) {
        held.give_back(number_of(head));
        return detail::take_and<T>(nodes_[to].message, [] {});
      } else {
        note_done(held, number_of(head));
        return detail::take_and<T>(nodes_[to].message, [&] { note_done(held, to); });
      }
    }
  }

  /// Returns whether this call closed it.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const {
    guard held(nodes_);
    return number_of(last(held).next) == closed_mark;
  }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    guard held(nodes_);
    const auto number = [&](auto& end) {
      return nodes_[number_of(held_end(held, 0, end))].number.load(std::memory_order_relaxed);
    };
    const std::uint64_t got = number(ends_[0].head);
    const std::uint64_t sent = number(ends_[0].tail);
    return detail::messages_between(got, sent, capacity_);
  }

 private:
  static constexpr std::uint64_t none = 0;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << nodes::number_bits) - 1;
  /// Takes the place of a node in the last link.
  static constexpr std::uint64_t closed_mark = number_mask;

  struct both_ends {
    alignas(cache_line) typename Memory::template near<std::uint64_t> head{};
    alignas(cache_line) typename Memory::template near<std::uint64_t> tail{};
  };
  /// The end of the list at some moment.
  struct end_of_list {
    std::uint64_t tail;
    std::uint64_t next;
  };

  template <typename... Capacity>
  lock_free_list(Memory& memory, std::uint64_t checked, Capacity... capacity)
      : memory_(&memory),
        capacity_(static_cast<std::size_t>(checked)),
        nodes_(memory, capacity...),
        ends_(memory, 1) {
    if (memory.is_maker()) {
      const std::uint64_t first = nodes_.obtain();
      nodes_[first].done.store(1, std::memory_order_relaxed);  // it has no message
      ends_[0].tail.store(first, std::memory_order_relaxed);
      ends_[0].head.store(first, std::memory_order_relaxed);
    }
    memory.made();
  }

  [[nodiscard]] static std::uint64_t number_of(std::uint64_t link) noexcept { return link & number_mask; }
  /// Links to another node, with the next tag.
  [[nodiscard]] static std::uint64_t changed(std::uint64_t link, std::uint64_t to) noexcept {
    return (link & ~number_mask) + number_mask + 1 + to;
  }

  /// Returns the first or last node, which others do not delete while it is held.
  template <typename End>
  [[nodiscard]] static std::uint64_t held_end(guard& held, std::size_t which, End& end) {
    std::uint64_t result = end.load(std::memory_order_acquire);
    if constexpr (guard::is_needed)
      for (std::uint64_t seen = 0; seen != result; result = end.load(std::memory_order_acquire))
        held.hold(which, number_of(seen = result));
    return result;
  }
  [[nodiscard]] end_of_list last(guard& held) const {
    auto& end = ends_[0].tail;
    for (;;) {
      std::uint64_t tail = held_end(held, 1, end);                                              // (4)
      const std::uint64_t next = nodes_[number_of(tail)].next.load(std::memory_order_acquire);  // with (1, 3)
      if (end.load(std::memory_order_relaxed) != tail) continue;
      const std::uint64_t to = number_of(next);
      if (to == none || to == closed_mark) return {tail, next};
      static_cast<void>(end.compare_exchange(tail, changed(tail, to), std::memory_order_release,
                                             std::memory_order_relaxed));  // pairs with (4)
    }
  }
  /// Returns false if the channel is closed.
  [[nodiscard]] bool hang_on(guard& held, std::uint64_t mine) {
    for (;;) {
      end_of_list at = last(held);
      if (number_of(at.next) == closed_mark) return false;
      node& before = nodes_[number_of(at.tail)];
      nodes_[mine].number.store(before.number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      if (!before.next.compare_exchange(at.next, changed(at.next, mine), std::memory_order_seq_cst,
                                        std::memory_order_relaxed))
        continue;  // (1)
      static_cast<void>(ends_[0].tail.compare_exchange(at.tail, changed(at.tail, mine),
                                                       std::memory_order_release, std::memory_order_relaxed));
      return true;
    }
  }
  /// Returns whether this receiver moved it.
  [[nodiscard]] bool move_head(std::uint64_t head, std::uint64_t to) {
    auto& at = ends_[0].head;
    if constexpr (one_receiver) {
      at.store(changed(head, to), std::memory_order_release);  // (2)
      return true;
    } else {
      // (2)
      return at.compare_exchange(head, changed(head, to), std::memory_order_seq_cst,
                                 std::memory_order_relaxed);
    }
  }
  void note_done(guard& held, std::uint64_t of) {
    if (nodes_[of].done.fetch_add(1, std::memory_order_acq_rel) == 1) held.give_back(of);
  }
  bool set_closed(bool closes) {
    guard held(nodes_);
    for (;;) {
      end_of_list at = last(held);
      if ((number_of(at.next) == closed_mark) == closes) return false;
      if (nodes_[number_of(at.tail)].next.compare_exchange(
              at.next, changed(at.next, closes ? closed_mark : none), std::memory_order_release,
              std::memory_order_relaxed))
        return true;
    }
  }

  Memory* memory_;
  std::size_t capacity_;
  mutable nodes nodes_;
  typename Memory::template array<both_ends> ends_;
};

}  // namespace nearfar
