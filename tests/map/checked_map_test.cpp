// The distributed map in the model checker: a few operations of two or three ranks, in every order.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/map_calls.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/checker/object_plan.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;
using word = std::uint64_t;
using specification = map_specification;

/// Puts all keys into one bucket, of the first rank or of the last.
struct at_first {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint32_t /*key*/) const { return 0; }
};
struct at_last {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint32_t /*key*/) const { return ~std::uint64_t{0}; }
};
/// A value that makes two words in far memory with its key, so that an entry can be torn.
using value = std::array<std::uint32_t, 1>;

template <typename Policy, typename Hash = at_first,
          nearfar::detail::chain_faults Faults = nearfar::detail::chain_faults{}>
using map_of = distributed_map<world, std::uint32_t, value, Policy, Hash, equal_keys, Faults>;

/// One operation on the table.
using step_of = planned_operation;
step_of insert(word key, word argument) { return {specification::insert, {key, argument}}; }
step_of update(word key, word argument) { return {specification::update, {key, argument}}; }
step_of erase(word key) { return {specification::erase, {key}}; }
step_of find(word key) { return {specification::find, {key}}; }

/// The operations of each rank, after some that rank 0 does before all others.
struct plan {
  std::vector<step_of> before{};
  std::vector<std::vector<step_of>> of_ranks{};
  std::size_t cells = 4;
  std::size_t lease = 0;
  std::string topology = "node:2";
};

template <typename Map>
program program_of(const plan& what) {
  const map_capacity size{.cells = what.cells, .buckets = 1, .cells_at_once = what.lease};
  program result = plan_program(
      topology_spec::parse(what.topology).place(static_cast<int>(what.of_ranks.size())),
      {.before = what.before, .of_ranks = what.of_ranks}, specification::name,
      [size](world& w) { return std::make_unique<Map>(w, size); },
      [](Map& table, const planned_operation& one, monitor&) {
        return call_map<std::uint32_t>(
            table, one, [](word of) { return value{static_cast<std::uint32_t>(of)}; },
            [](const value& of) { return word{of.front()}; });
      });
  result.judge = linearizable_by(specification());
  return result;
}

/// Checks in every mode of delivery: with operations that MPI leaves undefined as faults, and with their
/// consequences.
template <typename Map>
void expect_sound(const plan& what) {
  for (const delivery_mode mode : all_modes)
    for (const conflicts conflict : {conflicts::reported, conflicts::enacted}) {
      options how = by(mode);
      how.conflict = conflict;
      expect_nothing_found(program_of<Map>(what), how);
    }
}

template <typename Policy>
class checked_map : public ::testing::Test {};
using policies = ::testing::Types<map_of<lock_free, at_first>, map_of<lock_free, at_last>,
                                  map_of<lock_per_bucket>, map_of<lock_per_volume<rma_rw_lock>>>;
TYPED_TEST_SUITE(checked_map, policies);

TYPED_TEST(checked_map, has_a_key_once) {
  expect_sound<TypeParam>({.of_ranks = {{insert(1, 10)}, {insert(1, 11)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{erase(1)}, {insert(1, 11)}}});
}
TYPED_TEST(checked_map, finds_what_others_insert_erase_and_update) {
  expect_sound<TypeParam>({.of_ranks = {{find(1)}, {insert(1, 10)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{find(1)}, {erase(1)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{find(1)}, {update(1, 11)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{update(1, 11)}, {find(1)}}});
}
TYPED_TEST(checked_map, erases_and_updates_once) {
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{erase(1)}, {erase(1)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{update(1, 11)}, {erase(1)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10)}, .of_ranks = {{update(1, 11)}, {update(1, 12)}}});
}

// These programs have more operations than a search with locks can explore.
template <typename Map>
class checked_lock_free_map : public ::testing::Test {};
using lock_free_maps = ::testing::Types<map_of<lock_free, at_first>, map_of<lock_free, at_last>>;
TYPED_TEST_SUITE(checked_lock_free_map, lock_free_maps);

TYPED_TEST(checked_lock_free_map, takes_neighbours_out) {
  expect_sound<TypeParam>(
      {.before = {insert(1, 10), insert(2, 20)}, .of_ranks = {{erase(1), find(1)}, {erase(2), find(2)}}});
  expect_sound<TypeParam>({.before = {insert(1, 10), insert(2, 20), insert(3, 30)},
                           .of_ranks = {{erase(1), find(1)}, {erase(2)}}});
}
TYPED_TEST(checked_lock_free_map, finds_behind_what_changes) {
  for (const std::vector<step_of>& change :
       {std::vector{erase(2)}, std::vector{update(2, 21)}, std::vector{erase(1)}, std::vector{insert(3, 30)},
        std::vector{erase(2), erase(1)}, std::vector{erase(1), insert(1, 11)}}) {
    const plan as_first{
        .before = {insert(1, 10), insert(2, 20)}, .of_ranks = {{find(1)}, change}, .lease = 1};
    plan as_second = as_first;
    std::swap(as_second.of_ranks[0], as_second.of_ranks[1]);
    expect_sound<TypeParam>(as_first);
    expect_sound<TypeParam>(as_second);
  }
}
/// A place is used again while another rank is on its way to it.
TYPED_TEST(checked_lock_free_map, uses_places_again_while_others_read_them) {
  for (const std::size_t lease : {0U, 1U})
    for (const step_of& other : {find(1), erase(1), insert(1, 12), update(1, 13)}) {
      const std::vector<step_of> changes{erase(1), insert(2, 20)};
      expect_sound<TypeParam>(
          {.before = {insert(1, 10)}, .of_ranks = {{other}, changes}, .cells = 8, .lease = lease});
      expect_sound<TypeParam>(
          {.before = {insert(1, 10)}, .of_ranks = {changes, {other}}, .cells = 8, .lease = lease});
    }
}
/// The places come from the stack of free cells, as there are no others.
TYPED_TEST(checked_lock_free_map, takes_free_places_once) {
  expect_sound<TypeParam>({.before = {insert(1, 10), insert(2, 20), erase(1), erase(2)},
                           .of_ranks = {{insert(3, 30)}, {insert(4, 40)}},
                           .cells = 2});
  expect_sound<TypeParam>({.before = {insert(1, 10), insert(2, 20), erase(1)},
                           .of_ranks = {{insert(3, 30)}, {erase(2)}},
                           .cells = 2});
}
TYPED_TEST(checked_lock_free_map, is_right_for_three_ranks) {
  const std::string topology = "node:2 core:2";
  expect_sound<TypeParam>({.of_ranks = {{insert(1, 10)}, {insert(1, 11)}, {find(1)}}, .topology = topology});
  expect_sound<TypeParam>({.before = {insert(1, 10)},
                           .of_ranks = {{erase(1)}, {insert(1, 11)}, {find(1)}},
                           .topology = topology});
  expect_sound<TypeParam>({.before = {insert(1, 10)},
                           .of_ranks = {{erase(1)}, {update(1, 11)}, {find(1)}},
                           .topology = topology});
}
/// This holds unless the owner of the memory has to carry out what others do to it.
TYPED_TEST(checked_lock_free_map, lets_no_rank_wait_for_another) {
  for (const plan& what :
       {plan{.of_ranks = {{insert(1, 10)}, {insert(1, 11)}}},
        plan{.before = {insert(1, 10)}, .of_ranks = {{erase(1)}, {insert(1, 11)}}},
        plan{.before = {insert(1, 10)}, .of_ranks = {{update(1, 11)}, {erase(1), find(1)}}}})
    for (const delivery_mode mode : {delivery_mode::eager, delivery_mode::lazy}) {
      program nonblocking = program_of<TypeParam>(what);
      nonblocking.is_nonblocking = true;
      nonblocking.most_steps_between_returns = 200;
      options how = by(mode);
      how.crashes = 1;
      expect_nothing_found(nonblocking, how);
    }
}
TYPED_TEST(checked_lock_free_map, is_right_in_many_orders_of_many_operations) {
  const plan what{.before = {insert(1, 10), insert(2, 20)},
                  .of_ranks = {{erase(1), insert(1, 11), find(2), update(2, 21)},
                               {insert(1, 12), erase(2), erase(1), insert(2, 22)},
                               {find(1), update(1, 13), find(2), find(1)}},
                  .cells = 12,
                  .lease = 1,
                  .topology = "node:2 core:2"};
  for (const delivery_mode mode : all_modes)
    for (const conflicts conflict : {conflicts::reported, conflicts::enacted}) {
      options how = by(mode);
      how.by = search::random;
      how.conflict = conflict;
      how.most_executions = 3000;
      expect_nothing_found(program_of<TypeParam>(what), how);
    }
}

// ---- faulty variants --------------------------------------------------------------------------------------

/// The faults that are found in any mode.
template <nearfar::detail::chain_faults Faults>
std::vector<fault> found_in(const plan& what) {
  std::vector<fault> result;
  for (const delivery_mode mode : all_modes) {
    options how = by(mode);
    how.most_executions = 100'000;
    how.most_steps = 2000;
    const report found = check(program_of<map_of<lock_free, at_first, Faults>>(what), how);
    if (found.found) result.push_back(found.found->what);
  }
  return result;
}

const plan reuse{
    .before = {insert(1, 10)}, .of_ranks = {{erase(1), insert(2, 20)}, {find(1)}}, .cells = 8, .lease = 1};
/// An eraser comes back and finds its key in the place where another key was.
const plan stale{.before = {insert(1, 10)},
                 .of_ranks = {{erase(1), insert(2, 20), find(2)}, {erase(1)}},
                 .cells = 8,
                 .lease = 1};

TEST(broken_map, takes_torn_entries_without_stamps) {
  EXPECT_TRUE(found_in<nearfar::detail::chain_faults{}>(reuse).empty());
  const std::vector<fault> found = found_in<nearfar::detail::chain_faults{.no_stamps = true}>(reuse);
  ASSERT_EQ(found.size(), all_modes.size());
  for (const fault one : found) EXPECT_EQ(one, fault::torn) << name(one);
}
TEST(broken_map, publishes_what_has_not_arrived_without_flush) {
  const plan what{.of_ranks = {{find(1)}, {insert(1, 10)}}};
  const std::vector<fault> found = found_in<nearfar::detail::chain_faults{.no_flush_of_entries = true}>(what);
  ASSERT_EQ(found.size(), all_modes.size());
  for (const fault one : found) EXPECT_TRUE(one == fault::torn || one == fault::origin) << name(one);
}
TEST(broken_map, erases_another_key_without_generations) {
  EXPECT_TRUE(found_in<nearfar::detail::chain_faults{}>(stale).empty());
  const std::vector<fault> found = found_in<nearfar::detail::chain_faults{.no_generations = true}>(stale);
  ASSERT_EQ(found.size(), all_modes.size());
  for (const fault one : found) EXPECT_EQ(one, fault::history) << name(one);
}

/// Programs that are small enough to search each mutant in all of them.
std::vector<plan> plans_against_mutants() {
  const std::vector<step_of> one{insert(1, 10)};
  const std::vector<step_of> two{insert(1, 10), insert(2, 20)};
  return {
      {.of_ranks = {{insert(1, 10), find(1)}, {insert(1, 11), find(1)}}},
      {.of_ranks = {{find(1)}, {insert(1, 10)}}},
      {.of_ranks = {{insert(1, 10)}, {find(1)}}},
      {.before = one, .of_ranks = {{erase(1), insert(2, 20), find(2)}, {find(1)}}, .cells = 8, .lease = 1},
      {.before = one, .of_ranks = {{find(1)}, {erase(1), insert(2, 20), find(2)}}, .cells = 8, .lease = 1},
      {.before = one, .of_ranks = {{erase(1), find(1)}, {insert(1, 11), find(1)}}},
      {.before = one, .of_ranks = {{erase(1)}, {insert(2, 20), erase(1), find(2)}}},
      {.before = one, .of_ranks = {{insert(2, 20), erase(1), find(2)}, {erase(1)}}},
      {.before = one, .of_ranks = {{update(1, 11), find(1)}, {update(1, 12), find(1)}}},
      {.before = one, .of_ranks = {{update(1, 11), find(1)}, {erase(1), find(1)}}},
      {.before = two, .of_ranks = {{erase(1), find(1)}, {erase(2), find(2)}}},
      {.before = {insert(1, 10), insert(2, 20), erase(1), erase(2)},
       .of_ranks = {{insert(3, 30), find(3)}, {insert(4, 40), find(4)}},
       .cells = 2},
      {.before = {insert(1, 10), insert(2, 20), erase(1)},
       .of_ranks = {{insert(3, 30), find(3)}, {erase(2)}},
       .cells = 2},
      {.before = two, .of_ranks = {{erase(2), find(2)}, {find(1), erase(1), find(2)}}, .cells = 2}};
}

/// Whether the checker finds a fault in some program with one operation changed.
template <typename Map>
bool is_caught(const mutation& one) {
  for (const plan& what : plans_against_mutants())
    for (const delivery_mode mode : all_modes) {
      options how = by(mode);
      how.broken = one;
      how.most_executions = 2000;
      how.most_steps = 2000;
      if (check(program_of<Map>(what), how).found) return true;
    }
  return false;
}

TEST(broken_map, is_caught_in_every_operation) {
  using map = map_of<lock_free, at_first>;
  std::set<mutation> all;
  for (const plan& what : plans_against_mutants())
    for (const delivery_mode mode : all_modes)
      for (const mutation& one : mutations_of(program_of<map>(what), by(mode), "nearfar/map/"))
        all.insert(one);
  EXPECT_GT(all.size(), 15U);
  // Postponed means after the next operation. An operation with a flush of its own behind it stays unchanged,
  // as the checker flushes what it has postponed. Such an operation is the link of a cell that a rank keeps.
  std::vector<mutation> missed;
  for (const mutation& one : all)
    if (!is_caught<map>(one)) missed.push_back(one);
  std::string text;
  for (const mutation& one : missed) text += one.text() + "\n";
  ASSERT_EQ(missed.size(), 1U) << text;
  EXPECT_EQ(missed.front().how, change::postponed) << text;
  EXPECT_EQ(missed.front().operation, "accumulate(replace)") << text;
}

}  // namespace
}  // namespace nearfar::checker::testing
