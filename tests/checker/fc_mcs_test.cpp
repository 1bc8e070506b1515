// An attempt on an FC-MCS lock after a chain of several ranks: what the chain left behind must not be used.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/fc_mcs_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/mutants.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

/// Three ranks of a node acquire, so that some schedules make chains. Then each rank tries alone, in turn,
/// and acquires the lock, which is free.
program attempts_after_chains() {
  return {.where = topology_spec::parse("node:1").place(3), .body = [](world& w, monitor& m) {
            fc_mcs_lock<world> lock(w);
            m.ask();
            lock.lock();
            m.enter();
            m.leave();
            lock.unlock();
            for (int turn = 0; turn < w.size(); ++turn) {
              w.barrier();
              if (turn != w.rank()) continue;
              m.ask();
              if (!lock.try_lock()) throw misuse("a free lock was not acquired");
              m.enter();
              m.leave();
              lock.unlock();
            }
          }};
}

TEST(fc_mcs_lock, is_right_where_attempts_follow_chains) {
  const report found = check(attempts_after_chains(), {});
  EXPECT_FALSE(found.found.has_value()) << found.found->text;
  EXPECT_TRUE(found.complete);
}

// With the successor of its chain, a rank that acquired by an attempt would hand over to a rank that does not
// wait.
TEST(fc_mcs_lock, forgets_its_successor_before_an_attempt) {
  int tried = 0;
  for (const mutation& mutant : mutations_of(attempts_after_chains(), {}, "nearfar/lock/fc_mcs_lock.hpp")) {
    if (mutant.how != change::dropped ||
        test::line_at(mutant.where).find("records_.at(rank_).next.store(nobody") == std::string::npos)
      continue;
    ++tried;
    options how{.most_executions = 100'000};
    how.broken = mutant;
    EXPECT_TRUE(check(attempts_after_chains(), how).found.has_value()) << mutant.text();
  }
  EXPECT_EQ(tried, 1);
}

// A combiner that still acted for the chain's ranks after it had joined that chain would hand over wrongly,
// and ranks would wait for ever. It takes three ranks of a node that come back: fewer make no such chain.
TEST(fc_mcs_lock, is_right_where_three_ranks_of_a_node_come_back) {
  const program what = lock_program(topology_spec::parse("node:1").place(3), 2,
                                    [](world& w) { return std::make_unique<fc_mcs_lock<world>>(w); });
  const report found = check(what, {.by = search::random, .most_executions = 20'000});
  EXPECT_FALSE(found.found.has_value()) << found.found->text;
}

}  // namespace
}  // namespace nearfar::checker::testing
