// The modes of delivery in which tests search.
#pragma once

#include <array>
#include <span>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker::testing {

inline constexpr std::array all_modes{delivery_mode::eager, delivery_mode::lazy, delivery_mode::progress};

/// Where all words are near nothing is delivered, early or late. Progress makes a difference all the same, to
/// ranks that sleep.
inline constexpr std::array modes_of_near_words{delivery_mode::eager, delivery_mode::progress};

/// Those for an object of a registry.
[[nodiscard]] std::span<const delivery_mode> modes_of(const auto& entry) {
  if (entry.one_node_only) return modes_of_near_words;
  return all_modes;
}

}  // namespace nearfar::checker::testing
