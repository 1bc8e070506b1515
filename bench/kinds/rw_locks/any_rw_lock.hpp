/// \file
/// A reader-writer lock whose type is known only at run time.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/kinds/rw_locks/rw_loop.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar::bench {

/// One rank's object of a reader-writer lock, type-erased for tests and benchmarks. A timed loop is one
/// virtual function, so that the compiler inlines the lock into it.
template <world W>
class any_rw_lock {
 public:
  any_rw_lock() = default;
  any_rw_lock(const any_rw_lock&) = delete;
  any_rw_lock& operator=(const any_rw_lock&) = delete;
  virtual ~any_rw_lock() noexcept(false) = default;

  virtual void lock() = 0;
  virtual void unlock() = 0;
  virtual void lock_shared() = 0;
  virtual void unlock_shared() = 0;

  /// Which of these functions the lock has. The others throw `std::logic_error`.
  struct abilities {
    bool tries = false;               ///< `try_lock`
    bool tries_shared = false;        ///< `try_lock_shared`
    bool tries_until = false;         ///< `try_lock_until`
    bool tries_shared_until = false;  ///< `try_lock_shared_until`
    bool downgrades = false;          ///< `unlock_and_lock_shared`
    bool upgrades = false;            ///< `try_unlock_shared_and_lock`
  };
  [[nodiscard]] virtual abilities can() const = 0;
  [[nodiscard]] virtual bool try_lock() = 0;
  [[nodiscard]] virtual bool try_lock_shared() = 0;
  [[nodiscard]] virtual bool try_lock_until(std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual bool try_lock_shared_until(std::chrono::nanoseconds deadline) = 0;
  virtual void unlock_and_lock_shared() = 0;
  [[nodiscard]] virtual bool try_unlock_shared_and_lock() = 0;

  [[nodiscard]] virtual handover last_handover() const = 0;
  /// The limit T_R in effect, for locks that raise it where more ranks share a counter.
  [[nodiscard]] virtual std::optional<std::int64_t> max_readers() const = 0;
  virtual rw_counts run(W& w, rw_check<W>& check, const rw_plan& plan) = 0;
};

/// As `lock_loop_in_engine`.
[[nodiscard]] rw_counts rw_loop_in_engine(engine::world& w, any_rw_lock<engine::world>& lock,
                                          rw_check<engine::world>& check, const rw_plan& plan);

template <world W, typename Lock>
class any_rw_lock_of final : public any_rw_lock<W> {
 public:
  template <typename... Arguments>
  explicit any_rw_lock_of(W& w, Arguments&&... arguments) : lock_(w, std::forward<Arguments>(arguments)...) {}

  void lock() override { lock_.lock(); }
  void unlock() override { lock_.unlock(); }
  void lock_shared() override { lock_.lock_shared(); }
  void unlock_shared() override { lock_.unlock_shared(); }

  [[nodiscard]] typename any_rw_lock<W>::abilities can() const override { return abilities_of_lock; }

  [[nodiscard]] bool try_lock() override {
    if constexpr (abilities_of_lock.tries) return lock_.try_lock();
    refuse();
  }
  [[nodiscard]] bool try_lock_shared() override {
    if constexpr (abilities_of_lock.tries_shared) return lock_.try_lock_shared();
    refuse();
  }
  [[nodiscard]] bool try_lock_until(std::chrono::nanoseconds deadline) override {
    if constexpr (abilities_of_lock.tries_until) return lock_.try_lock_until(deadline);
    refuse();
  }
  [[nodiscard]] bool try_lock_shared_until(std::chrono::nanoseconds deadline) override {
    if constexpr (abilities_of_lock.tries_shared_until) return lock_.try_lock_shared_until(deadline);
    refuse();
  }
  void unlock_and_lock_shared() override {
    if constexpr (abilities_of_lock.downgrades) return lock_.unlock_and_lock_shared();
    refuse();
  }
  [[nodiscard]] bool try_unlock_shared_and_lock() override {
    if constexpr (abilities_of_lock.upgrades) return lock_.try_unlock_shared_and_lock();
    refuse();
  }

  [[nodiscard]] handover last_handover() const override { return lock_.last_handover(); }
  [[nodiscard]] std::optional<std::int64_t> max_readers() const override {
    if constexpr (requires { lock_.max_readers(); })
      return static_cast<std::int64_t>(lock_.max_readers());
    else
      return std::nullopt;
  }
  rw_counts run(W& w, rw_check<W>& check, const rw_plan& plan) override {
    if constexpr (std::same_as<W, engine::world>)
      return rw_loop_in_engine(w, *this, check, plan);
    else
      return rw_loop(w, lock_, check, plan);
  }

 private:
  using abilities = typename any_rw_lock<W>::abilities;
  static constexpr abilities abilities_of_lock = [](Lock* lock = nullptr) {
    constexpr std::chrono::nanoseconds never{};
    abilities of;
    if constexpr (requires { lock->try_lock(); }) of.tries = true;
    if constexpr (requires { lock->try_lock_shared(); }) of.tries_shared = true;
    if constexpr (requires { lock->try_lock_until(never); }) of.tries_until = true;
    if constexpr (requires { lock->try_lock_shared_until(never); }) of.tries_shared_until = true;
    if constexpr (requires { lock->unlock_and_lock_shared(); }) of.downgrades = true;
    if constexpr (requires { lock->try_unlock_shared_and_lock(); }) of.upgrades = true;
    return of;
  }();

  [[noreturn]] static void refuse() { throw std::logic_error("this lock has no such operation"); }

  Lock lock_;
};

/// Collective, like the construction of the lock.
template <typename Lock, typename W, typename... Arguments>
[[nodiscard]] std::unique_ptr<any_rw_lock<W>> make_any_rw_lock(W& w, Arguments&&... arguments) {
  return std::make_unique<any_rw_lock_of<W, Lock>>(w, std::forward<Arguments>(arguments)...);
}

}  // namespace nearfar::bench
