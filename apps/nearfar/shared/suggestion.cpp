#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

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

/// The letters of a name, without the dashes of an option. Capitals do not count.
std::string letters_of(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return in_lower_case(name);
}

/// How many letters a slip may change in a name of that length: any two short names are near each other.
std::size_t most_changes(std::size_t length) {
  return length <= 3 ? length / 2 : std::max<std::size_t>(2, length / 3);
}

/// "topology" for "topo", and the other way round.
bool is_longer_or_shorter(const std::string& one, const std::string& other) {
  return std::min(one.size(), other.size()) >= 3 && (one.starts_with(other) || other.starts_with(one));
}

/// " did you mean 'x'?" with the nearest of `known`, or nothing if none is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string letters = letters_of(wrong);
  const auto distance = [&](const std::string& to) { return edit_distance(letters, letters_of(to)); };
  auto meant = std::ranges::min_element(known, {}, distance);
  if (meant != known.end() && distance(*meant) > most_changes(letters.size()))
    meant = std::ranges::find_if(
        known, [&](const std::string& to) { return is_longer_or_shorter(letters, letters_of(to)); });
  return meant == known.end() ? "" : fmt::format(" did you mean '{}'?", *meant);
}

}  // namespace

std::string unknown_name(std::string_view what, std::string_view wrong, const std::vector<std::string>& known,
                         std::string_view remedy) {
  const std::string all = fmt::format("choose one of: {}", fmt::join(known, ", "));
  return fmt::format("{} '{}' is unknown;{} {}", what, wrong, suggestion(wrong, known),
                     remedy.empty() ? all : remedy);
}

}  // namespace nearfar::command
