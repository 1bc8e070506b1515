/// \file
/// The program under which locks are checked.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker {

/// How ranks acquire.
enum class attempts : std::uint8_t {
  lock,       ///< by `lock`
  try_first,  ///< by `try_lock`, and by `lock` if that fails: also what a failed attempt leaves behind is
              ///< used
};

/// Reached when a rank acquires by `try_lock`.
inline constexpr std::string_view acquired_by_attempt = "an attempt acquires the lock";

namespace detail {

/// Whether the rank holds the lock after trying, if it is to try at all.
template <typename Lock>
[[nodiscard]] bool tries(Lock& lock, attempts by, monitor& watch) {
  bool is_held = false;
  if constexpr (requires { lock.try_lock(); }) {
    if (by == attempts::try_first) {
      is_held = lock.try_lock();
      watch.expect_complete("try_lock()");
      if (is_held) watch.reach(acquired_by_attempt);
    }
  }
  return is_held;
}

}  // namespace detail

/// Each rank makes the lock by `make(world)` (a pointer-like to something with `lock` and `unlock`), then
/// acquires and releases it `acquisitions` times. Where they try first some schedule must have an attempt
/// that acquires: none has if the lock has no `try_lock`.
template <typename Make>
[[nodiscard]] program lock_program(const locality& where, int acquisitions, Make make,
                                   bypass_bound bypass = bypass_bound::none, int max_local_passes = 0,
                                   attempts by = attempts::lock) {
  return {.where = where,
          .body =
              [make = std::move(make), acquisitions, by](engine::world& w, monitor& watch) {
                const auto lock = make(w);
                for (int i = 0; i < acquisitions; ++i) {
                  watch.ask();
                  if (!detail::tries(*lock, by, watch)) lock->lock();
                  watch.expect_complete("lock()");
                  watch.enter();
                  watch.leave();
                  lock->unlock();
                  watch.expect_complete("unlock()");
                }
              },
          .bypass = bypass,
          .max_local_passes = max_local_passes,
          .demands = by == attempts::try_first ? std::vector{std::string(acquired_by_attempt)}
                                               : std::vector<std::string>{}};
}

/// What one rank does with a reader-writer lock, a letter for each, one after the other:
///  - w, r: acquires and releases as a writer, as a reader;
///  - A, a: the same by an attempt, as W and R, and by waiting if that fails or there is none;
///  - W, R: the same if the attempt succeeds, by `try_lock` and `try_lock_shared`;
///  - T, t: the same by `try_lock_until` and `try_lock_shared_until`;
///  - d: writes, then reads, by `unlock_and_lock_shared`;
///  - u: reads, then writes if `try_unlock_shared_and_lock` succeeds.
/// Letters for what a lock does not have do nothing.
using rw_script = std::string;

namespace detail {

/// One rank's acquisitions of a reader-writer lock, as the monitor is told of them.
template <typename Lock>
class rw_acquisitions {
 public:
  rw_acquisitions(Lock& lock, monitor& watch) : lock_(&lock), watch_(&watch) {}

  void take(char what) {
    constexpr std::chrono::nanoseconds soon{1};
    switch (what) {
      case 'w':
        watch_->ask();
        lock_->lock();
        watch_->expect_complete("lock()");
        return write();
      case 'r':
        watch_->ask_shared();
        lock_->lock_shared();
        watch_->expect_complete("lock_shared()");
        return read();
      case 'A':
        // Asks twice: who comes in by an attempt may overtake who waits, but an attempt is no waiting.
        watch_->ask();
        return tries() ? write() : take('w');
      case 'a':
        return tries_shared() ? read() : take('r');
      case 'W':
        if (tries()) write();
        return;
      case 'R':
        if (tries_shared()) read();
        return;
      case 'T':
        if constexpr (requires { lock_->try_lock_until(soon); })
          if (can([](const auto& all) { return all.tries_until; }) &&
              has_come(lock_->try_lock_until(soon), "try_lock_until()"))
            write();
        return;
      case 't':
        if constexpr (requires { lock_->try_lock_shared_until(soon); })
          if (can([](const auto& all) { return all.tries_shared_until; }) &&
              has_come(lock_->try_lock_shared_until(soon), "try_lock_shared_until()"))
            read();
        return;
      case 'd':
        return downgrade();
      case 'u':
        return upgrade();
      default:
        throw misuse(std::string("no rank does '") + what + "' with a reader-writer lock");
    }
  }

 private:
  /// Locks whose type is known at run time only say then what they can.
  template <typename Ability>
  [[nodiscard]] bool can(Ability ability) const {
    if constexpr (requires { lock_->can(); }) return ability(lock_->can());
    return true;
  }
  [[nodiscard]] bool tries() {
    if constexpr (requires { lock_->try_lock(); })
      return can([](const auto& all) { return all.tries; }) && has_come(lock_->try_lock(), "try_lock()");
    return false;
  }
  [[nodiscard]] bool tries_shared() {
    if constexpr (requires { lock_->try_lock_shared(); })
      return can([](const auto& all) { return all.tries_shared; }) &&
             has_come(lock_->try_lock_shared(), "try_lock_shared()");
    return false;
  }
  [[nodiscard]] bool has_come(bool came, const char* function) {
    watch_->expect_complete(function);
    if (came) watch_->reach(acquired_by_attempt);
    return came;
  }
  void write() {
    watch_->enter();
    watch_->leave();
    lock_->unlock();
    watch_->expect_complete("unlock()");
  }
  void read() {
    watch_->enter_shared();
    watch_->leave_shared();
    lock_->unlock_shared();
    watch_->expect_complete("unlock_shared()");
  }
  void downgrade() {
    if constexpr (requires { lock_->unlock_and_lock_shared(); }) {
      if (!can([](const auto& all) { return all.downgrades; })) return;
      lock_->lock();
      watch_->enter();
      watch_->leave();
      lock_->unlock_and_lock_shared();
      watch_->expect_complete("unlock_and_lock_shared()");
      read();
    }
  }
  void upgrade() {
    if constexpr (requires { lock_->try_unlock_shared_and_lock(); }) {
      if (!can([](const auto& all) { return all.upgrades; })) return;
      lock_->lock_shared();
      watch_->enter_shared();
      watch_->leave_shared();
      const bool is_alone = lock_->try_unlock_shared_and_lock();
      watch_->expect_complete("try_unlock_shared_and_lock()");
      if (is_alone) return write();
      lock_->unlock_shared();
      watch_->expect_complete("unlock_shared()");
    }
  }

  Lock* lock_;
  monitor* watch_;
};

}  // namespace detail

/// Each rank makes the lock by `make(world)` (a pointer-like to a *SharedLockable*), then does what its
/// script says. Some schedule must have two readers inside if two ranks read, and an attempt that acquires if
/// a script has an A or an a.
template <typename Make>
[[nodiscard]] program rw_program(const locality& where, std::vector<rw_script> scripts, Make make,
                                 const overtaking_limits& overtaking = {}) {
  const auto reads = [](const rw_script& one) { return one.find_first_of("ra") != rw_script::npos; };
  const auto tries = [](const rw_script& one) { return one.find_first_of("Aa") != rw_script::npos; };
  std::vector<std::string> demands;
  if (std::count_if(scripts.begin(), scripts.end(), reads) > 1) demands.emplace_back(shared_by_two);
  if (std::any_of(scripts.begin(), scripts.end(), tries)) demands.emplace_back(acquired_by_attempt);
  return {.where = where,
          .body =
              [make = std::move(make), scripts = std::move(scripts)](engine::world& w, monitor& watch) {
                const auto lock = make(w);
                detail::rw_acquisitions acquisitions(*lock, watch);
                for (const char what : scripts[static_cast<std::size_t>(w.rank())]) acquisitions.take(what);
              },
          .bytes = std::size_t{16} << 10U,
          .overtaking = overtaking,
          .demands = std::move(demands)};
}

}  // namespace nearfar::checker
