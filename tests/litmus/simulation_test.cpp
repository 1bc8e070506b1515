// The simulated cluster shows only outcomes that the model checker allows.
#include <gtest/gtest.h>

#include "tests/litmus/oracle.hpp"
#include "tests/simulation/simulated.hpp"

namespace nearfar::litmus {
namespace {

using simulation::executor;

class simulation_litmus : public ::testing::TestWithParam<executor> {};
INSTANTIATE_TEST_SUITE_P(by, simulation_litmus, ::testing::Values(executor::nic, executor::target));

TEST_P(simulation_litmus, has_no_outcome_that_the_checker_forbids) {
  constexpr std::size_t rounds = 64;
  for (const char* nodes : {"node:1", "node:2"})
    for (std::uint32_t seed = 1; seed <= 2; ++seed)
      simulation::run(simulation::testing::plain_machine(GetParam()), simulation::testing::placed(nodes, 4),
                      [&](engine::world& w) {
                        player<engine::world> by(w, seed);
                        for (const form& how : forms())
                          EXPECT_NE(expect_only_allowed(w, by, how, rounds), 0) << how.name;
                      },
                      {.seed = seed});
}

}  // namespace
}  // namespace nearfar::litmus
