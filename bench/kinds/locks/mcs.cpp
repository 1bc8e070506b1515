#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/mcs_lock.hpp"

// docs/locks.md: `mcs_lock` | a store that the successor polls | the default within a node

namespace nearfar::bench {

void add_mcs(catalogue& to) {
  to.add({.name = "mcs",
          .summary = "MCS in near memory, for ranks of one node",
          .paper = "Mellor-Crummey, Scott 1991; Uffmann 2022, 5.4.1",
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = "none; none (3 cache-line transfers)",
          .parameters = {},
          .one_node_only = true,
          .alike = alike_ranks::of_the_world},
         []<world W>(W& w, int home, const lock_parameters&) { return make_any_lock<mcs_lock<W>>(w, home); });
}

}  // namespace nearfar::bench
