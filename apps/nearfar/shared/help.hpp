/// \file
/// How help texts are laid out, and what they say of the objects that the command has.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bench/axis.hpp"
#include "bench/object.hpp"

namespace nearfar::command {

/// Lays help texts out in lines of the terminal's width; where stdout is none, of 100 columns. COLUMNS in the
/// environment has precedence. Defaults follow the description of their option.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Breaks `text` at blanks into lines that end before column `width`. The first begins at column `indent`,
/// the others get as many blanks. The rest of an indented line "  name   meaning" goes on below its meaning.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

/// "Records per key (1 to 10; default: 3)". Lines about single names follow, and then no range.
[[nodiscard]] std::string description_of(const bench::axis& of, bool is_simulated);

/// Which kinds of objects a first line of help names.
enum class naming : std::uint8_t {
  all,       ///< those that the catalogue has
  simulated  ///< those that a simulated cluster can run
};

/// Whether a simulated cluster can run an object of that kind.
[[nodiscard]] bool can_be_simulated(const bench::object_kind& of);

/// "locks, reader-writer locks, maps and queues": the kinds that this program has.
[[nodiscard]] std::string kinds_text(naming which);

}  // namespace nearfar::command
