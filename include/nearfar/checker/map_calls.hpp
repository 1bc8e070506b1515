/// \file
/// The operations of a plan on a map, with results as `map_specification` has them.
#pragma once

#include <cstdint>

#include "nearfar/checker/object_plan.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/map/distributed_map.hpp"

namespace nearfar::checker {

/// Calls the operation on a map of `Key`. `value_of` makes a value of a word, and `word_of(value_of(word))`
/// is `word`. Throws `error` if the map has no room: plans have fewer entries.
template <typename Key, typename Map, typename ValueOf, typename WordOf>
[[nodiscard]] value_list call_map(Map& map, const planned_operation& what, const ValueOf& value_of,
                                  const WordOf& word_of) {
  using specification = map_specification;
  const Key key = static_cast<Key>(what.arguments[0]);
  const auto done = [](bool was) { return value_list{was ? specification::done : specification::refused}; };
  const auto written = [&](auto result, auto success) {
    if (result == decltype(result)::full) throw error("the map is full");
    return done(result == success);
  };
  switch (what.method) {
    case specification::insert:
      return written(map.insert(key, value_of(what.arguments[1])), insert_result::inserted);
    case specification::update:
      return written(map.update(key, value_of(what.arguments[1])), update_result::updated);
    case specification::erase:
      return done(map.erase(key).has_value());
    default: {
      const auto found = map.find(key);
      return found ? value_list{word_of(*found)} : value_list{};
    }
  }
}

}  // namespace nearfar::checker
