// The order of transform's arguments in version 0.1. Its use warns; from here on the warning is off, in all
// headers too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/core/error.hpp"

namespace {

TEST(transform_with_its_output_first, does_what_it_did) {
  const std::vector<int> a{1, 2, 3};
  const std::vector<int> b{10, 20, 30, 40};
  nearfar::segmented_array<int> out(2, 3);
  const auto holds = [&](const std::vector<int>& expected) {
    return std::vector(out.begin(), out.end()) == expected;
  };
  nearfar::transform(out, std::negate<>{}, a);
  EXPECT_TRUE(holds({-1, -2, -3}));
  nearfar::transform(nearfar::team(2), out, std::plus<>{}, a, b, nearfar::store_kind::streaming);
  EXPECT_TRUE(holds({11, 22, 33}));
  nearfar::transform(out, std::minus<>{}, b, a, nearfar::store_kind::regular);
  EXPECT_TRUE(holds({9, 18, 27}));
  const auto negative = [](int x) { return -x; };
  nearfar::transform(out, negative, std::vector<int>{4, 5, 6});
  EXPECT_TRUE(holds({-4, -5, -6}));
  EXPECT_THROW(nearfar::transform(out, negative, std::vector<int>(2)), nearfar::misuse);
}

}  // namespace
