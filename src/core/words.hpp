/// \file
/// Phrases of error messages that several source files share.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace nearfar::detail {

/// The system's text for an error number.
inline std::string system_text(int code) { return std::generic_category().message(code); }

/// "1 core", "2 cores", "2 caches".
inline std::string counted(int count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace nearfar::detail
