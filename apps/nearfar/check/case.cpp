#include "apps/nearfar/check/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::command {

namespace {

std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string text_of_plan(const check_case& of) {
  const std::string room = of.capacity == 0 ? "" : fmt::format(", capacity {}", of.capacity);
  return fmt::format(", plan '{}'{}", of.plan, room);
}

/// Those that say what ranks do.
std::string arguments_of_program(const check_case& of) {
  const std::string islands =
      of.nodes_per_island == 0 ? "" : fmt::format(" --nodes-per-island {}", of.nodes_per_island);
  if (of.kind == checked_kind::lock)
    return fmt::format(" --ranks {} --nodes {}{} --acquisitions {}", of.ranks, of.nodes, islands,
                       of.acquisitions);
  const std::string room = of.capacity == 0 ? "" : fmt::format(" --capacity {}", of.capacity);
  return fmt::format(" --plan '{}'{} --nodes {}{}", of.plan, room, of.nodes, islands);
}

}  // namespace

std::string_view name(checked_kind kind) noexcept {
  constexpr std::array<std::string_view, checked_kinds.size()> names{"lock", "queue", "map", "channel"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string plural(checked_kind kind) { return fmt::format("{}s", name(kind)); }

std::size_t operations_of(const check_case& of) {
  if (of.kind == checked_kind::lock)
    return static_cast<std::size_t>(of.ranks) * static_cast<std::size_t>(of.acquisitions);
  return 1 + static_cast<std::size_t>(std::count_if(of.plan.begin(), of.plan.end(),
                                                    [](char c) { return c == ',' || c == '|' || c == ';'; }));
}

std::string promises_text(const checker::promises& of) {
  std::vector<std::string_view> kept;
  for (const auto& [member, name] : promise_names)
    if (of.*member) kept.push_back(name);
  return kept.empty() ? "none" : fmt::format("{}", fmt::join(kept, ","));
}

std::optional<checker::promises> parse_promises(std::string_view text) {
  checker::promises kept{};
  for (const auto& [member, name] : promise_names) kept.*member = text == "all";
  if (text == "all" || text == "none") return kept;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto member = value_in(promise_names, text.substr(0, end));
    if (!member) return std::nullopt;
    kept.** member = true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

std::string obstacle(const check_case& of) {
  if (of.ranks < 1 || of.ranks > most_checked_ranks)
    return fmt::format("--ranks must be 1 to {}, not {}", most_checked_ranks, of.ranks);
  if (of.nodes < 1 || of.nodes > of.ranks)
    return fmt::format("--nodes must be 1 to the number of ranks, {}, not {}", of.ranks, of.nodes);
  if (of.nodes_per_island < 0 || of.nodes_per_island > of.nodes)
    return fmt::format("--nodes-per-island must be 1 to the number of nodes, {}, not {}", of.nodes,
                       of.nodes_per_island);
  if (of.acquisitions < 1) return fmt::format("--acquisitions must be 1 or more, not {}", of.acquisitions);
  if (of.readers < 0 || of.readers > of.ranks)
    return fmt::format("--readers must be 0 to the number of ranks, {}, not {}", of.ranks, of.readers);
  if (of.home < 0 || of.home >= of.ranks)
    return fmt::format("--home must be a rank, 0 to {}, not {}", of.ranks - 1, of.home);
  if (of.crashes < 0 || of.crashes > of.ranks)
    return fmt::format("--crashes must be 0 to the number of ranks, {}, not {}", of.ranks, of.crashes);
  if (of.early_wakes < 0 || of.early_wakes > most_early_wakes)
    return fmt::format("--early-wakes must be 0 to {}, not {}", most_early_wakes, of.early_wakes);
  if (of.capacity > most_capacity)
    return fmt::format("--capacity must be 1 to {}, not {}", most_capacity, of.capacity);
  const int least_passes = of.readers == 0 ? 1 : 0;
  if (of.max_local_passes < least_passes || of.max_local_passes > most_local_passes)
    return fmt::format("--max-local-passes must be {} to {}{}, not {}", least_passes, most_local_passes,
                       of.readers == 0 ? " without readers" : "", of.max_local_passes);
  return "";
}

int usual_readers(int ranks) { return std::max(1, ranks / 2); }

std::string readers_text(const check_case& of) {
  if (of.readers == 0) return "";
  return fmt::format(", {} of them {}", of.readers, of.readers == 1 ? "a reader" : "readers");
}

std::string liberties_text(const check_case& of) {
  std::string text;
  if (of.crashes != 0) text += fmt::format(", {} may crash", counted(of.crashes, "rank"));
  if (of.early_wakes != 0)
    text += fmt::format(", each rank may have {}", counted(of.early_wakes, "spurious wake-up"));
  return text;
}

std::size_t usual_step_limit(const check_case& of) {
  constexpr std::size_t for_each = 200;
  return std::max(checker::options{}.most_steps, for_each * operations_of(of));
}

locality locality_of(const check_case& of) {
  const locality nodes = topology_spec::parse(fmt::format("node:{} numa:2", of.nodes)).place(of.ranks);
  return of.nodes_per_island == 0 ? nodes : nodes.with_islands(of.nodes_per_island);
}

checker::options options_of(const check_case& of) {
  checker::options how;
  how.mode = of.mode;
  how.near = of.near;
  how.conflict = of.conflict;
  how.promised = of.promised;
  how.crashes = of.crashes;
  how.most_early_wakes = of.early_wakes;
  how.by = of.tier;
  how.most_steps = of.step_limit != 0 ? of.step_limit : usual_step_limit(of);
  how.seed = of.seed;
  how.priority_changes = of.depth;
  return how;
}

std::string arguments_of(const check_case& of) {
  std::string text =
      fmt::format("--{} {}{} --mode {} --tier {}", plural(of.kind), of.object, arguments_of_program(of),
                  name_in(mode_names, of.mode), name_in(tier_names, of.tier));
  const check_case usual;
  const checkable* const object = find_checkable(of.object, of.kind);
  if (of.readers != 0 || (object != nullptr && object->is_shared))
    text += fmt::format(" --readers {}", of.readers);
  if (of.tier != checker::search::hash && of.near != usual.near)
    text += fmt::format(" --near {}", name_in(near_names, of.near));
  if (of.conflict != usual.conflict)
    text += fmt::format(" --conflicts {}", name_in(conflict_names, of.conflict));
  if (of.promised != usual.promised) text += fmt::format(" --promises {}", promises_text(of.promised));
  if (of.crashes != usual.crashes) text += fmt::format(" --crashes {}", of.crashes);
  if (of.early_wakes != usual.early_wakes) text += fmt::format(" --early-wakes {}", of.early_wakes);
  if (of.try_first) text += " --try-first";
  if (of.home != usual.home) text += fmt::format(" --home {}", of.home);
  if (of.max_local_passes != usual.max_local_passes)
    text += fmt::format(" --max-local-passes {}", of.max_local_passes);
  if (of.step_limit != usual.step_limit) text += fmt::format(" --step-limit {}", of.step_limit);
  if (of.tier == checker::search::random) {
    text += fmt::format(" --seed {}", of.seed);
    if (of.depth != usual.depth) text += fmt::format(" --depth {}", of.depth);
  }
  return text;
}

std::string shape_text(const check_case& of) {
  const std::string islands =
      of.nodes_per_island == 0 ? "" : fmt::format(" in islands of {}", of.nodes_per_island);
  const std::string where =
      fmt::format("{} on {}{}", counted(of.ranks, "rank"), counted(of.nodes, "node"), islands);
  if (of.kind != checked_kind::lock) return where + text_of_plan(of);
  return fmt::format("{}{}, {} each{}", where, readers_text(of), counted(of.acquisitions, "acquisition"),
                     of.try_first ? " by try_lock first" : "");
}

}  // namespace nearfar::command
