/// \file
/// Test-and-set over RMA with exponential backoff.
///
/// Source: T. Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors", 1990,
/// doi 10.1109/71.80120; over RMA as in A. Uffmann's master thesis, LMU Munich, 2022, sections 2.1.1
/// and 5.4.3 (which also gives the default backoff).
///
/// Fairness: none; a rank near the home rank can overtake others without bound. Progress: some rank always
/// acquires.
///
/// Cost in far operations, each completed by a flush: lock 1 swap at home for each attempt, unlock 1 atomic
/// write at home. Both replace the word, as MPI promises atomicity among concurrent updates
/// by one operation only. Memory: 64 bytes of far memory for each rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W>
class tas_lock : public lockable<tas_lock<W>, W> {
 public:
  using world_type = W;
  /// It does not matter who releases it, so that it can be the global lock of a cohort as it is.
  static constexpr participant queued = participant::node;

  /// Collective. `home` keeps the word.
  explicit tas_lock(W& w, int home = 0, backoff pause = {})
      : tas_lock::lockable(w, {{"home", home},
                               {"pause.shortest", pause.shortest.count()},
                               {"pause.longest", pause.longest.count()}}),
        world_(&w),
        words_(w),
        home_(checked_rank(w, home)),
        pause_(pause) {}
  ~tas_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    if (try_acquire()) return handover::uncontended;
    world_->await_swap(
        words_, home_, &word::state, taken, [](std::uint64_t old) { return old == is_free; }, pause_);
    return handover::waited;
  }

  [[nodiscard]] bool try_acquire() {
    std::uint64_t old = taken;
    words_.swap(home_, &word::state, taken, old);
    words_.flush(home_);
    return old == is_free;
  }

  [[nodiscard]] std::optional<handover> try_acquire_until(std::chrono::nanoseconds deadline) {
    if (try_acquire()) return handover::uncontended;
    const auto replaced = world_->await_swap_until(
        deadline, words_, home_, &word::state, taken, [](std::uint64_t old) { return old == is_free; },
        pause_);
    return replaced ? std::optional(handover::waited) : std::nullopt;
  }

  void release() {
    words_.accumulate(home_, &word::state, is_free, far_op::replace);
    words_.flush(home_);
  }

 private:
  struct alignas(slot_bytes) word {
    far<std::uint64_t> state;
  };
  // Origins of far operations, so they must be objects.
  static constexpr std::uint64_t is_free = 0;
  static constexpr std::uint64_t taken = 1;

  W* world_;
  typename W::template far_segment<word> words_;
  int home_;
  backoff pause_;
};

}  // namespace nearfar
