// The distributed map in the world of MPI, under contention and in batches.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/map/any_map.hpp"
#include "tests/map/map_cases.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

template <typename Policy>
class mpi_map : public ::testing::Test {};
using policies = ::testing::Types<lock_free, lock_per_bucket, lock_per_volume<rma_rw_lock>,
                                  lock_per_volume<cohort_rw_lock>>;
TYPED_TEST_SUITE(mpi_map, policies);

template <typename Policy>
void expect_linearizable_in(world& w) {
  const int operations = often(w) < 100 ? 30 : 200;
  for (const std::size_t buckets : {1U, 3U, 64U}) expect_linearizable<Policy>(w, buckets, 1, operations);
}

TYPED_TEST(mpi_map, is_linearizable_for_each_key) { expect_linearizable_in<TypeParam>(common_world()); }

TYPED_TEST(mpi_map, is_linearizable_on_virtual_nodes) {
  if (common_world().size() == 1) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  world w(MPI_COMM_WORLD, chosen);
  expect_linearizable_in<TypeParam>(w);
}

using value = std::array<char, 13>;

/// Of `count` entries of each rank.
void expect_many_at_once(world& w, any_batches<std::uint64_t, value>& table, std::size_t count) {
  std::vector<std::uint64_t> keys;
  std::vector<value> values;
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(i * static_cast<std::uint64_t>(w.size()) + static_cast<std::uint64_t>(w.rank()));
    values.push_back({static_cast<char>(keys.back() % 100), 'x'});
  }
  std::vector<insert_result> inserted(count);
  table.insert(keys, values, inserted);
  for (const insert_result one : inserted) EXPECT_EQ(one, insert_result::inserted);
  w.barrier();
  EXPECT_EQ(table.size(), count * static_cast<std::size_t>(w.size()));
  for (std::uint64_t& key : keys) key = (key + 1) % (count * static_cast<std::uint64_t>(w.size()));
  std::vector<std::optional<value>> found(count);
  table.find(keys, found);
  for (std::size_t i = 0; i < count; ++i) {
    const value expected{static_cast<char>(keys[i] % 100), 'x'};
    EXPECT_EQ(found[i], expected);
  }
  w.barrier();
}

TYPED_TEST(mpi_map, does_many_at_once) {
  world& w = common_world();
  constexpr std::size_t count = 100;
  distributed_map<world, std::uint64_t, value, TypeParam> table(w, {.cells = 2 * count});
  map_by_batches batches(table);
  expect_many_at_once(w, batches, count);
}

}  // namespace
}  // namespace nearfar::testing
