#include "apps/nearfar/study/coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace nearfar::command {

std::vector<coordinate> coordinates_of(const configuration& of, const bench::sample& sample) {
  std::vector<coordinate> all{
      {"nodes", fmt::format("{}", sample.nodes)},
      {of.benchmark->is_of_teams() ? "threads" : "ranks", fmt::format("{}", sample.ranks)}};
  for (const bench::point* part : {&of.parameters, &of.axes})
    for (const auto& [name, value] : part->values())
      all.push_back({name, bench::text_of(value),
                     std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value)});
  return all;
}

const std::string* text_of(const std::vector<coordinate>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &coordinate::name);
  return found == all.end() ? nullptr : &found->text;
}

}  // namespace nearfar::command
