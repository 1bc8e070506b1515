// Combined additions in the model checker, in every order, right and broken.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/mutants.hpp"
#include "tests/queue/combining_add_cases.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;
using nearfar::testing::combined_word;
using nearfar::testing::fetch_add_specification;

struct shape {
  const char* topology;
  int ranks;
  int additions;  ///< additions of each rank
};

/// The number of an addition tells it from all others.
program additions(const shape& of) {
  const auto body = [of](world& w, monitor& watch) {
    combined_word<world> word(w);
    for (int i = 0; i < of.additions; ++i) {
      const std::uint64_t number = std::uint64_t{1}
                                   << static_cast<unsigned>(4 * (w.rank() * of.additions + i));
      watch.call(0, fetch_add_specification::add, {number});
      watch.returned({word.fetch_add(number)});
    }
    w.barrier();
  };
  return {.where = topology_spec::parse(of.topology).place(of.ranks),
          .body = body,
          .judge = linearizable_by(fetch_add_specification())};
}

constexpr std::array near_models{near_model::sequential, near_model::release_acquire};

TEST(combining_add, is_as_if_each_had_added_alone) {
  for (const shape& of : {shape{"node:1 core:2", 2, 1}, {"node:1 core:2", 2, 2}, {"node:1 core:3", 3, 1}})
    for (const delivery_mode mode : all_modes)
      for (const near_model near : near_models)
        expect_nothing_found(additions(of), {.mode = mode, .near = near});
}
TEST(combining_add, is_right_for_many_ranks_in_many_orders) {
  for (const shape& of : {shape{"node:2 core:2", 4, 2}, {"node:1 core:4", 4, 3}, {"node:2 core:3", 6, 2}})
    for (const delivery_mode mode : all_modes)
      for (const near_model near : near_models)
        expect_nothing_found(additions(of),
                             {.mode = mode, .near = near, .by = search::random, .most_executions = 2000});
}
/// Some execution has a rank that adds for two others.
TEST(combining_add, combines) {
  program what = additions({"node:1 core:3", 3, 1});
  what.body = [](world& w, monitor&) {
    combined_word<world> word(w);
    static_cast<void>(word.fetch_add(1));
    w.barrier();
    std::int64_t all = 0;
    for (const std::int64_t of_rank : w.gather_to_all(word.far_additions())) all += of_rank;
    if (all == 2) throw nearfar::error("two for three");
    if (all > 3 || all < 2) throw nearfar::error("who comes first adds for itself alone");
  };
  what.judge = {};
  const report result = check(what, {.by = search::random, .most_executions = 1000});
  ASSERT_TRUE(result.found);
  EXPECT_NE(result.found->text.find("two for three"), std::string::npos) << result.found->text;
}

constexpr std::array harmless_here{
    nearfar::test::harmless{"queue/combining_add.hpp", "mine_->sum.store", change::postponed,
                            "before the exchange, all the same"},
    nearfar::test::harmless{"queue/combining_add.hpp", "mine_->state.store", change::postponed,
                            "nobody finds this rank before it has registered"},
    nearfar::test::harmless{"queue/combining_add.hpp", "// as (3)", change::unaware,
                            "who is awaited has only a near store left to do"},
};

TEST(broken_combining_add, is_caught_in_every_operation) {
  namespace test = nearfar::test;
  const std::array shapes{shape{"node:1 core:2", 2, 2}, shape{"node:1 core:3", 3, 1},
                          shape{"node:1 core:3", 3, 2}};
  std::set<mutation> all;
  for (const shape& of : shapes)
    for (const mutation& one : mutations_of(additions(of), {}, "nearfar/queue/combining_add", 200))
      all.insert(one);
  EXPECT_GT(all.size(), 10U);
  const auto is_caught = [&](const mutation& one) {
    for (const shape& of : shapes)
      for (const near_model near : near_models)
        for (const delivery_mode mode : {delivery_mode::lazy, delivery_mode::progress})
          for (const search by : {search::exhaustive, search::random}) {
            const options how{.mode = mode,
                              .near = near,
                              .by = by,
                              .most_steps = 1000,
                              .most_executions = 3000,
                              .broken = one};
            if (check(additions(of), how).found) return true;
          }
    return false;
  };
  for (const mutation& one : all)
    if (!test::is_known_harmless(harmless_here, "*", one) && !is_caught(one))
      ADD_FAILURE() << one.text() << ": " << test::line_at(one.where);
}

}  // namespace
}  // namespace nearfar::checker::testing
