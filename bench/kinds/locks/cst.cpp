#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/cst_lock.hpp"

// docs/locks.md: `cst_lock` | as `parking_lock` within a node, as `d_mcs_lock` between nodes | more ranks
// than processors
//
// docs/locks.md: `parking_lock` (`near_cst`) | a store to a waiting rank that is awake; if all sleep, to the
// first of them | more ranks than processors

namespace nearfar::bench {

void add_cst(catalogue& to) {
  to.add({.name = "near_cst",
          .summary = "MCS whose waiting ranks sleep after spin_ns, for ranks of one node",
          .paper = "Kashyap, Min, Kim 2017",
          .fairness = "max_local_passes for each that sleeps before it",
          .cost = "none; none (3 cache-line transfers, and 1 for each rank looked at)",
          .parameters = {"max_local_passes", "spin_ns"},
          .one_node_only = true},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<parking_lock<W>>(w, home, near_scope::world, parameters.max_local_passes,
                                                 parameters.spin);
         });
  to.add({.name = "cst",
          .summary = "d_mcs between nodes, near_cst within",
          .paper = "Kashyap, Min, Kim 2017",
          .fairness = "within a node as near_cst; between nodes overtaken max_local_passes times at most",
          .bypass = checker::bypass_bound::local_passes,
          .cost = "2 at home; none within a node",
          .parameters = {"max_local_passes", "spin_ns"}},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<cst_lock<W>>(w, home, parameters.max_local_passes,
                                             parameters.max_local_passes, parameters.spin);
         });
}

}  // namespace nearfar::bench
