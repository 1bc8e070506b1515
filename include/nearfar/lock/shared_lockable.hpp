/// \file
/// The interface that every reader-writer lock of nearfar has: that of exclusive locks and *SharedLockable*,
/// with timed acquisitions, downgrades and upgrades where the algorithm allows them.
#pragma once

#include <chrono>
#include <concepts>
#include <optional>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// The public interface of a reader-writer lock, built on `Derived::acquire`, `release`, `acquire_shared() ->
/// handover`, `release_shared()` and, where they exist, `try_acquire`, `try_acquire_shared() -> bool`,
/// `try_acquire_shared_until(deadline) -> optional<handover>`, `downgrade()`, `try_upgrade() -> bool`.
///
/// Ranks that hold it shared are in at the same time; a rank that holds it exclusively is alone. A rank holds
/// it only once, and only one way at a time.
template <typename Derived, near_world W>
class shared_lockable : public lockable<Derived, W> {
  using base = lockable<Derived, W>;
  using typename base::holding;

 public:
  /// Waits until no rank holds the lock exclusively, then shares it. Throws `already_held` in checked builds
  /// if this rank holds the lock in either way.
  void lock_shared() {
    this->expect_nothing_held("lock_shared()");
    this->note_handover(this->self().acquire_shared());
    this->note_held(holding::shared);
  }

  /// Shares the lock unless a rank holds it exclusively or, if the lock is fair, waits to. Does not wait for
  /// any rank.
  [[nodiscard]] bool try_lock_shared()
    requires requires(Derived& derived) {
      { derived.try_acquire_shared() } -> std::same_as<bool>;
    }
  {
    this->expect_nothing_held("try_lock_shared()");
    return this->note_attempt(this->self().try_acquire_shared(), holding::shared);
  }

  /// The same, but waits until `deadline`, a time of the world's clock (`now()`).
  [[nodiscard]] bool try_lock_shared_until(std::chrono::nanoseconds deadline)
    requires requires(Derived& derived) {
      { derived.try_acquire_shared_until(deadline) } -> std::same_as<std::optional<handover>>;
    }
  {
    this->expect_nothing_held("try_lock_shared_until()");
    return this->note_timed(this->self().try_acquire_shared_until(deadline), holding::shared);
  }
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> span)
    requires requires(Derived& derived) { derived.try_acquire_shared_until(std::chrono::nanoseconds()); }
  {
    return try_lock_shared_until(later(this->world_of().now(), in_nanoseconds(span)));
  }

  /// Releases what `lock_shared` took. Does not wait for any rank. Throws `not_held` in checked builds if
  /// this rank does not share the lock.
  void unlock_shared() {
    this->expect_held(holding::shared, "unlock_shared()");
    this->note_held(holding::nothing);
    [[maybe_unused]] const typename W::release_scope scope(this->world_of());
    this->self().release_shared();
  }

  /// Changes from exclusive to shared, without another writer in between.
  void unlock_and_lock_shared()
    requires requires(Derived& derived) { derived.downgrade(); }
  {
    this->expect_held(holding::exclusive, "unlock_and_lock_shared()");
    [[maybe_unused]] const typename W::release_scope scope(this->world_of());
    this->self().downgrade();
    this->note_held(holding::shared);
  }

  /// Changes from shared to exclusive if no other rank holds or wants the lock; otherwise the lock stays
  /// shared. Does not wait for any rank: two ranks that each waited for the other to leave would wait for
  /// ever.
  [[nodiscard]] bool try_unlock_shared_and_lock()
    requires requires(Derived& derived) {
      { derived.try_upgrade() } -> std::same_as<bool>;
    }
  {
    this->expect_held(holding::shared, "try_unlock_shared_and_lock()");
    const bool succeeded = this->self().try_upgrade();
    return this->note_attempt(succeeded, succeeded ? holding::exclusive : holding::shared);
  }

 protected:
  using base::base;
  ~shared_lockable() = default;
};

}  // namespace nearfar
