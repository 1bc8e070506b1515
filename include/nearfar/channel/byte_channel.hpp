/// \file
/// Channels of byte items whose size is known only when the channel is made. Items are written and read in
/// place.
///
/// Source: Laubert 2021, whose channels have items of a fixed number of bytes and copy them. Reserve, write
/// and commit are after the Bip buffer of S. Cooke, 2003.
///
/// The bytes are in frames. A sender takes the number of a free frame from a list, fills the frame, and sends
/// the number by the channel's strategy. A receiver reads the frame in place and then returns its number to
/// the list. Senders return numbers, too, because a reserved frame may stay uncommitted; so the list serves
/// any number of threads at both ends, whatever the strategy. The list never blocks, so that destructors may
/// return frames. It hands out the most recently returned frame first, which is likely in a cache.
///
/// Linearization points: of committing and receiving those of the strategy; of `full` the look at the list. A
/// sender that reserves while another thread closes may get a frame that can no longer be committed.
/// Progress: reserving and giving back are lock-free; the rest is as the strategy.
///
/// Cost: that of a message of 16 bytes, plus a compare-and-swap at each end and a fence where a frame goes
/// back. Only `send` and `receive_into` copy the bytes, once each. Memory: the frames, each in cache lines of
/// its own; per frame 8 bytes, and what the strategy needs for a message.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/event_count.hpp"
#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/channel/ring_buffer.hpp"
#include "nearfar/core/agreement.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// Size of a byte channel.
struct byte_channel_size {
  std::size_t item_size;  ///< bytes of the largest item
  std::size_t capacity;   ///< number of items, including those being written or read
};

/// Frames of bytes in real memory.
///
/// Other frames, such as the model checker's, can take their place. They have the types `writable` and
/// `readable`, the views of a frame for senders and receivers, and `to_write(number)` and `to_read(number,
/// length)`.
template <typename Memory>
class byte_frames {
  static_assert(
      Memory::is_hardware,
      "a byte channel needs real memory: a model does not see bytes that are written and read in place");

 public:
  using writable = std::span<std::byte>;
  using readable = std::span<const std::byte>;

  /// Throws `misuse` for items of 0 bytes, and if the total exceeds the address space. Collective for the
  /// memory of ranks.
  byte_frames(Memory& memory, const byte_channel_size& size)
      : item_size_(size.item_size),
        lines_of_each_(checked_lines(size)),
        lines_(memory, lines_of_each_ * size.capacity) {}

  [[nodiscard]] writable to_write(std::size_t number) const noexcept { return {at(number), item_size_}; }
  [[nodiscard]] readable to_read(std::size_t number, std::size_t length) const noexcept {
    return {at(number), length};
  }

 private:
  struct alignas(cache_line) line {
    std::array<std::byte, cache_line> bytes;
  };

  [[nodiscard]] static std::size_t checked_lines(const byte_channel_size& size) {
    if (size.item_size == 0)
      throw misuse("the items of a byte channel have 1 byte or more: give it the size of the largest");
    const std::size_t lines = (size.item_size - 1) / cache_line + 1;
    if (lines > std::numeric_limits<std::ptrdiff_t>::max() / cache_line / size.capacity)
      throw misuse("no memory holds " + std::to_string(size.capacity) + " items of " +
                   std::to_string(size.item_size) + " bytes: make either less");
    return lines;
  }
  [[nodiscard]] std::byte* at(std::size_t number) const noexcept {
    return lines_[number * lines_of_each_].bytes.data();
  }

  std::size_t item_size_;
  std::size_t lines_of_each_;
  typename Memory::template array<line> lines_;
};

namespace detail {

/// The message that is sent for an item.
struct filled_frame {
  std::uint64_t number;
  std::uint64_t length;
};

/// Numbers from 1 to `count`, all free at the start.
template <typename Memory>
class free_numbers {
 public:
  free_numbers(Memory& memory, std::size_t count) : list_(memory), links_(memory, count) {
    if (memory.is_maker())
      for (std::uint64_t number = count; number != 0; --number) give_back(number);
    memory.made();
  }
  /// Returns 0 if no number is free.
  [[nodiscard]] std::uint64_t obtain() { return list_.pop(next_of()); }
  void give_back(std::uint64_t number) { list_.push(number, next_of()); }

 private:
  struct link {
    typename Memory::template near<std::uint64_t> next{};
  };
  [[nodiscard]] auto next_of() const {
    return [this](std::uint64_t of) -> auto& { return links_[static_cast<std::size_t>(of - 1)].next; };
  }

  list_nodes::detail::free_list<Memory> list_;
  typename Memory::template array<link> links_;
};

}  // namespace detail

/// A byte channel over the strategy that sends the numbers of frames. See the file's comment.
template <typename Memory, template <typename, typename> typename Buffer,
          typename Frames = byte_frames<Memory>>
class basic_byte_channel {
  using message = detail::filled_frame;
  static constexpr std::uint64_t none = 0;

  /// A frame that belongs to its holder until it goes back.
  class held {
   public:
    held(held&& from) noexcept : of_(from.of_), number_(std::exchange(from.number_, none)) {}
    held& operator=(held&& from) noexcept {
      held taken(std::move(from));
      std::swap(of_, taken.of_);
      std::swap(number_, taken.number_);
      return *this;
    }
    ~held() { give_back(); }

    /// Returns the frame now instead of at destruction. Its bytes no longer belong to the caller.
    void give_back() {
      if (number_ != none) of_->take_back(std::exchange(number_, none));
    }

   protected:
    held(basic_byte_channel& of, std::uint64_t number) noexcept : of_(&of), number_(number) {}
    [[nodiscard]] std::size_t index() const {
      if (number_ == none)
        throw misuse(
            "these bytes are no longer its holder's: the frame was committed, moved from or given back");
      return static_cast<std::size_t>(number_ - 1);
    }

    basic_byte_channel* of_;
    std::uint64_t number_;
  };

 public:
  /// Whether only one thread or rank may commit at a time, and whether only one may receive. Any of them may
  /// give back.
  static constexpr bool has_one_sender = Buffer<Memory, message>::has_one_sender;
  static constexpr bool has_one_receiver = Buffer<Memory, message>::has_one_receiver;

  /// Room for an item. The frame goes back if it is not committed.
  class frame : public held {
   public:
    /// Valid until the frame is committed, moved from or given back; after that throws `misuse`.
    [[nodiscard]] typename Frames::writable bytes() const {
      return this->of_->frames_.to_write(this->index());
    }
    /// Sends the first `length` bytes: `success`, or `closed`, in which case the frame goes back. Throws
    /// `misuse` if `length` exceeds the item size, and for a frame that has been committed.
    [[nodiscard]] queue_status commit(std::size_t length) && { return this->of_->commit(*this, length); }
    [[nodiscard]] queue_status commit() && { return this->of_->commit(*this, this->of_->item_size()); }

   private:
    friend class basic_byte_channel;
    using held::held;
  };

  /// A received item. Its frame is free again when the item is destroyed.
  class item : public held {
   public:
    /// Throws `misuse` after the item was moved from or given back.
    [[nodiscard]] typename Frames::readable bytes() const {
      return this->of_->frames_.to_read(this->index(), length_);
    }

   private:
    friend class basic_byte_channel;
    item(basic_byte_channel& of, const message& sent) noexcept
        : held(of, sent.number), length_(static_cast<std::size_t>(sent.length)) {}

    std::size_t length_;
  };

  basic_byte_channel(const basic_byte_channel&) = delete;
  basic_byte_channel& operator=(const basic_byte_channel&) = delete;

  /// Does not wait. Returns a frame, or `closed`, or `full` if all frames are reserved, sent, or not yet
  /// given back.
  [[nodiscard]] received<frame> try_reserve() {
    if (is_closed()) return queue_status::closed;
    const std::uint64_t number = free_.obtain();
    if (number == none) return queue_status::full;
    return frame(*this, number);
  }
  /// Waits for a free frame. Returns `closed` if the channel is closed.
  [[nodiscard]] received<frame> reserve() { return reserve_by(std::nullopt); }
  /// The same with a deadline, a time of the steady clock or of the world's clock; then `timed_out`.
  [[nodiscard]] received<frame> reserve_until(std::chrono::nanoseconds deadline) {
    return reserve_by(deadline);
  }
  template <typename Rep, typename Period>
  [[nodiscard]] received<frame> reserve_for(std::chrono::duration<Rep, Period> span) {
    return reserve_by(end_of(span));
  }

  /// Does not wait: `success`, `full` or `closed`. All forms of sending copy the bytes, and throw `misuse`
  /// for more bytes than an item has.
  [[nodiscard]] queue_status try_send(std::span<const std::byte> bytes) {
    return send_in(bytes, [this] { return try_reserve(); });
  }
  /// Waits for room: `success` or `closed`.
  [[nodiscard]] queue_status send(std::span<const std::byte> bytes) {
    return send_in(bytes, [this] { return reserve(); });
  }
  /// The same with a deadline, a time of the steady clock or of the world's clock; then `timed_out`.
  [[nodiscard]] queue_status send_until(std::span<const std::byte> bytes, std::chrono::nanoseconds deadline) {
    return send_in(bytes, [&] { return reserve_until(deadline); });
  }
  template <typename Rep, typename Period>
  [[nodiscard]] queue_status send_for(std::span<const std::byte> bytes,
                                      std::chrono::duration<Rep, Period> span) {
    return send_in(bytes, [&] { return reserve_for(span); });
  }

  /// Does not wait. Returns the oldest item, or `empty`, or, if the channel is closed and empty, `closed`.
  [[nodiscard]] received<item> try_receive() { return lent(filled_.try_receive()); }
  /// Waits for an item and returns the oldest. Returns `closed` if the channel is closed and empty.
  [[nodiscard]] received<item> receive() { return lent(filled_.receive()); }
  /// The same with a deadline, a time of the steady clock or of the world's clock; then `timed_out`.
  [[nodiscard]] received<item> receive_until(std::chrono::nanoseconds deadline) {
    return lent(filled_.receive_until(deadline));
  }
  template <typename Rep, typename Period>
  [[nodiscard]] received<item> receive_for(std::chrono::duration<Rep, Period> span) {
    return lent(filled_.receive_for(span));
  }
  /// Copies the oldest item and returns its length in bytes. Throws `misuse`, and receives nothing, if `to`
  /// is smaller than the largest item.
  [[nodiscard]] received<std::size_t> try_receive_into(std::span<std::byte> to) {
    return receive_in(to, [this] { return try_receive(); });
  }
  [[nodiscard]] received<std::size_t> receive_into(std::span<std::byte> to) {
    return receive_in(to, [this] { return receive(); });
  }

  /// From now on nothing can be reserved or committed. Items committed before are still received. Any thread
  /// or rank may call it, any number of times.
  void close() {
    filled_.close();
    detail::tell(memory_, room(), true);
  }
  /// Opens the channel again.
  void reopen() { filled_.reopen(); }
  [[nodiscard]] bool is_closed() const { return filled_.is_closed(); }
  /// Number of items ready to be received; an estimate while others send and receive.
  [[nodiscard]] std::size_t peek() const { return filled_.peek(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return size_.capacity; }
  [[nodiscard]] std::size_t item_size() const noexcept { return size_.item_size; }

  /// Receives until the channel is closed and empty: `for (auto& item : channel)`. Each item goes back before
  /// the next is received.
  using iterator = message_iterator<basic_byte_channel, item>;
  [[nodiscard]] iterator begin() { return iterator(*this); }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 protected:
  template <typename... Where>
  explicit basic_byte_channel(const byte_channel_size& size, Where&&... where)
      : memory_(std::forward<Where>(where)...),
        size_(size),
        filled_(memory_, checked_capacity(size)),
        events_(memory_, 1),
        free_(memory_, size.capacity),
        frames_(memory_, size) {
    if (filled_.capacity() < size.capacity)
      throw misuse("this strategy has room for " + std::to_string(filled_.capacity()) + " items, not " +
                   std::to_string(size.capacity));
  }
  ~basic_byte_channel() = default;

 private:
  using base_of_filled = basic_channel<Memory, message, Buffer>;
  struct filled_channel : base_of_filled {
    filled_channel(const Memory& memory, std::size_t capacity)
      requires(base_of_filled::takes_capacity)
        : base_of_filled(capacity, memory) {}
    filled_channel(const Memory& memory, std::size_t /*capacity*/)
      requires(!base_of_filled::takes_capacity)
        : base_of_filled(typename base_of_filled::of_any_size(), memory) {}
  };

  [[nodiscard]] static std::size_t checked_capacity(const byte_channel_size& size) {
    return static_cast<std::size_t>(detail::checked_capacity(size.capacity));
  }
  [[nodiscard]] event_count<Memory>& room() { return events_[0]; }

  template <typename Rep, typename Period>
  [[nodiscard]] channel_deadline end_of(std::chrono::duration<Rep, Period> span) {
    return later(memory_.now(), in_nanoseconds(span));
  }
  [[nodiscard]] received<frame> reserve_by(const channel_deadline& deadline) {
    received<frame> result = detail::attempt_until<detail::told_after::fence>(
        memory_, room(), deadline, [this] { return try_reserve(); },
        [](const received<frame>& now) { return now.status() == queue_status::full; });
    if (result.status() == queue_status::full) return queue_status::timed_out;
    return result;
  }
  [[nodiscard]] queue_status commit(frame& filled, std::size_t length) {
    if (filled.number_ == none) throw misuse("a frame is committed once");
    expect_fits(length);
    // There is room, or there will be once a receiver of this strategy has finished its last step.
    const queue_status status = filled_.send(message{.number = filled.number_, .length = length});
    if (status == queue_status::success)
      filled.number_ = none;
    else
      filled.give_back();
    return status;
  }
  void take_back(std::uint64_t number) {
    free_.give_back(number);
    detail::tell(memory_, room());
  }
  [[nodiscard]] received<item> lent(const received<message>& of) {
    if (!of) return of.status();
    return item(*this, *of);
  }
  template <typename Reserve>
  [[nodiscard]] queue_status send_in(std::span<const std::byte> bytes, const Reserve& reserve) {
    expect_fits(bytes.size());
    received<frame> to = reserve();
    if (!to) return to.status();
    std::ranges::copy(bytes, to->bytes().begin());
    return (*std::move(to)).commit(bytes.size());
  }
  template <typename Receive>
  [[nodiscard]] received<std::size_t> receive_in(std::span<std::byte> to, const Receive& receive) {
    if (to.size() < item_size())
      throw misuse("items of this channel have up to " + std::to_string(item_size()) +
                   " bytes: receive into as many, not into " + std::to_string(to.size()));
    const received<item> from = receive();
    if (!from) return from.status();
    std::ranges::copy(from->bytes(), to.begin());
    return from->bytes().size();
  }
  void expect_fits(std::size_t length) const {
    if (length > item_size())
      throw misuse("an item of " + std::to_string(length) + " bytes in a channel of items of up to " +
                   std::to_string(item_size()) + ": make it with a larger item_size");
  }

  Memory memory_;
  byte_channel_size size_;
  filled_channel filled_;
  typename Memory::template array<event_count<Memory>> events_;
  detail::free_numbers<Memory> free_;
  Frames frames_;
};

/// Byte channel between the threads of a process: one object for all of them, which must outlive every call,
/// frame and item. With a strategy of one sender or one receiver, only one thread at a time may commit, or
/// receive.
template <template <typename, typename> typename Buffer = ring_buffer>
class byte_channel : public basic_byte_channel<process_memory, Buffer> {
 public:
  /// Throws `misuse` for items of 0 bytes, for a capacity that the strategy does not support, and if the
  /// frames together exceed the address space.
  explicit byte_channel(const byte_channel_size& size) : basic_byte_channel<process_memory, Buffer>(size) {}
};

/// Byte channel between the ranks of a node. Each rank has its own object, used by one thread, which must
/// outlive every frame and item of that rank. Requires a world whose near memory is real memory.
template <world W, template <typename, typename> typename Buffer = ring_buffer>
  requires(node_memory<W>::is_hardware)
class node_byte_channel : public basic_byte_channel<node_memory<W>, Buffer> {
 public:
  /// Collective. The channel is in the near memory of rank `home`; every rank contributes as much. Throws
  /// what `byte_channel` throws; `out_of_memory` if the world has too little memory; `collective_mismatch` if
  /// the ranks pass different sizes or strategies; `misuse` if the ranks are not all on one node.
  node_byte_channel(W& w, const byte_channel_size& size, int home = 0)
      : basic_byte_channel<node_memory<W>, Buffer>(alike(w, size, home), w, home) {}

 private:
  [[nodiscard]] static const byte_channel_size& alike(W& w, const byte_channel_size& size, int home) {
    expect_alike<node_byte_channel>(w, {{"item_size", static_cast<std::int64_t>(size.item_size)},
                                        {"capacity", static_cast<std::int64_t>(size.capacity)},
                                        {"home", home}});
    return size;
  }
};

}  // namespace nearfar
