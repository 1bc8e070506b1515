/// \file
/// What every lock of nearfar is to its user: *BasicLockable*, *Lockable* where the algorithm can, with
/// misuse checked and the way the lock came remembered. What readers share besides is in
/// `shared_lockable.hpp`.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// How the last acquisition got the lock. All but the first had to wait; contention is their share.
enum class handover : std::uint8_t {
  uncontended,  ///< the lock was free
  local,        ///< directly from a rank of the same node; of locks that can be overtaken, perhaps this one
  remote,       ///< directly from a rank of another node
  waited,       ///< after waiting, but from whom is unknown or nobody in particular
  unknown,      ///< the algorithm cannot tell whether it waited
};

/// The public face of a lock, over `Derived::acquire() -> handover`, `Derived::release()` and, if it exists,
/// `Derived::try_acquire() -> bool` and `Derived::try_acquire_until(deadline) -> optional<handover>`.
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
    expect_nothing_held("lock()");
    last_ = self().acquire();
    held_ = holding::exclusive;
  }

  /// Takes the lock if it is free, without waiting for its holder. A far operation may be part of it all the
  /// same, at the home rank, or, of a lock that the last holder's node keeps (biased_queue.hpp), at a rank of
  /// that node. On transports without hardware for that it waits until that rank enters MPI, however long it
  /// computes.
  ///
  /// A failed attempt drives progress, and yields where processors are short: the rank that is waited for may
  /// need either from a caller that tries again and again.
  [[nodiscard]] bool try_lock()
    requires requires(Derived& derived) {
      { derived.try_acquire() } -> std::same_as<bool>;
    }
  {
    expect_nothing_held("try_lock()");
    return note_attempt(self().try_acquire(), holding::exclusive);
  }

  /// As `lock`, but gives up at a time of the world's clock. Only of locks whose queue can be left.
  [[nodiscard]] bool try_lock_until(std::chrono::nanoseconds deadline)
    requires requires(Derived& derived) {
      { derived.try_acquire_until(deadline) } -> std::same_as<std::optional<handover>>;
    }
  {
    expect_nothing_held("try_lock_until()");
    return note_timed(self().try_acquire_until(deadline), holding::exclusive);
  }
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> span)
    requires requires(Derived& derived) { derived.try_acquire_until(std::chrono::nanoseconds()); }
  {
    return try_lock_until(later(world_->now(), in_nanoseconds(span)));
  }

  /// Gives the lock up; what this rank did before, including completed far operations, is visible to the next
  /// holder. Throws `not_held` in checked builds if this rank does not hold it.
  void unlock() {
    expect_held(holding::exclusive, "unlock()");
    held_ = holding::nothing;
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
    if (checked_build && held_ != holding::nothing && std::uncaught_exceptions() == 0) [[unlikely]]
      detail::throw_destroyed_while_held();
  }

  // For what else can be held.

  enum class holding : std::uint8_t { nothing, exclusive, shared };

  void expect_nothing_held(const char* call) const {
    if (checked_build && held_ != holding::nothing) [[unlikely]]
      detail::throw_already_held(call);
  }
  void expect_held(holding what, const char* call) const {
    if (checked_build && held_ != what) [[unlikely]]
      detail::throw_not_held(call, held_ != holding::nothing);
  }
  void note_held(holding what) noexcept { held_ = what; }
  void note_handover(handover how) noexcept { last_ = how; }
  /// The outcome of an attempt; after one in vain others get to run.
  [[nodiscard]] bool note_attempt(bool succeeded, holding what) {
    if (!succeeded) {
      world_->rest();
      return false;
    }
    last_ = handover::uncontended;
    held_ = what;
    return true;
  }
  [[nodiscard]] bool note_timed(std::optional<handover> how, holding what) noexcept {
    if (!how) return false;
    last_ = *how;
    held_ = what;
    return true;
  }
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
  [[nodiscard]] W& world_of() const noexcept { return *world_; }

 private:
  W* world_;
  handover last_ = handover::uncontended;
  holding held_ = holding::nothing;
};

}  // namespace nearfar
