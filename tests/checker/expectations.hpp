/// \file Expectations of tests whose programs are right.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker::testing {

inline constexpr std::array all_modes{delivery_mode::eager, delivery_mode::lazy, delivery_mode::progress};

/// For programs without near cells whose order matters.
[[nodiscard]] inline options by(delivery_mode mode) { return {.mode = mode, .near = near_model::sequential}; }

/// Fails with the shortest schedule to the violation found, or if the search left something out.
inline void expect_nothing_found(const program& what, const options& how, const std::string& title = {}) {
  const report result = check(what, how);
  if (result.found) {
    const violation shortest = minimised(what, how, *result.found);
    ADD_FAILURE() << title << " " << name(shortest.what) << ": " << shortest.text << "\n"
                  << steps_text(replay(what, how, shortest.schedule));
  } else {
    EXPECT_TRUE(result.complete || how.by == search::random)
        << title << " " << result.executions << " executions";
  }
}

}  // namespace nearfar::checker::testing
