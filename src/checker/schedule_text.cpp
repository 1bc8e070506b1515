// Schedules as lines of text.

#include <algorithm>
#include <array>
#include <numeric>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker {

namespace {

constexpr std::size_t most_columns = 110;

enum column : std::size_t { number, rank, operation, word, values, place, columns };
using line = std::array<std::string, columns>;

line line_of(const shown_step& step, std::size_t index) {
  line result{std::to_string(index + 1),
              std::to_string(step.taken.rank),
              step.operation,
              step.word,
              step.detail,
              step.site};
  // Marks of the program itself, which no line of the algorithm asks for.
  for (const char* mark : {"ENTER", "LEAVE", "CALL", "RETURN"})
    if (step.operation.starts_with(mark)) result[place].clear();
  // Steps count from 1. Step 0 stands for the time before the first step.
  if (step.taken.is_delivery()) result[operation] += " [" + std::to_string(step.issued_after + 1) + "]";
  return result;
}

std::string padded(const std::string& text, std::size_t width, bool is_number) {
  const std::string space(width - text.size(), ' ');
  return is_number ? space + text : text + space;
}

}  // namespace

std::string steps_text(const replayed& shown) {
  std::vector<line> lines{{"step", "rank", "operation", "word", "values", "asked for at"}};
  for (std::size_t i = 0; i < shown.steps.size(); ++i) lines.push_back(line_of(shown.steps[i], i));
  std::array<std::size_t, columns> widths{};
  for (const line& one : lines)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], one[i].size());
  const std::size_t between = 2;
  const std::size_t all = std::accumulate(widths.begin(), widths.end(), between * columns);
  const std::size_t shown_columns = all <= most_columns ? columns : place;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_last = shown.found && i != 0 && i + 1 == lines.size();
    std::string written = is_last ? ">" : " ";
    for (std::size_t at = 0; at < shown_columns; ++at)
      written += std::string(at == 0 ? 1 : between, ' ') + padded(lines[i][at], widths[at], at <= rank);
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + "\n";
  }
  const bool has_delivery = std::any_of(shown.steps.begin(), shown.steps.end(),
                                        [](const shown_step& one) { return one.taken.is_delivery(); });
  if (has_delivery) text += "\n  [n]: the operation was issued between the rank's steps, after step n\n";
  return text;
}

}  // namespace nearfar::checker
