#include <string>
#include <utility>
#include <vector>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"

namespace nearfar::bench {

namespace {

/// The levels of queues beside that of nodes.
enum class further { none, numa, islands };

/// The differences between the variants.
struct variant {
  further levels = further::none;
  const char* cost = "2 at the counter; 2 at home + 8 in the node + 2 at each counter";
};

template <counted_readers Counted = counted_readers::while_writers_wait>
void add(rw_catalogue& to, const char* name, const char* summary, const variant& of = {}) {
  const further levels = of.levels;
  std::vector<std::string> parameters{"max_local_passes"};
  if (levels == further::numa) parameters.emplace_back("max_numa_passes");
  if (levels == further::islands) parameters.emplace_back("max_island_passes");
  for (const char* each : {"max_writer_passes", "max_readers", "nodes_per_counter"})
    parameters.emplace_back(each);
  to.add({.name = name,
          .summary = summary,
          .paper = "Schmid, Besta, Hoefler 2016",
          .fairness = "readers and writers in turns, as the thresholds say",
          .bypass = {.bounds_writers_past_reader = true,
                     .levels = levels == further::islands ? 2 : 1,
                     .bounds_readers_past_writer = true,
                     .counts_all_readers = Counted == counted_readers::always},
          .cost = of.cost,
          .parameters = std::move(parameters)},
         [levels]<world W>(W& w, int home, const rw_lock_parameters& of_lock) {
           const auto passes = [&of_lock](int own) {
             return own == rw_lock_parameters::as_nodes ? of_lock.max_local_passes : own;
           };
           std::vector<tree_level> tree{{level::node, of_lock.max_local_passes}};
           if (levels == further::numa) tree.push_back({level::numa, passes(of_lock.max_numa_passes)});
           if (levels == further::islands)
             tree.insert(tree.begin(), {level::island, passes(of_lock.max_island_passes)});
           return make_any_rw_lock<basic_rma_rw_lock<W, Counted>>(
               w, home,
               rma_rw_parameters{.tree = lock_tree(std::move(tree)),
                                 .turns = of_lock.turns,
                                 .nodes_per_counter = of_lock.nodes_per_counter});
         });
}

}  // namespace

void add_rma_rw(rw_catalogue& to) {
  add(to, "rma_rw", "writers in a tree of queues, readers in counters on several nodes, all by RMA");
  add(to, "rma_rw.numa", "the same with queues of NUMA domains below those of nodes",
      {.levels = further::numa, .cost = "2 at the counter; 2 at home + 14 in the node + 2 at each counter"});
  add(to, "rma_rw.island", "the same with queues of islands above those of nodes",
      {.levels = further::islands,
       .cost = "2 at the counter; 2 at home + 11 in the island + 8 in the node + 2 at each counter"});
  add<counted_readers::always>(
      to, "rma_rw.consecutive", "as rma_rw, and T_R limits all consecutive readers, as published",
      {.cost =
           "2 at the counter, 2 more at each T_R-th reader; 2 at home + 8 in the node + 3 at each counter"});
}

}  // namespace nearfar::bench
