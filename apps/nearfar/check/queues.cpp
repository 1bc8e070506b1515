// The registered queues in the model checker.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"
#include "apps/nearfar/check/fifo_plan.hpp"
#include "bench/kinds/queues/queue_catalogue.hpp"
#include "nearfar/checker/linearizability.hpp"

namespace nearfar::command {

namespace {

using checker::closable_queue;
using checked_queue = bench::any_queue<engine::world>;

constexpr std::array queue_operations_of_plans{
    plan_word{"push", closable_queue::push, "V"}, plan_word{"try_push", closable_queue::try_push, "V"},
    plan_word{"pop", closable_queue::pop}, plan_word{"try_pop", closable_queue::try_pop},
    plan_word{"close", closable_queue::close}};
constexpr plan_language queue_language{"queue", queue_operations_of_plans};
constexpr fifo_words queue_words{"queue", "value", "pushes", "pops", "push", "pop"};

checker::value_list call_queue(checked_queue& queue, const checker::planned_operation& what) {
  const auto result_of = [](const popped<std::uint64_t>& value) {
    return value ? closable_queue::result_of_pop(*value) : closable_queue::result_of(value.status());
  };
  switch (what.method) {
    case closable_queue::try_push:
      return closable_queue::result_of(queue.try_push(what.arguments[0]));
    case closable_queue::push:
      return closable_queue::result_of(queue.push(what.arguments[0]));
    case closable_queue::try_pop:
      return result_of(queue.try_pop());
    case closable_queue::pop:
      return result_of(queue.pop());
    default:
      queue.close();
      return {};
  }
}

fifo_roles queue_roles(const std::string& name, int ranks, int home) {
  if (!bench::queue_catalogue::instance().is_one_to_one(name)) return {};
  return {.pusher = (home + 1) % ranks, .popper = home};
}

/// The first element of a list is one that has been popped.
constexpr std::size_t least_capacity_of_lists = 2;

/// Of each rank, so that no rank finds a queue full, wherever that has its elements.
std::size_t room_for_all(const checker::object_plan& plan) {
  return std::max(least_capacity_of_lists, most_pushes_of_a_rank(plan) * plan.of_ranks.size());
}

std::string capacity_obstacle(const std::string& name, const check_case& of) {
  const bool is_list = name == "lockfree_queue" || name == "locked_queue";
  if (!is_list || of.capacity == 0 || of.capacity >= least_capacity_of_lists) return "";
  return fmt::format("it has at least {} elements at each rank, so --capacity {} is too low",
                     least_capacity_of_lists, of.capacity);
}

checker::program queue_program(const check_case& of, const bench::queue_entry& entry) {
  constexpr std::size_t bytes_for_an_element = 256;
  const checker::object_plan plan = parse_plan(of.plan, queue_language);
  const std::size_t enough = room_for_all(plan);
  const bench::queue_parameters parameters{of.capacity == 0 ? enough : of.capacity};
  const auto make = [&factory = entry.factory<engine::world>(), home = of.home,
                     parameters](engine::world& w) { return factory(w, home, parameters); };
  checker::program result = fifo_program(locality_of(of), plan, queue_roles(entry.name, of.ranks, of.home),
                                         checker::names_of<closable_queue>(), make, call_queue);
  result.bytes += bytes_for_an_element * parameters.capacity;
  // How many elements get in differs from queue to queue, and is no more than a least number.
  const auto full =
      parameters.capacity < enough ? closable_queue::fullness::said_early : closable_queue::fullness::exact;
  const closable_queue expected(closable_queue::unbounded, full, parameters.capacity);
  result.judge = checker::linearizable_by(expected);
  result.judge_of_waits = checker::may_wait_by(expected);
  return result;
}

checkable checkable_queue(const bench::queue_entry& entry) {
  return {.kind = checked_kind::queue,
          .name = entry.name,
          .family = entry.family(),
          .one_node_only = entry.one_node_only,
          .is_sound = entry.is_sound(),
          .program = [&entry](const check_case& of) { return queue_program(of, entry); },
          .plans = planned_object{
              .language = queue_language,
              .takes_capacity = true,
              .usual_plan = [name = entry.name](
                                int ranks,
                                int home) { return usual_fifo_plan(ranks, queue_roles(name, ranks, home)); },
              .obstacle =
                  [name = entry.name](const checker::object_plan& plan, const check_case& of) {
                    const std::string why = obstacle(plan, queue_roles(name, of.ranks, of.home), queue_words);
                    return why.empty() ? capacity_obstacle(name, of) : why;
                  }}};
}

}  // namespace

std::vector<checkable> make_queues() {
  std::vector<checkable> all;
  for (const bench::queue_entry& entry : bench::queue_catalogue::instance().entries())
    if (entry.exists_in<engine::world>()) all.push_back(checkable_queue(entry));
  return all;
}

}  // namespace nearfar::command
