#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/optimised_rma_rw_lock.hpp"

namespace nearfar::bench {

void add_optimised_rma_rw(rw_catalogue& to) {
  to.add({.name = "rma_rw.optimised",
          .summary = "writers in a hemlock on each node and in a queue of nodes by put, readers as in rma_rw",
          .paper = "Schmid, Besta, Hoefler 2016; Uffmann 2022, 6",
          .fairness = "readers and writers in turns, as the thresholds say",
          .bypass = {.bounds_writers_past_reader = true, .bounds_readers_past_writer = true},
          .cost = "2 at the counter; 2 at home + 2 at each counter",
          .parameters = {"max_local_passes", "max_writer_passes", "max_readers", "nodes_per_counter"}},
         []<world W>(W& w, int home, const rw_lock_parameters& of) {
           return make_any_rw_lock<optimised_rma_rw_lock<W>>(
               w, home,
               optimised_rma_rw_parameters{.max_local_passes = of.max_local_passes,
                                           .turns = of.turns,
                                           .nodes_per_counter = of.nodes_per_counter});
         });
}

}  // namespace nearfar::bench
