// How often a rank that keeps coming back overtakes the first of a fissile lock's queue.
#include <gtest/gtest.h>

#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

/// Rank 0 acquires `times` times, rank 1 once. At most `limit` acquisitions overtake rank 1 once it has begun
/// to ask.
program one_comes_again(int times, int patience, int limit) {
  program result{.where = topology_spec::parse("node:1").place(2),
                 .body = [times, patience](world& w, monitor& m) {
                   fissile_lock<world> lock(w, 0, near_scope::world, patience);
                   for (int i = w.rank() == 0 ? times : 1; i != 0; --i) {
                     m.ask();
                     lock.lock();
                     m.enter();
                     m.leave();
                     lock.unlock();
                   }
                 }};
  result.overtaking.writers_past_writer = limit;
  return result;
}

TEST(fissile_lock, lets_its_first_be_overtaken_as_often_as_it_is_patient) {
  for (const int patience : {1, 2}) {
    // One more overtakes rank 1 before it is the first of the queue.
    const report found =
        check(one_comes_again(patience + 3, patience, patience + 1), {.most_executions = 20'000});
    EXPECT_FALSE(found.found.has_value()) << found.found->text;
  }
  // The search gets there.
  EXPECT_TRUE(check(one_comes_again(4, 1, 1), {.most_executions = 100'000}).found.has_value());
}

}  // namespace
}  // namespace nearfar::checker::testing
