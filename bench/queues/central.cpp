#include "bench/queue_catalogue.hpp"
#include "nearfar/queue/central_queue.hpp"

namespace nearfar::bench {

void add_central_queue(queue_catalogue& to) {
  to.add({.name = "central_queue",
          .summary = "a list in pools of all ranks, ends at the first, a lock for each rank",
          .paper = "Paznikov, Burachenko, Derzhavin 2023: bc",
          .fairness = "that of rma_mcs_lock",
          .bypass = {},
          .cost = "5; 6, + the locks'",
          .parameters = {}},
         []<world W>(W& w, int /*home*/, const queue_parameters& of) {
           return make_any_queue<central_queue<W, std::uint64_t>>(w, {.capacity = of.capacity});
         });
}

}  // namespace nearfar::bench
