#include "apps/nearfar/study/records.hpp"

#include <algorithm>

namespace nearfar::command {

namespace {

nlohmann::ordered_json object_of(const bench::point& of) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const auto& [name, value] : of.values()) result[name] = bench::json_of(value);
  return result;
}

}  // namespace

void complete(bench::sample& sample, const configuration& of, const locality& where, int repetition) {
  sample.benchmark = of.benchmark->name;
  sample.kind = of.benchmark->kind->name;
  sample.object = of.object->name;
  sample.parameters = object_of(of.parameters);
  for (const bench::axis& each : of.benchmark->axes)
    if (of.axes.has(each.name))
      (each.is_effort ? sample.effort : sample.axes)[each.name] = bench::json_of(of.axes.at(each.name));
  sample.nodes = where.groups(level::node);
  sample.ranks = where.size();
  sample.repetition = repetition;
  sample.sound = of.object->is_sound();
  for (const bench::column& each : of.benchmark->columns)
    if (each.of) sample.measured[each.name] = bench::or_null(each.of(sample));
}

nlohmann::ordered_json statements_of(const std::vector<const configuration*>& all) {
  nlohmann::ordered_json statements = nlohmann::ordered_json::object();
  nlohmann::ordered_json objects = nlohmann::ordered_json::object();
  for (const configuration* each : all) {
    statements[each->benchmark->name] = *each->benchmark;
    auto& names = objects[each->benchmark->kind->name];
    if (std::find(names.begin(), names.end(), each->object->name) == names.end())
      names.push_back(each->object->name);
  }
  nlohmann::ordered_json result{
      {"objects", objects},
      {"statements", statements},
      {"steady",
       {{"drift", bench::steady_drift}, {"turns", bench::steady_turns}, {"share", bench::steady_share}}}};
  if (objects.contains("lock")) result["locks"] = objects["lock"];
  return result;
}

}  // namespace nearfar::command
