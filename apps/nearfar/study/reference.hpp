/// \file
/// The configuration that another is compared with, for columns that are relative.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "bench/benchmark.hpp"

namespace nearfar::command {

/// The index of the reference among `candidates`, which are indices of `all`; nothing if none is comparable.
/// An object is its own reference.
[[nodiscard]] std::optional<std::size_t> reference_of(std::size_t index, const bench::relation& by,
                                                      const std::vector<configuration>& all,
                                                      const std::vector<std::size_t>& candidates);

}  // namespace nearfar::command
