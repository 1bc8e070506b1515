// The registered maps in the model checker.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"
#include "bench/kinds/maps/map_catalogue.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/map_calls.hpp"

namespace nearfar::command {

namespace {

using map_methods = checker::map_specification;

constexpr std::array map_operations_of_plans{
    plan_word{"insert", map_methods::insert, "KV"}, plan_word{"update", map_methods::update, "KV"},
    plan_word{"find", map_methods::find, "K"}, plan_word{"erase", map_methods::erase, "K"}};
constexpr plan_language map_language{"map", map_operations_of_plans};

/// Reached when an operation finds an entry that another made.
constexpr std::string_view finds_entry = "an operation finds an entry";

template <typename Action>
void for_each_operation(const checker::object_plan& plan, const Action& action) {
  std::for_each(plan.before.begin(), plan.before.end(), action);
  for (const auto& part : plan.of_ranks) std::for_each(part.begin(), part.end(), action);
}

bool writes(const checker::planned_operation& one) {
  return one.method == map_methods::insert || one.method == map_methods::update;
}
bool has_found(const checker::planned_operation& what, const checker::value_list& result) {
  if (what.method == map_methods::find) return !result.empty();
  return what.method != map_methods::insert && result == checker::value_list{map_methods::done};
}

/// Room for all entries at any rank. Each rank keeps a cell of another's, so that places come round while
/// others are on their way to them; all keys of a rank are in one bucket.
map_capacity capacity_for(const checker::object_plan& plan) {
  std::size_t entries = 0;
  for_each_operation(plan, [&](const checker::planned_operation& one) { entries += writes(one) ? 1U : 0U; });
  return {.cells = std::max(4 * plan.of_ranks.size(), 2 * entries), .buckets = 1, .cells_at_once = 1};
}

std::set<std::uint64_t> keys_of(const checker::object_plan& plan) {
  std::set<std::uint64_t> keys;
  for_each_operation(plan, [&](const checker::planned_operation& one) { keys.insert(one.arguments[0]); });
  return keys;
}

checker::program map_program(const check_case& of, const bench::map_entry& entry) {
  constexpr std::size_t bytes_for_a_cell = 128;
  const checker::object_plan plan = parse_plan(of.plan, map_language);
  const bench::map_parameters parameters{capacity_for(plan)};
  const auto make = [&factory = entry.factory<engine::world>(), parameters](engine::world& w) {
    return factory(w, 0, parameters);
  };
  const auto call = [](bench::any_map<engine::world>& map, const checker::planned_operation& what,
                       checker::monitor& watch) {
    const auto as_it_is = [](std::uint64_t word) { return word; };
    checker::value_list result = checker::call_map<std::uint64_t>(map, what, as_it_is, as_it_is);
    if (has_found(what, result)) watch.reach(finds_entry);
    return result;
  };
  // These finds show lost and doubled entries.
  const auto find_all = [keys = keys_of(plan)](engine::world& w, const auto& perform) {
    if (w.rank() != 0) return;
    for (const std::uint64_t key : keys) perform({map_methods::find, {key}});
  };
  checker::program result =
      checker::plan_program(locality_of(of), plan, checker::names_of<map_methods>(), make, call, find_all);
  result.bytes += bytes_for_a_cell * parameters.capacity.cells;
  result.demands.emplace_back(finds_entry);
  result.judge = checker::linearizable_by(map_methods());
  return result;
}

/// Ranks insert the same key, and then find or erase it.
checker::object_plan usual_map_plan(int ranks) {
  constexpr std::uint64_t key = 1;
  constexpr std::uint64_t first_value = 10;
  checker::object_plan plan;
  for (int rank = 0; rank < ranks; ++rank)
    plan.of_ranks.push_back({{map_methods::insert, {key, first_value + static_cast<std::uint64_t>(rank)}},
                             {rank % 2 == 0 ? map_methods::find : map_methods::erase, {key}}});
  return plan;
}

/// Nobody can find an entry.
std::string map_obstacle(const checker::object_plan& plan) {
  bool inserts = false;
  for_each_operation(plan, [&](const checker::planned_operation& one) {
    inserts = inserts || one.method == map_methods::insert;
  });
  return inserts ? ""
                 : "nobody inserts an entry, so that nobody can find one: add 'insert 1 10', as in "
                   "'insert 1 10 | find 1'";
}

checkable checkable_map(const bench::map_entry& entry) {
  return {.kind = checked_kind::map,
          .name = entry.name,
          .family = entry.family(),
          .one_node_only = entry.one_node_only,
          .is_sound = entry.is_sound(),
          .program = [&entry](const check_case& of) { return map_program(of, entry); },
          .plans = planned_object{.language = map_language,
                                  .usual_plan = [](int ranks, int /*home*/) { return usual_map_plan(ranks); },
                                  .obstacle = [](const checker::object_plan& plan,
                                                 const check_case& /*of*/) { return map_obstacle(plan); }}};
}

}  // namespace

std::vector<checkable> make_maps() {
  std::vector<checkable> all;
  for (const bench::map_entry& entry : bench::map_catalogue::instance().entries())
    if (entry.exists_in<engine::world>()) all.push_back(checkable_map(entry));
  return all;
}

}  // namespace nearfar::command
