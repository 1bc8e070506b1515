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

TEST(backoff, takes_spans_of_any_unit) {
  using std::chrono::hours;
  EXPECT_EQ(in_nanoseconds(std::chrono::microseconds(3)), nanoseconds(3000));
  EXPECT_EQ(in_nanoseconds(hours(10'000'000)), nanoseconds::max());
  EXPECT_EQ(in_nanoseconds(hours::max()), nanoseconds::max());
  EXPECT_EQ(in_nanoseconds(hours::min()), nanoseconds::min());
  EXPECT_EQ(in_nanoseconds(std::chrono::duration<double>(0.5)), nanoseconds(500'000'000));
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
