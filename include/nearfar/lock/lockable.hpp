/// \file
/// What every exclusive lock of nearfar is to its user: *BasicLockable*, *Lockable* where the algorithm can,
/// with misuse checked and the way the lock came remembered.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"

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
template <typename Derived, world W>
class lockable {
 public:
  lockable(const lockable&) = delete;
  lockable& operator=(const lockable&) = delete;

  /// Waits for the lock. Throws `already_held` in checked builds if this rank holds it.
  void lock() {
    if (checked_build && held_) [[unlikely]]
      detail::throw_already_held("lock()");
    last_ = self().acquire();
    held_ = true;
  }

  /// Takes the lock if it is free, without waiting for its holder. A far operation at the home rank may be
  /// part of it all the same, which on transports without hardware for that waits until the home enters MPI,
  /// however long it computes.
  ///
  /// A failed attempt drives progress, and yields where processors are short: the rank that is waited for may
  /// need either from a caller that tries again and again.
  [[nodiscard]] bool try_lock()
    requires requires(Derived& derived) {
      { derived.try_acquire() } -> std::same_as<bool>;
    }
  {
    if (checked_build && held_) [[unlikely]]
      detail::throw_already_held("try_lock()");
    if (!self().try_acquire()) {
      world_->rest();
      return false;
    }
    last_ = handover::uncontended;
    held_ = true;
    return true;
  }

  /// Gives the lock up; what this rank did before, including completed far operations, is visible to the next
  /// holder. Throws `not_held` in checked builds if this rank does not hold it.
  void unlock() {
    if (checked_build && !held_) [[unlikely]]
      detail::throw_not_held();
    held_ = false;
    [[maybe_unused]] const typename W::release_scope scope(*world_);
    self().release();
  }

  /// How the last successful acquisition of this rank got the lock.
  [[nodiscard]] handover last_handover() const noexcept { return last_; }

 protected:
  /// Collective. `arguments` are those of the lock's own constructor: ranks that give different ones, or make
  /// locks of different types, throw `collective_mismatch`, every one of them.
  lockable(W& w, std::initializer_list<named_value> arguments) : world_(&w) {
    expect_alike<Derived>(w, arguments);
  }
  ~lockable() = default;

  /// To be called first in the destructor, which must be `noexcept(!checked_build)`.
  void expect_not_held() const {
    if (checked_build && held_ && std::uncaught_exceptions() == 0) [[unlikely]]
      detail::throw_destroyed_while_held();
  }

 private:
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

  W* world_;
  handover last_ = handover::uncontended;
  bool held_ = false;
};

}  // namespace nearfar
