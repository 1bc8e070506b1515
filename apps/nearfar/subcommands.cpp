// The subcommands of the whole command.

#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/program/command.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

std::string_view program_name() { return "nearfar"; }

void add_subcommands(CLI::App& app, int& status) {
  add_bench(app, status);
  add_check(app, status);
  add_compare(app, status);
  add_completion(app, status);
  add_doctor(app, status);
  add_figures(app, status);
  add_list(app, status);
  add_report(app, status);
  add_run(app, status);
  add_sim(app, status);
  add_sweep(app, status);
  add_topo(app, status);
  add_where(app, status);
}

void hand_over(const std::vector<std::string>& words) {
  if (is_for_program(words)) become_runner(words);
}

}  // namespace nearfar::command
