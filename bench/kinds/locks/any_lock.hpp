/// \file
/// A lock whose type is known only at run time.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/kinds/locks/lock_loop.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/level_waits.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar::bench {

/// One rank's object of a lock, type-erased for tests and benchmarks. A timed loop is one virtual function,
/// so that the compiler inlines the lock into it.
template <world W>
class any_lock {
 public:
  any_lock() = default;
  any_lock(const any_lock&) = delete;
  any_lock& operator=(const any_lock&) = delete;
  virtual ~any_lock() noexcept(false) = default;

  virtual void lock() = 0;
  virtual void unlock() = 0;
  [[nodiscard]] virtual bool has_try_lock() const = 0;
  /// Throws `std::logic_error` for a lock without `try_lock`.
  [[nodiscard]] virtual bool try_lock() = 0;
  [[nodiscard]] virtual handover last_handover() const = 0;
  /// Nothing for a lock without two levels.
  [[nodiscard]] virtual std::optional<level_waits> last_waits() const = 0;
  /// One uncontended round of the UPB.
  virtual void lock_and_unlock() = 0;
  virtual lock_counts run_ecsb(W& w, exclusion_check<W>& check, const lock_plan& plan) = 0;
};

/// The ECSB's loop for every lock of the engine. An indirect call takes no virtual time, so one loop serves
/// all locks. Defined in bench/kinds/engine_loops.cpp.
[[nodiscard]] lock_counts lock_loop_in_engine(engine::world& w, any_lock<engine::world>& lock,
                                              exclusion_check<engine::world>& check, const lock_plan& plan);

template <world W, typename Lock>
class any_lock_of final : public any_lock<W> {
 public:
  template <typename... Arguments>
  explicit any_lock_of(W& w, Arguments&&... arguments) : lock_(w, std::forward<Arguments>(arguments)...) {}

  void lock() override { lock_.lock(); }
  void unlock() override { lock_.unlock(); }
  [[nodiscard]] bool has_try_lock() const override {
    return requires(Lock& lock) { lock.try_lock(); };
  }
  [[nodiscard]] bool try_lock() override {
    if constexpr (requires { lock_.try_lock(); })
      return lock_.try_lock();
    else
      throw std::logic_error("this lock has no try_lock");
  }
  [[nodiscard]] handover last_handover() const override { return lock_.last_handover(); }
  [[nodiscard]] std::optional<level_waits> last_waits() const override { return waits_of(lock_); }
  void lock_and_unlock() override {
    lock_.lock();
    lock_.unlock();
  }
  lock_counts run_ecsb(W& w, exclusion_check<W>& check, const lock_plan& plan) override {
    if constexpr (std::same_as<W, engine::world>)
      return lock_loop_in_engine(w, *this, check, plan);
    else
      return lock_loop(w, lock_, check, plan, no_work());
  }

 private:
  Lock lock_;
};

/// Collective, like the construction of the lock.
template <typename Lock, typename W, typename... Arguments>
[[nodiscard]] std::unique_ptr<any_lock<W>> make_any_lock(W& w, Arguments&&... arguments) {
  return std::make_unique<any_lock_of<W, Lock>>(w, std::forward<Arguments>(arguments)...);
}

}  // namespace nearfar::bench
