#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/fc_mcs_lock.hpp"

// docs/locks.md: `fc_mcs_lock` | a store to the next rank of a chain of a node's ranks, a far accumulate to
// the next chain | nodes whose ranks wait together: one far swap enqueues them all

namespace nearfar::bench {

void add_fc_mcs(catalogue& to) {
  to.add(
      {.name = "fc_mcs",
       .summary = "MCS over RMA, which one rank of a node joins for all that wait",
       .paper = "Dice, Marathe, Shavit 2011",
       .fairness = "between chains first come, first served; in a chain by number of rank",
       .cost = "2 at home; for a chain 1 at home + 2",
       .parameters = {}},
      []<world W>(W& w, int home, const lock_parameters&) { return make_any_lock<fc_mcs_lock<W>>(w, home); });
}

}  // namespace nearfar::bench
