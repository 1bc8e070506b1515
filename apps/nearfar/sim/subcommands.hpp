/// \file
/// The subcommands of `nearfar sim` besides the benchmarks.
#pragma once

namespace CLI {
class App;
}

namespace nearfar::command {

void add_sim_fit(CLI::App& sim, int& status);
void add_sim_compose(CLI::App& sim, int& status);
void add_sim_compare(CLI::App& sim, int& status);

}  // namespace nearfar::command
