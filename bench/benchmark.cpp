#include "bench/benchmark.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nearfar::bench {

const char* name_of(standing how) noexcept {
  switch (how) {
    case standing::judged:
      return "judged";
    case standing::shown:
      return "shown";
    case standing::recorded:
      return "recorded";
  }
  return "";
}

const benchmark* find_benchmark(std::string_view name) {
  const auto& all = benchmarks();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<axis> benchmark::parameters() const {
  std::vector<axis> used;
  for (const axis& each : kind->parameters)
    if (std::find(without.begin(), without.end(), each.name) == without.end()) used.push_back(each);
  return used;
}

std::size_t benchmark::samples_per_repetition(const locality& where) const {
  return scenarios ? scenarios->playable(where).size() : 1;
}

namespace {

nlohmann::ordered_json meanings_of(const std::vector<std::pair<std::string, std::string>>& characters) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const auto& [character, meaning] : characters) result[character] = meaning;
  return result;
}

}  // namespace

void to_json(nlohmann::ordered_json& to, const benchmark& from) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const column& each : from.columns)
    columns.push_back({{"name", each.name},
                       {"title", each.title},
                       {"unit", each.unit},
                       {"meaning", each.meaning},
                       {"digits", each.digits},
                       {"standing", name_of(each.how)}});
  for (std::size_t i = 0; i < from.columns.size(); ++i)
    if (const auto& by = from.columns[i].relative; by)
      columns[i]["relative"] = {{"object", by->object}, {"alike", by->alike}};
  nlohmann::ordered_json remarks = nlohmann::ordered_json::array();
  for (const remark& each : from.remarks) remarks.push_back({{"name", each.name}, {"meaning", each.meaning}});
  to = {{"title", from.title},
        {"summary", from.summary},
        {"source", from.source},
        {"kind", from.kind->name},
        {"kind_title", from.kind->title},
        {"case", from.scenarios ? nlohmann::ordered_json("scenario") : nlohmann::ordered_json(nullptr)},
        {"axes", from.axes},
        {"columns", columns},
        {"remarks", remarks},
        {"figure", from.figure},
        {"notes", from.notes},
        {"choice", from.chooses}};
  if (from.scenarios && !from.scenarios->part.empty())
    to["cases"] = {{"part", from.scenarios->part},
                   {"column", from.scenarios->column},
                   {"parts", meanings_of(from.scenarios->parts)},
                   {"columns", meanings_of(from.scenarios->columns)}};
}

}  // namespace nearfar::bench
