/// \file
/// How a team keeps its members on the CPUs that `pin_team` chose.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace nearfar::detail {

/// The CPUs of members 0, 1, ...; further members start again at the first entry.
struct pin_plan {
  std::uint64_t number;  // differs for each plan; never 0
  std::vector<std::vector<int>> cpus;
};

/// The plan for teams of the calling thread; null if it has none. Shared ownership, because a loop on a team
/// that follows the plan may call pin_team().
[[nodiscard]] std::shared_ptr<const pin_plan> plan_of_this_thread() noexcept;

/// Binds the calling thread as member `index` of a team, unless it is already bound so. Without a plan,
/// undoes the binding of another caller's plan.
void keep_pinned(const pin_plan* plan, int index) noexcept;

}  // namespace nearfar::detail
