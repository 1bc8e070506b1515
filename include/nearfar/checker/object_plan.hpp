/// \file
/// Programs of a few operations on one shared object, written down as plans, for queues, maps and channels.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/history.hpp"
#include "nearfar/engine/world.hpp"

namespace nearfar::checker {

/// An operation that a rank is to call, numbered as the specification of its object has it.
struct planned_operation {
  int method = 0;
  value_list arguments{};

  [[nodiscard]] friend bool operator==(const planned_operation&, const planned_operation&) = default;
};

/// The operations that each rank calls, one after another, after rank 0 has called those of `before`.
struct object_plan {
  std::vector<planned_operation> before{};
  std::vector<std::vector<planned_operation>> of_ranks{};

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(of_ranks.size()); }
  [[nodiscard]] friend bool operator==(const object_plan&, const object_plan&) = default;
};

/// No rank calls more when all have carried out their parts.
struct nothing_afterwards {
  template <typename Perform>
  void operator()(engine::world& /*w*/, const Perform& /*perform*/) const {}
};

/// Reached when every rank has carried out its part of the plan.
inline constexpr std::string_view all_return = "every operation of the plan returns";

/// Each rank makes the object by `make(world)` (a pointer-like), and carries out its part. `carry_out(object,
/// operation, monitor)` calls one operation, and returns its result as the specification has it. Then, when
/// all are done, each rank runs `afterwards(world, perform)`, which may `perform(operation)` and look at its
/// result. All of it is history, to be judged; `names` are those of the operations. In some schedule every
/// operation of the plan must return (`all_return`); clear `program::demands` for a plan that is to end in
/// waits.
template <typename Make, typename CarryOut, typename Afterwards = nothing_afterwards>
[[nodiscard]] program plan_program(const locality& where, object_plan plan, operation_names names, Make make,
                                   CarryOut carry_out, Afterwards afterwards = {}) {
  return {.where = where,
          .body =
              [=, plan = std::move(plan), make = std::move(make), carry_out = std::move(carry_out),
               afterwards = std::move(afterwards)](engine::world& w, monitor& watch) {
                const auto object = make(w);
                const auto perform = [&](const planned_operation& what) {
                  watch.call(0, what.method, what.arguments);
                  const value_list result = carry_out(*object, what, watch);
                  watch.returned(result);
                  watch.expect_complete(names.text(what.method, what.arguments).c_str());
                  return result;
                };
                if (w.rank() == 0)
                  for (const planned_operation& one : plan.before) perform(one);
                w.barrier();
                for (const planned_operation& one : plan.of_ranks[static_cast<std::size_t>(w.rank())])
                  perform(one);
                w.barrier();
                watch.reach(all_return);
                afterwards(w, perform);
                w.barrier();
              },
          .demands = {std::string(all_return)},
          .names = names};
}

}  // namespace nearfar::checker
