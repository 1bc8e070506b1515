// Names of test cases that are instantiated for registered locks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nearfar::test {

/// "dash.published" as GoogleTest allows it.
[[nodiscard]] inline std::string name_of_case(const testing::TestParamInfo<std::string>& named) {
  std::string name = named.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace nearfar::test
