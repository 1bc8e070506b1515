/// \file
/// How algorithms find the contiguous pieces of memory behind an iterator.
///
/// Source: M. H. Austern, "Segmented iterators and hierarchical algorithms", in Generic Programming, Lecture
/// Notes in Computer Science 1766, Springer, 2000; H. Stengel, diploma thesis,
/// Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.5.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>

#include "nearfar/language.hpp"

namespace nearfar {

/// By default an iterator is not segmented. Specialise this for the iterators of your own segmented
/// container, and nearfar's algorithms run over them segment by segment. A specialisation has:
///
///     static constexpr bool is_segmented = true;
///     using segment_iterator = ...;  // goes over the segments; at least bidirectional
///     using local_iterator = ...;    // goes over the elements of one segment; best a pointer
///     static segment_iterator segment(Iterator);
///     static local_iterator local(Iterator);
///     static local_iterator begin(segment_iterator);
///     static local_iterator end(segment_iterator);
///     static Iterator compose(segment_iterator, local_iterator);
///
/// For each range [first, last) of the container, begin() must be callable for `segment(last)`; so the end of
/// the container is the end of its last segment, not the beginning of one behind it. Segments may be empty.
/// `compose(segment, end(segment))` is the position of the next element.
///
/// One more function is optional: `static segment_position position(segment_iterator)`. With it, algorithms
/// on a part of the container assign each segment to the thread that has it in algorithms on the whole.
template <typename Iterator>
struct segmented_iterator_traits {
  static constexpr bool is_segmented = false;
};

/// Index of a segment in a container: 0 to `segments` - 1.
struct segment_position {
  std::size_t index = 0;
  std::size_t segments = 0;
};

/// An iterator whose traits declare it segmented and provide all required members.
template <typename Iterator>
concept segmented_iterator =
    std::forward_iterator<Iterator> && segmented_iterator_traits<Iterator>::is_segmented &&
    requires(Iterator it, typename segmented_iterator_traits<Iterator>::segment_iterator segment,
             typename segmented_iterator_traits<Iterator>::local_iterator local) {
      requires std::random_access_iterator<decltype(local)>;
      requires std::equality_comparable<decltype(segment)>;
      { segmented_iterator_traits<Iterator>::segment(it) } -> std::same_as<decltype(segment)>;
      { segmented_iterator_traits<Iterator>::local(it) } -> std::same_as<decltype(local)>;
      { segmented_iterator_traits<Iterator>::begin(segment) } -> std::same_as<decltype(local)>;
      { segmented_iterator_traits<Iterator>::end(segment) } -> std::same_as<decltype(local)>;
      { segmented_iterator_traits<Iterator>::compose(segment, local) } -> std::same_as<Iterator>;
      ++segment;
    };

/// A range whose iterators are segmented.
template <typename Range>
concept segmented_range =
    std::ranges::forward_range<Range> && segmented_iterator<std::ranges::iterator_t<Range>>;

}  // namespace nearfar
