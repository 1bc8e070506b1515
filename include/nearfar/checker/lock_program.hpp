/// \file
/// The program under which locks are checked.
#pragma once

#include <cstdint>
#include <utility>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker {

/// How ranks acquire.
enum class attempts : std::uint8_t {
  lock,       ///< by `lock`
  try_first,  ///< by `try_lock`, and by `lock` if that fails: also what a failed attempt leaves behind is
              ///< used
};

namespace detail {

/// Whether the rank holds the lock after trying, if it is to try at all.
template <typename Lock>
[[nodiscard]] bool tries(Lock& lock, attempts by, monitor& watch) {
  bool is_held = false;
  if constexpr (requires { lock.has_try_lock() && lock.try_lock(); }) {
    if (by == attempts::try_first && lock.has_try_lock()) {
      is_held = lock.try_lock();
      watch.expect_complete("try_lock()");
    }
  }
  return is_held;
}

}  // namespace detail

/// Each rank makes the lock by `make(world)` (a pointer-like to something with `lock` and `unlock`), then
/// acquires and releases it `acquisitions` times. Trying first needs `has_try_lock` and `try_lock`.
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
          .max_local_passes = max_local_passes};
}

}  // namespace nearfar::checker
