/// \file
/// The world of the near lock in a preloaded mutex. Its ranks are slots; a thread has one from before it
/// waits for the mutex until it has released it. So any number of threads may use a mutex, and none has to
/// announce its end.
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

#include "arena.hpp"
#include "futex.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/plain_cell.hpp"
#include "nearfar/memory/threads/far_segment.hpp"
#include "nearfar/memory/waiting.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::preload {

/// The most threads that may wait in the lock of one mutex; further threads wait for a slot.
inline constexpr int slots_per_mutex = 64;

/// How often a waiting thread polls before it sleeps.
extern unsigned polls_before_sleep;

/// An atomic cell on which threads can sleep. Each write, whatever its order, is sequentially consistent and
/// tells sleeping threads. A release of a lock therefore costs an exchange, as in the C library.
template <typename T>
class sleeping_cell : public atomic_cell<T> {
  using base = atomic_cell<T>;

 public:
  void store(T value, std::memory_order /*order*/) noexcept {
    base::store(value, std::memory_order_seq_cst);
    changed_.tell();
  }
  [[nodiscard]] T exchange(T value, std::memory_order /*order*/) noexcept {
    const T before = base::exchange(value, std::memory_order_seq_cst);
    changed_.tell();
    return before;
  }
  [[nodiscard]] bool compare_exchange(T& expected, T desired, std::memory_order /*success*/,
                                      std::memory_order failure) noexcept {
    const bool done = base::compare_exchange(expected, desired, std::memory_order_seq_cst, failure);
    if (done) changed_.tell();
    return done;
  }
  T fetch_add(T value, std::memory_order /*order*/) noexcept {
    const T before = base::fetch_add(value, std::memory_order_seq_cst);
    changed_.tell();
    return before;
  }

  /// Sleeps until the value satisfies the predicate.
  template <typename Predicate>
  [[nodiscard]] T sleep_until(Predicate predicate) const {
    for (;;) {
      const std::uint32_t announced = changed_.announce();
      const T value = this->load(std::memory_order_acquire);
      if (predicate(value)) return value;
      changed_.sleep(announced);
    }
  }

 private:
  mutable change changed_;
};

class slot_world;

/// Provides the memory of a mutex' slots.
class slot_memory {
 public:
  [[nodiscard]] virtual std::byte* of(int rank) const = 0;

 protected:
  ~slot_memory() = default;
};

/// The view of one slot. Nothing in it is collective: slots are constructed one by one, each with the same
/// calls. Slot 0 is first, since locks have their shared words there.
class slot_world : public waiting<slot_world> {
  using base = waiting<slot_world>;

 public:
  template <typename T>
  using near = sleeping_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  template <typename T>
  using near_array = nearfar::near_array<slot_world, T>;
  template <typename T>
  using near_segment = nearfar::near_segment<slot_world, T>;
  // Near locks have no far words; the concept asks for their types.
  template <typename T>
  using far_array = threads::far_array<slot_world, T>;
  template <typename T>
  using far_segment = threads::far_segment<slot_world, T>;
  template <typename T>
  using maybe_torn = nearfar::maybe_torn<T>;
  using release_scope = plain_release_scope;
  class signal_channel {
   public:
    explicit signal_channel(slot_world& /*w*/) {}
    static void signal(int /*rank*/) { stop("no lock of a mutex sends signals"); }
    static void await_signal(int /*rank*/) { stop("no lock of a mutex sends signals"); }
    [[nodiscard]] static bool await_signal_until(std::chrono::nanoseconds /*until*/, int /*rank*/) {
      stop("no lock of a mutex sends signals");
    }
  };

  /// Bytes of each slot.
  static constexpr std::size_t bytes = 512;

  slot_world(const slot_memory& memory, int rank) noexcept : memory_(&memory), rank_(rank) {
    // Threads may outnumber processors at any time, so pausing threads yield.
    set_waiting({}, true, std::nullopt);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] static int size() noexcept { return slots_per_mutex; }
  [[nodiscard]] static const nearfar::locality& locality() {
    // Lives for ever: mutexes are used until the last thread has ended, after the destructors of static
    // objects.
    static const auto* one_node = new nearfar::locality(nearfar::locality::single_node(slots_per_mutex));
    return *one_node;
  }

  // Variants of the base's functions for cells on which threads can sleep.

  using base::await_until;

  template <typename T, typename Predicate>
  T await(const sleeping_cell<T>& cell, Predicate predicate) {
    for (unsigned poll = 0; poll < polls_before_sleep; ++poll) {
      const T value = cell.load(std::memory_order_acquire);
      if (predicate(value)) return value;
      relax();
    }
    return cell.sleep_until(predicate);
  }
  template <typename T, typename Predicate>
  T await_for_writing(sleeping_cell<T>& cell, Predicate predicate) {
    for (unsigned poll = 0; poll < polls_before_sleep; ++poll) {
      const T value = cell.atomic_cell<T>::fetch_add(T{}, std::memory_order_acquire);
      if (predicate(value)) return value;
      relax();
    }
    return cell.sleep_until(predicate);
  }
  template <typename T, typename Predicate>
  T await_exchange(sleeping_cell<T>& cell, T value, Predicate predicate, backoff pause) {
    for (auto span = pause.shortest;; span = pause.after(span)) {
      if (span < pause.longest)
        delay(span);
      else
        static_cast<void>(await(cell, predicate));
      const T before = cell.exchange(value, std::memory_order_acq_rel);
      if (predicate(before)) return before;
    }
  }

  // Collective operations: all slots do the same.

  static void progress() noexcept {}
  static void barrier() noexcept {}
  [[nodiscard]] static bool all_alike(std::int64_t /*mine*/) noexcept { return true; }
  [[nodiscard]] static std::vector<std::int64_t> gather_to_all(std::int64_t mine) {
    return std::vector<std::int64_t>(slots_per_mutex, mine);
  }
  [[nodiscard]] static std::vector<std::int64_t> gather_to_first(std::int64_t mine) {
    return gather_to_all(mine);
  }

  [[nodiscard]] std::size_t allocate_near(std::size_t wanted) {
    const std::size_t offset = used_;
    used_ += (wanted + cache_line - 1) / cache_line * cache_line;
    if (used_ > bytes) stop("a lock needs more memory for each thread than slot_world::bytes");
    return offset;
  }
  [[nodiscard]] std::size_t allocate_far(std::size_t wanted) { return allocate_near(wanted); }
  static void taken(const std::byte* /*from*/, std::size_t /*lent*/) noexcept {}
  static void given_back(const std::byte* /*from*/, std::size_t /*lent*/,
                         std::source_location /*site*/ = std::source_location::current()) noexcept {}
  [[nodiscard]] std::byte* near_memory(int rank) const { return memory_->of(rank); }
  [[nodiscard]] std::byte* direct_memory(int rank) const { return memory_->of(rank); }
  [[nodiscard]] std::byte* far_memory(int rank) const { return memory_->of(rank); }

 private:
  const slot_memory* memory_;
  int rank_;
  std::size_t used_ = 0;
};

static_assert(world<slot_world>);

}  // namespace nearfar::preload
