#include "nearfar/core/backoff.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace nearfar::testing {
namespace {

using std::chrono::nanoseconds;

TEST(backoff, doubles_up_to_the_longest) {
  constexpr backoff times{.shortest = nanoseconds{3}, .longest = nanoseconds{10}};
  EXPECT_EQ(times.after(nanoseconds{3}), nanoseconds{6});
  EXPECT_EQ(times.after(nanoseconds{5}), nanoseconds{10});
  EXPECT_EQ(times.after(nanoseconds{6}), nanoseconds{10});
  constexpr backoff endless{.shortest = nanoseconds{3}, .longest = nanoseconds::max()};
  EXPECT_EQ(endless.after(nanoseconds::max()), nanoseconds::max());
  EXPECT_EQ(endless.after(nanoseconds::max() / 2 + nanoseconds{1}), nanoseconds::max());
}

TEST(backoff, ends_no_later_than_time_does) {
  EXPECT_EQ(later(nanoseconds{3}, nanoseconds{4}), nanoseconds{7});
  EXPECT_EQ(later(nanoseconds{3}, nanoseconds::max()), nanoseconds::max());
  EXPECT_EQ(later(nanoseconds{3}, nanoseconds::max() - nanoseconds{3}), nanoseconds::max());
  EXPECT_EQ(later(nanoseconds{3}, nanoseconds::max() - nanoseconds{4}).count(),
            nanoseconds::max().count() - 1);
}

}  // namespace
}  // namespace nearfar::testing
