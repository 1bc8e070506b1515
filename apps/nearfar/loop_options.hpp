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

#include "apps/nearfar/command.hpp"
#include "bench/loops/loop_case.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar::command {

// Help of --pin and --placement.
inline constexpr const char* pin_help =
    "Where threads run: none, compact, scatter, cache, numa, or CPUs: 0,2,4-7";
inline constexpr const char* placement_help =
    "Where pages are to be: first-touch, interleave, interleave:0,1, bind:0 (NUMA domains)";

/// The values of these names; `all` for all of them. Throws `usage_error` for another name.
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
    if (!value)
      throw usage_error(fmt::format("unknown {} '{}'{}; there are: {}", what, name,
                                    suggestion(name, bench::names_of(all)),
                                    fmt::join(bench::names_of(all), ", ")));
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  return values;
}

/// A line for each, to end the help of an option.
template <typename Value, std::size_t Count>
std::string help_of(const std::array<bench::named<Value>, Count>& all) {
  std::string text;
  for (const auto& each : all) text += fmt::format("\n  {:<19} {}", each.name, each.meaning);
  return text;
}

/// A number of elements, which may be written 2e7. Throws `usage_error`, which names the option.
[[nodiscard]] std::size_t parse_length(const char* option, const std::string& text);

/// What --placement and --huge-pages say. Throws `usage_error`.
[[nodiscard]] page_placement parse_placement(const std::string& text, bool huge_pages);

/// Says on stderr what the system refused when pages were placed.
void report_placement_problems();

}  // namespace nearfar::command
