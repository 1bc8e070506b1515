/// \file
/// A view of one or more dimensions over elements owned by others, in the manner of `std::mdspan` of C++23.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

/// Contiguous elements seen as an array of `Rank` dimensions, of which the last varies fastest: `std::mdspan`
/// with dynamic extents and its default layout, with the same names. Does not own the elements, is valid as
/// long as they stay in place, and is as cheap to copy as a few numbers. T may be const. Any number of
/// threads may use a view.
///
/// Accessing an element costs `Rank` - 1 multiplications and additions, most of which compilers move out of
/// loops over the last index. For containers that place elements by a static schedule (`numa_vector`,
/// `segmented_array`), share out the first dimension: `team.for_each_block(view.extent(0), 0, ...)` gives
/// each thread what is near it, within a part of a page. For rows that are not evenly spaced there is
/// `grid_view`.
template <typename T, std::size_t Rank>
class array_view {
  static_assert(Rank >= 1, "a view needs at least 1 dimension");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using index_type = std::size_t;
  using reference = T&;
  using extents_type = std::array<std::size_t, Rank>;

  constexpr array_view() noexcept = default;

  /// Views the elements from `data` on, as many as the product of `extents`.
  constexpr array_view(T* data, const extents_type& extents) noexcept : data_(data), extents_(extents) {}
  template <std::convertible_to<std::size_t>... Extents>
    requires(sizeof...(Extents) == Rank)
  constexpr array_view(T* data, Extents... extents) noexcept
      : array_view(data, extents_type{static_cast<std::size_t>(extents)...}) {}

  /// Views a whole contiguous container. Throws `misuse` unless its size is the product of these extents.
  template <std::ranges::contiguous_range Container, std::convertible_to<std::size_t>... Extents>
    requires(sizeof...(Extents) == Rank) && std::ranges::sized_range<Container> &&
            std::convertible_to<decltype(std::ranges::data(std::declval<Container&>())), T*>
  constexpr array_view(Container& elements, Extents... extents)
      : array_view(std::ranges::data(elements), extents...) {
    // By division, since a product may overflow.
    std::size_t left = std::ranges::size(elements);
    bool fits = left != 0 || empty();
    for (std::size_t dimension = 0; dimension < Rank && left != 0 && fits; ++dimension) {
      fits = extents_[dimension] != 0 && left % extents_[dimension] == 0;
      if (fits) left /= extents_[dimension];
    }
    if (!fits || left > 1) {
      std::string shape;
      for (const std::size_t extent : extents_)
        shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
      throw misuse("a view of " + shape + " elements over " + std::to_string(std::ranges::size(elements)));
    }
  }

  /// Converts a view of mutable elements to one of const elements.
  template <typename Other>
    requires std::is_same_v<T, const Other>
  // NOLINTNEXTLINE(google-explicit-constructor): as pointers do
  constexpr array_view(const array_view<Other, Rank>& other) noexcept
      : array_view(other.data_handle(), other.extents()) {}

  [[nodiscard]] static constexpr std::size_t rank() noexcept { return Rank; }
  [[nodiscard]] constexpr const extents_type& extents() const noexcept { return extents_; }
  /// Of dimension `dimension` < Rank.
  [[nodiscard]] constexpr std::size_t extent(std::size_t dimension) const noexcept {
    return extents_[dimension];
  }
  /// Distance in elements from one index of a dimension to the next.
  [[nodiscard]] constexpr std::size_t stride(std::size_t dimension) const noexcept {
    std::size_t result = 1;
    for (std::size_t inner = dimension + 1; inner < Rank; ++inner) result *= extents_[inner];
    return result;
  }
  /// Number of all elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return extents_[0] * stride(0); }
  [[nodiscard]] constexpr bool empty() const noexcept {
    return std::ranges::find(extents_, std::size_t{0}) != extents_.end();
  }
  [[nodiscard]] constexpr T* data_handle() const noexcept { return data_; }
  /// All elements, in the order of memory.
  [[nodiscard]] constexpr std::span<T> elements() const noexcept { return {data_, size()}; }

  /// Each index must be less than its extent; builds that check preconditions check this.
  template <std::convertible_to<std::size_t>... Indices>
    requires(sizeof...(Indices) == Rank)
  [[nodiscard]] constexpr T& operator()(Indices... indices) const noexcept(!checked_build) {
    return (*this)[extents_type{static_cast<std::size_t>(indices)...}];
  }
  [[nodiscard]] constexpr T& operator[](const extents_type& indices) const noexcept(!checked_build) {
    std::size_t offset = 0;
    for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
      check_index(dimension, indices[dimension]);
      offset = offset * extents_[dimension] + indices[dimension];
    }
    return data_[offset];
  }

  /// The view of all elements with this first index: a row of a matrix, a plane of a cube. As
  /// `submdspan(view, first, full_extent, ...)`.
  [[nodiscard]] constexpr array_view<T, Rank - 1> slice(std::size_t first) const
    requires(Rank > 1)
  {
    check_index(0, first);
    std::array<std::size_t, Rank - 1> inner{};
    for (std::size_t dimension = 1; dimension < Rank; ++dimension) inner[dimension - 1] = extents_[dimension];
    return {data_ + first * stride(0), inner};
  }

 private:
  constexpr void check_index([[maybe_unused]] std::size_t dimension,
                             [[maybe_unused]] std::size_t index) const {
    if constexpr (checked_build)
      if (index >= extents_[dimension])
        throw misuse("index " + std::to_string(index) + " of dimension " + std::to_string(dimension) +
                     ", whose extent is " + std::to_string(extents_[dimension]));
  }

  T* data_ = nullptr;
  extents_type extents_{};
};

template <typename T, std::convertible_to<std::size_t>... Extents>
array_view(T*, Extents...) -> array_view<T, sizeof...(Extents)>;
template <std::ranges::contiguous_range Container, std::convertible_to<std::size_t>... Extents>
array_view(Container&, Extents...)
    -> array_view<std::remove_reference_t<std::ranges::range_reference_t<Container&>>, sizeof...(Extents)>;

}  // namespace nearfar
