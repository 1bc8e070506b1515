/// \file
/// The benchmarks of loops over containers, as far as subcommands for all benchmarks need to know them.
#pragma once

#include <vector>

namespace CLI {
class App;
}

namespace nearfar::command {

struct benchmark_info {
  const char* name;
  const char* summary;
};

/// Those that this program has.
[[nodiscard]] const std::vector<benchmark_info>& loop_benchmarks();

/// Adds them to `nearfar bench`.
void add_loop_benchmarks(CLI::App& bench, int& status);

}  // namespace nearfar::command
