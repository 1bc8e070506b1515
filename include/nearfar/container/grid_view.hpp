/// \file
/// A matrix of rows over memory owned by others.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, sections 1.6.2 and 4.3.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/segmented_traits.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

/// The addresses of a matrix' rows. Each row is contiguous; rows need not be evenly spaced. Does not own the
/// elements, and is valid as long as they stay in place. Copies and swaps concern only the view, so that
/// swapping two grids after a sweep costs three pointers each. T may be const.
///
/// Any number of threads may use a view. Cost of row() and (): one load for the address of the row; loops
/// over a row should take it once.
template <typename T>
class grid_view {
 public:
  using element_type = T;

  grid_view() noexcept = default;

  /// `rows` rows of `columns` contiguous elements, row i from element `i * row_stride` on; a stride of 0
  /// stands for `columns`. Throws `misuse` if the stride is shorter than a row.
  grid_view(T* data, std::size_t rows, std::size_t columns, std::size_t row_stride = 0)
      : rows_(rows), columns_(columns) {
    if (row_stride == 0) row_stride = columns;
    if (row_stride < columns)
      throw misuse("rows of " + std::to_string(columns) + " columns overlap at a stride of " +
                   std::to_string(row_stride));
    for (std::size_t i = 0; i < rows; ++i) rows_[i] = data + i * row_stride;
  }

  /// Rows at any addresses, such as a C array of pointers.
  grid_view(T* const* rows, std::size_t count, std::size_t columns)
      : rows_(rows, rows + count), columns_(columns) {}

  /// A contiguous container, whose size must be a multiple of `columns`; else throws `misuse`.
  template <std::ranges::contiguous_range Container>
    requires std::convertible_to<decltype(std::ranges::data(std::declval<Container&>())), T*>
  grid_view(Container& elements, std::size_t columns)
      : grid_view(std::ranges::data(elements), whole_rows(std::ranges::size(elements), columns), columns) {}

  /// A segmented array that is not contiguous. Each of its segments must hold whole rows, as they do if its
  /// layout's unit is `columns` or if there are as many segments as rows; else throws `misuse`.
  template <segmented_range Container>
    requires(!std::ranges::contiguous_range<Container>) &&
            std::convertible_to<decltype(std::declval<Container&>().segment(0).data()), T*>
  grid_view(Container& elements, std::size_t columns) : columns_(columns) {
    rows_.reserve(whole_rows(elements.size(), columns));
    for (std::size_t i = 0; i < elements.segments(); ++i) {
      const auto segment = elements.segment(i);
      const std::size_t rows = whole_rows(segment.size(), columns);
      for (std::size_t row = 0; row < rows; ++row) rows_.push_back(segment.data() + row * columns);
    }
  }

  /// Converts a view of mutable elements to one of const elements.
  template <typename Other>
    requires(std::is_same_v<T, const Other>)
  grid_view(const grid_view<Other>& other) : columns_(other.columns()) {
    rows_.reserve(other.rows());
    for (std::size_t i = 0; i < other.rows(); ++i) rows_.push_back(other.row(i).data());
  }

  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }

  /// Row `index` < rows().
  [[nodiscard]] std::span<T> row(std::size_t index) const noexcept { return {rows_[index], columns_}; }

  /// Row `row` < rows(), column `column` < columns().
  [[nodiscard]] T& operator()(std::size_t row, std::size_t column) const noexcept {
    return rows_[row][column];
  }

  void swap(grid_view& other) noexcept {
    rows_.swap(other.rows_);
    std::swap(columns_, other.columns_);
  }
  friend void swap(grid_view& a, grid_view& b) noexcept { a.swap(b); }

 private:
  static std::size_t whole_rows(std::size_t size, std::size_t columns) {
    if (size == 0) return 0;
    if (columns == 0 || size % columns != 0)
      throw misuse(std::to_string(size) + " elements in one piece are no whole rows of " +
                   std::to_string(columns) + " columns");
    return size / columns;
  }

  std::vector<T*> rows_{};
  std::size_t columns_ = 0;
};

template <std::ranges::range Container>
grid_view(Container&, std::size_t)
    -> grid_view<std::remove_reference_t<std::ranges::range_reference_t<Container&>>>;

}  // namespace nearfar
