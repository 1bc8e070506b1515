// Channels between the ranks of a node, with MPI.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "nearfar/channel/channel.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/channel/channel_cases.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

TEST(mpi_channel, loses_nothing_between_the_ranks_of_a_node) {
  mpi::world& w = common_world();
  if (w.locality().groups(level::node) != 1) {
    EXPECT_THROW((node_channel<mpi::world, std::uint64_t>(w, 1)), misuse);
    return;
  }
  for (const std::size_t capacity : {1U, 8U}) expect_messages_arrive(w, capacity, w.size() - 1, 1000);
}

}  // namespace
}  // namespace nearfar::testing
