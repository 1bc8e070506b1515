#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/near_tts_lock.hpp"

// docs/locks.md: `near_tts_lock` (`near_tts`, `near_tas`) | a store that all waiting ranks see | low
// contention

namespace nearfar::bench {

namespace {

template <near_tts_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Rudolph, Segall 1984; Anderson 1990; Uffmann 2022, 5.4.3",
          .fairness = "no bound",
          .cost = cost,
          .parameters = {"local_backoff_min_ns", "local_backoff_max_ns"},
          .one_node_only = true,
          .alike = alike_ranks::of_the_world},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<near_tts_lock<W, Policy>>(w, home, near_scope::world, parameters.local_pause);
         });
}

}  // namespace

void add_near_tts(catalogue& to) {
  add<near_tts_policy{}>(to, "near_tts",
                         "test-and-test-and-set with exponential backoff, for ranks of one node",
                         "none; none (2 cache-line transfers for each rank that waits)");
  add<near_tts_policy{.looks_first = false}>(to, "near_tas",
                                             "test-and-set with exponential backoff, for ranks of one node",
                                             "none; none (1 cache-line transfer for each attempt)");
}

}  // namespace nearfar::bench
