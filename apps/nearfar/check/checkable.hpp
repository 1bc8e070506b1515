/// \file
/// The objects that `nearfar check` can check: the registered locks of either kind, queues, maps and
/// channels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/check/plan.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// The checker's knowledge of a registered object on which ranks carry out plans.
struct planned_object {
  plan_language language;
  bool takes_capacity = false;
  /// The plan that ranks carry out if the user gives none.
  std::function<checker::object_plan(int ranks, int home)> usual_plan;
  /// One that shows why an unsound object is so, soon under random schedules.
  std::string telling_plan{};
  /// Why this object cannot carry out the plan of a case, in a sentence, or nothing.
  std::function<std::string(const checker::object_plan&, const check_case&)> obstacle;
};

/// A registered lock, exclusive or of readers and writers, or a queue, a map or a channel.
struct checkable {
  checked_kind kind = checked_kind::lock;
  std::string name;
  std::string family;
  bool one_node_only = false;
  bool is_sound = true;
  bool is_shared = false;         ///< for readers and writers
  bool can_try = true;            ///< has a `try_lock`
  bool has_local_passes = false;  ///< has the parameter `max_local_passes`
  /// The program of a case: its ranks make the object, and acquire and release it or carry out the plan.
  std::function<checker::program(const check_case&)> program{};
  /// Of all but locks.
  std::optional<planned_object> plans{};
  /// Why the checker's world has none, in a sentence; empty: it has, and `program` and `plans` are there.
  std::string absent{};

  /// Whether it stands for its family if the user does not ask for all.
  [[nodiscard]] bool is_recommended() const { return name == family; }
  /// Whether it is unsound, and a plan of its own shows that.
  [[nodiscard]] bool has_telling_plan() const { return plans && !plans->telling_plan.empty(); }
};

/// In the order of the registries, of locks exclusive ones first. Locks that do not exist in the checked
/// world are left out; others say why they are absent.
[[nodiscard]] const std::vector<checkable>& checkables(checked_kind kind = checked_kind::lock);

/// Null if there is none of that name.
[[nodiscard]] const checkable* find_checkable(std::string_view name, checked_kind kind = checked_kind::lock);

/// The case with the usual plan of an object on which ranks carry out plans.
[[nodiscard]] check_case usual_case(const checkable& object, int ranks = 2);

/// The case in which an unsound object that has a plan for it (`telling_plan`) shows its fault: random
/// schedules and sequential near cells. Others bury it under orders that show nothing.
[[nodiscard]] check_case telling_case(const checkable& object);
/// In which it shows.
inline constexpr std::uint64_t most_executions_until_told = 200'000;

// Each in a file of its own, since these take longest to compile.
[[nodiscard]] std::vector<checkable> make_queues();
[[nodiscard]] std::vector<checkable> make_maps();
[[nodiscard]] std::vector<checkable> make_channels();

}  // namespace nearfar::command
