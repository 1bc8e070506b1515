/// \file
/// Test-and-test-and-set, and test-and-set, in near memory with exponential backoff, for the ranks of one
/// node: alone, or as the local lock of a cohort.
///
/// Source: L. Rudolph, Z. Segall, "Dynamic decentralized cache schemes for MIMD parallel processors", ISCA
/// 1984, doi 10.1145/800015.808203. Backoff is from T. Anderson, "The performance of spin lock alternatives
/// for shared-memory multiprocessors", 1990, doi 10.1109/71.80120. The flag that says whether any rank waits
/// is from D. Dice, V. Marathe, N. Shavit, "Lock cohorting", PPoPP 2012, doi 10.1145/2145816.2145848. The
/// default pauses are from A. Uffmann's master thesis, LMU Munich, 2022, section 5.4.3. Counting the waiting
/// ranks is nearfar's.
///
/// As published, a waiting rank sets a flag, and a rank that acquires the lock clears it, also for the ranks
/// that still wait. Those set it again when they look next, with a pause before each look, and a cohort gives
/// up the lock above meanwhile. nearfar's own form of the flag sets it before each attempt, and looks without
/// pauses. With a count, each waiting rank is known from its first failed attempt until it has the lock.
///
/// Fairness: none; an arriving rank may overtake ranks that pause. Progress: some rank always acquires.
///
/// Cost: no far operations. Cache-line transfers: uncontended the lock's line; contended that line twice for
/// each waiting rank at each release, or, without a look first, once for each attempt. In a cohort each
/// acquisition also transfers the line of the flag or count twice. Memory: 128 bytes of near memory for each
/// rank.
#pragma once

#include <chrono>
#include <cstdint>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// How a holder knows that other ranks wait.
enum class waiters_by : std::uint8_t {
  nothing,  ///< it does not; only a cohort's local lock needs to know
  count,    ///< each waiting rank counts itself
  flag,     ///< each rank sets a flag before it tries, and clears it when it has succeeded
  /// As `flag`, but also a rank that finds the lock free sets and clears it, and a waiting rank pauses before
  /// each look and sets the flag again whenever it sees it cleared. As published.
  flag_at_each_look,
};

/// The parameters of a `near_tts_lock`.
struct near_tts_policy {
  waiters_by known = waiters_by::nothing;
  /// Whether a waiting rank exchanges only when it has seen the lock free (TTS); otherwise after each pause
  /// (TAS).
  bool looks_first = true;
};

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W, near_tts_policy Policy = near_tts_policy{}>
class near_tts_lock : public near_lockable<near_tts_lock<W, Policy>, W> {
  using base = near_lockable<near_tts_lock<W, Policy>, W>;
  static constexpr bool has_flag =
      Policy.known == waiters_by::flag || Policy.known == waiters_by::flag_at_each_look;
  static_assert(Policy.looks_first || !has_flag,
                "a flag needs looks_first: a rank sets the flag before each attempt of its own");

 public:
  using status = typename base::status;
  using grant = typename base::grant;
  /// As in the thesis' evaluation of local locks.
  static constexpr backoff default_pause{.shortest = std::chrono::nanoseconds(1024),
                                         .longest = std::chrono::nanoseconds(16384)};

  /// Collective. `home` keeps the words; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node.
  explicit near_tts_lock(W& w, int home = 0, near_scope scope = near_scope::world,
                         backoff pause = default_pause)
      : base(w, {{"home", home},
                 {"scope", static_cast<std::int64_t>(scope)},
                 {"pause.shortest", pause.shortest.count()},
                 {"pause.longest", pause.longest.count()}}),
        world_(&w),
        nodes_(w),
        lock_(&nodes_.at(detail::home_of_near(w, home, scope))),
        pause_(pause) {}
  /// Collective. A lock between the elements of a level.
  near_tts_lock(W& w, const near_seat& seat)
      : base(w, {}), world_(&w), nodes_(w), lock_(&nodes_.at(seat.owner)), pause_(default_pause) {}
  ~near_tts_lock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    if constexpr (Policy.known == waiters_by::flag_at_each_look)
      lock_->waiting.store(1, std::memory_order_relaxed);
    if (!Policy.looks_first || lock_->state.load(std::memory_order_relaxed) != base::held) {
      const status before = lock_->state.exchange(base::held, std::memory_order_acquire);  // (1), with (2)
      if (before != base::held) {
        if constexpr (Policy.known == waiters_by::flag_at_each_look) no_longer_waiting();
        return {before, false};
      }
    }
    if constexpr (Policy.known == waiters_by::count) lock_->waiting.fetch_add(1, std::memory_order_relaxed);
    const status before = wait_and_take();
    no_longer_waiting();
    return {before, true};
  }

  /// Succeeds only if the holder handed `from_above` over, and not where it handed over to waiting ranks.
  [[nodiscard]] bool try_acquire_local() {
    status expected = base::from_above;
    return lock_->state.compare_exchange(expected, base::held, std::memory_order_acquire,
                                         std::memory_order_relaxed);  // as (1)
  }

  /// A rank that is known to wait really waits: it takes its mark back only as the holder, so either before
  /// this rank acquired, or not yet.
  [[nodiscard]] bool alone() const
    requires(Policy.known != waiters_by::nothing)
  {
    return lock_->waiting.load(std::memory_order_relaxed) == 0;
  }

  void release_local(status passes) { lock_->state.store(passes, std::memory_order_release); }  // (2)

 private:
  struct alignas(cache_line) words {
    typename W::template near<status> state{};  ///< held, or what was handed over
    alignas(cache_line) typename W::template near<std::uint32_t> waiting{};
  };

  /// Returns what was handed over.
  [[nodiscard]] status wait_and_take() {
    const auto is_free = [](status now) { return now != base::held; };
    if constexpr (Policy.known == waiters_by::flag_at_each_look) {
      const auto is_cleared = [](std::uint32_t flag) { return flag == 0; };
      for (auto span = pause_.shortest;; span = pause_.after(span)) {
        if (is_cleared(lock_->waiting.load(std::memory_order_relaxed)))
          lock_->waiting.store(1, std::memory_order_relaxed);
        world_->await_any_after_pauses({.shortest = span, .longest = pause_.longest},
                                       when(lock_->state, is_free), when(lock_->waiting, is_cleared));
        if (!is_free(lock_->state.load(std::memory_order_relaxed))) continue;
        const status before = lock_->state.exchange(base::held, std::memory_order_acquire);  // as (1)
        if (is_free(before)) return before;
      }
    } else if constexpr (Policy.looks_first) {
      for (auto span = pause_.shortest;; span = pause_.after(span)) {
        if constexpr (Policy.known == waiters_by::flag) lock_->waiting.store(1, std::memory_order_relaxed);
        world_->await(lock_->state, is_free);
        const status before = lock_->state.exchange(base::held, std::memory_order_acquire);  // as (1)
        if (is_free(before)) return before;
        world_->delay(span);
      }
    } else {
      return world_->await_exchange(lock_->state, base::held, is_free, pause_);  // as (1)
    }
  }
  void no_longer_waiting() {
    if constexpr (Policy.known == waiters_by::count)
      lock_->waiting.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
    if constexpr (has_flag) lock_->waiting.store(0, std::memory_order_relaxed);
  }

  W* world_;
  typename W::template near_segment<words> nodes_;
  words* lock_;
  backoff pause_;
};

}  // namespace nearfar
