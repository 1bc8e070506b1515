/// \file
/// The coordinates that tell the lines of a table apart.
#pragma once

#include <string>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "bench/results/results.hpp"

namespace nearfar::command {

struct coordinate {
  std::string name;
  std::string text;
  bool is_number = true;
};

/// Nodes, ranks, parameters of the object and axes of the benchmark, in this order.
[[nodiscard]] std::vector<coordinate> coordinates_of(const configuration& of, const bench::sample& sample);

/// The text of the one of that name; null if there is none.
[[nodiscard]] const std::string* text_of(const std::vector<coordinate>& all, const std::string& name);

}  // namespace nearfar::command
