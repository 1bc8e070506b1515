/// \file
/// Test-and-set, and test-and-test-and-set, over RMA with exponential backoff.
///
/// Source: T. Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors", 1990,
/// doi 10.1109/71.80120. The form over RMA is that of A. Uffmann's master thesis, LMU Munich, 2022, sections
/// 2.1.1 and 5.4.3. Section 5.4.3 also gives the default backoff, and section 2.1.1 the test before an
/// attempt.
///
/// Fairness: none; a rank near the home rank can overtake others without bound. Progress: some rank always
/// acquires.
///
/// Cost in far operations, each completed by a flush: lock 1 swap, or compare-and-swap, at home for each
/// attempt, unlock 1 atomic write at home. With swaps both replace the word, as MPI promises atomicity among
/// concurrent updates by one operation only; compare-and-swaps need `promises::mixed_accumulates`. With a
/// test first, in addition 1 fetch at home for each look, or none on the home's node: fewer swaps, but more
/// operations. Memory: 64 bytes of far memory for each rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// The operation by which a test-and-set tries.
enum class tas_attempt : std::uint8_t { swap, compare_and_swap };

/// The parameters of a `tas_lock`.
struct tas_policy {
  tas_attempt tries_by = tas_attempt::swap;
  bool looks_first = false;  ///< whether a rank swaps only after it has seen the lock free (TTS)
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, tas_policy Policy = tas_policy{}>
class tas_lock : public lockable<tas_lock<W, Policy>, W> {
 public:
  using world_type = W;
  /// Any rank may release it, so it can be the global lock of a cohort as it is.
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
    if constexpr (Policy.looks_first) {
      if (await_free() && try_acquire()) return handover::uncontended;
      for (auto span = pause_.shortest;; span = pause_.after(span)) {
        world_->delay(span);
        static_cast<void>(await_free());
        if (try_acquire()) return handover::waited;
      }
    } else {
      if (try_acquire()) return handover::uncontended;
      if constexpr (Policy.tries_by == tas_attempt::swap)
        world_->await_swap(words_, home_, &word::state, taken, was_free, pause_);
      else
        world_->await_compare_and_swap(words_, home_, &word::state, is_free, taken, was_free, pause_);
      return handover::waited;
    }
  }

  [[nodiscard]] bool try_acquire() {
    if constexpr (Policy.tries_by == tas_attempt::swap)
      words_.swap(home_, &word::state, taken, old_);
    else
      words_.compare_and_swap(home_, &word::state, is_free, taken, old_);
    words_.flush(home_);
    return was_free(old_);
  }

  [[nodiscard]] std::optional<handover> try_acquire_until(std::chrono::nanoseconds deadline)
    requires(!Policy.looks_first)
  {
    if (try_acquire()) return handover::uncontended;
    const auto replaced = [&] {
      if constexpr (Policy.tries_by == tas_attempt::swap)
        return world_->await_swap_until(deadline, words_, home_, &word::state, taken, was_free, pause_);
      else
        return world_->await_compare_and_swap_until(deadline, words_, home_, &word::state, is_free, taken,
                                                    was_free, pause_);
    }();
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
  [[nodiscard]] static constexpr bool was_free(std::uint64_t old) noexcept { return old == is_free; }

  /// Waits until the lock is free. Returns whether it was free at once.
  [[nodiscard]] bool await_free() {
    const nearest_access<W, far_read::fetch> at_home(*world_, home_);
    return !at_home.look_and_await(words_, home_, &word::state, old_, was_free);
  }

  W* world_;
  typename W::template far_segment<word> words_;
  int home_;
  backoff pause_;
  std::uint64_t old_ = is_free;
};

}  // namespace nearfar
