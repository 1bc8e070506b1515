/// \file
/// The buffer of a channel from one thread to one other, with a fixed capacity: a ring of cache lines. Each
/// line holds a stamp and as many messages as fit beside it; the stamp says up to which position there are
/// messages.
///
/// Source: the queue of L. Lamport, "Specifying concurrent program modules", 1983, doi 10.1145/69624.357207.
/// Each side caches the position of the other that it has last seen, as in the MCRingBuffer of P. Lee, T. Bu,
/// G. Chandranmenon, IPDPS 2010. The receiver looks at the place and not at the tail, as in the FastForward
/// of J. Giacomoni, T. Moseley, M. Vachharajani, PPoPP 2008, doi 10.1145/1345206.1345215. One stamp for a
/// line of messages is this project's: a message and the sign that it is there come by one line, and a line
/// of one-word messages brings seven.
///
/// Positions only grow. The sender fills a place, counts the message at the tail, by which a closer learns of
/// it, checks that the channel is still open (closing_gate.hpp), and stamps the line (1) with the next
/// position. The receiver takes what is below the stamp, and moves the head on (2). It looks for a stamp only
/// when it has taken all that the last one showed, and for a closer only when there is no new stamp. After
/// closing, the receiver takes the messages that were counted in time without looking at stamps. A late stamp
/// is harmless, since it precedes the sender's next message. When the sender uses a line again, its stamp
/// also shows what is still there of the round before.
///
/// Linearization points:
///  - a successful `put`: the stamp (1) or, if another thread sees the message earlier, the taking of the
///    message or the closing of the channel;
///  - `take`: the store of the head;
///  - full: the look at the head;
///  - empty: the look at the channel's state. After that look there was still no stamp (3), so there was none
///    at its time either;
///  - closed, and `close`: those of the gate.
/// A message that is counted while the channel is closed is sent once the channel is open again, or else
/// taken back. If its move throws while it is taken back, the message is lost.
///
/// Neither side fences. Each sees the other's effect soon, but perhaps not yet when the call has returned:
/// full and empty are linearizable only if the other's call happens before the one that looks. Progress:
/// wait-free, apart from closing and reopening.
///
/// Cost: the lines of the messages, which move to the receiver and back; that of the head once for as many
/// messages as have been received meanwhile; that of the tail never, while the channel is open. The sender
/// prefetches a line ahead; it would otherwise wait for each in turn, since stores become visible in their
/// order. Memory: three lines, and those of the messages, each of a word and the messages that fit beside it,
/// or of one larger message; their number is rounded up to a power of two.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/closing_gate.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Buffer for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T>
class spsc_ring {
 public:
  static constexpr bool takes_capacity = true;
  static constexpr bool has_one_sender = true;
  static constexpr bool has_one_receiver = true;
  static constexpr bool hands_back = true;
  static constexpr auto put_order = detail::told_after::light_fence;
  static constexpr auto take_order = detail::told_after::light_fence;

  /// Throws `misuse` for a capacity of 0, and for 2^32 messages or more. Collective for the memory of ranks.
  spsc_ring(Memory& memory, std::size_t capacity)
      : capacity_(detail::checked_capacity(capacity)),
        mask_(lines_for(capacity_) - 1),
        gate_(memory),
        ends_(memory),
        lines_(memory, static_cast<std::size_t>(lines_for(capacity_))) {}
  spsc_ring(const spsc_ring&) = delete;
  spsc_ring& operator=(const spsc_ring&) = delete;
  /// Destroys messages that were not received. No other thread or rank may still use the buffer.
  ~spsc_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      const std::uint64_t tail = ends_[0].tail.load(std::memory_order_acquire);
      for (std::uint64_t i = ends_[0].head.load(std::memory_order_acquire); i != tail; ++i) place(i).drop();
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(capacity_); }

  /// `success`, `full` or `closed`. The message is moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) {
    if (!gate_.is_open()) return queue_status::closed;
    both_ends& ends = ends_[0];
    const std::uint64_t tail = ends.tail.load(std::memory_order_relaxed);
    if (tail == ends.limit.load(std::memory_order_relaxed) && !has_room(tail))
      return gate_.is_open() ? queue_status::full : queue_status::closed;
    line& to = line_of(tail);
    if constexpr (Memory::is_hardware) detail::ask_for_line_past<lines_ahead * cache_line>(&to);
    slot& message = to.messages[index_of(tail)];
    message.put(std::move(value));
    if (!gate_.count_one(ends.tail, tail)) {
      detail::hand_back(value, message);
      return queue_status::closed;
    }
    to.stamp.store(tail + 1, std::memory_order_release);  // (1)
    return queue_status::success;
  }
  /// Returns the oldest message, or `empty` or `closed`.
  [[nodiscard]] received<T> take() {
    both_ends& ends = ends_[0];
    const std::uint64_t head = ends.head.load(std::memory_order_relaxed);
    if (head >= ends.shown.load(std::memory_order_relaxed) && !is_shown(head)) {
      const queue_status found = look_again(head);
      if (found != queue_status::success) return found;
    }
    return detail::take_and<T>(place(head),
                               [&] { ends.head.store(head + 1, std::memory_order_release); });  // (2)
  }
  /// Takes as many as are seen.
  template <typename Out>
  [[nodiscard]] queue_status take_range(Out& out, std::size_t most, std::size_t& count) {
    both_ends& ends = ends_[0];
    std::uint64_t head = ends.head.load(std::memory_order_relaxed);
    if (head >= ends.shown.load(std::memory_order_relaxed) && !is_shown(head)) {
      const queue_status found = look_again(head);
      if (found != queue_status::success) return found;
    }
    const std::uint64_t last = head + most;
    return detail::and_always(
        [&] {
          do {
            slot& from = place(head);
            ++head;
            ++count;
            *out++ = from.take();
          } while (head != last && (head < ends.shown.load(std::memory_order_relaxed) || is_shown(head)));
          return queue_status::success;
        },
        [&] { ends.head.store(head, std::memory_order_release); });  // (2)
  }

  /// Returns whether this call closed it.
  bool close() { return gate_.close(ends_[0].tail); }
  /// Returns whether this call opened it again.
  bool reopen() { return gate_.reopen(); }
  [[nodiscard]] bool is_closed() const { return gate_.is_closed(); }

  /// Number of messages; an estimate while others send or receive.
  [[nodiscard]] std::size_t count() const {
    const std::uint64_t head = ends_[0].head.load(std::memory_order_relaxed);
    const std::uint64_t tail = ends_[0].tail.load(std::memory_order_relaxed);
    return detail::messages_between(head, tail, capacity_);
  }

 private:
  using near = typename Memory::template near<std::uint64_t>;
  using slot = typename Memory::template slot<T>;
  struct both_ends {
    alignas(cache_line) near tail{};
    near limit{};  ///< of the tail, by the last seen head; accessed only by the sender
    alignas(cache_line) near head{};
    near shown{};   ///< of the head, by the last seen stamps; accessed only by the receiver
    near looked{};  ///< where there was no message; accessed only by the receiver
  };
  static constexpr std::size_t before_places = std::max(sizeof(near), alignof(slot));  ///< bytes in a line
  /// Places in a line; two where cells have no size, so that a search reaches the next line.
  static constexpr std::size_t places_of_line = !Memory::is_hardware ? 2
                                                : before_places + sizeof(slot) > cache_line
                                                    ? 1
                                                    : (cache_line - before_places) / sizeof(slot);
  struct alignas(before_places + sizeof(slot) <= cache_line ? cache_line : before_places) line {
    near stamp{};  ///< all messages below it are there
    std::array<slot, places_of_line> messages{};
  };
  static constexpr std::size_t lines_ahead = 4;

  [[nodiscard]] static constexpr std::uint64_t lines_for(std::uint64_t capacity) {
    return std::bit_ceil((capacity + places_of_line - 1) / places_of_line);
  }
  [[nodiscard]] line& line_of(std::uint64_t position) const {
    return lines_[static_cast<std::size_t>((position / places_of_line) & mask_)];
  }
  [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t position) {
    return static_cast<std::size_t>(position % places_of_line);
  }
  [[nodiscard]] slot& place(std::uint64_t position) const {
    return line_of(position).messages[index_of(position)];
  }

  /// Called by the sender at that tail, when it knows of no room. If there is little room, the receiver is at
  /// work; the sender then pauses, so that one look brings more.
  [[nodiscard, gnu::noinline]] bool has_room(std::uint64_t tail) {
    both_ends& ends = ends_[0];
    std::uint64_t head = ends.head.load(std::memory_order_acquire);  // pairs with (2)
    if (Memory::is_hardware && head + capacity_ != tail && head + capacity_ - tail < capacity_ / 8) {
      detail::pause(moment());
      head = ends.head.load(std::memory_order_acquire);  // the same
    }
    ends.limit.store(head + capacity_, std::memory_order_relaxed);
    return head + capacity_ != tail;
  }

  /// Called by the receiver at that head. Whether there is a message, by the stamp of its line.
  [[nodiscard]] bool is_shown(std::uint64_t head) {
    const std::uint64_t stamp = line_of(head).stamp.load(std::memory_order_acquire);  // pairs with (1)
    if (stamp <= head) return false;
    ends_[0].shown.store(stamp, std::memory_order_relaxed);
    return true;
  }
  /// Called by the receiver at that head, where it has seen no message.
  [[nodiscard, gnu::noinline]] queue_status look_again(std::uint64_t head) {
    detail::let_sender_work<Memory>(ends_[0].looked, head, moment());
    const auto sent = gate_.sent_if_closed();
    if (!sent) return is_shown(head) ? queue_status::success : queue_status::empty;  // (3)
    return *sent == head ? queue_status::closed : queue_status::success;
  }
  /// Shorter than the messages of a full ring take, and zero for a small ring.
  [[nodiscard]] std::uint64_t moment() const noexcept {
    return std::min<std::uint64_t>(capacity_ / 32, detail::longest_moment);
  }

  std::uint64_t capacity_;
  std::uint64_t mask_;
  detail::closing_gate<Memory, false> gate_;
  typename Memory::template few<both_ends, 1> ends_;
  typename Memory::template array<line> lines_;
};

}  // namespace nearfar
