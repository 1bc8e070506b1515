#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/cna_lock.hpp"

// docs/locks.md: `cna_lock` | a store to a rank of the same NUMA domain if one waits | several NUMA domains

namespace nearfar::bench {

void add_cna(catalogue& to) {
  to.add({.name = "cna",
          .summary = "MCS that prefers ranks of the holder's NUMA domain, for ranks of one node",
          .paper = "Dice, Kogan 2019",
          .fairness = "max_local_passes for each that was there before",
          .cost = "none; none (3 cache-line transfers, and 1 for each rank looked at)",
          .parameters = {"max_local_passes"},
          .one_node_only = true},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<cna_lock<W>>(w, home, near_scope::world, parameters.max_local_passes);
         });
}

}  // namespace nearfar::bench
