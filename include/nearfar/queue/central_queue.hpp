/// \file
/// A FIFO queue whose ends one rank keeps, with a lock for each rank's memory. It is the baseline for
/// comparisons with decentralised queues.
///
/// Source: *bc* of A. Paznikov, A. Burachenko, D. Derzhavin, "A distributed lock-free queue in the remote
/// memory access model" (in Russian), Tomsk State University Journal of Control and Computer Science 1 (62),
/// 2023. There, too, the first rank keeps references to head and tail, elements are in pools of the ranks
/// that push them, and each rank has a lock. A rank holds this lock while it reads or writes anything in that
/// rank's memory.
///
/// An operation holds the first rank's lock from beginning to end, which makes it atomic. While it accesses
/// an element of another rank, it holds that rank's lock, too; so no cycle of waiting ranks arises. Every
/// write is flushed before its lock is released, so a holder knows that all earlier writes under the lock are
/// complete (core/world.hpp, "seen is not complete").
///
/// Linearization points: the read of the reference to the tail, or to the head. Progress and fairness: those
/// of the lock; a rank that stops within an operation stops all.
///
/// Cost in far operations: `push` the locks of the first rank, its own and the last element's, 1 get of both
/// ends, 1 put to that element, 1 or 2 puts to the ends; writes to its own memory are local. `pop` the locks
/// of the first rank and the first element's, 2 gets at once, 1 or 2 puts to the ends, 1 to the element.
/// Memory of each rank: for each element 24 bytes and the value, and the locks', as many as there are ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/concurrency.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar {

/// Size of a `central_queue`.
struct central_queue_parameters {
  /// Elements in each rank's pool: the most that the rank may have in the queue at once.
  std::size_t capacity = 0;
};

/// The lock of a `central_queue` that names none.
template <world W>
using fair_lock = rma_mcs_lock<W>;

/// Queue of all ranks of a world. Each rank has its own object, used by one thread. `Locks` is
/// `lock_per_volume` of any lock. See the file's comment.
template <world W, far_object_value T, typename Locks = lock_per_volume<fair_lock>>
class central_queue : public queue_operations<central_queue<W, T, Locks>, W, T> {
  using guards = typename Locks::template guards<W>;
  static_assert(guards::scope == guard_scope::volume,
                "central_queue needs guards of scope volume: the lock of a rank covers all of its memory");

 public:
  using parameters = central_queue_parameters;

  /// Collective. Throws `misuse` for a capacity of 0, and for 2^32 elements or more in all pools together.
  central_queue(W& w, const parameters& of) : central_queue(w, checked(w, of), detail::checked_arguments{}) {}
  central_queue(const central_queue&) = delete;
  central_queue& operator=(const central_queue&) = delete;

  /// From now on pushes are `closed`, and so are pops that find the queue empty. Any rank may call it, any
  /// number of times.
  void close() {
    this->expect_world();
    alone([&] {
      get_ends();
      set_head(head_ | closed);
      ends_.flush(first_rank);
      return 0;
    });
  }

  /// The most elements that the queue can hold.
  [[nodiscard]] std::size_t capacity() const {
    this->expect_world();
    return capacity_ * static_cast<std::size_t>(world_->size());
  }

  // The operations that `queue_operations` requires.

  [[nodiscard]] queue_status put(const T& value) {
    const element mine{world_->rank(), next_};
    const std::uint64_t reference = reference_to(mine);
    return alone([&] {
      get_ends();
      if (is_closed()) return queue_status::closed;
      const bool has_room = at(mine.rank, [&] {
        if (elements_.read_direct(mine, &words::is_used) != no) return false;
        elements_.write_direct(mine, &words::value, value);
        elements_.write_direct(mine, &words::next, nothing);
        elements_.write_direct(mine, &words::is_used, yes);
        return true;
      });
      if (!has_room) return queue_status::full;
      if (tail_ == nothing) {
        set_head(reference);
      } else {
        const element last = referred(tail_);
        at(last.rank, [&] {
          elements_.put(last, &words::next, reference);
          elements_.flush(last.rank);
          return 0;
        });
      }
      ends_.put(first_rank, &ends::tail, reference);
      ends_.flush(first_rank);
      next_ = (next_ + 1) % capacity_;
      return queue_status::success;
    });
  }

  [[nodiscard]] popped<T> take() {
    return alone([&]() -> popped<T> {
      get_ends();
      if (tail_ == nothing) return is_closed() ? queue_status::closed : queue_status::empty;
      const element first = referred(head_ & ~closed);
      std::uint64_t next = nothing;
      T value{};
      at(first.rank, [&] {
        elements_.get(first, &words::next, next);
        elements_.get(first, &words::value, value);
        elements_.flush(first.rank);
        elements_.put(first, &words::is_used, no);
        elements_.flush(first.rank);
        return 0;
      });
      set_head(next | (head_ & closed));
      if (next == nothing) ends_.put(first_rank, &ends::tail, nothing);
      ends_.flush(first_rank);
      return value;
    });
  }

  [[nodiscard]] bool await_room(const std::optional<std::chrono::nanoseconds>& deadline) {
    const element mine{world_->rank(), next_};
    constexpr auto is_free = [](std::uint64_t used) { return used == no; };
    if (deadline)
      return world_->await_direct_until(*deadline, elements_, mine, &words::is_used, is_free).has_value();
    world_->await_direct(elements_, mine, &words::is_used, is_free);
    return true;
  }
  [[nodiscard]] bool await_element(const std::optional<std::chrono::nanoseconds>& deadline) {
    constexpr auto is_there = [](std::uint64_t head) { return head != nothing; };
    if (deadline)
      return world_->await_get_until(*deadline, ends_, first_rank, &ends::head, is_there).has_value();
    world_->await_get(ends_, first_rank, &ends::head, is_there);
    return true;
  }

  [[nodiscard]] W& world_of() noexcept { return *world_; }

 private:
  struct words {
    far<std::uint64_t> next;
    far<std::uint64_t> is_used;
    far_object<T> value;
  };
  struct alignas(slot_bytes) ends {
    far<std::uint64_t> head;  ///< the first element, and whether the queue is closed
    far<std::uint64_t> tail;  ///< the last element, if there is one
  };
  static constexpr int first_rank = 0;
  // Origins of far operations, so they must be objects.
  static constexpr std::uint64_t no = 0;
  static constexpr std::uint64_t yes = 1;
  static constexpr std::uint64_t nothing = 0;
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63U;

  static parameters checked(W& w, const parameters& of) {
    expect_alike<central_queue>(w, {{"capacity", detail::size_argument(of.capacity)}});
    const std::size_t most = std::numeric_limits<std::uint32_t>::max() / static_cast<std::size_t>(w.size());
    if (of.capacity < 1 || of.capacity > most)
      throw misuse("a central_queue of " + std::to_string(w.size()) + " ranks has 1 to " +
                   std::to_string(most) + " elements at each, not " + std::to_string(of.capacity));
    return of;
  }
  central_queue(W& w, const parameters& of, detail::checked_arguments /*tag*/)
      : queue_operations<central_queue<W, T, Locks>, W, T>(w),
        world_(&w),
        capacity_(of.capacity),
        elements_(w, of.capacity),
        ends_(w),
        locks_(w, of.capacity) {}

  [[nodiscard]] std::uint64_t reference_to(element of) const noexcept {
    return static_cast<std::uint64_t>(of.rank) * capacity_ + of.index + 1;
  }
  [[nodiscard]] element referred(std::uint64_t reference) const noexcept {
    return {static_cast<int>((reference - 1) / capacity_), (reference - 1) % capacity_};
  }

  /// Calls the function while holding the first rank's lock.
  template <typename Function>
  auto alone(const Function& function) {
    return locks_.writing(element(first_rank), function);
  }
  /// Within `alone`: calls the function while also holding another rank's lock.
  template <typename Function>
  auto at(int rank, const Function& function) {
    return rank == first_rank ? function() : locks_.writing(element(rank), function);
  }

  void get_ends() {
    ends_.get(first_rank, &ends::head, head_);
    ends_.get(first_rank, &ends::tail, tail_);
    ends_.flush(first_rank);
  }
  [[nodiscard]] bool is_closed() const noexcept { return (head_ & closed) != 0; }
  void set_head(std::uint64_t to) {
    head_ = to;
    ends_.put(first_rank, &ends::head, head_);
  }

  W* world_;
  std::size_t capacity_;
  typename W::template far_array<words> elements_;
  typename W::template far_segment<ends> ends_;
  guards locks_;
  // As last read; also the origins of far writes.
  std::uint64_t head_ = nothing;
  std::uint64_t tail_ = nothing;
  std::size_t next_ = 0;  ///< next slot in this rank's pool, a ring, since elements leave in order
};

}  // namespace nearfar
