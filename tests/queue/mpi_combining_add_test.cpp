// Combined additions in the world of MPI.
#include <gtest/gtest.h>
#include <mpi.h>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/mpi/environment.hpp"
#include "tests/queue/combining_add_cases.hpp"

namespace nearfar::testing {
namespace {

void expect_right_in(mpi::world& w) {
  const bool is_slow = often(w) < 100;
  expect_additions(w, is_slow ? 100 : 5000);
  expect_linearizable_additions(w, is_slow ? 20 : 200);
}

TEST(mpi_combining_add, is_right_among_all_ranks) { expect_right_in(common_world()); }

TEST(mpi_combining_add, is_right_on_virtual_nodes) {
  if (common_world().size() == 1) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  mpi::world w(MPI_COMM_WORLD, chosen);
  expect_right_in(w);
}

}  // namespace
}  // namespace nearfar::testing
