/// \file
/// The program under which locks are checked.
#pragma once

#include <functional>
#include <utility>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker {

/// Each rank makes the lock by `make(world)` (a pointer-like to something with `lock` and `unlock`), then
/// acquires and releases it `acquisitions` times.
template <typename Make>
[[nodiscard]] program lock_program(locality where, int acquisitions, Make make,
                                   bypass_bound bypass = bypass_bound::none, int max_local_passes = 0) {
  return {.where = std::move(where),
          .body =
              [make = std::move(make), acquisitions](engine::world& w, monitor& watch) {
                const auto lock = make(w);
                for (int i = 0; i < acquisitions; ++i) {
                  watch.ask();
                  lock->lock();
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
