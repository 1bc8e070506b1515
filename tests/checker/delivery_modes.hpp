// The modes of delivery in which tests search.
#pragma once

#include <array>
#include <span>

#include "nearfar/checker/checker.hpp"

namespace nearfar::checker::testing {

inline constexpr std::array all_modes{delivery_mode::eager, delivery_mode::lazy, delivery_mode::progress};

/// Those for an object of a registry: one is enough where all words are near, since then nothing is
/// delivered.
[[nodiscard]] std::span<const delivery_mode> modes_of(const auto& entry) {
  return std::span(all_modes).first(entry.one_node_only ? 1 : all_modes.size());
}

}  // namespace nearfar::checker::testing
