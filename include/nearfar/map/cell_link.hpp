/// \file
/// How a word of far memory refers to a cell of `distributed_map`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfar::detail {

/// A word that refers to a cell, or to none.
class cell_link {
 public:
  static constexpr unsigned place_bits = 23;
  static constexpr unsigned generation_bits = 20;
  static constexpr std::size_t most_cells = (std::size_t{1} << place_bits) - 1;

  constexpr cell_link() = default;
  explicit constexpr cell_link(std::uint64_t bits) noexcept : bits_(bits) {}
  /// In a cell of generation `own`; buckets have none, which is 0.
  constexpr cell_link(std::uint64_t own, std::size_t cell, std::uint64_t generation) noexcept
      : bits_((own << own_at) | (generation << generation_at) | (cell + 1)) {}

  [[nodiscard]] static constexpr cell_link to_nothing(std::uint64_t own) noexcept {
    return cell_link(own << own_at);
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
  [[nodiscard]] constexpr bool is_marked() const noexcept { return (bits_ & mark) != 0; }
  [[nodiscard]] constexpr cell_link marked() const noexcept { return cell_link(bits_ | mark); }
  /// This link, unmarked, if it referred to what another refers to.
  [[nodiscard]] constexpr cell_link redirected(cell_link as) const noexcept {
    return cell_link((own() << own_at) | (as.bits_ & (places | (generations << generation_at))));
  }
  [[nodiscard]] friend constexpr bool operator==(cell_link, cell_link) = default;

 private:
  static constexpr std::uint64_t places = most_cells;
  static constexpr std::uint64_t mark = std::uint64_t{1} << place_bits;
  static constexpr std::uint64_t generations = (std::uint64_t{1} << generation_bits) - 1;
  static constexpr unsigned generation_at = place_bits + 1;
  static constexpr unsigned own_at = generation_at + generation_bits;

  std::uint64_t bits_ = 0;
};
static_assert(cell_link::place_bits + 1 + 2 * cell_link::generation_bits == 64);

}  // namespace nearfar::detail
