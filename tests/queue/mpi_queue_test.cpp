// Distributed queues in the world of MPI, under contention.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/mpi/environment.hpp"
#include "tests/queue/queue_cases.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

template <typename Queue>
class mpi_queue : public ::testing::Test {};
using queues = ::testing::Types<lockfree_queue<world, wide>, ticket_queue<world, wide>>;
TYPED_TEST_SUITE(mpi_queue, queues);

template <typename Queue>
void expect_right_in(world& w) {
  const bool is_slow = often(w) < 100;
  expect_linearizable<Queue>(w, {.capacity = 300}, 1, is_slow ? 30 : 200);
  for (int producers = 1; producers < w.size(); ++producers)
    for (const std::size_t capacity : {2U, 64U})
      for (const std::size_t at_once : {1U, 5U})
        expect_all_arrive<Queue>(w, {.capacity = capacity}, producers, is_slow ? 20 : 300, at_once);
  expect_all_arrive<Queue>(w, {.capacity = 201}, w.size(), is_slow ? 20 : 200);
}

TYPED_TEST(mpi_queue, is_right_among_all_ranks) { expect_right_in<TypeParam>(common_world()); }

TYPED_TEST(mpi_queue, is_right_on_virtual_nodes) {
  if (common_world().size() == 1) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  world w(MPI_COMM_WORLD, chosen);
  expect_right_in<TypeParam>(w);
}

}  // namespace
}  // namespace nearfar::testing
