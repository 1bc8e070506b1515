/// \file
/// The CPU time that the system allows this process.
#pragma once

#include <filesystem>
#include <optional>

#include "nearfar/language.hpp"

namespace nearfar {

/// The CPU time that the calling process's cgroups allow it, in CPUs, rounded up, at least 1: the smallest of
/// `cpu.max` (cgroup v2) or `cpu.cfs_quota_us` (v1) over its groups and their enclosing groups. Empty without
/// a limit. Reads `proc/self/{cgroup,mountinfo}` and the cgroup file system under `root`.
[[nodiscard]] std::optional<int> cgroup_cpu_quota(const std::filesystem::path& root = "/");

}  // namespace nearfar
