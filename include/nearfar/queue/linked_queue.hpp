/// \file
/// A decentralised FIFO queue: a list of elements in the memory of the ranks that push them. Every rank
/// enters the list at the ends that it last knew. Lock-free, or with a lock for each element.
///
/// Source: A. Paznikov, A. Burachenko, D. Derzhavin, "A distributed lock-free queue in the remote memory
/// access model" (in Russian), Tomsk State University Journal of Control and Computer Science 1 (62), 2023
/// (there *nd* and, with locks, *bd*). From it: elements in a pool of each rank, references of rank and slot,
/// timestamps, and the states free, alive and deleted. Also from it: heads and tails of each rank that may be
/// out of date, announcements to all, and the root at the first rank (there: sentinel), by which ranks agree
/// on the first element. Nearfar's: tags in links, how elements become free again, and the end of the list
/// that says closed. The list is that of M. Michael and M. Scott, "Simple, fast, and practical non-blocking
/// and blocking concurrent queue algorithms", PODC 1996, doi 10.1145/248052.248106.
///
/// Data. An element is a value, a link to the next element, and a state: a timestamp and whether it is
/// deleted. The root is a link, too. A link refers to an element *of one generation*, the number of times
/// that its slot has been used, and carries the generation of the element that contains it (`tagged_link`);
/// so do the state and each word of the value. Each rank has a hint of the tail and one of the head: links to
/// elements that were the last, or deleted, when a rank put them there.
///
/// The invariant. Within one generation:
///  (1) The slot belongs to the rank whose memory it is in, which writes value, state and link, and flushes.
///  (2) The slot then enters the list by one compare-and-swap of the last link, with a timestamp above those
///      before it.
///  (3) The slot is then deleted by one compare-and-swap of its state. The rank that did so has the value.
///  (4) The root then passes the slot. The root moves only forward, and only to an element before which all
///      are deleted.
/// After (4) the slot's owner may use it again. Hence:
///  - A rank that follows a link, and finds that what it reads there carries the link's generation, has what
///    was written in (1), (2) and (3). A rank that finds anything else has followed a link that is no longer
///    in the list, and begins again at the root.
///  - No element before a deleted one is alive: a pop looks at each element from a hint of the head, or from
///    the root, on.
///  - Only the owner of a value writes it, in place; states and links are written only by accumulates. So no
///    write meets an earlier one that may still be under way (core/world.hpp, "seen is not complete").
/// Without locks, a link or state that its owner sets may meet a late compare-and-swap, which fails. That
/// these two are atomic to each other is more than MPI promises by default (accumulate_ops); the doctor tests
/// it.
///
/// Linearization points:
///  - push: (2);
///  - a pop that returns a value: (3);
///  - a pop that returns empty or closed: the read of the link of an element, known to be deleted, that no
///    other follows;
///  - `close`: the write of the last link;
///  - a push that returns closed: the read of that link.
///
/// Progress: with `lock_free` lock-free, at whatever point ranks stop: an attempt fails only because another
/// has succeeded. A stopped rank takes with it the element that it was about to push or has popped, and the
/// room in its pool. Generations have 16 bits: if a slot is used 65,536 times while a rank is between two of
/// its steps, that rank may take one generation for another. With locks, progress is theirs; each is held
/// while one word is read and perhaps written, or while an element is read.
///
/// Cost in far operations; a get whose target is on the rank's own node is a read in place:
///  - push: 1 get of a link and 1 of a state, at once, for each element from the hint to the end; 2
///    accumulates to its own memory; 1 compare-and-swap. Then 1 accumulate to each rank, all at once,
///    announces the new tail;
///  - pop: 3 gets, at once, for each element from the hint to the first that is alive; 1 compare-and-swap; 1
///    accumulate to each rank, all at once;
///  - once for each pool's length of pushes: at least 4 gets, and 1 compare-and-swap to move the root;
///  - with locks: each get also costs its lock, a get and an accumulate replace a compare-and-swap, and
///    announcements go to one rank after another.
/// Memory of each rank: for each element 2 far words, and 8 bytes for each 4 of the value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/concurrency.hpp"
#include "nearfar/memory/nearest_access.hpp"
#include "nearfar/memory/stamped_entry.hpp"
#include "nearfar/memory/tagged_link.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar {

/// Size of a `linked_queue`, and how often its ranks tell each other of its ends.
struct linked_queue_parameters {
  /// Elements of each rank's pool, at least 2: the most that the rank may have in the queue at once, or one
  /// less if the element deleted last is its own.
  std::size_t capacity = 0;
  /// Each rank announces every n-th head and tail that it moves; 0: none. Fewer announcements mean fewer
  /// accumulates, and more elements to walk over.
  int announce_every = 1;
};

/// Time spent in the phases of operations: the report's *enq_all*, *enq_hop*, *deq_all*, *deq_hop*,
/// *bcast_all*.
struct linked_queue_phases {
  std::chrono::nanoseconds push{};
  std::chrono::nanoseconds find_tail{};  ///< part of `push`, until the last element was known
  std::chrono::nanoseconds pop{};
  std::chrono::nanoseconds find_head{};  ///< part of `pop`, until the first element was known
  std::chrono::nanoseconds announce{};   ///< part of both
};

namespace detail {

/// Steps that tests leave out, to show that they are needed.
struct linked_queue_faults {
  bool no_tags = false;
  bool no_second_look = false;      ///< at the link of a last element not known to be deleted
  bool announces_before = false;    ///< the tail, before it is linked
  bool reclaims_too_early = false;  ///< also the element that the root refers to
};

}  // namespace detail

/// Queue of all ranks of a world. Each rank has its own object, used by one thread. See the file's comment.
template <world W, far_object_value T, typename Concurrency = lock_free,
          detail::linked_queue_faults Faults = detail::linked_queue_faults{}>
class linked_queue : public queue_operations<linked_queue<W, T, Concurrency, Faults>, W, T> {
  using guards = typename Concurrency::template guards<W>;
  static constexpr bool has_locks = guards::scope != guard_scope::nothing;

 public:
  using parameters = linked_queue_parameters;
  static constexpr bool fails_in_place = true;

  /// Collective. Throws `misuse` for pools of less than 2 elements, or of 2^32 - 2 or more in all.
  linked_queue(W& w, const parameters& of) : linked_queue(w, checked(w, of), detail::checked_arguments{}) {}
  linked_queue(const linked_queue&) = delete;
  linked_queue& operator=(const linked_queue&) = delete;

  /// From now on pushes are `closed`, and so are pops that find the queue empty. Any rank may call it, any
  /// number of times. Cost as of a push, less the writes to its own memory and to other ranks.
  void close() {
    this->expect_world();
    for (end last = find_end();; last = find_end(last.at)) {
      if (is_closed(last.next)) return;
      if (change_link(last.at, last.next, last.next.redirected(link(0, closed_end, 0)))) return;
    }
  }

  /// Elements between the last tail and head that this rank was told of: an estimate, which may be old. 1 or
  /// 2 gets.
  [[nodiscard]] std::size_t size_estimate() {
    this->expect_world();
    const link tail = hint(&hints::tail);
    const link head = hint(&hints::head);
    if (!tail.has_cell()) return 0;
    const std::uint64_t last = timestamp(state_of(tail));
    const std::uint64_t deleted = head.has_cell() ? timestamp(state_of(head)) : 0;
    return last > deleted ? static_cast<std::size_t>(last - deleted) : 0;
  }
  /// The most elements that the queue can hold.
  [[nodiscard]] std::size_t capacity() const {
    this->expect_world();
    return capacity_ * static_cast<std::size_t>(world_->size());
  }

  /// From now on adds the phases of this rank's operations to `phases`, which costs a reading of the clock at
  /// the beginning and end of each. Null stops it.
  void measure(linked_queue_phases* phases) noexcept { phases_ = phases; }

  // The operations that `queue_operations` requires.

  [[nodiscard]] queue_status put(const T& value) {
    const timed whole(*this, &linked_queue_phases::push);
    const bool has_room = used_ < capacity_ || reclaim();
    end last = find_end();
    if (is_closed(last.next)) return queue_status::closed;
    if (!has_room) return queue_status::full;

    const std::size_t slot = (oldest_ + used_) % capacity_;
    const std::uint64_t generation = generations_[slot];
    const link mine(0, place_of(world_->rank(), slot), generation);
    write(slot, generation, value);
    for (;; last = find_end(last.at)) {
      if (is_closed(last.next)) return queue_status::closed;
      const std::uint64_t now = last.timestamp + 1;
      stamp(slot, now, generation);
      if constexpr (Faults.announces_before) announce(&hints::tail, mine);
      if (!change_link(last.at, last.next, last.next.redirected(mine))) continue;
      timestamps_[slot] = now;
      generations_[slot] = link::next_generation(generation);
      ++used_;
      if (is_due(pushes_)) announce(&hints::tail, mine);
      return queue_status::success;
    }
  }

  [[nodiscard]] popped<T> take() {
    const timed whole(*this, &linked_queue_phases::pop);
    for (link at = hint(&hints::head);;) {
      const seen here = look_for_head(at);
      if (!here.is_valid) {
        at = link();
        continue;
      }
      if (here.is_alive) {
        if (delete_one(at, here.state)) {
          if (is_due(pops_)) announce(&hints::head, at);
          return here.value.confirmed().value();
        }
      }
      link next = here.next;
      // State and link were read in any order. That the link was the last means that the queue is empty only
      // if the element was deleted before the link was read.
      if (!next.has_cell() && at.has_cell() && !Faults.no_second_look) {
        const std::optional<link> later = look_again(at);
        if (!later) {
          at = link();
          continue;
        }
        next = *later;
      }
      if (next.has_cell() && !is_closed(next)) {
        at = without_own(next);
        continue;
      }
      end_ = at;
      end_word_ = next.bits();
      return is_closed(next) ? queue_status::closed : queue_status::empty;
    }
  }

  [[nodiscard]] bool await_room(const std::optional<std::chrono::nanoseconds>& deadline) {
    // A full pool has more than one element, so its deleted one is not the last of the queue.
    const element where{world_->rank(), oldest_};
    constexpr auto is_free = [](std::uint64_t state) { return is_deleted(state); };
    if (deadline)
      return world_->await_direct_until(*deadline, elements_, where, &words::state, is_free).has_value();
    world_->await_direct(elements_, where, &words::state, is_free);
    return true;
  }

  [[nodiscard]] bool await_element(const std::optional<std::chrono::nanoseconds>& deadline) {
    const auto has_changed = [last = end_word_](std::uint64_t word) { return word != last; };
    const auto await_word = [&](auto& in, element cell, auto field) {
      return nearest_access<W, far_read::fetch>(*world_, cell.rank)
          .await_until(deadline, in, cell, field, has_changed)
          .has_value();
    };
    return end_.has_cell() ? await_word(elements_, where(end_), &words::next)
                           : await_word(root_, element(0), &root::first);
  }

  [[nodiscard]] W& world_of() noexcept { return *world_; }

 private:
  using link = detail::tagged_link<32, 16>;
  using copy = typename W::template maybe_torn<detail::stamped_entry<T>>;
  using access = nearest_access<W, far_read::get>;

  struct words {
    far<std::uint64_t> next;
    far<std::uint64_t> state;
  };
  struct values {
    far_object<detail::stamped_entry<T>> value;
  };
  struct alignas(slot_bytes) root {
    far<std::uint64_t> first;
  };
  struct alignas(slot_bytes) hints {
    far<std::uint64_t> head;
    far<std::uint64_t> tail;
  };

  /// Takes the place of an element in a link.
  static constexpr std::size_t closed_end = link::most_cells - 1;
  [[nodiscard]] static bool is_closed(link next) noexcept {
    return next.has_cell() && next.cell() == closed_end;
  }
  /// The form in hints and during a walk: a link outside an element has no own generation.
  [[nodiscard]] static link without_own(link next) noexcept { return link().redirected(next); }

  // A state is a timestamp, a generation, and whether the element is deleted.
  static constexpr std::uint64_t deleted_bit = 1;
  static constexpr unsigned generation_at = 1;
  static constexpr unsigned timestamp_at = 17;
  [[nodiscard]] static constexpr std::uint64_t timestamp(std::uint64_t state) noexcept {
    return state >> timestamp_at;
  }
  [[nodiscard]] static constexpr bool is_deleted(std::uint64_t state) noexcept {
    return (state & deleted_bit) != 0;
  }
  [[nodiscard]] static constexpr std::uint64_t generation_of(std::uint64_t state) noexcept {
    return (state >> generation_at) & 0xffffU;
  }
  [[nodiscard]] static bool is_of(std::uint64_t generation, link to) noexcept {
    return Faults.no_tags || generation == to.generation();
  }

  static parameters checked(W& w, const parameters& of) {
    using detail::size_argument;
    expect_alike<linked_queue>(
        w, {{"capacity", size_argument(of.capacity)}, {"announce_every", of.announce_every}});
    const std::size_t most = closed_end / static_cast<std::size_t>(w.size());
    if (of.capacity < 2 || of.capacity > most)
      throw misuse("a linked_queue of " + std::to_string(w.size()) + " ranks has 2 to " +
                   std::to_string(most) + " elements at each, not " + std::to_string(of.capacity));
    if (of.announce_every < 0)
      throw misuse("announce_every is 0, for never, or more, not " + std::to_string(of.announce_every));
    return of;
  }
  linked_queue(W& w, const parameters& of, detail::checked_arguments /*tag*/)
      : queue_operations<linked_queue<W, T, Concurrency, Faults>, W, T>(w),
        world_(&w),
        capacity_(of.capacity),
        announce_every_(of.announce_every),
        elements_(w, of.capacity),
        values_(w, of.capacity),
        root_(w),
        hints_(w),
        guards_(w, of.capacity + 2),
        timestamps_(of.capacity),
        generations_(of.capacity, 1) {}

  /// Adds the time from construction to destruction to a phase.
  class timed {
   public:
    timed(linked_queue& of, std::chrono::nanoseconds linked_queue_phases::*phase)
        : of_(of.phases_ == nullptr ? nullptr : &of), phase_(phase) {
      if (of_ != nullptr) start_ = of_->world_->now();
    }
    timed(const timed&) = delete;
    timed& operator=(const timed&) = delete;
    ~timed() {
      if (of_ != nullptr) of_->phases_->*phase_ += of_->world_->now() - start_;
    }

   private:
    linked_queue* of_;
    std::chrono::nanoseconds linked_queue_phases::*phase_;
    std::chrono::nanoseconds start_{};
  };

  // Places.

  [[nodiscard]] std::size_t place_of(int rank, std::size_t slot) const noexcept {
    return static_cast<std::size_t>(rank) * capacity_ + slot;
  }
  [[nodiscard]] element where(link to) const noexcept {
    return {static_cast<int>(to.cell() / capacity_), to.cell() % capacity_};
  }
  /// Indices of the guards of the root and of hints, after those of the elements.
  [[nodiscard]] element root_part() const noexcept { return {0, capacity_}; }
  [[nodiscard]] element hints_part(int rank) const noexcept { return {rank, capacity_ + 1}; }

  // Steps. A link without an element stands for the root.

  struct seen {
    bool is_valid = false;  ///< the other members are of the generation meant
    bool is_alive = false;
    link next{};
    std::uint64_t state = 0;
    copy value{};
  };
  [[nodiscard]] seen look_at(link at) {
    seen result;
    if (!at.has_cell()) {
      result.next = root_link();
      result.is_valid = true;
      return result;
    }
    const element cell = where(at);
    std::uint64_t next = 0;
    guards_.reading(cell, [&] {
      const access there(*world_, cell.rank);
      there.start_read(elements_, cell, &words::state, result.state);
      there.start_read(elements_, cell, &words::next, next);
      there.start_read(values_, cell, &values::value, result.value);
      there.flush(elements_);  // completes the read of the value, too
    });
    result.next = link(next);
    result.is_valid =
        is_of(result.next.own(), at) && is_of(generation_of(result.state), at) &&
        (Faults.no_tags || result.value.unconfirmed().is_whole(static_cast<std::uint32_t>(at.generation())));
    result.is_alive = !is_deleted(result.state);
    return result;
  }

  [[nodiscard]] seen look_for_head(link at) {
    const timed hop(*this, &linked_queue_phases::find_head);
    return look_at(at);
  }
  [[nodiscard]] std::optional<link> look_again(link at) {
    const timed hop(*this, &linked_queue_phases::find_head);
    return next_of(at);
  }

  /// Returns nothing if the slot of `at` has been used again.
  [[nodiscard]] std::optional<link> next_of(link at) {
    if (!at.has_cell()) return root_link();
    const link next(guarded_read(elements_, where(at), &words::next, where(at)));
    return is_of(next.own(), at) ? std::optional(next) : std::nullopt;
  }
  [[nodiscard]] link root_link() { return link(guarded_read(root_, element(0), &root::first, root_part())); }
  [[nodiscard]] std::uint64_t state_of(link at) {
    return guarded_read(elements_, where(at), &words::state, where(at));
  }

  template <typename Array, typename Field>
  [[nodiscard]] std::uint64_t guarded_read(Array& from, element cell, Field field, element part) {
    return guards_.reading(part, [&] { return access(*world_, cell.rank).read(from, cell, field); });
  }

  /// The last element, or the root, and its link.
  struct end {
    link at{};
    link next{};
    std::uint64_t timestamp = 0;
  };
  [[nodiscard]] end find_end() { return find_end(hint(&hints::tail)); }
  [[nodiscard]] end find_end(link from) {
    const timed hops(*this, &linked_queue_phases::find_tail);
    for (link at = from;;) {
      const end here = look_for_end(at);
      if (!here.next.has_cell() || is_closed(here.next)) return here;
      at = without_own(here.next);
    }
  }
  /// Looks at an element, or at the root if its slot has been used again.
  [[nodiscard]] end look_for_end(link at) {
    if (at.has_cell()) {
      const element cell = where(at);
      std::uint64_t next = 0;
      std::uint64_t state = 0;
      guards_.reading(cell, [&] {
        const access there(*world_, cell.rank);
        there.start_read(elements_, cell, &words::next, next);
        there.start_read(elements_, cell, &words::state, state);
        there.flush(elements_);
      });
      // The state may be of a later generation than the link; the link has changed by now in that case.
      if (is_of(link(next).own(), at)) return {at, link(next), timestamp(state)};
    }
    return {link(), root_link(), 0};
  }

  [[nodiscard]] bool change_link(link at, link from, link to) {
    return at.has_cell() ? change(elements_, where(at), &words::next, where(at), from.bits(), to.bits())
                         : change(root_, element(0), &root::first, root_part(), from.bits(), to.bits());
  }
  [[nodiscard]] bool delete_one(link at, std::uint64_t alive) {
    return change(elements_, where(at), &words::state, where(at), alive, alive | deleted_bit);
  }
  /// Returns whether the word was `from` and so is `to` now.
  template <typename Array, typename Field>
  [[nodiscard]] bool change(Array& in, element cell, Field field, element part, const std::uint64_t& from,
                            const std::uint64_t& to) {
    return guards_.writing(part, [&] {
      if constexpr (has_locks) {
        if (access(*world_, cell.rank).read(in, cell, field) != from) return false;
        in.accumulate(cell, field, to, far_op::replace);
        in.flush(cell.rank);
        return true;
      } else {
        std::uint64_t before = 0;
        in.compare_and_swap(cell, field, from, to, before);
        in.flush(cell.rank);
        return before == from;
      }
    });
  }

  // (1); the timestamp may be written several times.

  void write(std::size_t slot, std::uint64_t generation, const T& value) {
    const element cell{world_->rank(), slot};
    guards_.writing(cell, [&] {
      values_.write_direct(cell, &values::value,
                           detail::stamped_entry<T>(value, static_cast<std::uint32_t>(generation)));
      nothing_after_ = link::to_nothing(generation).bits();
      elements_.accumulate(cell, &words::next, nothing_after_, far_op::replace);
      if constexpr (has_locks) elements_.flush(cell.rank);
    });
  }
  void stamp(std::size_t slot, std::uint64_t now, std::uint64_t generation) {
    const element cell{world_->rank(), slot};
    const std::uint64_t state = now << timestamp_at | generation << generation_at;
    guards_.writing(cell, [&] {
      elements_.accumulate(cell, &words::state, state, far_op::replace);
      elements_.flush(cell.rank);
    });
  }

  // Hints.

  [[nodiscard]] link hint(far<std::uint64_t> hints::*which) {
    return link(guarded_read(hints_, element(world_->rank()), which, hints_part(world_->rank())));
  }
  [[nodiscard]] bool is_due(std::uint64_t& count) const noexcept {
    return announce_every_ != 0 && ++count % static_cast<std::uint64_t>(announce_every_) == 0;
  }
  void announce(far<std::uint64_t> hints::*which, link what) {
    const timed all(*this, &linked_queue_phases::announce);
    const std::uint64_t word = what.bits();
    for (int rank = 0; rank < world_->size(); ++rank)
      guards_.writing(hints_part(rank), [&] {
        hints_.accumulate(rank, which, word, far_op::replace);
        if constexpr (has_locks) hints_.flush(rank);
      });
    for (int rank = 0; rank < world_->size(); ++rank) hints_.flush(rank);
  }

  // Reclaiming elements.

  /// Returns whether there is room now.
  [[nodiscard]] bool reclaim() {
    if (take_back()) return true;
    advance_root();
    return take_back();
  }

  /// The element that the root refers to, if any, and its timestamp.
  [[nodiscard]] std::pair<link, std::uint64_t> first() {
    for (;;) {
      const link to = without_own(root_link());
      if (!to.has_cell() || is_closed(to)) return {link(), 0};
      const std::uint64_t state = state_of(to);
      if (is_of(generation_of(state), to)) return {to, timestamp(state)};
    }
  }
  /// Takes back the elements that the root has passed (4). Returns whether there is room.
  [[nodiscard]] bool take_back() {
    const std::uint64_t passed = first().second + (Faults.reclaims_too_early ? 1 : 0);
    while (used_ != 0 && timestamps_[oldest_] < passed) {
      oldest_ = (oldest_ + 1) % capacity_;
      --used_;
    }
    return used_ < capacity_;
  }
  /// Moves the root to the first element that is alive, or to the last.
  void advance_root() {
    const auto [from, time] = first();
    if (!from.has_cell()) return;
    for (link at = hint(&hints::head);;) {
      if (!at.has_cell()) at = first().first;
      const seen here = look_at(at);
      if (!here.is_valid) {
        at = link();
        continue;
      }
      if (!here.is_alive && here.next.has_cell() && !is_closed(here.next)) {
        at = without_own(here.next);
        continue;
      }
      if (timestamp(here.state) > time) static_cast<void>(change_link(link(), from, at));
      return;
    }
  }

  W* world_;
  std::size_t capacity_;
  int announce_every_;
  typename W::template far_array<words> elements_;
  typename W::template far_array<values> values_;
  typename W::template far_segment<root> root_;
  typename W::template far_segment<hints> hints_;
  guards guards_;

  // This rank's pool is a ring, since its elements are deleted in the order in which it pushed them.
  std::vector<std::uint64_t> timestamps_;   ///< of its elements in the queue
  std::vector<std::uint64_t> generations_;  ///< of each slot, for its next use
  std::size_t oldest_ = 0;
  std::size_t used_ = 0;
  std::uint64_t pushes_ = 0;
  std::uint64_t pops_ = 0;
  link end_{};                       ///< where the last pop found no further element ...
  std::uint64_t end_word_ = 0;       ///< ... and the word that it read there
  std::uint64_t nothing_after_ = 0;  ///< origin of an accumulate, until `stamp` has flushed
  linked_queue_phases* phases_ = nullptr;
};

/// As published without locks, there *nd*.
template <world W, far_object_value T>
using lockfree_queue = linked_queue<W, T, lock_free>;

/// As published with locks, there *bd*: a lock for each element, and one for each rank's references to head
/// and tail. Instead, `lock_per_volume<L>` takes any lock of nearfar, one for all the memory of a rank.
template <world W, far_object_value T, typename Locks = lock_per_element>
using locked_queue = linked_queue<W, T, Locks>;

}  // namespace nearfar
