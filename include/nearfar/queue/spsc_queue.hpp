/// \file
/// A FIFO queue from one rank to one other. A push is one put, and a pop takes no far operation.
///
/// Source: the ring of L. Lamport, "Specifying concurrent program modules", TOPLAS 5, 1983, doi
/// 10.1145/69624.357207, in which each end is written by one process only. That the consumer sees from the
/// cell itself whether it is full, and not from the other's index, is of J. Giacomoni, T. Moseley, M.
/// Vachharajani, "FastForward for efficient pipeline parallelism", PPoPP 2008, doi 10.1145/1345206.1345215.
/// Nearfar's: the cell's stamps, and that the producer caches what it last knew of the room.
///
/// The ring is in the consumer's memory. Every word of a cell carries its lap (`stamped_entry`), by which the
/// consumer, which reads in place, sees whether a value is complete. Only the producer writes cells, and it
/// writes a cell again only after the flush of the last lap's put, so that no write meets an earlier one that
/// may still be under way (core/world.hpp, "seen is not complete"). After copying a value the consumer counts
/// it in a word of its own, in place (1). The producer reads this count when it knows of no room (2), and
/// then writes a cell that nobody reads any more.
///
/// Linearization points:
///  - push: the arrival of the last word of its cell, and of all cells before;
///  - pop: the count of the values that it has taken (1);
///  - a pop that returns empty: the read of a word that is not of the lap; if it returns closed, the read of
///    the end of the queue;
///  - `close`: the arrival of that end;
///  - a push that returns full: the read of the count (2).
/// Progress: `try_` forms never wait for the other rank, provided that MPI carries out the put. A stopped
/// rank stops only a rank that waits for it.
///
/// Cost in far operations: push 1 put; several values at once as many puts, and 1 flush; 1 get for each ring
/// of pushes, and 1 for each push that finds the queue full. Pop none. Within a node none at all: 1 cache
/// line transfer for each 8 words of the value, and 1 or less for the count. Memory of each rank, of which
/// only the consumer's is used: for each element 8 bytes for each 4 of the value.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/nearest_access.hpp"
#include "nearfar/memory/stamped_entry.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar {

/// Size of an `spsc_queue`, and its two ranks.
struct spsc_queue_parameters {
  /// The most elements that the queue can hold.
  std::size_t capacity = 0;
  /// The rank that pushes and the rank that pops. They may be the same.
  int producer = 0;
  int consumer = 0;
};

namespace detail {

/// Steps that tests leave out, to show that they are needed.
struct spsc_queue_faults {
  bool looks_at_first_word_only = false;  ///< to tell whether a value is complete
  bool counts_before_copying = false;
  bool ends_before_last_put = false;  ///< before the last put is complete
};

}  // namespace detail

/// Queue from `producer` to `consumer`. Each rank of the world has an object, used by one thread. Only the
/// producer may push and only the consumer may pop; for other ranks these throw `misuse`. See the file's
/// comment.
template <world W, far_object_value T, detail::spsc_queue_faults Faults = detail::spsc_queue_faults{}>
class spsc_queue : public queue_operations<spsc_queue<W, T, Faults>, W, T> {
 public:
  using parameters = spsc_queue_parameters;
  /// A pop reads only near memory.
  static constexpr bool fails_in_place = true;

  /// Collective. Throws `misuse` for a capacity of 0, or of more than 2^30.
  spsc_queue(W& w, const parameters& of) : spsc_queue(w, checked(w, of), detail::checked_arguments{}) {}
  spsc_queue(const spsc_queue&) = delete;
  spsc_queue& operator=(const spsc_queue&) = delete;

  /// From now on pushes are `closed`, and so are pops that find the queue empty. Only the producer may call
  /// it, any number of times. Cost: 1 put.
  void close() {
    this->expect_world();
    expect_role(producer_, "closes");
    if (std::exchange(is_closed_, true)) return;
    const std::uint64_t end = pushed_ + 1;
    ends_.put(consumer_, &consumers_words::end, end);
    ends_.flush(consumer_);
  }

  /// Number of elements. For the consumer: those that have arrived, counted in place. For the producer: those
  /// not known to be popped. For other ranks: 0.
  [[nodiscard]] std::size_t size_estimate() const {
    this->expect_world();
    std::uint64_t count = 0;
    if (world_->rank() == consumer_) {
      while (count < capacity_ && !late_word(read_in_place(popped_ + count), popped_ + count)) ++count;
    } else if (world_->rank() == producer_) {
      count = pushed_ - known_popped_;
    }
    return static_cast<std::size_t>(count);
  }
  /// The most elements that the queue can hold.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] int producer() const noexcept { return producer_; }
  [[nodiscard]] int consumer() const noexcept { return consumer_; }

  // The operations that `queue_operations` requires.

  [[nodiscard]] queue_status put(const T& value) { return put_some(std::span<const T>(&value, 1)).status; }
  [[nodiscard]] popped<T> take() {
    expect_role(consumer_, "pops");
    stamped entry = read_in_place(popped_);
    if (late_word(entry, popped_)) {
      if (!has_ended()) return queue_status::empty;
      // Everything pushed before the end has arrived before it.
      entry = read_in_place(popped_);
      if (late_word(entry, popped_)) return queue_status::closed;
    }
    if constexpr (Faults.counts_before_copying) {
      count_popped();
      return read_in_place(popped_ - 1).value();
    }
    const T value = entry.value();
    count_popped();
    return value;
  }

  [[nodiscard]] queue_range_result put_some(std::span<const T> values) {
    expect_role(producer_, "pushes");
    if (is_closed_) return {0, queue_status::closed};
    if (room() == 0) known_popped_ = at_consumer_.read(ends_, consumer_, &consumers_words::popped);  // (2)
    const std::size_t count = std::min(values.size(), room());
    if (count == 0) return {0, queue_status::full};
    if (staged_.size() < count) staged_.resize(count);
    for (std::size_t i = 0; i < count; ++i) write(staged_[i], pushed_ + i, values[i]);
    if constexpr (!Faults.ends_before_last_put) at_consumer_.flush(cells_);
    pushed_ += count;
    return {count, queue_status::success};
  }

  [[nodiscard]] bool await_room(const std::optional<std::chrono::nanoseconds>& deadline) {
    const auto has_room = [this](std::uint64_t word) { return pushed_ - word < capacity_; };
    return at_consumer_.await_until(deadline, ends_, consumer_, &consumers_words::popped, has_room)
        .has_value();
  }
  [[nodiscard]] bool await_element(const std::optional<std::chrono::nanoseconds>& deadline) {
    const std::optional<std::size_t> late = late_word(read_in_place(popped_), popped_);
    if (!late) return true;
    const auto come = when(cells_, element{consumer_, cell_of(popped_) + *late}, &piece::word,
                           [stamp = stamp_of(popped_)](std::uint64_t word) { return word >> 32U == stamp; });
    const auto ended =
        when(ends_, element{consumer_}, &consumers_words::end, [](std::uint64_t end) { return end != 0; });
    if (deadline) return world_->await_any_until(*deadline, come, ended).has_value();
    world_->await_any(come, ended);
    return true;
  }

  [[nodiscard]] W& world_of() noexcept { return *world_; }

 private:
  using stamped = detail::stamped_entry<T>;
  static constexpr std::size_t pieces = std::tuple_size_v<decltype(stamped::words)>;
  struct piece {
    far<std::uint64_t> word;
  };
  struct alignas(slot_bytes) consumers_words {
    far<std::uint64_t> popped;  ///< how many, written by the consumer in place
    far<std::uint64_t> end;     ///< 1 more than are ever pushed, put by the producer; 0: not known yet
  };

  static parameters checked(W& w, const parameters& of) {
    constexpr std::size_t most = std::size_t{1} << 30U;
    const auto capacity = static_cast<std::int64_t>(std::min(of.capacity, most + 1));
    expect_alike<spsc_queue>(w,
                             {{"capacity", capacity}, {"producer", of.producer}, {"consumer", of.consumer}});
    if (of.capacity < 1 || of.capacity > most)
      throw misuse("an spsc_queue has room for 1 to " + std::to_string(most) + " elements, not " +
                   std::to_string(of.capacity));
    (void)checked_rank(w, of.producer);
    (void)checked_rank(w, of.consumer);
    return of;
  }
  spsc_queue(W& w, const parameters& of, detail::checked_arguments /*tag*/)
      : queue_operations<spsc_queue<W, T, Faults>, W, T>(w),
        world_(&w),
        capacity_(of.capacity),
        producer_(of.producer),
        consumer_(of.consumer),
        at_consumer_(w, of.consumer),
        cells_(w, of.capacity * pieces),
        ends_(w) {}

  void expect_role(int rank, const char* what) const {
    if (world_->rank() != rank) [[unlikely]]
      throw misuse("rank " + std::to_string(rank) + " alone " + what + " in this spsc_queue, not rank " +
                   std::to_string(world_->rank()));
  }

  [[nodiscard]] std::size_t room() const noexcept {
    return capacity_ - static_cast<std::size_t>(pushed_ - known_popped_);
  }
  /// Index of the first word of a cell.
  [[nodiscard]] std::size_t cell_of(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(number % capacity_) * pieces;
  }
  /// Differs from 0, the stamp of a cell before its first lap, and from the stamp of the previous lap.
  [[nodiscard]] std::uint32_t stamp_of(std::uint64_t number) const noexcept {
    return static_cast<std::uint32_t>(number / capacity_ + 1);
  }

  void write(stamped& entry, std::uint64_t number, const T& value) {
    entry = stamped(value, stamp_of(number));
    at_consumer_.start_write_range(cells_, {consumer_, cell_of(number)}, &piece::word,
                                   std::span<const std::uint64_t>(entry.words));
  }
  [[nodiscard]] stamped read_in_place(std::uint64_t number) const {
    stamped entry;
    for (std::size_t i = 0; i < pieces; ++i)
      entry.words[i] = cells_.read_direct({consumer_, cell_of(number) + i}, &piece::word);
    return entry;
  }
  /// Returns a word of the cell that has not arrived for that lap, if any.
  [[nodiscard]] std::optional<std::size_t> late_word(const stamped& entry,
                                                     std::uint64_t number) const noexcept {
    const std::uint32_t stamp = stamp_of(number);
    for (std::size_t i = 0; i < (Faults.looks_at_first_word_only ? 1 : pieces); ++i)
      if (entry.words[i] >> 32U != stamp) return i;
    return std::nullopt;
  }
  [[nodiscard]] bool has_ended() const { return ends_.read_direct(consumer_, &consumers_words::end) != 0; }
  void count_popped() {
    ++popped_;
    ends_.write_direct(consumer_, &consumers_words::popped, popped_);  // (1)
  }

  W* world_;
  std::size_t capacity_;
  int producer_;
  int consumer_;
  nearest_access<W, far_read::get> at_consumer_;
  typename W::template far_array<piece> cells_;
  typename W::template far_segment<consumers_words> ends_;
  std::vector<stamped> staged_;  ///< values being put
  std::uint64_t pushed_ = 0;
  std::uint64_t known_popped_ = 0;
  std::uint64_t popped_ = 0;
  bool is_closed_ = false;
};

}  // namespace nearfar
