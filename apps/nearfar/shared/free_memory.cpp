#include "apps/nearfar/shared/free_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace nearfar::command {

std::optional<free_memory> free_memory::now() {
  std::optional<std::size_t> available;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    constexpr std::size_t kibi = 1024;
    if (line.rfind("MemAvailable:", 0) == 0) available = std::stoull(line.substr(line.find(':') + 1)) * kibi;
  }
  // A container's limit, in version 2 of control groups.
  std::size_t limit = 0;
  std::size_t used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    const std::size_t left = limit > used ? limit - used : 0;
    available = available ? std::min(*available, left) : left;
  }
  if (!available) return std::nullopt;
  // Some is for others.
  constexpr double share = 0.8;
  return free_memory{*available, static_cast<std::size_t>(share * static_cast<double>(*available))};
}

std::string free_memory::text_for(std::size_t needed) const {
  constexpr double mebi = 1024.0 * 1024;
  return fmt::format("{:.0f} MiB of memory: {:.0f} MiB are free", static_cast<double>(needed) / mebi,
                     static_cast<double>(bytes) / mebi);
}

}  // namespace nearfar::command
