// nearfar-locks: the part of the command that measures exclusive locks and reports on them. It compiles in a
// fraction of the command's time, so that `make bench` soon has a picture.

#include <string_view>
#include <vector>

#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

const std::vector<benchmark_info>& loop_benchmarks() {
  static const std::vector<benchmark_info> none;
  return none;
}
void add_loop_benchmarks(CLI::App& /*bench*/, int& /*status*/) {}

std::string_view program_name() { return "nearfar-locks"; }

void add_subcommands(CLI::App& app, int& status) {
  add_bench(app, status);
  add_compare(app, status);
  add_list(app, status);
  add_report(app, status);
}

}  // namespace nearfar::command
