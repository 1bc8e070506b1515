// Distributed queues in the world of MPI, under contention.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/spsc_queue.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/mpi/environment.hpp"
#include "tests/queue/queue_cases.hpp"
#include "tests/queue/ticket_queue_at_home.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

template <typename Queue>
class mpi_queue : public ::testing::Test {};
using queues = ::testing::Types<lockfree_queue<world, wide>, ticket_queue<world, wide>,
                                ticket_queue_at_home<world, wide>>;
TYPED_TEST_SUITE(mpi_queue, queues);

template <typename Queue>
void expect_right_in(world& w) {
  const bool is_slow = often(w) < 100;
  expect_linearizable<Queue>(w, {.capacity = 300}, 1, is_slow ? 30 : 100);
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

/// Streams between all pairs, one after the other.
void expect_streams_in(world& w) {
  const std::uint64_t count = often(w) < 100 ? 30 : 1000;
  for (int producer = 0; producer < w.size(); ++producer)
    for (int consumer = 0; consumer < w.size(); ++consumer)
      for (const std::size_t capacity : {1U, 7U, 2000U}) {
        if (producer == consumer && capacity < count) continue;
        expect_stream(w, {.capacity = capacity, .producer = producer, .consumer = consumer}, count);
      }
}
TEST(mpi_spsc_queue, is_right_among_all_ranks) { expect_streams_in(common_world()); }
TEST(mpi_spsc_queue, is_right_on_virtual_nodes) {
  if (common_world().size() == 1) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  world w(MPI_COMM_WORLD, chosen);
  expect_streams_in(w);
}

/// A rank that tries again and again, in near memory, lets in the rank that it waits for.
template <typename Queue>
void expect_attempts_let_others_in(world& w, const typename Queue::parameters& of, int producer,
                                   int consumer) {
  Queue queue(w, of);
  std::int64_t got = 0;
  for (std::int64_t i = 1; i <= 50; ++i) {
    if (w.rank() == producer) {
      while (queue.try_push(wide_of(static_cast<std::uint64_t>(i))) == queue_status::full) continue;
    }
    if (w.rank() == consumer) {
      auto value = queue.try_pop();
      while (!value) value = queue.try_pop();
      got += static_cast<std::int64_t>(value->front()) == i ? 1 : 0;
    }
  }
  w.barrier();
  if (w.rank() == consumer) {
    EXPECT_EQ(got, 50);
  }
}
TEST(mpi_queues, attempts_let_others_in) {
  world& w = common_world();
  const int last = w.size() - 1;
  for (const auto& [from, to] : {std::pair{0, last}, std::pair{last, 0}}) {
    expect_attempts_let_others_in<lockfree_queue<world, wide>>(w, {.capacity = 2}, from, to);
    if (from != to)
      expect_attempts_let_others_in<spsc_queue<world, wide>>(
          w, {.capacity = 2, .producer = from, .consumer = to}, from, to);
  }
}

}  // namespace
}  // namespace nearfar::testing
