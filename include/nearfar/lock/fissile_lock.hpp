/// \file
/// Fissile lock in near memory, for the ranks of one node: test-and-test-and-set in front of a queue. The
/// first rank of the queue competes with ranks that arrive. Alone, or as the local lock of a cohort.
///
/// Source: D. Dice, A. Kogan, "Fissile locks", NETYS 2020, arXiv:2003.05025, with any near lock as the inner
/// one. As published the first of the queue becomes impatient after a time. Here it writes at its arrival
/// after how many releases the lock is closed to all other ranks, so that the bound also holds while it does
/// not run.
///
/// Fairness: the first of the queue is overtaken at most `patience` times, once ranks see what it wrote; the
/// queue has the inner lock's order. Progress: an acquiring rank waits only for ranks that hold the lock or
/// are before it in the queue.
///
/// Cost: no far operations. Cache-line transfers: uncontended the lock's line; contended in addition those of
/// the inner lock, but only the first of the queue waits at the lock's line. Memory: 64 bytes of near memory
/// for each rank and that of the inner lock.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W, typename Inner = mcs_lock<W>>
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
    if (const word seen = look(); is_free(seen) && is_open(seen) && take(seen))
      return {status_of(seen), false};
    static_cast<void>(inner_.acquire_local());
    const word last = counted_on(releases_of(look()), static_cast<word>(patience_));
    lock_->closing.store(last + 1, std::memory_order_relaxed);
    word seen = 0;
    do seen = world_->await(lock_->state, is_free);
    while (!take(seen));
    lock_->closing.store(never, std::memory_order_relaxed);
    // The lock's own order is enough for what follows: the inner lock hands no value over.
    inner_.release_local(base::from_above);
    return {status_of(seen), true};
  }

  /// Succeeds only if the holder handed `from_above` over, and not where it handed over to waiting ranks.
  [[nodiscard]] bool try_acquire_local() {
    const word seen = look();
    return status_of(seen) == base::from_above && is_open(seen) && take(seen);
  }

  /// A rank in the inner lock is the first of the queue, or behind it.
  [[nodiscard]] bool alone() const { return inner_.is_free(); }

  void release_local(status passes) {
    const word releases = counted_on(releases_of(look()), 1);                  // no other rank changes it
    lock_->state.store(word_of(releases, passes), std::memory_order_release);  // (2)
  }

 private:
  /// The number of releases of the lock, in all bits but the lowest 8. Those say that the lock is held, or
  /// what was handed over.
  using word = std::uint32_t;
  static constexpr unsigned status_bits = 8;
  static constexpr word all_releases = ~word{0} >> status_bits;
  static constexpr word never = 0;

  struct alignas(cache_line) words {
    typename W::template near<word> state{};
    /// `never`, or one more than the number of releases from which on the lock is closed to all but the first
    /// of the queue.
    typename W::template near<word> closing{};
  };

  [[nodiscard]] static constexpr status status_of(word of) noexcept { return static_cast<status>(of); }
  [[nodiscard]] static constexpr word releases_of(word of) noexcept { return of >> status_bits; }
  [[nodiscard]] static constexpr word word_of(word releases, status what) noexcept {
    return releases << status_bits | what;
  }
  [[nodiscard]] static constexpr word counted_on(word releases, word by) noexcept {
    return (releases + by) & all_releases;
  }
  [[nodiscard]] static constexpr bool is_free(word of) noexcept { return status_of(of) != base::held; }

  [[nodiscard]] word look() const { return lock_->state.load(std::memory_order_relaxed); }
  /// Whether the lock is open to ranks other than the first of the queue. Numbers of releases repeat, but no
  /// rank waits that long.
  [[nodiscard]] bool is_open(word seen) const {
    const word closing = lock_->closing.load(std::memory_order_relaxed);
    if (closing == never) return true;
    const word left = counted_on(closing - 1, all_releases + 1 - releases_of(seen));
    return left != 0 && left <= most_local_passes;
  }
  [[nodiscard]] bool take(word seen) {
    // (1) Pairs with (2).
    return lock_->state.compare_exchange(seen, word_of(releases_of(seen), base::held),
                                         std::memory_order_acquire, std::memory_order_relaxed);
  }

  W* world_;
  typename W::template near_segment<words> nodes_;
  words* lock_;
  Inner inner_;
  int patience_;
};

}  // namespace nearfar
