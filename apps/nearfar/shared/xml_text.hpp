/// \file
/// Text within XML.
#pragma once

#include <string>
#include <string_view>

namespace nearfar::command {

/// With what means something there as its entity; control characters, which XML does not allow, are blanks.
[[nodiscard]] inline std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  return result;
}

}  // namespace nearfar::command
