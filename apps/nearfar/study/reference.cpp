#include "apps/nearfar/study/reference.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace nearfar::command {

namespace {

bool needs_only_be_alike(const std::string& name, const bench::relation& by) {
  return std::find(by.alike.begin(), by.alike.end(), name) != by.alike.end();
}

/// Whether both are at the same place on each axis that both have, apart from those that need only be alike.
bool is_comparable(const configuration& of, const configuration& other, const bench::relation& by) {
  if (of.benchmark != other.benchmark || !(of.where == other.where)) return false;
  return std::all_of(of.axes.values().begin(), of.axes.values().end(), [&](const auto& each) {
    return needs_only_be_alike(each.first, by) || !other.axes.has(each.first) ||
           other.axes.at(each.first) == each.second;
  });
}

/// Greater for a reference that agrees in more of the settings, the first of which counts most.
std::vector<bool> likeness(const configuration& of, const configuration& other, const bench::relation& by) {
  const bench::point mine = of.at();
  const bench::point theirs = other.at();
  const auto value = [](const bench::point& in, const std::string& name) {
    return in.has(name) ? bench::text_of(in.at(name)) : std::string("0");
  };
  std::vector<bool> agreed;
  for (const std::string& name : by.alike) agreed.push_back(value(mine, name) == value(theirs, name));
  return agreed;
}

/// Settings in words, for the order among references that are equally alike.
std::string settings_of(const configuration& of) {
  std::string text;
  for (const auto& [name, value] : of.parameters.values()) text += name + " " + bench::text_of(value) + " ";
  return text;
}

}  // namespace

std::optional<std::size_t> reference_of(std::size_t index, const bench::relation& by,
                                        const std::vector<configuration>& all,
                                        const std::vector<std::size_t>& candidates) {
  const configuration& of = all[index];
  if (of.object->name == by.object) return index;
  std::optional<std::size_t> best;
  for (const std::size_t each : candidates) {
    if (all[each].object->name != by.object || !is_comparable(of, all[each], by)) continue;
    const auto rank = [&](std::size_t one) { return likeness(of, all[one], by); };
    if (!best || rank(each) > rank(*best) ||
        (rank(each) == rank(*best) && settings_of(all[each]) < settings_of(all[*best])))
      best = each;
  }
  return best;
}

}  // namespace nearfar::command
