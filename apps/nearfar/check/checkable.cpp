#include "apps/nearfar/check/checkable.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/checker/lock_program.hpp"

namespace nearfar::command {

namespace {

// The observations of a rank do not say who overtook whom, so states of equal hash may differ in this.
bool judges_overtaking(const check_case& of) { return of.tier != checker::search::hash; }

checker::program program_of(const check_case& of, const bench::lock_entry& entry) {
  const auto make = [&factory = entry.factory<engine::world>(), home = of.home,
                     parameters = bench::lock_parameters{.max_local_passes = of.max_local_passes}](
                        engine::world& w) { return factory(w, home, parameters); };
  return checker::lock_program(locality_of(of), of.acquisitions, make,
                               judges_overtaking(of) ? entry.bypass : checker::bypass_bound::none,
                               of.max_local_passes,
                               of.try_first ? checker::attempts::try_first : checker::attempts::lock);
}

checker::program program_of(const check_case& of, const bench::rw_lock_entry& entry) {
  bench::rw_lock_parameters parameters;
  parameters.max_local_passes = of.max_local_passes;
  // The lowest, so that a few ranks reach them.
  parameters.turns.max_writer_passes = 1;
  parameters.turns.max_readers = 1;
  const auto make = [&factory = entry.factory<engine::world>(), home = of.home,
                     parameters](engine::world& w) { return factory(w, home, parameters); };
  checker::overtaking_limits limits;
  if (judges_overtaking(of) && entry.bypass.bounds_writers_past_reader) {
    int of_a_turn = parameters.turns.max_writer_passes + 1;
    for (int i = 0; i < entry.bypass.levels; ++i) of_a_turn *= of.max_local_passes + 1;
    limits.writers_past_reader = of_a_turn;
  }
  const auto times = static_cast<std::size_t>(of.acquisitions);
  std::vector<checker::rw_script> scripts(static_cast<std::size_t>(of.ranks - of.readers),
                                          checker::rw_script(times, of.try_first ? 'A' : 'w'));
  scripts.resize(static_cast<std::size_t>(of.ranks), checker::rw_script(times, of.try_first ? 'a' : 'r'));
  return checker::rw_program(locality_of(of), std::move(scripts), make, limits);
}

/// The sets of ranks that the checker may exchange: those that write, or acquire a lock that is not shared,
/// and those that read, of a node or of all. Where operations need their target in the library, the targets
/// of others' operations differ from the ranks beside them: a lock of one node has no operations that do.
std::vector<std::vector<int>> alike_in(const check_case& of, bench::alike_ranks alike, bool one_node_only) {
  const bool needs_targets = of.mode == checker::delivery_mode::progress && !one_node_only;
  if (alike == bench::alike_ranks::none || needs_targets) return {};
  const locality where = locality_of(of);
  const bool by_node = alike == bench::alike_ranks::of_a_node;
  std::vector<std::vector<int>> sets(2 * static_cast<std::size_t>(by_node ? of.nodes : 1));
  for (int rank = 0; rank < of.ranks; ++rank) {
    const auto node = static_cast<std::size_t>(by_node ? where.group(level::node, rank) : 0);
    const std::size_t reads = rank < of.ranks - of.readers ? 0 : 1;
    sets[2 * node + reads].push_back(rank);
  }
  return sets;
}

/// `entry` is that of a registry, and stays.
template <typename Entry>
checkable checkable_of(const Entry& entry, bool is_shared) {
  return {.kind = checked_kind::lock,
          .name = entry.name,
          .family = entry.family(),
          .one_node_only = entry.one_node_only,
          .is_sound = entry.is_sound(),
          .is_shared = is_shared,
          .can_try = entry.can_try,
          .has_local_passes = entry.listed().takes("max_local_passes"),
          .program = [&entry](const check_case& of) {
            checker::program result = program_of(of, entry);
            result.alike = alike_in(of, entry.alike, entry.one_node_only);
            return result;
          }};
}

std::vector<checkable> make_locks() {
  std::vector<checkable> all;
  for (const bench::lock_entry& entry : bench::catalogue::instance().entries())
    if (entry.exists_in<engine::world>()) all.push_back(checkable_of(entry, false));
  for (const bench::rw_lock_entry& entry : bench::rw_catalogue::instance().entries())
    if (entry.exists_in<engine::world>()) all.push_back(checkable_of(entry, true));
  return all;
}

}  // namespace

const std::vector<checkable>& checkables(checked_kind kind) {
  static const std::vector<checkable> locks = make_locks();
  static const std::vector<checkable> queues = make_queues();
  static const std::vector<checkable> maps = make_maps();
  static const std::vector<checkable> channels = make_channels();
  switch (kind) {
    case checked_kind::queue:
      return queues;
    case checked_kind::map:
      return maps;
    case checked_kind::channel:
      return channels;
    default:
      return locks;
  }
}

const checkable* find_checkable(std::string_view name, checked_kind kind) {
  const std::vector<checkable>& all = checkables(kind);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const checkable& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

check_case usual_case(const checkable& object, int ranks) {
  const planned_object& plans = *object.plans;
  return {.kind = object.kind,
          .object = object.name,
          .ranks = ranks,
          .nodes = object.one_node_only ? 1 : std::min(ranks, 2),
          .plan = plan_text(plans.usual_plan(ranks, 0), plans.language)};
}

check_case telling_case(const checkable& object) {
  check_case of = usual_case(object);
  of.plan = object.plans->telling_plan;
  of.ranks = parse_plan(of.plan, object.plans->language).ranks();
  of.tier = checker::search::random;
  of.near = checker::near_model::sequential;
  return of;
}

}  // namespace nearfar::command
