/// \file
/// What every exclusive lock of nearfar is to its user: *BasicLockable*, *Lockable* where the algorithm can,
/// with misuse checked and the way the lock came remembered.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

/// How the last acquisition got the lock. All but the first had to wait; contention is their share.
enum class handover : std::uint8_t {
  uncontended,  ///< the lock was free
  local,        ///< directly from a rank of the same node
  remote,       ///< directly from a rank of another node
  waited,       ///< after waiting, but from whom is unknown or nobody in particular
  unknown,      ///< the algorithm cannot tell whether it waited
};

/// The public face of a lock, over `Derived::acquire() -> handover`, `Derived::release()` and, if it exists,
/// `Derived::try_acquire() -> bool`.
///
/// Each rank has its own lock object for the lock that all ranks share; all objects are made collectively,
/// and a rank may destroy its own while others still use theirs, but not while it holds the lock. An object
/// is used by one thread.
template <typename Derived>
class lockable {
 public:
  lockable(const lockable&) = delete;
  lockable& operator=(const lockable&) = delete;

  /// Waits for the lock. Throws `already_held` in checked builds if this rank holds it.
  void lock() {
    expect(!held_,
           [] { throw already_held("lock() by the rank that already holds the lock: it is not recursive"); });
    last_ = self().acquire();
    held_ = true;
  }

  /// Takes the lock if it is free, without waiting for its holder.
  [[nodiscard]] bool try_lock()
    requires requires(Derived& derived) {
      { derived.try_acquire() } -> std::same_as<bool>;
    }
  {
    expect(!held_, [] {
      throw already_held("try_lock() by the rank that already holds the lock: it is not recursive");
    });
    if (!self().try_acquire()) return false;
    last_ = handover::uncontended;
    held_ = true;
    return true;
  }

  /// Gives the lock up; what this rank did before, including completed far operations, is visible to the next
  /// holder. Throws `not_held` in checked builds if this rank does not hold it.
  void unlock() {
    expect(held_, [] {
      throw not_held("unlock() by a rank that does not hold the lock: unlocked twice, or never locked");
    });
    held_ = false;
    self().release();
  }

  /// How the last successful acquisition of this rank got the lock.
  [[nodiscard]] handover last_handover() const noexcept { return last_; }

 protected:
  lockable() = default;
  ~lockable() = default;

  /// To be called first in the destructor, which must be `noexcept(!checked_build)`.
  void expect_not_held() const {
    expect(!held_ || std::uncaught_exceptions() != 0, [] {
      throw destroyed_while_held(
          "a lock was destroyed by the rank that holds it: unlock it first, others may wait for it");
    });
  }

 private:
  template <typename Throw>
  static void expect(bool condition, Throw otherwise) {
    if constexpr (checked_build)
      if (!condition) [[unlikely]]
        otherwise();
  }
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

  handover last_ = handover::uncontended;
  bool held_ = false;
};

}  // namespace nearfar
