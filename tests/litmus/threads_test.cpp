// The world of threads shows only outcomes that the model checker allows.
#include <gtest/gtest.h>

#include "nearfar/memory/threads/world.hpp"
#include "tests/litmus/oracle.hpp"

namespace nearfar::litmus {
namespace {

class threads_litmus : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, threads_litmus, ::testing::Values(2, 4));

TEST_P(threads_litmus, has_no_outcome_that_the_checker_forbids) {
  constexpr std::size_t rounds = 2'000;
  // Each thread has a core of its own, or accesses do not meet. Long waits yield, since another program may
  // use the core.
  const threads::options chosen{.ratios = {.polls_per_yield = 1'000}, .oversubscribed = true, .bind = true};
  threads::run(
      GetParam(),
      [](threads::world& w) {
        player<threads::world> by(w, 1);
        for (const form& how : forms()) EXPECT_NE(expect_only_allowed(w, by, how, rounds), 0) << how.name;
      },
      chosen);
}

}  // namespace
}  // namespace nearfar::litmus
