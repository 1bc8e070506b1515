#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/near_clh_lock.hpp"

// docs/locks.md: `near_clh_lock` | a store in the predecessor's memory that the successor polls | as
// `mcs_lock`, without `try_lock`

namespace nearfar::bench {

void add_near_clh(catalogue& to) {
  to.add({.name = "near_clh",
          .summary = "CLH in near memory, for ranks of one node",
          .paper = "Craig 1993; Magnusson, Landin, Hagersten 1994; Uffmann 2022, 5.4.4",
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = "none; none (3 cache-line transfers)",
          .parameters = {},
          .can_try = false,
          .one_node_only = true,
          .alike = alike_ranks::of_the_world},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<near_clh_lock<W>>(w, home);
         });
}

}  // namespace nearfar::bench
