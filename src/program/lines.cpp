// Source lines of addresses, as addr2line of the GNU binutils finds them.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "report.hpp"

namespace nearfar::program {

namespace {

[[nodiscard]] std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// "file:line (function)", the file without its folder, or an empty text.
[[nodiscard]] std::string line_at(const std::string& program, std::uintptr_t address) {
  static std::map<std::uintptr_t, std::string> known;
  if (const auto one = known.find(address); one != known.end()) return one->second;
  std::string& result = known[address];
  char number[32];
  std::snprintf(number, sizeof number, "0x%zx", static_cast<std::size_t>(address));
  const std::string command = "addr2line -f -C -e " + quoted(program) + " " + number + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> from(popen(command.c_str(), "r"), pclose);
  if (from == nullptr) return result;
  char function[1024] = "";
  char line[4096] = "";
  if (std::fgets(function, sizeof function, from.get()) == nullptr ||
      std::fgets(line, sizeof line, from.get()) == nullptr)
    return result;
  function[std::strcspn(function, "\n")] = '\0';
  line[std::strcspn(line, "\n")] = '\0';
  if (char* const more = std::strstr(line, " (discriminator"); more != nullptr) *more = '\0';
  if (line[0] == '?') {
    if (function[0] != '?') result = std::string(function) + " (no line: compile with -g)";
    return result;
  }
  const char* const name = std::strrchr(line, '/');
  result = std::string(name != nullptr ? name + 1 : line);
  if (function[0] != '?') result += " (" + std::string(function) + ")";
  return result;
}

}  // namespace

std::vector<std::string> lines_of(execution& in, const site& where) {
  std::vector<std::string> result;
  for (const void* pc : where.pcs) {
    if (pc == nullptr) continue;
    for (int i = 0; i < in.ranks(); ++i) {
      const image& program = in.at_rank(i).program;
      if (!program.contains(pc)) continue;
      // The address is that behind the call.
      const std::string line = line_at(in.how().program, program.file_address(pc) - 1);
      if (!line.empty() && (result.empty() || result.back() != line)) result.push_back(line);
      break;
    }
  }
  return result;
}

}  // namespace nearfar::program
