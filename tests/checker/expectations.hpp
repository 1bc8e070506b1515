/// \file Expectations of tests whose programs are right.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "nearfar/checker/checker.hpp"
#include "tests/checker/delivery_modes.hpp"

namespace nearfar::checker::testing {

inline constexpr auto weak = near_model::release_acquire;
inline constexpr auto strong = near_model::sequential;

/// For programs without near cells whose order matters.
[[nodiscard]] inline options by(delivery_mode mode) { return {.mode = mode, .near = near_model::sequential}; }

/// Fails with the shortest schedule to the violation of a search, if it found one.
inline void expect_nothing_found_in(const report& result, const program& what, const options& how,
                                    const std::string& title = {}) {
  if (!result.found) return;
  const violation shortest = minimised(what, how, *result.found);
  ADD_FAILURE() << title << " " << name(shortest.what) << ": " << shortest.text << "\n"
                << steps_text(replay(what, how, shortest.schedule));
}

/// Searches. Fails likewise, or if the search left something out.
inline void expect_nothing_found(const program& what, const options& how, const std::string& title = {}) {
  const report result = check(what, how);
  expect_nothing_found_in(result, what, how, title);
  EXPECT_TRUE(result.found || result.complete || how.by == search::random)
      << title << " " << result.executions << " executions";
}

}  // namespace nearfar::checker::testing
