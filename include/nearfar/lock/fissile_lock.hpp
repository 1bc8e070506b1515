/// \file
/// Fissile lock in near memory, for the ranks of one node: test-and-test-and-set before a queue, whose first
/// competes with those that come; alone, or as the local lock of a cohort.
///
/// Source: D. Dice, A. Kogan, "Fissile locks", NETYS 2020, arXiv:2003.05025, with any near lock as the inner
/// one. As published the first of the queue loses patience after a time; here once it has been overtaken
/// `patience` times, so that there is a bound.
///
/// Fairness: the first of the queue is overtaken at most `patience` times, and by ranks that have seen it
/// patient and have yet to take the lock; the queue has the inner lock's order. Progress: an acquiring rank
/// waits for those that hold the lock or are before it in the queue only.
///
/// Cost: no far operations. Cache-line transfers: uncontended the lock's line; contended those of the inner
/// lock besides, but nobody waits at the lock's line but the first of the queue. Memory: 64 bytes of near
/// memory for each rank and that of the inner lock.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// Exclusive lock for the ranks of one node. See the file's comment.
template <world W, typename Inner = mcs_lock<W>>
class fissile_lock : public near_lockable<fissile_lock<W, Inner>, W> {
  using base = near_lockable<fissile_lock<W, Inner>, W>;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. `home` keeps the words; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node, `misuse` unless `patience` is 1 to 254.
  explicit fissile_lock(W& w, int home = 0, near_scope scope = near_scope::world,
                        int patience = default_max_local_passes)
      : base(w, {{"home", home}, {"scope", static_cast<std::int64_t>(scope)}, {"patience", patience}}),
        world_(&w),
        nodes_(w),
        lock_(&nodes_.at(detail::home_of_near(w, home, scope))),
        inner_(w, home, scope),
        patience_(checked_local_passes(patience)) {}
  ~fissile_lock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    if (is_open() && is_free(lock_->state.load(std::memory_order_relaxed)))
      if (const status before = take(); is_free(before)) return {before, false};
    static_cast<void>(inner_.acquire_local());
    for (int overtaken = 0;; ++overtaken) {
      // As who is impatient is served next, it is told here that nobody comes any more.
      if (overtaken == patience_) lock_->closed.store(1, std::memory_order_relaxed);
      world_->await(lock_->state, is_free);
      const status before = take();
      if (!is_free(before)) continue;
      if (overtaken >= patience_) lock_->closed.store(0, std::memory_order_relaxed);
      // The lock's own order is enough for what follows: nothing is handed over inside.
      inner_.release_local(base::from_above);
      return {before, true};
    }
  }

  /// Not from a holder that has handed over to those who wait.
  [[nodiscard]] bool try_acquire_local() {
    status expected = base::from_above;
    return is_open() && lock_->state.compare_exchange(expected, base::held, std::memory_order_acquire,
                                                      std::memory_order_relaxed);  // as (1)
  }

  /// Who is in the inner lock is the first of the queue, or behind it.
  [[nodiscard]] bool alone() const { return inner_.is_free(); }

  void release_local(status passes) { lock_->state.store(passes, std::memory_order_release); }  // (2)

 private:
  struct alignas(cache_line) words {
    typename W::template near<status> state{};   ///< held, or what was handed over
    typename W::template near<status> closed{};  ///< whether the first of the queue has lost patience
  };

  [[nodiscard]] static constexpr bool is_free(status state) noexcept { return state != base::held; }
  [[nodiscard]] bool is_open() const { return lock_->closed.load(std::memory_order_relaxed) == 0; }
  [[nodiscard]] status take() {
    return lock_->state.exchange(base::held, std::memory_order_acquire);  // (1) pairs with (2)
  }

  W* world_;
  typename W::template near_segment<words> nodes_;
  words* lock_;
  Inner inner_;
  int patience_;
};

}  // namespace nearfar
