#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/ticket_lock.hpp"

// docs/locks.md: `ticket_lock` | a far accumulate to a word that all waiting ranks poll | comparison

namespace nearfar::bench {

namespace {

template <ticket_place Place>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Mellor-Crummey, Scott 1991; Uffmann 2022, 5.4.1",
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = cost,
          .parameters = {},
          .can_try = false,
          .alike = alike_ranks::of_a_node},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<ticket_lock<W, Place>>(w, home);
         });
}

}  // namespace

void add_ticket(catalogue& to) {
  add<ticket_place::together>(to, "ticket", "ticket lock over RMA, its tickets in one word",
                              "2 at home; 1 at home for each poll + 2");
  add<ticket_place::apart>(to, "ticket.apart",
                           "the next ticket and the one that is served apart, as published",
                           "3 at home; 1 at home for each poll + 2");
}

}  // namespace nearfar::bench
