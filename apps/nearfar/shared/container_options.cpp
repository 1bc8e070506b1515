#include "apps/nearfar/shared/container_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "apps/nearfar/shared/command.hpp"
#include "bench/kinds/containers/page_placement_text.hpp"

namespace nearfar::command {

std::size_t parse_length(const char* option, const std::string& text, const length_range& range) {
  const double most = std::pow(10.0, range.digits);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool in_range = value >= static_cast<double>(range.least) && value <= most;  // which NaN is not
  if (problem != std::errc() || end != text.data() + text.size() || !in_range || value != std::floor(value))
    throw usage_error(fmt::format("{} must be a whole number from {} to 1e{}, such as 10000 or 2e7, not '{}'",
                                  option, range.least, range.digits, text));
  return static_cast<std::size_t>(value);
}

page_placement parse_placement(const std::string& text, bool huge_pages) {
  try {
    page_placement placement = bench::parse_page_placement(text);
    placement.huge_pages = huge_pages;
    return placement;
  } catch (const error& wrong) {
    throw usage_error(fmt::format("--placement {}: {}", text, wrong.what()));
  }
}

void report_placement_problems() {
  for (const std::string& problem : placement_problems()) remark("{}", problem);
}

}  // namespace nearfar::command
