#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"

// docs/locks.md: `rma_mcs_lock` | RMA within the node and between nodes | comparison: a published queue lock
// of two levels

namespace nearfar::bench {

namespace {

template <handover_by By, node_access Own = node_access::rma>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Schmid, Besta, Hoefler 2016",
          .fairness = "overtaken max_local_passes times at most",
          .bypass = checker::bypass_bound::local_passes,
          .cost = cost,
          .parameters = {"max_local_passes"},
          .alike = alike_ranks::of_a_node,
          .unsound = By == handover_by::sum ? "" : reset_status_word},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<rma_mcs_lock<W, By, Own>>(w, home, parameters.max_local_passes);
         });
}

}  // namespace

void add_rma_mcs(catalogue& to) {
  constexpr const char* published_cost = "2 at home + 11 in the node; 7 in the node";
  add<handover_by::sum>(to, "rma_mcs", "hierarchical MCS of two levels, all by RMA: the rival",
                        "2 at home + 7 in the node; 5 in the node");
  add<handover_by::put>(to, "rma_mcs.put", "handed over by put and flush (thesis, 3.4)", published_cost);
  add<handover_by::accumulate>(to, "rma_mcs.accumulate",
                               "registered and handed over by accumulates (replace), all else by RMA too",
                               published_cost);
  add<handover_by::accumulate, node_access::direct>(
      to, "rma_mcs.published", "as rma_mcs.accumulate, with a rank's own words in memory, as published",
      "2 at home + 5 in the node; 3 in the node");
}

}  // namespace nearfar::bench
