/// \file
/// How a team keeps its members where `pin_team` put them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace nearfar::detail {

/// The CPUs of members 0, 1, ..., which count round.
struct pin_plan {
  std::uint64_t number;  // another one for each plan; never 0
  std::vector<std::vector<int>> cpus;
};

/// The plan for teams of the calling thread; null for none. Shared, because a loop on a team that follows it
/// may call pin_team().
[[nodiscard]] std::shared_ptr<const pin_plan> plan_of_this_thread() noexcept;

/// Binds the calling thread as member `index` of a team, unless it is already; without a plan undoes what
/// another caller's has bound.
void keep_pinned(const pin_plan* plan, int index) noexcept;

}  // namespace nearfar::detail
