/// \file
/// The buffer of a channel as a linked list, with one lock for the senders and one for the receivers. An end
/// that only one thread uses may go without its lock. A sender fills its node before it takes the lock.
///
/// Source: Laubert 2021, section 3.4.1, TL LL, and chapter 6, the list with other locks; after the two-lock
/// queue of M. Michael, M. Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue
/// algorithms", PODC 1996, doi 10.1145/248052.248106. Nodes come from the heap or from a free list
/// (list_nodes.hpp); a free list of fixed length sets the capacity.
///
/// The list begins with a node whose message has been received. Receivers follow the links as far as messages
/// are counted, and keep the count that they have last seen. A sender never touches a node again once the
/// next node is counted, so that a receiver may give it back.
///
/// Linearization points: of `put` the store of the count (1); of `take` a point under its lock; of empty the
/// look at the count, after a fence; of `close` a point under the senders' lock, or see closing_gate.hpp. An
/// end without a lock does not fence: see locked_ring.hpp. Full means that a fixed number of nodes is used
/// up. A node counts as used while a receiver is about to give it back, and while a sender holds it that then
/// finds the channel closed; so full is not linearizable. Progress: as the locks; wait-free without a lock,
/// apart from closing and from the source of the nodes.
///
/// Cost: that of one lock, the lines of the node and of the one before it, and those of obtaining a node.
/// Memory: three lines and the locks, and one or more lines per message; with a free list one line more for
/// its top, and one more per message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/closing_gate.hpp"
#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/locks.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Buffer for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T, typename SendLock, typename ReceiveLock,
          template <typename, typename> typename Nodes>
class locked_list {
  struct alignas(cache_line) node {
    typename Memory::template near<std::uint64_t> next{};
    typename Memory::template slot<T> message{};
  };
  using nodes = Nodes<Memory, node>;

 public:
  static constexpr bool takes_capacity = nodes::takes_capacity;
  static constexpr bool has_one_sender = !SendLock::excludes;
  static constexpr bool has_one_receiver = !ReceiveLock::excludes;
  /// With a lock, a message whose move may throw is moved only once it is certain to be sent; without one
  /// there is no such moment.
  static constexpr bool hands_back = has_one_sender || std::is_nothrow_move_constructible_v<T>;
  static constexpr auto put_order =
      has_one_sender ? detail::told_after::light_fence : detail::told_after::fence;
  static constexpr auto take_order =
      has_one_receiver ? detail::told_after::light_fence : detail::told_after::fence;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  locked_list(Memory& memory, std::size_t capacity)
    requires(takes_capacity)
      : locked_list(memory, detail::checked_capacity(capacity), capacity) {}
  explicit locked_list(Memory& memory)
    requires(!takes_capacity)
      : locked_list(memory, unbounded) {}
  locked_list(const locked_list&) = delete;
  locked_list& operator=(const locked_list&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~locked_list() {
    if constexpr (!takes_capacity || !std::is_trivially_destructible_v<T>) {
      std::uint64_t at = ends_[0].head.load(std::memory_order_acquire);
      for (std::uint64_t next = after(at); next != none; next = after(at)) {
        nodes_[next].message.drop();
        nodes_.give_back(std::exchange(at, next));
      }
      nodes_.give_back(at);
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    // Obtains no node if the channel is closed already.
    if (is_closed()) return queue_status::closed;
    const std::uint64_t mine = nodes_.obtain();
    if (mine == none) return is_closed() ? queue_status::closed : queue_status::full;
    node& made = nodes_[mine];
    made.next.store(none, std::memory_order_relaxed);
    const auto make = [&] { detail::put_or(made.message, value, [&] { nodes_.give_back(mine); }); };
    if constexpr (hands_back) make();
    const bool is_sent = channel_lock::with(send_lock_, [&] {
      if (!gate_.is_open()) return false;
      if constexpr (!hands_back) make();
      return hang_on(mine);
    });
    if (is_sent) return queue_status::success;
    return detail::and_always(
        [&] {
          if constexpr (hands_back) detail::hand_back(value, made.message);
          return queue_status::closed;
        },
        [&] { nodes_.give_back(mine); });
  }

  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    std::uint64_t left = none;
    return detail::and_always(
        [&] { return channel_lock::with(receive_lock_, [&] { return take_here(left); }); },
        [&] {
          if (left != none) nodes_.give_back(left);
        });
  }

  /// Returns whether this call closed it.
  bool close() {
    return channel_lock::with(send_lock_, [&] { return gate_.close(ends_[0].sent); });
  }
  /// Returns whether this call opened it again.
  bool reopen() {
    return channel_lock::with(send_lock_, [&] { return gate_.reopen(); });
  }
  [[nodiscard]] bool is_closed() const { return gate_.is_closed(); }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    const std::uint64_t got = ends_[0].got.load(std::memory_order_relaxed);
    const std::uint64_t sent = ends_[0].sent.load(std::memory_order_relaxed);
    return detail::messages_between(got, sent, capacity_);
  }

 private:
  static constexpr std::uint64_t none = 0;

  struct both_ends {
    alignas(cache_line) typename Memory::template near<std::uint64_t> tail{};
    typename Memory::template near<std::uint64_t> sent{};
    alignas(cache_line) typename Memory::template near<std::uint64_t> head{};
    typename Memory::template near<std::uint64_t> got{};
    typename Memory::template near<std::uint64_t> seen_sent{};  ///< accessed only by receivers
  };

  template <typename... Capacity>
  locked_list(Memory& memory, std::uint64_t checked, Capacity... capacity)
      : memory_(&memory),
        capacity_(static_cast<std::size_t>(checked)),
        send_lock_(memory),
        receive_lock_(memory),
        gate_(memory),
        nodes_(memory, capacity...),
        ends_(memory, 1) {
    if (memory.is_maker()) {
      const std::uint64_t first = nodes_.obtain();
      ends_[0].tail.store(first, std::memory_order_relaxed);
      ends_[0].head.store(first, std::memory_order_relaxed);
    }
    memory.made();
  }

  /// Called under the lock, or by the only sender.
  [[nodiscard]] bool hang_on(std::uint64_t mine) {
    both_ends& ends = ends_[0];
    auto& link = nodes_[ends.tail.load(std::memory_order_relaxed)].next;
    link.store(mine, std::memory_order_relaxed);
    if (gate_.count_one(ends.sent, ends.sent.load(std::memory_order_relaxed))) {  // (1)
      ends.tail.store(mine, std::memory_order_relaxed);
      return true;
    }
    link.store(none, std::memory_order_relaxed);
    return false;
  }
  /// Called under the lock, or by the only receiver. `left` becomes the node that is no longer needed.
  [[nodiscard]] received<T> take_here(std::uint64_t& left) {
    both_ends& ends = ends_[0];
    const std::uint64_t got = ends.got.load(std::memory_order_relaxed);
    if (ends.seen_sent.load(std::memory_order_relaxed) == got) {
      channel_lock::fence_before_look<ReceiveLock>(*memory_);
      const auto sent = gate_.look_at(ends.sent);  // pairs with (1)
      if (sent.count == got) return sent.is_closed ? queue_status::closed : queue_status::empty;
      ends.seen_sent.store(sent.count, std::memory_order_relaxed);
    }
    left = ends.head.load(std::memory_order_relaxed);
    const std::uint64_t next = after(left);
    return detail::take_and<T>(nodes_[next].message, [&] {
      ends.got.store(got + 1, std::memory_order_relaxed);
      ends.head.store(next, std::memory_order_relaxed);
    });
  }

  [[nodiscard]] std::uint64_t after(std::uint64_t at) const {
    return nodes_[at].next.load(std::memory_order_relaxed);
  }

  Memory* memory_;
  std::size_t capacity_;
  SendLock send_lock_;
  ReceiveLock receive_lock_;
  detail::closing_gate<Memory, SendLock::excludes> gate_;
  nodes nodes_;
  typename Memory::template array<both_ends> ends_;
};

}  // namespace nearfar
