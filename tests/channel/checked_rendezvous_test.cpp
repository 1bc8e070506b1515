// The rendezvous in the model checker.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/channel/meeting_programs.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

const strategy& met = strategy_named("rendezvous");

void expect_sound(const program& what, std::uint64_t executions = 1500) {
  for (const near_model near : near_models) {
    expect_nothing_found(what, at_random(near, executions / part * 2 / 3));
    expect_nothing_found(what, waking_early(at_random(near, executions / part / 3)));
  }
}

TEST(checked_rendezvous, brings_both_together) {
  expect_sound(meetings(met, 1, 2));
  expect_sound(meetings(met, 2, 2));
}
TEST(checked_rendezvous, wakes_whoever_waits) {
  for (const int receivers : {1, 2}) {
    expect_sound(streams(met, 0, 1, receivers, 2, true));
    expect_sound(streams(met, 0, 2, receivers, 2, false));
  }
}
TEST(checked_rendezvous, loses_nothing_when_somebody_gives_up) {
  expect_sound(impatience(met, 1, 1));
  expect_sound(impatience(met, 2, 1));
  expect_sound(impatience(met, 1, 2));
}
TEST(checked_rendezvous, loses_nothing_when_it_is_closed) {
  expect_sound(closing(met));
  expect_sound(parting(met));
}
/// A rendezvous does not let a send return before a receiver has come.
TEST(checked_rendezvous, is_not_a_mailbox) {
  const report result =
      check(meetings(strategy_named("mailbox"), 1, 2), at_random(near_model::sequential, 1000));
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->text.find("went on alone") != std::string::npos, true) << result.found->text;
}

}  // namespace
}  // namespace nearfar::checker::testing
