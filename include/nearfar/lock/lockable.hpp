/// \file
/// The interface that every lock of nearfar has: *BasicLockable*, and *Lockable* where the algorithm allows
/// it. Checks misuse and remembers how the rank got the lock. `shared_lockable.hpp` adds what readers need.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <utility>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/lifetime.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// How the last acquisition got the lock. In all cases but the first the rank had to wait; contention is
/// their share.
enum class handover : std::uint8_t {
  uncontended,  ///< the lock was free
  local,        ///< directly from a rank of the same node, perhaps this one in a lock that allows overtaking
  remote,       ///< directly from a rank of another node
  waited,       ///< after waiting, but from an unknown rank or from no particular one
  unknown,      ///< the algorithm cannot tell whether it waited
};

/// The public interface of a lock, built on `Derived::acquire() -> handover`, `Derived::release()` and, if
/// they exist, `Derived::try_acquire() -> bool` and `Derived::try_acquire_until(deadline) ->
/// optional<handover>`.
///
/// Each rank has its own lock object for the lock that all ranks share. All objects are made collectively. A
/// rank may destroy its own while others still use theirs, but not while it holds the lock. One thread may
/// use an object.
template <typename Derived, near_world W>
class lockable {
 public:
  lockable(const lockable&) = delete;
  lockable& operator=(const lockable&) = delete;

  /// Waits for the lock. Throws `already_held` in checked builds if this rank holds it. In the world of
  /// threads every function throws `destroyed_while_in_use` in checked builds after the world's end.
  void lock() {
    expect_nothing_held("lock()");
    last_ = self().acquire();
    held_ = holding::exclusive;
  }

  /// Takes the lock if it is free, without waiting for its holder. The attempt may still include a far
  /// operation, at the home rank, or at a rank of the node that keeps the lock (biased_queue.hpp). On
  /// transports without hardware support that operation waits until the target rank enters MPI, however long
  /// that rank computes.
  ///
  /// A failed attempt drives progress, and yields if more ranks run than processors are allowed: the awaited
  /// rank may need either from a caller that tries again and again.
  [[nodiscard]] bool try_lock()
    requires requires(Derived& derived) {
      { derived.try_acquire() } -> std::same_as<bool>;
    }
  {
    expect_nothing_held("try_lock()");
    return note_attempt(self().try_acquire(), holding::exclusive);
  }

  /// Like `lock`, but gives up at `deadline`, a time of the world's clock. Only for locks whose queue a rank
  /// can leave.
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

  /// Releases the lock. Everything that this rank did before is visible to the next holder, including
  /// completed far operations. Throws `not_held` in checked builds if this rank does not hold the lock.
  void unlock() {
    expect_held(holding::exclusive, "unlock()");
    held_ = holding::nothing;
    [[maybe_unused]] const typename W::release_scope scope(*world_);
    self().release();
  }

  /// How this rank's last successful acquisition got the lock.
  [[nodiscard]] handover last_handover() const noexcept { return last_; }

 protected:
  /// Collective. `arguments` are those of the lock's own constructor. If ranks give different ones, or make
  /// locks of different types, all of them throw `collective_mismatch`.
  lockable(W& w, std::initializer_list<named_value> arguments) : world_(&w), life_(w) {
    expect_alike<Derived>(w, arguments);
  }
  ~lockable() = default;

  /// Must be called first in the destructor, which must be `noexcept(!checked_build)`.
  void expect_not_held() const {
    // The end of the world has been reported already.
    if (checked_build && held_ != holding::nothing && !life_.has_ended() && std::uncaught_exceptions() == 0)
        [[unlikely]]
      detail::throw_destroyed_while_held();
  }

  // For derived interfaces with other ways of holding a lock.

  enum class holding : std::uint8_t { nothing, exclusive, shared };

  void expect_nothing_held(const char* call) const {
    life_.expect_world();
    if (checked_build && held_ != holding::nothing) [[unlikely]]
      detail::throw_already_held(call);
  }
  void expect_held(holding what, const char* call) const {
    life_.expect_world();
    if (checked_build && held_ != what) [[unlikely]]
      detail::throw_not_held(call, held_ != holding::nothing);
  }
  void note_held(holding what) noexcept { held_ = what; }
  void note_handover(handover how) noexcept { last_ = how; }
  /// Notes the outcome of an attempt. After a failed one, lets other ranks run.
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
  [[no_unique_address]] detail::life_of<W> life_;
  handover last_ = handover::uncontended;
  holding held_ = holding::nothing;
};

}  // namespace nearfar
