#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/hmcs_lock.hpp"

// docs/locks.md: `hmcs_lock` (`hmcs`, `ahmcs`) | as `cohort_lock`, with a queue for each package, NUMA domain
// and cache of a node. `island_hmcs_lock`, which the command takes where the topology has islands, also has a
// queue for each island, and hands over between nodes by a far accumulate | nodes of many levels
//
// docs/locks.md: `near_hmcs_lock` | a store to a rank of the innermost level on which a rank waits | several
// levels

namespace nearfar::bench {

namespace {

constexpr const char* order = "at most max_local_passes + 1 for each of an element's, level by level";

template <hmcs_entry Entry>
void add_near(catalogue& to, const std::string& name, const std::string& summary, const std::string& paper) {
  to.add({.name = name,
          .summary = summary,
          .paper = paper,
          .fairness = order,
          .cost = "none; none (3 cache-line transfers for each level)",
          .parameters = {"max_local_passes", "levels"},
          .one_node_only = true},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<near_hmcs_lock<W, Entry>>(w, home, near_scope::world,
                                                          parameters.levels_around(w.locality()).inside);
         });
}

template <hmcs_entry Entry>
void add_far(catalogue& to, const std::string& name, const std::string& summary, const std::string& paper) {
  to.add({.name = name,
          .summary = summary,
          .paper = paper,
          .fairness = std::string("within a node ") + order +
                      "; between nodes overtaken max_local_passes times at most",
          .bypass = checker::bypass_bound::level_passes,
          .cost = "2 at home; none within a node",
          .parameters = {"max_local_passes", "levels"}},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           const levels_around_nodes levels = parameters.levels_around(w.locality());
           if (levels.island)
             return make_any_lock<island_hmcs_lock<W, Entry>>(w, home, parameters.max_local_passes,
                                                              *levels.island, levels.inside);
           return make_any_lock<hmcs_lock<W, Entry>>(w, home, parameters.max_local_passes, levels.inside);
         });
}

constexpr const char* of_fixed = "Chabbi, Fagan, Mellor-Crummey 2015";
constexpr const char* of_adaptive = "Chabbi, Mellor-Crummey 2016";

}  // namespace

void add_hmcs(catalogue& to) {
  add_near<hmcs_entry::innermost>(to, "near_hmcs",
                                  "a tree of MCS queues in near memory, for ranks of one node", of_fixed);
  add_near<hmcs_entry::adaptive>(to, "near_hmcs.adaptive", "the same, in which ranks skip empty levels",
                                 of_adaptive);
  add_far<hmcs_entry::innermost>(to, "hmcs", "a tree of MCS queues: dash between nodes, near_hmcs within",
                                 of_fixed);
  add_far<hmcs_entry::adaptive>(to, "ahmcs", "the same with near_hmcs.adaptive", of_adaptive);
}

}  // namespace nearfar::bench
