#include "nearfar/topology/pinning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/level.hpp"

namespace nearfar {

namespace {

// In the order of pinning::rule. A list of CPUs has no name.
constexpr std::array<std::string_view, 5> rule_names{"none", "compact", "scatter", "cache", "numa"};

constexpr int most_cpus = 1 << 20;  // more than any kernel knows, few enough to write out

int id(const usable_cpu& cpu, level at) { return cpu.where[index(at)]; }

/// The members of each group at a level, groups in the order of their first members.
std::vector<std::vector<usable_cpu>> groups_of(std::span<const usable_cpu> cpus, level at) {
  std::vector<std::vector<usable_cpu>> groups;
  std::map<int, std::size_t> group_of;
  for (const usable_cpu& each : cpus) {
    const auto [found, is_new] = group_of.try_emplace(id(each, at), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(each);
  }
  return groups;
}

/// Takes one element of each row in turn and skips rows that have ended.
template <typename T>
std::vector<T> in_turn(const std::vector<std::vector<T>>& rows) {
  std::vector<T> merged;
  std::size_t longest = 0;
  for (const std::vector<T>& row : rows) longest = std::max(longest, row.size());
  for (std::size_t i = 0; i < longest; ++i)
    for (const std::vector<T>& row : rows)
      if (i < row.size()) merged.push_back(row[i]);
  return merged;
}

/// Takes the CPUs in turn from the groups of the first level, within these in turn from the groups of the
/// next, and so on.
std::vector<usable_cpu> spread(std::span<const usable_cpu> cpus, std::span<const level> levels) {
  if (levels.empty()) return {cpus.begin(), cpus.end()};
  std::vector<std::vector<usable_cpu>> rows;
  for (const std::vector<usable_cpu>& group : groups_of(cpus, levels.front()))
    rows.push_back(spread(group, levels.subspan(1)));
  return in_turn(rows);
}

std::vector<usable_cpu> scattered(std::span<const usable_cpu> cpus) {
  constexpr std::array levels{level::package, level::numa, level::cache};
  // All first hardware threads of cores come before all second ones, also if cores differ in size.
  std::vector<std::vector<usable_cpu>> ranks;
  for (const std::vector<usable_cpu>& core : groups_of(cpus, level::core)) {
    ranks.resize(std::max(ranks.size(), core.size()));
    for (std::size_t i = 0; i < core.size(); ++i) ranks[i].push_back(core[i]);
  }
  std::vector<usable_cpu> order;
  for (const std::vector<usable_cpu>& rank : ranks) {
    const std::vector<usable_cpu> far = spread(rank, levels);
    order.insert(order.end(), far.begin(), far.end());
  }
  return order;
}

std::vector<std::vector<int>> one_each(std::span<const usable_cpu> cpus) {
  std::vector<std::vector<int>> sets;
  for (const usable_cpu& each : cpus) sets.push_back({each.number});
  return sets;
}

std::vector<std::vector<int>> whole_groups(std::span<const usable_cpu> cpus, level at) {
  std::vector<std::vector<int>> sets;
  for (const std::vector<usable_cpu>& group : groups_of(cpus, at)) {
    std::vector<int>& numbers = sets.emplace_back();
    for (const usable_cpu& each : group) numbers.push_back(each.number);
    std::sort(numbers.begin(), numbers.end());
  }
  return sets;
}

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw topology_error("no pinning '" + std::string(text) + "': " + why);
}

/// Parses all of `text` as the number of a CPU; `all` is for the error message.
int number_of(std::string_view text, std::string_view all) {
  int number = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.starts_with('-') || stop != text.data() + text.size() || problem != std::errc())
    refuse(all, "write none, compact, scatter, cache, numa, or CPUs as in 0,2,4-7");
  if (number >= most_cpus) refuse(all, "there is no CPU " + std::to_string(number));
  return number;
}

}  // namespace

pinning pinning::parse(std::string_view text) {
  pinning parsed;
  const auto named = std::find(rule_names.begin(), rule_names.end(), text);
  parsed.rule_ = static_cast<rule>(named - rule_names.begin());
  if (named != rule_names.end()) return parsed;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    const std::size_t dash = entry.find('-');
    const int first = number_of(entry.substr(0, dash), text);
    const int last = dash == std::string_view::npos ? first : number_of(entry.substr(dash + 1), text);
    if (last < first) refuse(text, "the range " + std::string(entry) + " ends before it begins");
    for (int cpu = first; cpu <= last; ++cpu) parsed.list_.push_back(cpu);
    if (comma == std::string_view::npos) return parsed;
    rest.remove_prefix(comma + 1);
  }
}

std::string pinning::to_string() const {
  if (rule_ != rule::list) return std::string(rule_names[static_cast<std::size_t>(rule_)]);
  std::string text;
  for (std::size_t begin = 0; begin < list_.size();) {
    std::size_t end = begin + 1;
    while (end < list_.size() && list_[end] == list_[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(list_[begin]);
    if (end > begin + 1) text.append("-").append(std::to_string(list_[end - 1]));
    begin = end;
  }
  return text;
}

std::vector<std::vector<int>> pinning::cycle(const hardware& machine) const {
  const std::vector<usable_cpu> usable = machine.usable_cpus();
  if (usable.empty()) throw topology_error("no CPU is left to pin a thread to");
  switch (rule_) {
    case rule::none:
      return {{}};
    case rule::compact:
      return one_each(usable);
    case rule::scatter:
      return one_each(scattered(usable));
    case rule::cache:
      return whole_groups(usable, level::cache);
    case rule::numa:
      return whole_groups(usable, level::numa);
    case rule::list:
      break;
  }
  std::vector<std::vector<int>> sets;
  for (const int number : list_) {
    if (std::none_of(usable.begin(), usable.end(),
                     [&](const usable_cpu& each) { return each.number == number; }))
      throw topology_error("cannot pin a thread to CPU " + std::to_string(number) + ": " +
                           (machine.is_this_system()
                                ? "this process may not use it; 'taskset -cp $$' shows the allowed CPUs"
                                : "the machine described has no such CPU"));
    sets.push_back({number});
  }
  return sets;
}

std::vector<std::vector<int>> pinning::cpus(const hardware& machine, int threads) const {
  if (threads < 0) throw misuse("the number of threads must be 0 or more");
  const std::vector<std::vector<int>> sets = cycle(machine);
  std::vector<std::vector<int>> chosen;
  for (std::size_t thread = 0; thread < static_cast<std::size_t>(threads); ++thread)
    chosen.push_back(sets[thread % sets.size()]);
  return chosen;
}

}  // namespace nearfar
