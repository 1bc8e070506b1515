/// \file
/// The table that a study prints.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "bench/benchmark.hpp"
#include "bench/results/results.hpp"

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

/// A table for each benchmark, or blocks as OSU's.
[[nodiscard]] std::string tables_text(const std::vector<result>& results, const table_layout& layout);

/// The same tables line by line, while their results come.
class growing_tables {
 public:
  /// The index of the configuration, and the scenario.
  using line_key = std::pair<std::size_t, std::string>;

  /// `lines` has a sample of each line, without figures; in the end each has `repetitions` samples.
  growing_tables(const std::vector<result>& lines, const table_layout& layout, std::size_t repetitions);
  growing_tables(growing_tables&&) noexcept;
  growing_tables& operator=(growing_tables&&) noexcept;
  ~growing_tables();

  /// The lines that can follow those that this member has returned before, as all their samples are there.
  /// `results` only grows from call to call.
  [[nodiscard]] std::string ready_lines(const std::vector<result>& results);
  /// The rest of the tables where no more results come.
  [[nodiscard]] std::string rest(const std::vector<result>& results);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace nearfar::command
