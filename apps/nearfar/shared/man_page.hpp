/// \file
/// The manual page, made of the help texts.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace nearfar::command {

/// All subcommands with their options, in the language of man.
[[nodiscard]] std::string man_page(const CLI::App& app);

}  // namespace nearfar::command
