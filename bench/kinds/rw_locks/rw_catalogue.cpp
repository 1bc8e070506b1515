// Reader-writer locks, and as a kind of objects.

#include "bench/kinds/rw_locks/rw_catalogue.hpp"

#include <chrono>
#include <cstdint>

#include "bench/families/rw_locks.hpp"
#include "bench/kinds/locks/lock_parameters.hpp"
#include "bench/object.hpp"

namespace nearfar::bench {

const rw_catalogue& rw_catalogue::instance() {
  static const rw_catalogue all;
  return all;
}

rw_catalogue::rw_catalogue() {
  for (const auto add_family : families_of_rw_locks) add_family(*this);
  // Families that this list lacks come after the others, by name of their files.
  arrange({"cohort_rw", "rma_rw", "near_rw", "rw_ticket", "rw_spin", "mpi_rw"});
}

rw_lock_parameters rw_lock_parameters::at(const point& where) {
  rw_lock_parameters result;
  const auto set = [&where](int& to, const char* name) {
    if (where.has(name)) to = static_cast<int>(where.whole(name));
  };
  set(result.max_local_passes, "max_local_passes");
  set(result.max_numa_passes, "max_numa_passes");
  set(result.max_island_passes, "max_island_passes");
  set(result.turns.max_writer_passes, "max_writer_passes");
  set(result.turns.max_readers, "max_readers");
  set(result.nodes_per_counter, "nodes_per_counter");
  if (where.has("backoff_min_ns"))
    result.pause = {std::chrono::nanoseconds(where.whole("backoff_min_ns")),
                    std::chrono::nanoseconds(where.whole("backoff_max_ns"))};
  return result;
}

namespace {

std::vector<axis> parameters_of_rw_locks() {
  constexpr double most_passes = 254;
  constexpr double many = 1e6;
  constexpr double one_minute = 6e10;
  const rw_lock_parameters usual;
  return {{.name = "max_local_passes",
           .meaning = "Consecutive writers within a node (T_L of nodes)",
           .standard = std::int64_t{usual.max_local_passes},
           .most = most_passes},
          {.name = "max_numa_passes",
           .meaning = "Consecutive writers within a NUMA domain (T_L of domains); -1: as nodes",
           .standard = std::int64_t{usual.max_numa_passes},
           .least = rw_lock_parameters::as_nodes,
           .most = most_passes},
          {.name = "max_island_passes",
           .meaning = "Consecutive nodes within an island (T_L of islands); -1: as nodes",
           .standard = std::int64_t{usual.max_island_passes},
           .least = rw_lock_parameters::as_nodes,
           .most = most_passes},
          {.name = "max_writer_passes",
           .meaning = "Hand-overs between nodes before a turn of readers (T_L of the root); -1: nodes",
           .standard = std::int64_t{usual.turns.max_writer_passes},
           .least = rw_thresholds::each_node_once,
           .most = many},
          {.name = "max_readers",
           .meaning = "Readers in a turn (T_R); rma_rw: of a counter, at least as many as its ranks",
           .standard = std::int64_t{usual.turns.max_readers},
           .least = 1,
           .most = many},
          {.name = "nodes_per_counter",
           .meaning = "Nodes that share a counter of readers (T_DC; rma_rw)",
           .standard = std::int64_t{usual.nodes_per_counter},
           .least = 1,
           .most = many},
          {.name = "backoff_min_ns",
           .unit = "ns",
           .meaning = "Initial back-off pause of writers of rw_spin",
           .standard = std::int64_t{usual.pause.shortest.count()},
           .least = 1,
           .most = one_minute},
          {.name = "backoff_max_ns",
           .unit = "ns",
           .meaning = "Longest back-off pause of writers of rw_spin",
           .standard = std::int64_t{usual.pause.longest.count()},
           .least = 1,
           .most = one_minute}};
}

std::string lacking_level(const object& of, const point&, const locality& where) {
  return of.takes("max_island_passes") ? lacking_islands(where) : "";
}

object_kind make_rw_locks() {
  object_kind result{
      .name = "rw_lock",
      .plural = "locks",
      .title = "reader-writer lock",
      .introduction =
          "Reader-writer locks. 'family' names the recommended setting, 'family.variant' another policy.",
      .remarks =
          "Far operations: those of a reader that enters and leaves; those of an uncontended writer that "
          "enters and leaves.\nThose 'at each node' and 'at each counter' are issued together.",
      .parameters = parameters_of_rw_locks(),
      .refuse = refuse_pauses,
      .objects = {},
      .lacking = lacking_level};
  for (const rw_lock_entry& each : rw_catalogue::instance().entries())
    result.objects.push_back(each.listed());
  return result;
}

}  // namespace

const object_kind& rw_locks() {
  static const object_kind all = make_rw_locks();
  return all;
}

}  // namespace nearfar::bench
