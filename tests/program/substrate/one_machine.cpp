// A machine of one core in place of hwloc's, whose library keeps state that the checker cannot begin anew.
#include <filesystem>
#include <memory>
#include <optional>

#include "nearfar/topology/cgroup.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar {

struct hardware::impl {};

hardware::hardware() = default;
hardware::hardware(hardware&&) noexcept = default;
hardware& hardware::operator=(hardware&&) noexcept = default;
hardware::~hardware() = default;

place hardware::this_thread_place() const { return {}; }
binding hardware::this_thread_binding() const { return {.allowed_cpus = {0}, .bound_to_one_core = true}; }

std::optional<int> cgroup_cpu_quota(const std::filesystem::path&) { return std::nullopt; }

}  // namespace nearfar
