// nearfar-locks: the part of the command that measures exclusive locks and reports on them. It compiles in a
// fraction of the command's time, so that `make bench` soon has a picture.

#include <string_view>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

std::string_view program_name() { return "nearfar-locks"; }

void add_subcommands(CLI::App& app, int& status) {
  add_bench(app, status);
  add_compare(app, status);
  add_list(app, status);
  add_report(app, status);
}

void hand_over(const std::vector<std::string>& /*words*/) {}

}  // namespace nearfar::command
