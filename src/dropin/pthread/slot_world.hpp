/// \file
/// The world of the near lock inside a preloaded mutex. Its ranks are slots. A thread takes a slot before it
/// waits for the mutex, and gives it back after it has released the mutex. So any number of threads may use a
/// mutex, and no thread has to report its end.
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
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/plain_cell.hpp"
#include "nearfar/memory/waiting.hpp"
#include "nearfar/topology/locality.hpp"
#include "sleeping.hpp"

namespace nearfar::preload {

/// How many threads can hold a slot of one mutex. Further threads wait until a slot is free.
inline constexpr int slots_per_mutex = 64;

using change = basic_change<futexes>;
using inner_lock = basic_inner_lock<futexes>;
template <typename T>
using sleeping_cell = basic_sleeping_cell<futexes, T>;

class slot_world;

/// Where the memory of a mutex's slots is.
class slot_memory {
 public:
  [[nodiscard]] virtual std::byte* of(int rank) const = 0;

 protected:
  ~slot_memory() = default;
};

/// The world as one slot sees it. No function is collective: slots are made one by one, each by the same
/// calls. Slot 0 is made first, because locks keep their shared words there.
class slot_world : public waiting<slot_world>, public sleeping_waits<slot_world, futexes> {
  using base = waiting<slot_world>;
  using waits = sleeping_waits<slot_world, futexes>;

 public:
  template <typename T>
  using near = sleeping_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  template <typename T>
  using near_array = nearfar::near_array<slot_world, T>;
  template <typename T>
  using near_segment = nearfar::near_segment<slot_world, T>;
  using release_scope = plain_release_scope;

  /// Near memory of each slot.
  static constexpr std::size_t bytes = 512;

  slot_world(const slot_memory& memory, int rank) noexcept : memory_(&memory), rank_(rank) {
    // Threads may outnumber processors at any time, so pausing threads yield.
    set_waiting({}, true, std::nullopt);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] static int size() noexcept { return slots_per_mutex; }
  [[nodiscard]] static const nearfar::locality& locality() {
    // Never deleted: threads use mutexes until the last one has ended, even after the destructors of static
    // objects.
    static const auto* one_node = new nearfar::locality(nearfar::locality::single_node(slots_per_mutex));
    return *one_node;
  }

  using base::await_until;
  using waits::await;
  using waits::await_exchange;
  using waits::await_for_writing;

  // These functions are collective in other worlds. Here each slot answers for all, since all slots do the
  // same.

  static void progress() noexcept {}
  static void barrier() noexcept {}
  [[nodiscard]] static bool all_alike(std::int64_t /*mine*/) noexcept { return true; }
  [[nodiscard]] static std::vector<std::int64_t> gather_to_all(std::int64_t mine) {
    return std::vector<std::int64_t>(slots_per_mutex, mine);
  }

  [[nodiscard]] std::size_t allocate_near(std::size_t wanted) {
    const std::size_t offset = used_;
    used_ += (wanted + cache_line - 1) / cache_line * cache_line;
    if (used_ > bytes) stop("a lock needs more memory for each thread than slot_world::bytes");
    return offset;
  }
  static void taken(const std::byte* /*from*/, std::size_t /*lent*/) noexcept {}
  static void given_back(const std::byte* /*from*/, std::size_t /*lent*/,
                         std::source_location /*site*/ = std::source_location::current()) noexcept {}
  [[nodiscard]] std::byte* near_memory(int rank) const { return memory_->of(rank); }

 private:
  const slot_memory* memory_;
  int rank_;
  std::size_t used_ = 0;
};

static_assert(near_world<slot_world>);

}  // namespace nearfar::preload
