// Locks as a kind of objects.

#include <chrono>

#include "bench/catalogue.hpp"
#include "bench/lock_parameters.hpp"
#include "bench/object.hpp"

namespace nearfar::bench {

namespace {

std::vector<axis> parameters_of_locks() {
  constexpr double most_passes = 254;
  constexpr double one_minute = 6e10;
  return {{.name = "max_local_passes",
           .meaning = "Passes within a node before another node's turn (cohort, rma_mcs)",
           .standard = std::int64_t{lock_parameters{}.max_local_passes},
           .most = most_passes},
          {.name = "backoff_min_ns",
           .unit = "ns",
           .meaning = "First pause of tas",
           .standard = std::int64_t{lock_parameters{}.pause.shortest.count()},
           .least = 1,
           .most = one_minute},
          {.name = "backoff_max_ns",
           .unit = "ns",
           .meaning = "Longest pause of tas",
           .standard = std::int64_t{lock_parameters{}.pause.longest.count()},
           .least = 1,
           .most = one_minute}};
}

object_kind make_locks() {
  object_kind result{
      .name = "lock",
      .plural = "locks",
      .title = "lock",
      .introduction =
          "Locks. 'family' is the recommended setting, 'family.variant' another policy. Unsound ones are "
          "published forms that\nmay hang or let two ranks in: they run only when named.",
      .remarks =
          "Far operations: uncontended lock and unlock; contended, each with its flush. 'At home' means to "
          "the "
          "lock's\nhome rank, 'in the node' to a rank of the same node by RMA.",
      .parameters = parameters_of_locks(),
      .refuse = refuse_pauses,
      .objects = {}};
  for (const lock_entry& entry : catalogue::instance().entries()) result.objects.push_back(entry.listed());
  return result;
}

}  // namespace

const object_kind& locks() {
  static const object_kind all = make_locks();
  return all;
}

std::string refuse_pauses(const point& at) {
  if (at.whole("backoff_min_ns") <= at.whole("backoff_max_ns")) return "";
  return "--backoff-min-ns must be at most --backoff-max-ns";
}

lock_parameters lock_parameters::at(const point& where) {
  lock_parameters result;
  if (where.has("max_local_passes"))
    result.max_local_passes = static_cast<int>(where.whole("max_local_passes"));
  if (where.has("backoff_min_ns"))
    result.pause = {std::chrono::nanoseconds(where.whole("backoff_min_ns")),
                    std::chrono::nanoseconds(where.whole("backoff_max_ns"))};
  return result;
}

}  // namespace nearfar::bench
