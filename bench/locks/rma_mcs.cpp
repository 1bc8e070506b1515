#include "bench/catalogue.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"

namespace nearfar::bench {

void add_rma_mcs(catalogue& to) {
  to.add({.name = "rma_mcs",
          .summary = "hierarchical MCS of two levels, all by RMA, as published: the rival",
          .paper = "Schmid, Besta, Hoefler 2016",
          .fairness = "max_local_passes",
          .bypass = checker::bypass_bound::local_passes,
          .cost = "2 at home + 11 in the node; 7 in the node",
          .parameters = {"max_local_passes"}},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<rma_mcs_lock<W>>(w, home, parameters.max_local_passes);
         });
}

}  // namespace nearfar::bench
