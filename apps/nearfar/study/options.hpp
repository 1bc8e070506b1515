/// \file
/// The options of benchmarks on the command line, which come from their statements.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/nearfar/study/plan.hpp"

namespace nearfar::command {

/// Numbers of ranks as they are asked for, in words.
struct shape_options {
  std::vector<std::string> ranks;
  std::vector<std::string> nodes{"2"};
  std::vector<std::string> ranks_per_node{"2"};

  /// Every combination. Throws `usage_error`, also for more ranks than that world can have.
  [[nodiscard]] std::vector<shape> on_hardware(const std::string& world) const;
  [[nodiscard]] std::vector<shape> on_clusters() const;
};

/// --locks and the like, one option for each axis of the benchmark and for each parameter of its objects.
void add_request_options(CLI::App& command, benchmark_request& asked, bool is_simulated);

/// --repetitions, --precision, --seed, --output and what becomes of an existing file, --format, --verbose.
void add_plan_options(CLI::App& command, plan& what, const std::string& seeds);

/// --verbose.
void add_verbose_option(CLI::App& command, plan& what);

/// The mode that --append asks for.
void choose_mode(plan& what);

/// --world, --ranks, --topology and what else concerns real hardware.
void add_hardware_options(CLI::App& command, plan& what);

/// The world that the launcher has chosen, if the user has not.
[[nodiscard]] std::string default_world();

/// An option whose value is a list with commas. Each use takes one word.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& help);

}  // namespace nearfar::command
