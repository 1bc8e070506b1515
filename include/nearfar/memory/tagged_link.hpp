/// \file
/// A word of far memory that refers to a reusable cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearfar/language.hpp"

namespace nearfar::detail {

/// A word that refers to a cell of one generation, or to none. It may itself be part of a cell, and then
/// carries that cell's generation, too. So no compare-and-swap mistakes a word of an earlier generation for
/// one of a later, unless a cell is used 2^`GenerationBits` times in between.
template <unsigned PlaceBits, unsigned GenerationBits>
class tagged_link {
  static constexpr unsigned left = 64 - PlaceBits - 2 * GenerationBits;
  static_assert(PlaceBits + 2 * GenerationBits <= 64 && left <= 1);

 public:
  static constexpr std::size_t most_cells = (std::size_t{1} << PlaceBits) - 1;

  constexpr tagged_link() = default;
  explicit constexpr tagged_link(std::uint64_t bits) noexcept : bits_(bits) {}
  /// A link in a cell of generation `own`; 0 for a link that is not in a cell.
  constexpr tagged_link(std::uint64_t own, std::size_t cell, std::uint64_t generation) noexcept
      : bits_((own << own_at) | (generation << generation_at) | (cell + 1)) {}

  [[nodiscard]] static constexpr tagged_link to_nothing(std::uint64_t own) noexcept {
    return tagged_link(own << own_at);
  }
  [[nodiscard]] static constexpr std::uint64_t next_generation(std::uint64_t before) noexcept {
    return (before + 1) & generations;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool has_cell() const noexcept { return (bits_ & places) != 0; }
  [[nodiscard]] constexpr std::size_t cell() const noexcept { return (bits_ & places) - 1; }
  [[nodiscard]] constexpr std::uint64_t generation() const noexcept {
    return (bits_ >> generation_at) & generations;
  }
  [[nodiscard]] constexpr std::uint64_t own() const noexcept { return bits_ >> own_at; }
  [[nodiscard]] constexpr bool is_marked() const noexcept
    requires(left == 1)
  {
    return (bits_ & mark) != 0;
  }
  [[nodiscard]] constexpr tagged_link marked() const noexcept
    requires(left == 1)
  {
    return tagged_link(bits_ | mark);
  }
  /// This link, unmarked, redirected to the cell that `as` refers to.
  [[nodiscard]] constexpr tagged_link redirected(tagged_link as) const noexcept {
    return tagged_link((own() << own_at) | (as.bits_ & (places | (generations << generation_at))));
  }
  [[nodiscard]] friend constexpr bool operator==(tagged_link, tagged_link) = default;

 private:
  static constexpr std::uint64_t places = most_cells;
  static constexpr std::uint64_t mark = std::uint64_t{1} << PlaceBits;
  static constexpr std::uint64_t generations = (std::uint64_t{1} << GenerationBits) - 1;
  static constexpr unsigned generation_at = PlaceBits + left;
  static constexpr unsigned own_at = generation_at + GenerationBits;

  std::uint64_t bits_ = 0;
};

}  // namespace nearfar::detail
