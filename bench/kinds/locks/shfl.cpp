#include <string>
#include <vector>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/shfl_lock.hpp"

// docs/locks.md: `shfl_lock` | a far atomic that frees the lock, which the first rank of the queue takes, and
// newcomers if the queue is empty. Waiting ranks sort the queue by nodes | comparison

namespace nearfar::bench {

namespace {

constexpr const char* put_to_queue_nodes =
    "ranks write queue nodes in which they have seen a write that is not complete";

template <shfl_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Kashyap et al. 2019; Uffmann 2022, 5.7",
          .fairness = "no bound",
          .cost = std::string(Policy.looks_first ? "3 at home; 5 at home" : "2 at home; 4 at home") +
                  (Policy.writes == node_writes::put ? " and 2 elsewhere"
                                                     : ", 2 elsewhere and up to 2 on its own words") +
                  ", 1 for each " + (Policy.looks_first ? "look" : "attempt") + " more",
          .parameters =
              Policy.shuffles ? std::vector<std::string>{"max_local_passes"} : std::vector<std::string>{},
          .alike = alike_ranks::of_a_node,
          .unsound = Policy.writes == node_writes::put ? put_to_queue_nodes : ""},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<shfl_lock<W, Policy>>(w, home, parameters.max_local_passes);
         });
}

}  // namespace

void add_shfl(catalogue& to) {
  add<shfl_policy{}>(to, "shfl", "test-and-set before an MCS queue that its waiting ranks sort by node");
  add<shfl_policy{.looks_first = true}>(to, "shfl.tts", "the same with test-and-test-and-set");
  add<shfl_policy{.shuffles = false}>(to, "shfl.steal", "test-and-set before an MCS queue");
  add<shfl_policy{.looks_first = true, .shuffles = false}>(to, "shfl.steal_tts",
                                                           "test-and-test-and-set before an MCS queue");
  add<shfl_policy{.looks_first = true, .writes = node_writes::put}>(
      to, "shfl.published", "as shfl.tts, with queue nodes that are put to, as published");
}

}  // namespace nearfar::bench
