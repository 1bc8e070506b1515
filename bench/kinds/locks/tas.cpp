#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/tas_lock.hpp"

// docs/locks.md: `tas_lock` (`tas`, `tts`) | none: each waiting rank retries with backoff | low contention

namespace nearfar::bench {

namespace {

template <tas_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Anderson 1990; Uffmann 2022, 5.4.3",
          .fairness = "no bound",
          .cost = cost,
          .parameters = {"backoff_min_ns", "backoff_max_ns"},
          // A rank that looks first does so in place where it can.
          .alike = Policy.looks_first ? alike_ranks::of_a_node : alike_ranks::of_the_world},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<tas_lock<W, Policy>>(w, home, parameters.pause);
         });
}

}  // namespace

void add_tas(catalogue& to) {
  add<tas_policy{}>(to, "tas", "test-and-set over RMA with exponential backoff",
                    "2 at home; 1 at home for each attempt + 1");
  add<tas_policy{.tries_by = tas_attempt::compare_and_swap}>(to, "tas.compare_and_swap",
                                                             "the same by compare-and-swap",
                                                             "2 at home; 1 at home for each attempt + 1");
  add<tas_policy{.looks_first = true}>(to, "tts", "test-and-test-and-set over RMA with exponential backoff",
                                       "3 at home; 1 at home for each look and attempt + 1");
}

}  // namespace nearfar::bench
