// Arrays, objects, plain cells and pools of the world of MPI.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/pool.hpp"
#include "tests/core/array_cases.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

TEST(arrays, operations_reach_the_element) {
  for (const std::size_t count : {1U, 2U, 17U}) expect_operations_reach_the_element(common_world(), count);
}

TEST(arrays, near_elements_are_apart) { expect_near_elements_are_apart(common_world(), 17); }

TEST(arrays, have_no_element_beyond_the_last) { expect_no_element_beyond_the_last(common_world()); }

TEST(arrays, of_a_bad_count_are_refused) {
  expect_bad_counts_are_refused(common_world(), "nearfar::mpi::options::far_bytes",
                                "nearfar::mpi::options::near_bytes");
}

TEST(arrays, give_their_memory_back) {
  expect_memory_of_arrays_is_used_again(common_world(), mpi::options{}.far_bytes);
}

TEST(arrays, reach_virtual_nodes) {
  if (common_world().size() == 1) return;  // one rank alone cannot test this
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  world w(MPI_COMM_WORLD, chosen);
  expect_operations_reach_the_element(w, 2);
  expect_objects_arrive_whole<pattern<std::uint64_t, 40>>(w);
  expect_bytes_arrive_alone(w);
}

TEST(bytes, arrive_alone) { expect_bytes_arrive_alone(common_world()); }

TEST(objects, of_all_sizes_arrive_whole) { expect_objects_of_all_sizes_arrive_whole(common_world()); }

TEST(objects, are_read_while_they_are_written) {
  expect_sequence_lock_holds(common_world(), 5 * often(common_world()));
}

TEST(plain_cells, are_handed_over_by_an_atomic) {
  expect_plain_cells_are_handed_over(common_world(), static_cast<std::uint64_t>(often(common_world())));
}

TEST(pools, lend_elements_of_both_memories) {
  world& w = common_world();
  const auto lends = [&w](const auto& array) {
    pool lending(w, array);
    const auto first = lending.take();
    lending.give_back(first.value());
    return lending.take() == first && lending.take().has_value() && !lending.take().has_value();
  };
  EXPECT_TRUE(lends(world::far_array<three_words>(w, 2)));
  EXPECT_TRUE(lends(world::near_array<two_cells<world>>(w, 2)));
  w.barrier();
}

}  // namespace
}  // namespace nearfar::testing
