/// \file
/// For hand-written loops over segmented ranges at the speed of pointers: the contiguous pieces that several
/// ranges have in common.
///
/// Source: M. H. Austern, "Segmented iterators and hierarchical algorithms", in Generic Programming, Lecture
/// Notes in Computer Science 1766, Springer, 2000.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/segmented_traits.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

namespace detail {

template <typename Iterator>
constexpr bool has_segments_in_one_piece = false;
template <segmented_iterator Iterator>
constexpr bool has_segments_in_one_piece<Iterator> =
    std::contiguous_iterator<typename segmented_iterator_traits<Iterator>::local_iterator>;

}  // namespace detail

/// An iterator over elements that are contiguous, or lie in contiguous segments.
template <typename Iterator>
concept piecewise_iterator =
    std::contiguous_iterator<Iterator> || detail::has_segments_in_one_piece<Iterator>;

/// The pieces that ranges of equal length have in common; see `pieces`. Refers to the elements, not to the
/// ranges, and is valid as long as their iterators are. Copying it costs as much as copying the iterators.
template <piecewise_iterator... Iterators>
  requires(sizeof...(Iterators) > 0)
class pieces_view : public std::ranges::view_interface<pieces_view<Iterators...>> {
 public:
  /// A span of each range, all of the same size, which is not 0.
  using piece = std::tuple<std::span<std::remove_reference_t<std::iter_reference_t<Iterators>>>...>;

  /// Iterates over the pieces; a forward iterator in the sense of C++20. Its end is `std::default_sentinel`.
  class iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = piece;
    using reference = piece;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    iterator() = default;

    [[nodiscard]] piece operator*() const {
      return std::apply(
          [this](const auto&... cursor) {
            return piece({cursor.local(), size_}...);
          },
          cursors_);
    }
    iterator& operator++() {
      std::apply([this](auto&... cursor) { (cursor.advance(size_), ...); }, cursors_);
      left_ -= size_;
      find_size();
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    /// For iterators of the same view.
    [[nodiscard]] friend bool operator==(const iterator& a, const iterator& b) noexcept {
      return a.left_ == b.left_;
    }
    [[nodiscard]] friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.left_ == 0;
    }

   private:
    friend class pieces_view;

    // Constructed in place: copying an object just made means waiting until it has left the store buffer.
    iterator(std::size_t size, const std::tuple<Iterators...>& firsts) : cursors_(firsts), left_(size) {
      find_size();
    }

    void find_size() {
      size_ = left_;
      if (left_ != 0) [[likely]]
        std::apply([this](auto&... cursor) { ((size_ = std::min(size_, cursor.available())), ...); },
                   cursors_);
    }

    std::tuple<detail::piece_cursor<Iterators>...> cursors_{};
    std::size_t left_ = 0;  // elements, including those of the piece
    std::size_t size_ = 0;  // elements of the piece
  };

  pieces_view() = default;
  /// The pieces of the `size` elements from each of the iterators on.
  explicit pieces_view(std::size_t size, const Iterators&... firsts) : firsts_(firsts...), size_(size) {}

  // An array without segments has no place for a cursor.
  [[nodiscard]] iterator begin() const { return size_ == 0 ? iterator() : iterator(size_, firsts_); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  std::tuple<Iterators...> firsts_{};
  std::size_t size_ = 0;
};

/// The contiguous pieces of memory that one or more ranges of equal length have in common, as tuples of
/// spans. Pieces are as large as possible; none crosses the end of a segment of any range. The loop over a
/// piece is one over pointers, which compilers vectorise:
///
///     for (const auto& [a, b, c, d] : nearfar::pieces(x, y, z, w))
///       for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + c[i] * d[i];
///
/// Each range is contiguous, or segmented in contiguous segments; the segments of the ranges may differ.
/// Throws `misuse` if the lengths of the ranges differ. The calling thread does everything; for a thread's
/// share, take subranges. Cost: some nanoseconds for each range at the beginning, and again for each piece.
/// Lengths that ranges do not know take a walk over the segments.
template <std::ranges::borrowed_range... Ranges>
  requires(sizeof...(Ranges) > 0 && (piecewise_iterator<std::ranges::iterator_t<Ranges>> && ...))
[[nodiscard]] auto pieces(Ranges&&... ranges) {
  const auto length_of = [](auto& range) {
    return detail::length(std::ranges::begin(range), std::ranges::end(range));
  };
  const std::size_t lengths[]{length_of(ranges)...};  // NOLINT(*-avoid-c-arrays) its size is that of the pack
  for (std::size_t i = 1; i < sizeof...(Ranges); ++i)
    if (lengths[i] != lengths[0])
      throw misuse("pieces: range " + std::to_string(i + 1) + " has " + std::to_string(lengths[i]) +
                   " elements, the first has " + std::to_string(lengths[0]));
  return pieces_view<std::ranges::iterator_t<Ranges>...>(lengths[0], std::ranges::begin(ranges)...);
}

}  // namespace nearfar

/// Pieces refer to the elements.
template <typename... Iterators>
inline constexpr bool std::ranges::enable_borrowed_range<nearfar::pieces_view<Iterators...>> = true;
