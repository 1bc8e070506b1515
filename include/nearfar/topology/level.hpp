/// \file
/// The levels of locality, from an island of a cluster's nodes down to one core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nearfar/language.hpp"

namespace nearfar {

/// How near two ranks can be, outermost level first. Ranks of one `island` are on nodes that one switch
/// connects. Ranks of one `node` share memory, of one `package` a socket, of one `numa` a memory domain, of
/// one `cache` the last cache level that several cores share, and of one `core` its hardware threads.
enum class level : std::uint8_t { island, node, package, numa, cache, core };

/// Number of levels.
inline constexpr std::size_t level_count = 6;

/// Every level, outermost first.
inline constexpr std::array<level, level_count> all_levels{level::island, level::node,  level::package,
                                                           level::numa,   level::cache, level::core};

/// Position of a level, 0 for the outermost: the index into a `place`.
[[nodiscard]] constexpr std::size_t index(level at) noexcept { return static_cast<std::size_t>(at); }

/// Number of levels inside a node.
inline constexpr std::size_t levels_in_node = level_count - index(level::node) - 1;

/// The level's name as users write it: "island", "node", "package", "numa", "cache" or "core".
[[nodiscard]] constexpr std::string_view name(level at) noexcept {
  constexpr std::array<std::string_view, level_count> names{"island", "node",  "package",
                                                            "numa",   "cache", "core"};
  return names[index(at)];
}

/// The level with exactly this (lower-case) name; empty if there is none.
[[nodiscard]] constexpr std::optional<level> level_from_name(std::string_view text) noexcept {
  for (const level at : all_levels) {
    if (name(at) == text) {
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace nearfar
