#include "nearfar/topology/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace nearfar {

namespace {

/// The words of a line, separated by blanks.
std::vector<std::string> fields_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> fields;
  for (std::string field; stream >> field;) {
    fields.push_back(std::move(field));
  }
  return fields;
}

/// Whether a comma-separated list contains this entry.
bool lists(std::string_view list, std::string_view entry) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == entry) {
      return true;
    }
    if (comma == std::string_view::npos) {
      return false;
    }
    list.remove_prefix(comma + 1);
  }
}

/// The words of a file's first line; empty if the file cannot be read.
std::vector<std::string> words_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return fields_of(line);
}

/// A limit of `quota` microseconds of CPU time in each `period`. Nothing for "max", -1 or text that is no
/// number.
std::optional<double> cpus_of(const std::string& quota, const std::string& period) {
  const auto number = [](const std::string& text) {
    std::int64_t value = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && stop == text.data() + text.size() ? value : 0;
  };
  if (number(quota) <= 0 || number(period) <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(number(quota)) / static_cast<double>(number(period));
}

/// A mounted cgroup hierarchy that can limit CPU time.
struct cgroup_mount {
  std::string root;   // the group that the mount point shows
  std::string point;  // where it is mounted
  bool unified;       // cgroup v2
};

std::vector<cgroup_mount> cgroup_mounts(const std::filesystem::path& root) {
  // proc(5): id, parent, device, root, mount point, options, optional fields, "-", type, source, super
  // options
  std::vector<cgroup_mount> mounts;
  std::ifstream stream(root / "proc/self/mountinfo");
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> fields = fields_of(line);
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) {
      continue;
    }
    const bool unified = dash[1] == "cgroup2";
    if (unified || (dash[1] == "cgroup" && lists(dash[3], "cpu"))) {
      mounts.push_back({fields[3], fields[4], unified});
    }
  }
  return mounts;
}

/// The path of this process's group in the v2 hierarchy or in v1's cpu hierarchy.
std::optional<std::string> cgroup_path(const std::filesystem::path& root, bool unified) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : lists(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

/// `path` as seen below `mount_root`. A container without a cgroup namespace sees its host's path, but only
/// its own group is mounted: then the mount point is the group.
std::string path_below(const std::string& path, const std::string& mount_root) {
  if (mount_root == "/") {
    return path;
  }
  if (path.starts_with(mount_root + "/")) {
    return path.substr(mount_root.size());
  }
  return "";
}

std::optional<double> group_quota(const std::filesystem::path& group, bool unified) {
  if (unified) {
    const std::vector<std::string> words = words_of_file(group / "cpu.max");
    return words.size() == 2 ? cpus_of(words[0], words[1]) : std::nullopt;
  }
  const std::vector<std::string> quota = words_of_file(group / "cpu.cfs_quota_us");
  const std::vector<std::string> period = words_of_file(group / "cpu.cfs_period_us");
  return quota.empty() || period.empty() ? std::nullopt : cpus_of(quota[0], period[0]);
}

}  // namespace

std::optional<int> cgroup_cpu_quota(const std::filesystem::path& root) {
  std::optional<double> least;
  for (const cgroup_mount& mount : cgroup_mounts(root)) {
    const std::optional<std::string> path = cgroup_path(root, mount.unified);
    if (!path) {
      continue;
    }
    const std::filesystem::path top = root / std::filesystem::path(mount.point).relative_path();
    std::filesystem::path below = std::filesystem::path(path_below(*path, mount.root)).relative_path();
    // A group gets no more than each of the groups around it, so all of them count.
    while (true) {
      if (const std::optional<double> quota = group_quota(below.empty() ? top : top / below, mount.unified)) {
        least = std::min(least.value_or(*quota), *quota);
      }
      if (below.empty()) {
        break;
      }
      below = below.parent_path();
    }
  }
  if (!least) {
    return std::nullopt;
  }
  constexpr double most = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(std::ceil(*least), 1.0, most));
}

}  // namespace nearfar
