#include <string>
#include <utility>
#include <vector>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"

namespace nearfar::bench {

namespace {

void add(rw_catalogue& to, const char* name, const char* summary, bool has_numa) {
  to.add(
      {.name = name,
       .summary = summary,
       .paper = "Schmid, Besta, Hoefler 2016",
       .fairness = "readers and writers in turns, as the thresholds say",
       .bypass = {.bounds_writers_past_reader = true, .bounds_readers_past_writer = true},
       .cost = has_numa ? "2 at the counter; 2 at home + 14 in the node + 2 at each counter"
                        : "2 at the counter; 2 at home + 8 in the node + 2 at each counter",
       .parameters = has_numa
                         ? std::vector<std::string>{"max_local_passes", "max_numa_passes",
                                                    "max_writer_passes", "max_readers", "nodes_per_counter"}
                         : std::vector<std::string>{"max_local_passes", "max_writer_passes", "max_readers",
                                                    "nodes_per_counter"}},
      [has_numa]<world W>(W& w, int home, const rw_lock_parameters& of) {
        std::vector<tree_level> levels{{level::node, of.max_local_passes}};
        const bool is_own = of.max_numa_passes != rw_lock_parameters::as_nodes;
        if (has_numa) levels.push_back({level::numa, is_own ? of.max_numa_passes : of.max_local_passes});
        return make_any_rw_lock<rma_rw_lock<W>>(w, home,
                                                rma_rw_parameters{.tree = lock_tree(std::move(levels)),
                                                                  .turns = of.turns,
                                                                  .nodes_per_counter = of.nodes_per_counter});
      });
}

}  // namespace

void add_rma_rw(rw_catalogue& to) {
  add(to, "rma_rw", "writers in a tree of queues, readers in counters on several nodes, all by RMA", false);
  add(to, "rma_rw.numa", "the same with queues of NUMA domains below those of nodes", true);
}

}  // namespace nearfar::bench
