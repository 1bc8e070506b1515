#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char of_a : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + static_cast<std::size_t>(of_a != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  const auto nearer = [&](const std::string& a, const std::string& b) {
    return edit_distance(wrong, a) < edit_distance(wrong, b);
  };
  const auto nearest = std::min_element(known.begin(), known.end(), nearer);
  if (nearest == known.end() || edit_distance(wrong, *nearest) > std::max<std::size_t>(2, wrong.size() / 2))
    return "";
  return fmt::format(", did you mean '{}'?", *nearest);
}

std::string unknown_name(std::string_view what, std::string_view wrong, const std::vector<std::string>& known,
                         std::string_view remedy) {
  const std::string nearest = suggestion(wrong, known);
  const std::string all = fmt::format("choose one of: {}", fmt::join(known, ", "));
  return fmt::format("{} '{}' is unknown;{} {}", what, wrong, nearest.empty() ? "" : nearest.substr(1),
                     remedy.empty() ? all : remedy);
}

}  // namespace nearfar::command
