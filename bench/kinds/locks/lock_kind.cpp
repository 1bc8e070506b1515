// Locks as a kind of objects.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/locks/lock_parameters.hpp"
#include "bench/object.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/lock_tree.hpp"

namespace nearfar::bench {

namespace {

/// The first of these levels that does not exist, or nothing.
std::optional<std::string> unknown_level(std::string_view levels) {
  for (;;) {
    const std::size_t end = std::min(levels.find('/'), levels.size());
    const std::string_view named = levels.substr(0, std::min(levels.find('='), end));
    if (!level_from_name(named)) return std::string(named);
    if (end == levels.size()) return std::nullopt;
    levels.remove_prefix(end + 1);
  }
}

/// Why the text names no levels beside that of nodes, or nothing.
std::string refuse_levels(std::string_view text) {
  if (text.empty()) return fmt::format("'{}' stands for no level", no_level);
  // The error around this lists the names already; the library's would list other ones.
  if (const auto wrong = unknown_level(text)) return fmt::format("'{}' is no level", *wrong);
  try {
    static_cast<void>(lock_tree::parse_around_nodes(std::string(text)));
  } catch (const misuse& why) {
    return why.what();
  }
  return "";
}

std::vector<axis> parameters_of_locks() {
  constexpr double most_passes = 254;
  constexpr double one_minute = 6e10;
  constexpr double most_unfair = 1e6;
  const lock_parameters standard;
  const auto pause = [](const char* name, const char* meaning, std::chrono::nanoseconds of) {
    return axis{.name = name,
                .unit = "ns",
                .meaning = meaning,
                .standard = std::int64_t{of.count()},
                .least = 1,
                .most = one_minute};
  };
  return {{.name = "max_local_passes",
           .meaning = "Consecutive hand-overs within a node before another node gets the lock",
           .standard = std::int64_t{standard.max_local_passes},
           .least = 1,
           .most = most_passes},
          pause("backoff_min_ns", "Initial back-off pause of tas", standard.pause.shortest),
          pause("backoff_max_ns", "Longest back-off pause of tas", standard.pause.longest),
          pause("local_backoff_min_ns", "Initial back-off pause of near_tts, and of rh within a node",
                standard.local_pause.shortest),
          pause("local_backoff_max_ns", "Longest back-off pause of near_tts, and of rh within a node",
                standard.local_pause.longest),
          {.name = "fairness_factor",
           .meaning = "One release of rh in N, chosen at random, offers the lock to other nodes",
           .standard = std::int64_t{standard.fairness_factor},
           .least = 1,
           .most = most_unfair},
          {.name = "max_turn_ns",
           .unit = "ns",
           .meaning = "Longest time that a node keeps cohort.timed while others wait",
           .standard = std::int64_t{standard.max_turn.count()},
           .most = one_minute},
          {.name = "spin_ns",
           .unit = "ns",
           .meaning = "Polling time before a waiting rank sleeps (cst, near_cst)",
           .standard = std::int64_t{standard.spin.count()},
           .most = one_minute},
          {.name = "levels",
           .meaning = "Levels beside nodes with queues of hmcs or locks of clof, each with a limit",
           .standard = standard.levels,
           .choices = {every_level, no_level, "island", "package", "numa", "cache", "core"},
           .others = "levels from the outside in, such as island=100/numa=20/core",
           .refuse_other = refuse_levels}};
}

bool is_known(const locality& where, level at) {
  for (int rank = 0; rank < where.size(); ++rank)
    if (!where.known(at, rank)) return false;
  return true;
}

std::string lacking_level(const object& of, const point& at, const locality& where) {
  if (!of.takes("levels") || !at.has("levels")) return "";
  const std::string& text = at.text("levels");
  if (text == every_level || text == no_level) return "";
  const levels_around_nodes levels = lock_tree::parse_around_nodes(text);
  if (levels.island) {
    if (std::string why = lacking_islands(where); !why.empty()) return why;
    if (of.name.starts_with("clof")) return "clof has no lock of islands";
  }
  int outside = where.groups(level::node);
  for (const tree_level& each : levels.inside.levels()) {
    const std::string_view named = name(each.at);
    if (!is_known(where, each.at))
      return fmt::format("the topology does not say which ranks share a '{}'", named);
    const int inside = where.groups(each.at);
    if (inside == where.groups(level::node))
      return fmt::format("each node is a single '{}' here: no such level divides it", named);
    if (inside == outside)
      return fmt::format("each '{}' here is all of the level before it: a queue of its own is useless",
                         named);
    if (inside == where.size())
      return fmt::format("no two ranks share a '{}' here: no rank would wait on that level", named);
    outside = inside;
  }
  return "";
}

object_kind make_locks() {
  object_kind result{
      .name = "lock",
      .plural = "locks",
      .title = "lock",
      .introduction =
          "Locks. 'family' names the recommended setting, 'family.variant' another policy. An unsound lock "
          "is a published\nform that may hang or admit two ranks; it runs only when it is named.",
      .remarks =
          "Far operations, each with its flush: those of an uncontended lock and unlock; those of a "
          "contended pair. 'At home'\nmeans to the lock's home rank, 'in the node' to a rank of the same "
          "node by RMA.",
      .parameters = parameters_of_locks(),
      .refuse = refuse_pauses,
      .objects = {},
      .lacking = lacking_level};
  for (const lock_entry& entry : catalogue::instance().entries()) result.objects.push_back(entry.listed());
  return result;
}

}  // namespace

const object_kind& locks() {
  static const object_kind all = make_locks();
  return all;
}

std::string lacking_islands(const locality& where) {
  const int islands = where.groups(level::island);
  if (where.groups(level::node) == 1) return "there is one node here: islands divide several nodes";
  if (!is_known(where, level::island)) return "the topology does not say which nodes form an 'island'";
  if (islands == 1) return "all nodes are a single 'island' here: no such level divides them";
  if (islands == where.groups(level::node))
    return "each 'island' here is a single node: no node would wait on that level";
  return "";
}

std::string refuse_pauses(const point& at) {
  for (const std::string kind : {"", "local_"}) {
    const std::string first = kind + "backoff_min_ns";
    const std::string longest = kind + "backoff_max_ns";
    if (!at.has(first) || !at.has(longest) || at.whole(first) <= at.whole(longest)) continue;
    const std::string option = kind.empty() ? "--backoff" : "--local-backoff";
    return fmt::format("{0}-min-ns must be at most {0}-max-ns", option);
  }
  return "";
}

levels_around_nodes lock_parameters::levels_around(const locality& of) const {
  if (levels == every_level) return lock_tree::around_nodes(of, max_local_passes);
  return lock_tree::parse_around_nodes(levels == no_level ? "" : levels, max_local_passes);
}

lock_parameters lock_parameters::at(const point& where) {
  lock_parameters result;
  const auto pause = [&](const std::string& kind, backoff& into) {
    if (where.has(kind + "_min_ns"))
      into = {std::chrono::nanoseconds(where.whole(kind + "_min_ns")),
              std::chrono::nanoseconds(where.whole(kind + "_max_ns"))};
  };
  if (where.has("max_local_passes"))
    result.max_local_passes = static_cast<int>(where.whole("max_local_passes"));
  pause("backoff", result.pause);
  pause("local_backoff", result.local_pause);
  if (where.has("max_turn_ns")) result.max_turn = std::chrono::nanoseconds(where.whole("max_turn_ns"));
  if (where.has("spin_ns")) result.spin = std::chrono::nanoseconds(where.whole("spin_ns"));
  if (where.has("levels")) result.levels = where.text("levels");
  if (where.has("fairness_factor")) result.fairness_factor = static_cast<int>(where.whole("fairness_factor"));
  return result;
}

}  // namespace nearfar::bench
