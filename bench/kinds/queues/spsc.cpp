#include "bench/kinds/queues/queue_catalogue.hpp"
#include "nearfar/queue/spsc_queue.hpp"

namespace nearfar::bench {

void add_spsc_queue(queue_catalogue& to) {
  to.set_one_to_one("spsc_queue");
  to.add({.name = "spsc_queue",
          .summary = "a ring at rank 0: rank 1 pushes and rank 0 pops; other ranks are idle",
          .paper = "nearfar's, after Lamport 1983; Giacomoni, Moseley, Vachharajani 2008",
          .fairness = "wait-free",
          .bypass = {},
          .cost = "1; 0",
          .parameters = {}},
         []<world W>(W& w, int home, const queue_parameters& of) {
           return make_any_queue<spsc_queue<W, std::uint64_t>>(
               w, {.capacity = of.capacity, .producer = (home + 1) % w.size(), .consumer = home});
         });
}

}  // namespace nearfar::bench
