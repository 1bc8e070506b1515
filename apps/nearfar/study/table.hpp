/// \file
/// The table that a study prints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "bench/benchmark.hpp"
#include "bench/results.hpp"

namespace nearfar::command {

/// A sample, and the index of its configuration.
struct result {
  std::size_t configuration;
  bench::sample sample;
};

/// The facts for a table besides the results.
struct table_layout {
  std::vector<configuration> configurations;
  std::string world;
  bool oversubscribed = false;
  table_format format = table_format::table;
};

/// A table for each benchmark, or blocks as OSU's, to stdout.
void print_tables(const std::vector<result>& results, const table_layout& layout);

}  // namespace nearfar::command
