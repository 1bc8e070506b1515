#include "bench/catalogue.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"

namespace nearfar::bench {

namespace {

template <rma_mcs_handover By>
void add(catalogue& to, const std::string& name, const std::string& summary) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Schmid, Besta, Hoefler 2016",
          .fairness = "max_local_passes",
          .bypass = checker::bypass_bound::local_passes,
          .cost = "2 at home + 11 in the node; 7 in the node",
          .parameters = {"max_local_passes"}},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<rma_mcs_lock<W, By>>(w, home, parameters.max_local_passes);
         });
}

}  // namespace

void add_rma_mcs(catalogue& to) {
  add<rma_mcs_handover::put>(to, "rma_mcs", "hierarchical MCS of two levels, all by RMA: the rival");
  add<rma_mcs_handover::accumulate>(to, "rma_mcs.accumulate",
                                    "handed over by accumulate and flush, as published");
}

}  // namespace nearfar::bench
