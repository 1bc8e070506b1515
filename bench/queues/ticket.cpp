#include "bench/queue_catalogue.hpp"
#include "nearfar/queue/ticket_queue.hpp"

namespace nearfar::bench {

void add_ticket_queue(queue_catalogue& to) {
  to.add({.name = "ticket_queue",
          .summary = "a ring over all ranks, one addition decides",
          .paper = "nearfar's, after Gottlieb, Lubachevsky, Rudolph 1983",
          .fairness = "waits for the push with its ticket",
          .bypass = {},
          .cost = "2; 2",
          .parameters = {}},
         []<world W>(W& w, int home, const queue_parameters& of) {
           return make_any_queue<ticket_queue<W, std::uint64_t>>(w, {.capacity = of.capacity, .home = home});
         });
  to.add({.name = "ticket_queue.apart",
          .summary = "the same, each rank adds for itself",
          .paper = "nearfar's, after Gottlieb, Lubachevsky, Rudolph 1983",
          .fairness = "waits for the push with its ticket",
          .bypass = {},
          .cost = "2; 2",
          .parameters = {}},
         []<world W>(W& w, int home, const queue_parameters& of) {
           return make_any_queue<ticket_queue<W, std::uint64_t>>(
               w, {.capacity = of.capacity, .home = home, .combines = false});
         });
}

}  // namespace nearfar::bench
