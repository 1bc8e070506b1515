/// \file
/// Plans of queues and channels, whose methods are those of `closable_queue`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/check/plan.hpp"
#include "nearfar/checker/closable_queue.hpp"
#include "nearfar/checker/object_plan.hpp"

namespace nearfar::command {

/// The ranks that may push to a queue, or send, and those that may pop or receive.
struct fifo_roles {
  std::optional<int> pusher{};  ///< that rank alone, and it alone closes
  std::optional<int> popper{};
  bool has_one_pusher = false;  ///< whichever it is
  bool has_one_popper = false;
};

/// How a kind calls itself, what goes in and comes out, and what ranks do: "queue", "value", "pushes",
/// "pops", and the operations "push" and "pop".
struct fifo_words {
  std::string_view kind;
  std::string_view value;
  std::string_view pushes;
  std::string_view pops;
  std::string_view push;
  std::string_view pop;
};

/// Room that nobody knows exactly, or that is enough for all.
inline constexpr std::size_t any_room = std::numeric_limits<std::size_t>::max();

/// Why the plan cannot be carried out, or proves nothing that it seems to, and what to write instead, in a
/// sentence; or nothing. `room`: elements that fit in; none in a rendezvous.
[[nodiscard]] std::string obstacle(const checker::object_plan& plan, const fifo_roles& roles,
                                   const fifo_words& words, std::size_t room = any_room);

/// Values that the ranks push in all, and the busiest of them.
[[nodiscard]] std::size_t count_pushes(const checker::object_plan& plan);
[[nodiscard]] std::size_t most_pushes_of_a_rank(const checker::object_plan& plan);

/// The rank that empties the object in the end: one that pops, if there is one.
[[nodiscard]] int last_popper(const checker::object_plan& plan, const fifo_roles& roles);

/// Every rank tries to push a value and to pop one; a rank that may do one of these only does it twice.
[[nodiscard]] checker::object_plan usual_fifo_plan(int ranks, const fifo_roles& roles);

/// Reached when a value comes out again.
inline constexpr std::string_view comes_out = "a value that went in comes out";

/// Carries the plan out by `carry_out(object, operation)`; then one rank empties the object, so that what was
/// lost or doubled is seen. Some schedule must bring a value out.
template <typename Make, typename CarryOut>
[[nodiscard]] checker::program fifo_program(const locality& where, const checker::object_plan& plan,
                                            const fifo_roles& roles, checker::operation_names names,
                                            Make make, CarryOut carry_out) {
  using checker::closable_queue;
  const auto empty = [last = last_popper(plan, roles), most = count_pushes(plan)](engine::world& w,
                                                                                  const auto& perform) {
    if (w.rank() != last) return;
    for (std::size_t i = 0; i <= most; ++i)
      if (!closable_queue::brings_value(perform({closable_queue::try_pop}))) return;
  };
  checker::program result = checker::plan_program(
      where, plan, names, std::move(make),
      [carry_out = std::move(carry_out)](auto& object, const checker::planned_operation& what,
                                         checker::monitor& watch) {
        const checker::value_list brought = carry_out(object, what);
        if (closable_queue::brings_value(brought)) watch.reach(comes_out);
        return brought;
      },
      empty);
  // First, since it is the better explanation where neither is reached.
  result.demands.insert(result.demands.begin(), std::string(comes_out));
  return result;
}

}  // namespace nearfar::command
