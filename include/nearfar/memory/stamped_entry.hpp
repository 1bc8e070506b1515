/// \file
/// A value in far memory that a reader can check for wholeness after one get.
///
/// A far object arrives word by word and in any order, so versions at its two ends prove nothing: the words
/// between them may be of another value. Here every word carries a version: 32 bits of the value and 32 bits
/// of stamp. Words with the same stamp come from one write if no two writes use the same stamp, which the
/// owner of the object must ensure. A checksum would take less room, but would be right only with high
/// probability.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nearfar/core/layout.hpp"

namespace nearfar::detail {

/// `Entry` as it is stored in far memory.
template <far_object_value Entry>
struct stamped_entry {
  std::array<std::uint64_t, (sizeof(Entry) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t)> words{};

  stamped_entry() = default;
  stamped_entry(const Entry& value, std::uint32_t stamp) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    std::size_t left = sizeof(Entry);
    for (std::uint64_t& word : words) {
      std::uint32_t part = 0;
      const std::size_t bytes = std::min(left, sizeof part);
      std::memcpy(&part, from, bytes);
      word = (std::uint64_t{stamp} << 32U) | part;
      from += bytes;
      left -= bytes;
    }
  }

  /// Whether all words are of the write with this stamp.
  [[nodiscard]] bool is_whole(std::uint32_t stamp) const noexcept {
    return std::all_of(words.begin(), words.end(),
                       [stamp](std::uint64_t word) { return word >> 32U == stamp; });
  }
  [[nodiscard]] Entry value() const noexcept {
    Entry result{};
    auto* to = reinterpret_cast<std::byte*>(&result);
    std::size_t left = sizeof(Entry);
    for (const std::uint64_t word : words) {
      const auto part = static_cast<std::uint32_t>(word);
      const std::size_t bytes = std::min(left, sizeof part);
      std::memcpy(to, &part, bytes);
      to += bytes;
      left -= bytes;
    }
    return result;
  }
};

}  // namespace nearfar::detail
