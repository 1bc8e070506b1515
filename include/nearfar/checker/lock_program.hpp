/// \file
/// The program under which locks are checked.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
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
/// Reached when `try_lock` returns without the lock.
inline constexpr std::string_view failed_attempt = "an attempt returns without the lock";

namespace detail {

/// Whether the rank holds the lock after trying, if it is to try at all.
template <typename Lock>
[[nodiscard]] bool tries(Lock& lock, attempts by, monitor& watch) {
  if (by != attempts::try_first) return false;
  if constexpr (requires { lock.try_lock(); }) {
    const bool is_held = lock.try_lock();
    watch.expect_complete("try_lock()");
    watch.reach(is_held ? acquired_by_attempt : failed_attempt);
    return is_held;
  } else {
    throw misuse("a program tries a lock that has no try_lock");
  }
}

/// The events that some schedule has to reach if this number of ranks acquires so.
[[nodiscard]] inline std::vector<std::string> demands_of(attempts by, int ranks) {
  std::vector<std::string> all;
  if (by == attempts::try_first) all.emplace_back(acquired_by_attempt);
  if (by == attempts::try_first && ranks > 1) all.emplace_back(failed_attempt);
  return all;
}

}  // namespace detail

/// Each rank makes the lock by `make(world)` (a pointer-like to something with `lock` and `unlock`), then
/// acquires and releases it `acquisitions` times. Where they try first, some schedule must have an attempt
/// that acquires, and with two ranks or more some schedule one that fails; a rank throws `misuse` if the lock
/// has no `try_lock`.
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
          .demands = detail::demands_of(by, where.size())};
}

/// The operations of one rank on a reader-writer lock, one after the other, a letter for each:
///  - w, r: acquires and releases as a writer, as a reader;
///  - A, a: tries like W or R, and waits like w or r if that fails;
///  - W, R: the same if the attempt succeeds, by `try_lock` and `try_lock_shared`;
///  - T, t: the same by `try_lock_until` and `try_lock_shared_until`;
///  - d: writes, then reads, by `unlock_and_lock_shared`;
///  - u: reads, then writes if `try_unlock_shared_and_lock` succeeds.
/// A rank throws `misuse` at a letter for what its lock lacks.
using rw_script = std::string;

/// Reached when a rank acquires by what this letter adds to w and r: for A and a the attempt, for u the
/// upgrade.
[[nodiscard]] inline std::string acquired_as(char letter) {
  return std::string("a rank acquires as '") + letter + "' says";
}

/// Reached when the attempt of such a letter returns without the lock.
[[nodiscard]] inline std::string failed_as(char letter) {
  return std::string("an attempt as '") + letter + "' says returns without the lock";
}

namespace detail {

/// One rank's acquisitions of a reader-writer lock, as the monitor is told of them.
template <typename Lock>
class rw_acquisitions {
 public:
  rw_acquisitions(Lock& lock, monitor& watch) : lock_(&lock), watch_(&watch) {}

  void take(char letter) {
    switch (letter) {
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
        // Asks twice: a rank that comes in by an attempt may overtake waiting ranks, but an attempt is no
        // waiting.
        watch_->ask();
        return tries(letter) ? write() : take('w');
      case 'a':
        return tries_shared(letter) ? read() : take('r');
      case 'W':
        if (tries(letter)) write();
        return;
      case 'R':
        if (tries_shared(letter)) read();
        return;
      case 'T':
        if (tries_until(letter)) write();
        return;
      case 't':
        if (tries_shared_until(letter)) read();
        return;
      case 'd':
        return downgrade(letter);
      case 'u':
        return upgrade(letter);
      default:
        throw misuse(std::string("no rank does '") + letter + "' with a reader-writer lock");
    }
  }

 private:
  static constexpr std::chrono::nanoseconds soon{1};

  /// Throws if the lock lacks what a letter asks for. Locks whose type is known at run time only say then
  /// what they can.
  template <bool has_function, typename Ability>
  void expect([[maybe_unused]] Ability ability, char letter) const {
    bool is_there = has_function;
    if constexpr (requires { lock_->can(); }) is_there = is_there && ability(lock_->can());
    if (!is_there)
      throw misuse(std::string("a script asks for '") + letter + "', for which the lock has no function");
  }

  [[nodiscard]] bool tries(char letter) {
    constexpr bool can = requires(Lock& lock) { lock.try_lock(); };
    expect<can>([](const auto& all) { return all.tries; }, letter);
    if constexpr (can) return has_come(lock_->try_lock(), "try_lock()", letter);
    return false;
  }
  [[nodiscard]] bool tries_shared(char letter) {
    constexpr bool can = requires(Lock& lock) { lock.try_lock_shared(); };
    expect<can>([](const auto& all) { return all.tries_shared; }, letter);
    if constexpr (can) return has_come(lock_->try_lock_shared(), "try_lock_shared()", letter);
    return false;
  }
  [[nodiscard]] bool tries_until(char letter) {
    constexpr bool can = requires(Lock& lock) { lock.try_lock_until(soon); };
    expect<can>([](const auto& all) { return all.tries_until; }, letter);
    if constexpr (can) return has_come(lock_->try_lock_until(soon), "try_lock_until()", letter);
    return false;
  }
  [[nodiscard]] bool tries_shared_until(char letter) {
    constexpr bool can = requires(Lock& lock) { lock.try_lock_shared_until(soon); };
    expect<can>([](const auto& all) { return all.tries_shared_until; }, letter);
    if constexpr (can) return has_come(lock_->try_lock_shared_until(soon), "try_lock_shared_until()", letter);
    return false;
  }
  [[nodiscard]] bool has_come(bool came, const char* function, char letter) {
    watch_->expect_complete(function);
    watch_->reach(came ? acquired_as(letter) : failed_as(letter));
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
    end_reading();
  }
  void end_reading() {
    watch_->leave_shared();
    lock_->unlock_shared();
    watch_->expect_complete("unlock_shared()");
  }
  void downgrade(char letter) {
    constexpr bool can = requires(Lock& lock) { lock.unlock_and_lock_shared(); };
    expect<can>([](const auto& all) { return all.downgrades; }, letter);
    if constexpr (can) {
      watch_->ask();
      lock_->lock();
      watch_->enter();
      watch_->leave_to_share();
      lock_->unlock_and_lock_shared();
      watch_->expect_complete("unlock_and_lock_shared()");
      watch_->reach(acquired_as(letter));
      end_reading();
    }
  }
  void upgrade(char letter) {
    constexpr bool can = requires(Lock& lock) { lock.try_unlock_shared_and_lock(); };
    expect<can>([](const auto& all) { return all.upgrades; }, letter);
    if constexpr (can) {
      watch_->ask_shared();
      lock_->lock_shared();
      watch_->enter_shared();
      // Inside all the while: a writer that comes in between is a violation.
      if (has_come(lock_->try_unlock_shared_and_lock(), "try_unlock_shared_and_lock()", letter))
        return write();
      end_reading();
    }
  }

  Lock* lock_;
  monitor* watch_;
};

/// The letters of other ranks that keep the lock from the attempt of this one; none if it attempts nothing.
[[nodiscard]] constexpr std::string_view excludes(char letter) {
  switch (letter) {
    case 'A':
    case 'W':
    case 'T':
      return "wrAaWRTtdu";
    case 'a':
    case 'R':
    case 't':
      return "wAWTd";
    default:
      return "";
  }
}

/// The events that some schedule has to reach if ranks follow these scripts.
[[nodiscard]] inline std::vector<std::string> demands_of(const std::vector<rw_script>& scripts) {
  constexpr std::string_view always{"wr"};  // which no lock can refuse
  const auto reads = [](const rw_script& one) { return one.find_first_of("raRtu") != rw_script::npos; };
  // Two ranks that downgrade cannot both be inside: each is alone first.
  const auto downgrades = [](const rw_script& one) { return one.find('d') != rw_script::npos; };
  const auto readers = std::count_if(scripts.begin(), scripts.end(), reads);
  const bool has_both = std::any_of(scripts.begin(), scripts.end(),
                                    [&](const auto& one) { return downgrades(one) && !reads(one); });
  std::set<std::string> all;
  if (readers + (has_both ? 1 : 0) > 1) all.emplace(shared_by_two);
  for (const rw_script& one : scripts)
    for (const char letter : one) {
      if (always.find(letter) == std::string_view::npos) all.insert(acquired_as(letter));
      const std::string_view excluding = excludes(letter);
      if (std::any_of(scripts.begin(), scripts.end(), [&](const rw_script& other) {
            return &other != &one && other.find_first_of(excluding) != rw_script::npos;
          }))
        all.insert(failed_as(letter));
    }
  return {all.begin(), all.end()};
}

}  // namespace detail

/// Each rank makes the lock by `make(world)` (a pointer-like to a *SharedLockable*), then does what its
/// script says. Some schedule must have two readers inside if two ranks can read at once, and each letter
/// beside w and r must come true in one (`acquired_as`). If another rank can keep the lock from an attempt,
/// the attempt must fail in one (`failed_as`). An upgrade (u) need not fail. Throws `misuse` unless each rank
/// has one script.
template <typename Make>
[[nodiscard]] program rw_program(const locality& where, std::vector<rw_script> scripts, Make make,
                                 const overtaking_limits& overtaking = {}) {
  if (scripts.size() != static_cast<std::size_t>(where.size()))
    throw misuse("there are " + std::to_string(scripts.size()) + " scripts for " +
                 std::to_string(where.size()) + " ranks; each rank needs one");
  std::vector<std::string> demands = detail::demands_of(scripts);
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
