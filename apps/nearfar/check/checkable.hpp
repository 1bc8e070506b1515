/// \file
/// What `nearfar check` can check: the registered locks of either kind.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/check/case.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// A registered lock, exclusive or of readers and writers.
struct checkable {
  std::string name;
  std::string family;
  bool one_node_only = false;
  bool is_sound = true;
  bool is_shared = false;  ///< for readers and writers
  bool can_try = true;     ///< has a `try_lock`
  /// What the ranks of a case do: make the lock at home, acquire it and release it.
  std::function<checker::program(const check_case&)> program;

  /// What stands for its family where not all are asked for.
  [[nodiscard]] bool is_recommended() const { return name == family; }
};

/// All that exist in the checked world: exclusive ones first, in the order of the registries.
[[nodiscard]] const std::vector<checkable>& checkables();

/// Null if there is none of that name.
[[nodiscard]] const checkable* find_checkable(std::string_view name);

}  // namespace nearfar::command
