// SHFL locks with enough ranks for a reordering of the queue: a holder, the first of the queue, one of
// another node, one that is moved, and the last, which stays.
#include <gtest/gtest.h>

#include <memory>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/shfl_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

template <shfl_policy Policy>
program with(int ranks, int acquisitions) {
  return lock_program(
      topology_spec::parse("node:2").place(ranks), acquisitions,
      [](world& w) { return std::make_unique<shfl_lock<world, Policy>>(w); }, bypass_bound::none, 0);
}

template <shfl_policy Policy>
void expect_right() {
  for (const delivery_mode mode : {delivery_mode::lazy, delivery_mode::progress}) {
    options how{.mode = mode, .by = search::random, .most_executions = 2000};
    expect_nothing_found(with<Policy>(5, 1), how);
    expect_nothing_found(with<Policy>(6, 1), how);
    how.most_executions = 500;
    expect_nothing_found(with<Policy>(5, 3), how);
  }
}

TEST(shfl_locks, lose_nobody_whom_they_move) {
  expect_right<shfl_policy{}>();
  expect_right<shfl_policy{.front = shfl_front::test_and_test_and_set}>();
  expect_right<shfl_policy{.front = shfl_front::d_mcs}>();
  expect_right<shfl_policy{.named = sorter_named::at_once}>();
}

}  // namespace
}  // namespace nearfar::checker::testing
