// Selections among channels in the model checker.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nearfar/channel/strategies.hpp"
#include "tests/channel/select_programs.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using met = tested<rendezvous>;
using ring = tested<ring_buffer>;
using lone = tested<spsc_ring>;  // a light fence precedes what tells its sender and its receiver

void expect_sound(const program& what) {
  for (const near_model near : near_models) {
    expect_nothing_found(what, at_random(near, 700 / part));
    expect_nothing_found(what, waking_early(at_random(near, 300 / part)));
  }
}

TEST(checked_selection, receives_what_comes_first) {
  expect_sound(choice_of_messages<ring, ring>(2));
  expect_sound(choice_of_messages<lone, lone>(2));
  expect_sound(choice_of_messages<met, met>(2));
  expect_sound(choice_of_messages<ring, met>(2));
  expect_sound(choices_of_two<ring, ring>(2));
  expect_sound(choices_of_two<met, met>(2));
  expect_sound(choices_of_two<ring, met>(2));
}
TEST(checked_selection, meets_another) {
  // One rank sends what the other receives, through one channel or the other.
  const std::vector<selections> crossed{{{1, get}}, {{get, 2}}};
  expect_sound(choices<met, met>(crossed));
  expect_sound(choices<met, met>({{{1, get}, {1, get}}, {{get, 2}, {get, 2}}}));
  // Both ranks may send and receive in both channels.
  expect_sound(choices<met, met>({{{1, 1}}, {{get, get}}}));
  expect_sound(choices<met, met>({{{1, 2}, {1, 2}}, {{get, get}}, {{get, get}}}));
  expect_sound(choices<ring, met>(crossed));
  expect_sound(choices<ring, ring>(crossed));
  expect_sound(choices<ring, ring>({{{1, 2}, {1, 2}}, {{get, get}}, {{get, get}}}));
}
TEST(checked_selection, loses_nothing_when_somebody_gives_up) {
  const std::vector<selections> crossed{{{1, get}}, {{get, 2}}};
  const std::vector<selections> three{{{1, 2}}, {{get, get}}, {{get, 3}}};
  for (const auto& of_ranks : {crossed, three}) {
    expect_sound(choices<met, met>(of_ranks, true));
    expect_sound(choices<ring, met>(of_ranks, true));
    expect_sound(choices<ring, ring>(of_ranks, true));
  }
}
TEST(checked_selection, is_told_when_a_channel_is_closed) {
  expect_sound(choice_among_closed<ring, ring>());
  expect_sound(choice_among_closed<met, met>());
  expect_sound(choice_among_closed<ring, met>());
  expect_sound(choice_beside_a_receiver<ring, ring>());
  expect_sound(choice_beside_a_receiver<met, met>());
}

/// Whether the checker finds a flaw in all selections of a program.
[[nodiscard]] bool is_found(const program& what) {
  return std::any_of(near_models.begin(), near_models.end(), [&](near_model near) {
    options how = at_random(near, 5000);
    how.most_steps = 2000;
    return check(what, how).found.has_value();
  });
}
template <typename Channel>
[[nodiscard]] program crossed_with(flaw_of_case wrong) {
  return choices<Channel, Channel>({{{1, get}, {1, get}}, {{get, 2}, {get, 2}}}, false, wrong);
}

TEST(broken_selection, is_found) {
  EXPECT_TRUE(is_found(choice_of_messages<ring, ring>(2, flaw_of_case::stays_watched)));
  EXPECT_TRUE(is_found(crossed_with<ring>(flaw_of_case::looks_once)));
  EXPECT_TRUE(is_found(crossed_with<lone>(flaw_of_case::looks_once)));
  EXPECT_TRUE(is_found(crossed_with<met>(flaw_of_case::stays_watched)));
  EXPECT_TRUE(is_found(crossed_with<met>(flaw_of_case::sees_nobody)));
  EXPECT_TRUE(is_found(crossed_with<met>(flaw_of_case::is_not_listed)));
  EXPECT_FALSE(is_found(crossed_with<ring>(flaw_of_case::none)));
  EXPECT_FALSE(is_found(crossed_with<met>(flaw_of_case::none)));
}

}  // namespace
}  // namespace nearfar::checker::testing
