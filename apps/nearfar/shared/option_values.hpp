/// \file
/// Values that the parser of the command line lets pass and that users did not mean.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/results/output_file.hpp"

namespace nearfar::command {

/// Makes every option of `app` and its subcommands refuse an empty value, and numbers that are none or that
/// its type cannot hold: the parser takes -1 for 2^64 - 1, and 2^64 for a number that fits.
void refuse_careless_values(CLI::App& app);

/// Which of these words is a list with an empty item, in a sentence, or nothing: the parser leaves such items
/// out.
[[nodiscard]] std::string empty_item(const CLI::App& app, const std::vector<std::string>& words);

/// Which option of these words lacks its value, in a sentence, or nothing: the parser takes the next option
/// for the value.
[[nodiscard]] std::string missing_value(const CLI::App& app, const std::vector<std::string>& words);

/// For whole numbers of that range. The parser names none where its type cannot hold a number.
[[nodiscard]] CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// For numbers in that range.
[[nodiscard]] CLI::Validator number(double least, double most);

/// For one of these words.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

/// Names that shells complete as values of the option, where neither its description nor a registry has them.
void complete_with(const CLI::Option* option, std::vector<std::string> names);
/// Those of `complete_with`; empty without any.
[[nodiscard]] std::vector<std::string> completed_names(const CLI::Option* option);

/// For a directory that is written: no other output goes there than files.
[[nodiscard]] CLI::Validator directory_name();

/// --overwrite, where a file is written that the user names.
CLI::Option* add_overwrite_option(CLI::App& command, bench::older_output& older);

/// --append with that help, and --overwrite: what becomes of an existing file of `output`.
void add_older_options(CLI::App& command, CLI::Option* output, bench::older_output& older,
                       const std::string& appends);

inline constexpr int most_threads = 4096;

/// Throws `usage_error`, which names `option`, for a number of threads that is too small or too large.
void check_threads(int threads, const char* option = "--threads");

}  // namespace nearfar::command
