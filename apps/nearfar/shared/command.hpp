/// \file
/// The subcommands of `nearfar`, each in a file of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nearfar/core/error.hpp"

// Its header takes seconds to compile, and few of the files that include this one need it.
namespace CLI {
class App;
}

namespace nearfar::command {

// Exit statuses of every subcommand.
inline constexpr int success = 0;
/// The command ran and found something wrong: a lock that does not exclude, a transport that fails its test.
inline constexpr int failure = 1;
/// The command cannot run as it was asked to.
inline constexpr int bad_input = 2;
/// The command ran into a limit before it could tell whether something is wrong.
inline constexpr int undecided = 3;

/// The user asked for something that cannot be done. Ends the command with `bad_input` and one line.
struct usage_error : error {
  using error::error;
};

// Each adds its subcommand to `app` and sets `status` when it has run.
void add_bench(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_completion(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);
void add_figures(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_sim(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_topo(CLI::App& app, int& status);
void add_where(CLI::App& app, int& status);
/// Each that this program has.
void add_subcommands(CLI::App& app, int& status);
/// "nearfar", or the name of a program that has a part of its subcommands.
[[nodiscard]] std::string_view program_name();

/// ", did you mean 'x'?" with the nearest of `known`, or nothing if none is near.
[[nodiscard]] std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);

/// "lock 'cohrt' is unknown; did you mean 'cohort'? 'nearfar list' shows all": what happened, and what to do.
/// Without a remedy it lists what is known.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view wrong,
                                       const std::vector<std::string>& known, std::string_view remedy = "");

}  // namespace nearfar::command
