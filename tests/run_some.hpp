// Runs the tests of a program, and fails if the filter leaves none: a renamed test would pass for ever.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

namespace nearfar::testing {

/// Returns the exit status of the program.
[[nodiscard]] inline int run_some() {
  const int status = RUN_ALL_TESTS();
  if (GTEST_FLAG_GET(list_tests) || ::testing::UnitTest::GetInstance()->test_to_run_count() > 0)
    return status;
  std::fprintf(stderr, "no test has a name for the filter '%s'\n", GTEST_FLAG_GET(filter).c_str());
  return 1;
}

}  // namespace nearfar::testing
