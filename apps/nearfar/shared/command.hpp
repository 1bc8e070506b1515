/// \file
/// The subcommands of `nearfar`, each in a file of its own.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/core/error.hpp"

// Its header takes seconds to compile, and few of the files that include this one need it.
namespace CLI {
class App;
}

namespace nearfar::command {

// Exit statuses of every subcommand, as docs/scripting.md tells users.
/// The command did all that was asked, and found nothing wrong.
inline constexpr int success = 0;
/// The command ran and found something wrong: a lock that does not exclude, a transport that fails its test,
/// a regression; or it lost its output.
inline constexpr int failure = 1;
/// The command cannot run as it was asked to.
inline constexpr int bad_input = 2;
/// The command found nothing wrong in a part of the work: a limit ended it, samples are missing, or a judge
/// could not decide.
inline constexpr int incomplete = 3;
/// Of signal n the status is n more.
inline constexpr int of_signals = 128;

/// The status of two parts of the work together.
[[nodiscard]] constexpr int worse(int one, int other) {
  for (const int status : {bad_input, failure, incomplete})
    if (one == status || other == status) return status;
  return one != success ? one : other;
}

/// Prints the text on stderr. The work goes on where stderr takes nothing: fmt::print would throw there.
inline void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

/// Tells the user something beside the results, in a line on stderr.
template <typename... Values>
void remark(fmt::format_string<Values...> text, Values&&... values) {
  say(fmt::format("nearfar: {}\n", fmt::format(text, std::forward<Values>(values)...)));
}

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
void add_run(CLI::App& app, int& status);
void add_sim(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_topo(CLI::App& app, int& status);
void add_where(CLI::App& app, int& status);
/// Each that this program has.
void add_subcommands(CLI::App& app, int& status);
/// "nearfar", or the name of a program that has a part of its subcommands.
[[nodiscard]] std::string_view program_name();
/// Ends here where another program carries out the words; returns where none does.
void hand_over(const std::vector<std::string>& words);

/// "lock 'cohrt' is unknown; did you mean 'cohort'? 'nearfar list' shows all": what happened, and what to do.
/// Without a remedy it lists what is known.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view wrong,
                                       const std::vector<std::string>& known, std::string_view remedy = "");

}  // namespace nearfar::command
