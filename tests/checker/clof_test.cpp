// Compositions of locks where all of their levels are in use: two nodes, and domains of several ranks inside
// them.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/clof_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"
#include "nearfar/lock/ticket_lock.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/mutants.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

using biased = biased_queue<world>;
using dash = dash_lock<world, dash_policy{.queued = participant::node}>;
using mcs = mcs_lock<world>;
using ticket = near_ticket_lock<world, ticket_waiting::at_ticket, ticket_memory::served>;
using tts = near_tts_lock<world, near_tts_policy{.known = waiters_by::flag}>;

/// A rank in that domain of that node.
place in(int node, int domain) {
  place result;
  result.fill(unknown_id);
  result[index(level::node)] = node;
  result[index(level::package)] = 0;
  result[index(level::numa)] = domain;
  return result;
}

/// Two ranks of a domain, and one of another domain of the node.
locality one_node() { return locality({in(0, 0), in(0, 0), in(0, 1)}); }
/// Two ranks of a domain, and one of another node.
locality two_nodes() { return locality({in(0, 0), in(0, 0), in(1, 0)}); }
/// Both together.
locality all_levels_used() { return locality({in(0, 0), in(0, 0), in(0, 1), in(1, 0)}); }

/// Limits of passes.
struct limits {
  int node = 1;
  int domain = 1;
};

template <typename Lock>
program with(const locality& where, int acquisitions, attempts by = attempts::lock, limits of = {},
             int promised = 1) {
  return lock_program(
      where, acquisitions,
      [of](world& w) {
        return std::make_unique<Lock>(w, 0, of.node,
                                      lock_tree({{.at = level::numa, .max_passes = of.domain}}));
      },
      bypass_bound::local_passes, promised, by);
}

template <typename Lock>
class compositions : public ::testing::Test {};
using all_compositions =
    ::testing::Types<clof_lock<biased, mcs, mcs>, clof_lock<dash, ticket, ticket>,
                     clof_lock<dash, hemlock<world>, hemlock<world>>, clof_lock<dash, mcs, tts>,
                     clof_lock<dash, tts, mcs>, clof_lock<ticket_lock<world>, hemlock<world>, ticket>>;
TYPED_TEST_SUITE(compositions, all_compositions);

TYPED_TEST(compositions, are_right_in_all_orders) {
  for (const delivery_mode mode : all_modes)
    for (const locality& where : {one_node(), two_nodes()})
      expect_nothing_found(with<TypeParam>(where, 1), {.mode = mode});
}

TYPED_TEST(compositions, are_right_in_all_orders_with_all_levels) {
  expect_nothing_found(with<TypeParam>(all_levels_used(), 1), {});
}

TYPED_TEST(compositions, are_right_in_many_orders) {
  // Two domains of two ranks on each of two nodes.
  const locality large({in(0, 0), in(0, 0), in(0, 1), in(0, 1), in(1, 0), in(1, 0), in(1, 1), in(1, 1)});
  for (const delivery_mode mode : all_modes) {
    const options how{.mode = mode, .by = search::random, .most_executions = 500};
    expect_nothing_found(with<TypeParam>(all_levels_used(), 3), how);
    expect_nothing_found(with<TypeParam>(large, 2), how);
    if constexpr (requires(TypeParam& lock) { lock.try_lock(); })
      expect_nothing_found(with<TypeParam>(all_levels_used(), 3, attempts::try_first), how);
  }
}

/// Domains may pass on three times, and so may the node in all.
TEST(limits_of_compositions, do_not_multiply) {
  using lock = clof_lock<dash, mcs, mcs>;
  const locality where({in(0, 0), in(0, 0), in(0, 1), in(0, 1), in(1, 0)});
  const options how{.by = search::random, .most_executions = 5000};
  expect_nothing_found(with<lock>(where, 4, attempts::lock, {.node = 3, .domain = 3}, 3), how);
  const report wrong = check(with<lock>(where, 4, attempts::lock, {.node = 4, .domain = 3}, 3), how);
  ASSERT_TRUE(wrong.found.has_value());
  EXPECT_EQ(wrong.found->what, fault::bypass);
}

/// A lock whose place between elements belongs to the rank that acquires it.
class of_ranks : public mcs {
 public:
  of_ranks(world& w, const near_seat& seat) : mcs(w, {.owner = seat.owner, .participant = w.rank()}) {}
};

TEST(places_in_compositions, belong_to_the_element_and_not_to_the_rank) {
  const locality where = all_levels_used();
  // In the innermost lock they are the same.
  expect_nothing_found(with<clof_lock<dash, mcs, of_ranks>>(two_nodes(), 1), {});
  const report wrong = check(with<clof_lock<dash, of_ranks, mcs>>(where, 2), {.most_executions = 100'000});
  EXPECT_TRUE(wrong.found.has_value());
}

/// A ticket lock that a rank must release that has acquired it.
class ticket_of_ranks : public near_ticket_lock<world> {
 public:
  ticket_of_ranks(world& w, const near_seat& /*seat*/) : near_ticket_lock(w, 0, near_scope::node) {}
};

TEST(places_in_compositions, keep_nothing_in_the_rank) {
  const report wrong =
      check(with<clof_lock<dash, ticket_of_ranks, mcs>>(all_levels_used(), 2), {.most_executions = 100'000});
  EXPECT_TRUE(wrong.found.has_value());
}

TEST(compositions_of_locks, are_wrong_with_any_operation_changed) {
  constexpr test::harmless harmless_changes[] = {
      {"lock/clof_lock.hpp", "passes_->store(grant.passes", change::postponed,
       "comes before the lock is handed over all the same"},
      {"lock/clof_lock.hpp", "passes_->store(Local::from_above", change::postponed, "the same"},
      {"lock/clof_lock.hpp", "passes_->store(Local::from_above", change::dropped,
       "an older count lets the lock leave the element sooner"},
  };
  using lock = clof_lock<dash, mcs, mcs>;
  const std::vector<program> programs{with<lock>(two_nodes(), 2), with<lock>(all_levels_used(), 2),
                                      with<lock>(all_levels_used(), 3, attempts::try_first)};
  int changed = 0;
  for (const mutation& one : test::mutants_in(programs)) {
    if (!one.where.file.ends_with("lock/clof_lock.hpp")) continue;
    ++changed;
    if (test::is_known_harmless(harmless_changes, "clof", one)) continue;
    const options how{.by = search::random, .most_executions = 20'000, .broken = one};
    EXPECT_TRUE(test::violation_in(programs, how).has_value())
        << "not caught: " << one.text() << "\n  " << test::line_at(one.where);
  }
  EXPECT_GT(changed, 1);
}

}  // namespace
}  // namespace nearfar::checker::testing
