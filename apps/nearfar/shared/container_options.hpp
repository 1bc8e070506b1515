/// \file
/// Options of all subcommands that work on containers.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "bench/kinds/containers/loop_case.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar::command {

// Help of --pin and --placement.
inline constexpr const char* pin_help =
    "Pinning of threads: none, compact, scatter, cache, numa, or CPUs 0,2,4-7";
inline constexpr const char* placement_help =
    "Placement of pages: first-touch, interleave, or bind:0 to NUMA domains";

/// Each value once, where it comes first.
template <typename Value>
std::vector<Value> without_repeats(const std::vector<Value>& values) {
  std::vector<Value> once;
  for (const Value& value : values)
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  return once;
}

/// The values of these names, each once; `all` for all of them. Throws `usage_error` for another name.
template <typename Value, std::size_t Count>
std::vector<Value> values_of(const std::vector<std::string>& names,
                             const std::array<bench::named<Value>, Count>& all, const char* what) {
  std::vector<Value> values;
  for (const std::string& name : names) {
    if (name == "all") {
      for (const auto& each : all) values.push_back(each.value);
      continue;
    }
    const std::optional<Value> value = bench::value_of(all, name);
    if (!value) throw usage_error(unknown_name(what, name, bench::names_of(all)));
    values.push_back(*value);
  }
  return without_repeats(values);
}

/// A line for each, to end the help of an option.
template <typename Value, std::size_t Count>
std::string help_of(const std::array<bench::named<Value>, Count>& all) {
  std::string text;
  for (const auto& each : all) text += fmt::format("\n  {:<23} {}", each.name, each.meaning);
  return text;
}

/// Which numbers an option takes: `least` to 10 to the power of `digits`.
struct length_range {
  std::size_t least = 1;
  int digits = 12;
};

// All reach beyond what fits into memory, so that nothing useful is refused.
inline constexpr length_range lengths_of_vectors{};
inline constexpr length_range chunks_of_loops{.least = 0};
inline constexpr length_range counts_of_segments{.digits = 9};

/// A number of elements, which may be written 2e7. Throws `usage_error`, which names the option.
[[nodiscard]] std::size_t parse_length(const char* option, const std::string& text,
                                       const length_range& range = lengths_of_vectors);

/// The placement that --placement and --huge-pages name. Throws `usage_error`.
[[nodiscard]] page_placement parse_placement(const std::string& text, bool huge_pages);

/// Says on stderr what the system refused when pages were placed.
void report_placement_problems();

}  // namespace nearfar::command
