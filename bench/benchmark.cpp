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

std::size_t benchmark::samples_per_repetition(const locality& where) const {
  return scenarios ? scenarios->playable(where).size() : 1;
}

void to_json(nlohmann::ordered_json& to, const benchmark& from) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const column& each : from.columns)
    columns.push_back({{"name", each.name},
                       {"title", each.title},
                       {"unit", each.unit},
                       {"meaning", each.meaning},
                       {"digits", each.digits},
                       {"standing", name_of(each.how)}});
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
        {"remarks", remarks}};
}

}  // namespace nearfar::bench
