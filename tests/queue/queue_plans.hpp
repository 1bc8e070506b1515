/// \file
/// Programs of a few pushes and pops, for the model checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/object_plan.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/queue/central_queue.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/queue/ticket_queue_at_home.hpp"

namespace nearfar::checker::testing {

using engine::world;
using word = std::uint64_t;
using specification = queue_specification;

/// One operation: a push of a value other than 0, or a pop.
using step_of = word;
inline constexpr step_of pop = 0;

using lockfree = lockfree_queue<world, word>;
using ticketed = ticket_queue<world, word>;
using ticketed_at_home = nearfar::testing::ticket_queue_at_home<world, word>;
/// Uses the lock with the fewest executions.
using locked = locked_queue<world, word>;
template <nearfar::world W>
using shortest_lock = tas_lock<W>;
using central = central_queue<world, word, lock_per_volume<shortest_lock>>;

/// The operations of each rank, after some that rank 0 does before all others.
struct plan {
  std::vector<step_of> before{};
  std::vector<std::vector<step_of>> of_ranks{};
  std::size_t capacity = 4;
  std::string topology = "node:2";
  int announce_every = 1;
  std::size_t ring = 0;
  bool waits = false;  ///< pops wait, and each finds an element
};

template <typename Queue>
inline constexpr bool announces = requires(typename Queue::parameters of) { of.announce_every; };
template <typename Queue>
inline constexpr bool has_ring = requires(typename Queue::parameters of) { of.ring; };

/// Throws where a plan asks for what the queue has not: `for_queue` leaves that out of plans for all queues.
template <typename Queue>
typename Queue::parameters parameters_of(const plan& what) {
  typename Queue::parameters result{.capacity = what.capacity};
  if constexpr (announces<Queue>)
    result.announce_every = what.announce_every;
  else if (what.announce_every != plan{}.announce_every)
    throw nearfar::error("this queue announces nothing");
  if constexpr (has_ring<Queue>)
    result.ring = what.ring;
  else if (what.ring != plan{}.ring)
    throw nearfar::error("this queue has no ring");
  return result;
}

/// A plan of any queue for this one.
template <typename Queue>
[[nodiscard]] plan for_queue(plan what) {
  if constexpr (!announces<Queue>) what.announce_every = plan{}.announce_every;
  if constexpr (!has_ring<Queue>) what.ring = plan{}.ring;
  return what;
}

[[nodiscard]] inline object_plan planned(const plan& what) {
  const auto operations_of = [](const std::vector<step_of>& steps) {
    std::vector<planned_operation> result;
    for (const step_of one : steps)
      result.push_back(one == pop ? planned_operation{specification::pop}
                                  : planned_operation{specification::push, {one}});
    return result;
  };
  object_plan result{.before = operations_of(what.before)};
  for (const std::vector<step_of>& steps : what.of_ranks) result.of_ranks.push_back(operations_of(steps));
  return result;
}

/// Values of two words in far memory, so that they can be torn.
template <typename Queue>
[[nodiscard]] program program_of(const plan& what) {
  const auto carry_out = [waits = what.waits](Queue& queue, const planned_operation& one, monitor&) {
    if (one.method == specification::pop) {
      const auto value = waits ? queue.pop() : queue.try_pop();
      return value ? value_list{*value} : value_list{};
    }
    if (queue.try_push(one.arguments[0]) != queue_status::success)
      throw nearfar::error("there is room, and nobody closes");
    return value_list{specification::done};
  };
  program result = plan_program(
      topology_spec::parse(what.topology).place(static_cast<int>(what.of_ranks.size())), planned(what),
      specification::name,
      [what](world& w) { return std::make_unique<Queue>(w, parameters_of<Queue>(what)); }, carry_out);
  result.judge = linearizable_by(specification());
  return result;
}

}  // namespace nearfar::checker::testing
