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

/// Far operations: of a free lock; of a contended one; and of the wait of the first of the queue.
std::string cost_of(const shfl_policy& of) {
  const std::string own_words = of.writes == node_writes::put ? "" : " and up to 2 on its own words";
  switch (of.front) {
    case shfl_front::test_and_set:
      return "2 at home; 4 at home, 2 elsewhere" + own_words + ", 1 for each attempt more";
    case shfl_front::test_and_test_and_set:
      return "3 at home; 5 at home, 2 elsewhere" + own_words + ", 1 for each look more";
    case shfl_front::d_mcs:
      return "3 at home; 3 at home, 4 elsewhere" + own_words;
  }
  return "";
}

template <shfl_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Kashyap et al. 2019; Uffmann 2022, 5.7",
          .fairness = "no bound",
          .cost = cost_of(Policy),
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
  constexpr shfl_front tts = shfl_front::test_and_test_and_set;
  add<shfl_policy{}>(to, "shfl", "test-and-set before an MCS queue that its waiting ranks sort by node");
  add<shfl_policy{.front = tts}>(to, "shfl.tts", "the same with test-and-test-and-set");
  add<shfl_policy{.front = shfl_front::d_mcs}>(
      to, "shfl.d_mcs", "D-MCS before an MCS queue that its waiting ranks sort by node");
  add<shfl_policy{.named = sorter_named::at_once}>(to, "shfl.named_at_once",
                                                   "as shfl; the first rank that a sorter moves sorts next");
  add<shfl_policy{.shuffles = false}>(to, "shfl.steal", "test-and-set before an MCS queue");
  add<shfl_policy{.front = tts, .shuffles = false}>(to, "shfl.steal_tts",
                                                    "test-and-test-and-set before an MCS queue");
  add<shfl_policy{.front = tts, .writes = node_writes::put}>(
      to, "shfl.published", "as shfl.tts, with queue nodes that are put to, as published");
  add<shfl_policy{.writes = node_writes::put}>(to, "shfl.published_tas",
                                               "as shfl, with queue nodes that are put to, as published");
  add<shfl_policy{.shuffles = false, .writes = node_writes::put}>(
      to, "shfl.published_steal", "as shfl.steal, with queue nodes that are put to, as published");
  add<shfl_policy{.front = tts, .shuffles = false, .writes = node_writes::put}>(
      to, "shfl.published_steal_tts", "as shfl.steal_tts, with queue nodes that are put to, as published");
}

}  // namespace nearfar::bench
