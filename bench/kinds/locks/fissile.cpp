#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/fissile_lock.hpp"

// docs/locks.md: `fissile_lock` | a store that frees the lock; the first rank of the queue and newcomers
// compete for it | low contention, or more ranks than processors

namespace nearfar::bench {

void add_fissile(catalogue& to) {
  to.add(
      {.name = "fissile",
       .summary = "test-and-test-and-set before mcs, whose first rank grows impatient, for ranks of one node",
       .paper = "Dice, Kogan 2020",
       .fairness = "no bound: after max_local_passes lost attempts the first of the queue closes the lock to "
                   "other ranks",
       .cost = "none; none (5 cache-line transfers)",
       .parameters = {"max_local_passes"},
       .one_node_only = true,
       .alike = alike_ranks::of_the_world},
      []<world W>(W& w, int home, const lock_parameters& parameters) {
        return make_any_lock<fissile_lock<W>>(w, home, near_scope::world, parameters.max_local_passes);
      });
}

}  // namespace nearfar::bench
