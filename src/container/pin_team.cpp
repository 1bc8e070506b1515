#include "nearfar/container/pin_team.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/pinning.hpp"
#include "pins.hpp"

namespace nearfar {

namespace {

thread_local std::shared_ptr<const detail::pin_plan> current_plan;

// The plan by which this thread is bound, and the member as which it is bound.
thread_local std::uint64_t bound_by = 0;
thread_local int bound_as = 0;

void bind_as(const detail::pin_plan& plan, int member) {
  this_machine().bind_this_thread_to_cpus(plan.cpus[static_cast<std::size_t>(member) % plan.cpus.size()]);
  bound_by = plan.number;
  bound_as = member;
}

void unbind() {
  std::vector<int> everywhere;
  for (const usable_cpu& each : this_machine().usable_cpus()) everywhere.push_back(each.number);
  this_machine().bind_this_thread_to_cpus(everywhere);
  bound_by = 0;
}

}  // namespace

std::shared_ptr<const detail::pin_plan> detail::plan_of_this_thread() noexcept { return current_plan; }

void detail::keep_pinned(const pin_plan* plan, int index) noexcept {
  if (plan == nullptr ? bound_by == 0 : bound_by == plan->number && bound_as == index) return;
  try {
    if (plan != nullptr)
      bind_as(*plan, index);
    else
      unbind();  // LLVM's OpenMP passes on threads that another caller's plan has bound
  } catch (const std::exception&) {
    // CPUs that pin_team() found have gone since. The thread runs where the system lets it.
  }
}

std::vector<std::string> pin_team(const team& threads, const pinning& how) {
  const hardware& machine = this_machine();
  std::shared_ptr<const detail::pin_plan> plan;
  if (!how.is_none()) {
    static std::atomic<std::uint64_t> plans = 0;
    plan = std::make_shared<const detail::pin_plan>(
        detail::pin_plan{plans.fetch_add(1, std::memory_order_relaxed) + 1, how.cycle(machine)});
  }
  const std::shared_ptr<const detail::pin_plan> before = current_plan;

  std::vector<std::string> texts(static_cast<std::size_t>(threads.size()));
  int members = 1;
  try {
    threads.run([&](team_member member) {
      if (member.index == 0) members = member.size;
      if (plan != nullptr)
        bind_as(*plan, member.index);
      else if (before != nullptr)
        unbind();
      texts[static_cast<std::size_t>(member.index)] = machine.binding_text();
    });
  } catch (...) {
    threads.run([&](team_member member) {
      try {
        if (before != nullptr)
          bind_as(*before, member.index);
        else
          unbind();
      } catch (const topology_error&) {
        // A thread that could not be bound has not moved.
      }
    });
    throw;
  }
  texts.resize(static_cast<std::size_t>(members));
  current_plan = std::move(plan);
  return texts;
}

}  // namespace nearfar
