#include "bench/kinds/containers/page_placement_text.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::bench {

page_placement parse_page_placement(const std::string& text) {
  page_placement placement;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name == "bind") {
    placement.policy = page_policy::bind;
  } else if (name == "interleave") {
    placement.policy = page_policy::interleave;
  } else if (name != "first-touch") {
    throw error("'" + name + "' is no placement: choose first-touch, bind or interleave");
  }
  const std::string list = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    int domain = 0;
    const auto parsed = std::from_chars(list.data() + begin, list.data() + end, domain);
    const int domains = this_machine().numa_domains();
    if (parsed.ec != std::errc() || parsed.ptr != list.data() + end || domain < 0 || domain >= domains)
      throw error("'" + list.substr(begin, end - begin) + "' is no NUMA domain; this machine has " +
                  std::to_string(domains) + ", from 0 on");
    placement.domains.push_back(domain);
    begin = end + 1;
  }
  if (placement.policy == page_policy::bind && placement.domains.empty())
    throw error("bind needs NUMA domains; write bind:0 or bind:0,1");
  if (placement.policy == page_policy::first_touch && colon != std::string::npos)
    throw error(
        "first-touch takes no domains, as the touching thread decides; give them to bind and interleave");
  return placement;
}

std::string text_of(const page_placement& placement) {
  std::string text;
  switch (placement.policy) {
    case page_policy::first_touch:
      text = "first-touch";
      break;
    case page_policy::bind:
      text = "bind";
      break;
    case page_policy::interleave:
      text = "interleave";
      break;
  }
  const char* separator = ":";
  for (const int domain : placement.domains) {
    text += std::exchange(separator, ",");
    text += std::to_string(domain);
  }
  return text;
}

}  // namespace nearfar::bench
