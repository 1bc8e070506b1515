#include "apps/nearfar/loops/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "nearfar/topology/hardware.hpp"

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

std::vector<std::size_t> parse_lengths(const char* option, const std::vector<std::string>& texts,
                                       const length_range& range) {
  std::vector<std::size_t> lengths;
  for (const std::string& text : texts) lengths.push_back(parse_length(option, text, range));
  return without_repeats(lengths);
}

page_placement parse_placement(const std::string& text, bool huge_pages) {
  const std::vector<std::string> known{"first-touch", "bind", "interleave"};
  page_placement placement;
  placement.huge_pages = huge_pages;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name == "bind") {
    placement.policy = page_policy::bind;
  } else if (name == "interleave") {
    placement.policy = page_policy::interleave;
  } else if (name != "first-touch") {
    throw usage_error(unknown_name("placement", name, known));
  }
  const std::string list = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    int domain = 0;
    const auto parsed = std::from_chars(list.data() + begin, list.data() + end, domain);
    const int domains = this_machine().numa_domains();
    if (parsed.ec != std::errc() || parsed.ptr != list.data() + end || domain < 0 || domain >= domains)
      throw usage_error(fmt::format("--placement {}: '{}' is no NUMA domain; this machine has {}, from 0 on",
                                    text, list.substr(begin, end - begin), domains));
    placement.domains.push_back(domain);
    begin = end + 1;
  }
  if (placement.policy == page_policy::bind && placement.domains.empty())
    throw usage_error("--placement bind needs NUMA domains; write bind:0 or bind:0,1");
  if (placement.policy == page_policy::first_touch && colon != std::string::npos)
    throw usage_error(
        fmt::format("--placement {}: first-touch takes no domains, as the touching thread decides; give them "
                    "to bind and interleave",
                    text));
  return placement;
}

void report_placement_problems() {
  for (const std::string& problem : placement_problems()) fmt::print(stderr, "nearfar: {}\n", problem);
}

}  // namespace nearfar::command
