#include <algorithm>
#include <cstddef>

#include "bench/kinds/queues/queue_catalogue.hpp"
#include "nearfar/queue/ticket_queue.hpp"

namespace nearfar::bench {

namespace {

/// Adds the queue with settings other than the capacity.
void add(queue_catalogue& to, const char* name, const char* summary, const ticket_queue_parameters& set) {
  to.add({.name = name,
          .summary = summary,
          .paper = "nearfar's, after Gottlieb, Lubachevsky, Rudolph 1983",
          .fairness = "waits for the push with its ticket",
          .bypass = {},
          .cost = "2; 2",
          .parameters = {}},
         [set]<world W>(W& w, int home, const queue_parameters& of) {
           ticket_queue_parameters all = set;
           all.capacity = of.capacity;
           // One rank has the memory of all. Its share for this queue must not exceed what each rank has
           // otherwise.
           if (set.cells == ticket_cells::at_home)
             all.capacity = std::max<std::size_t>(1, of.capacity / static_cast<std::size_t>(w.size()));
           all.home = home;
           return make_any_queue<ticket_queue<W, std::uint64_t>>(w, all);
         });
}

}  // namespace

void add_ticket_queue(queue_catalogue& to) {
  add(to, "ticket_queue", "a ring over all ranks, one addition decides", {});
  add(to, "ticket_queue.apart", "the same, each rank adds for itself", {.combines = false});
  add(to, "ticket_queue.at_home", "the same, all of the ring at rank 0: for one consumer, or one producer",
      {.cells = ticket_cells::at_home});
}

}  // namespace nearfar::bench
