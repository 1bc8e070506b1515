/// \file
/// Values that the parser of the command line lets pass and that users did not mean.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nearfar::command {

/// Makes every option of `app` and its subcommands refuse an empty value, and numbers that are none or that
/// its type cannot hold: the parser takes -1 for 2^64 - 1, and 2^64 for a number that fits.
void refuse_careless_values(CLI::App& app);

/// Which of these words is a list with an empty item, in a sentence, or nothing: the parser leaves such items
/// out.
[[nodiscard]] std::string empty_item(const CLI::App& app, const std::vector<std::string>& words);

/// For whole numbers of 1 or more. The parser's own check names the limits of `double`.
[[nodiscard]] CLI::Validator at_least_one();

inline constexpr int most_threads = 4096;

/// Throws `usage_error`, which names `option`, for a number of threads that is too small or too large.
void check_threads(int threads, const char* option = "--threads");

}  // namespace nearfar::command
