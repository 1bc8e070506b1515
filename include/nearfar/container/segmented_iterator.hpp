/// \file
/// The iterators of `segmented_array`: over its elements, contiguous or not, and over its segments.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.5. Its
/// element iterator was a forward one; this one is random access, which its outlook (section 5.2) wished for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "nearfar/container/iterator_operators.hpp"
#include "nearfar/container/segmented_traits.hpp"

namespace nearfar {

namespace detail {

/// Where the segments of an array are. The first `larger` segments hold `count + unit` elements and the
/// others `count`, so that one division maps an index to its segment. If `grain` is not 0, the segments are
/// contiguous, and each cut between them is moved to the unit nearest to the multiple of `grain` bytes that
/// is nearest to the original cut. A grain is a power of two, at least a unit and at most `count` elements,
/// so that a cut never passes the original place of its neighbour.
template <typename T>
struct segment_map {
  T* data = nullptr;
  std::size_t size = 0;
  std::size_t segments = 0;
  std::size_t count = 0;    // elements
  std::size_t unit = 1;     // elements
  std::size_t larger = 0;   // segments
  std::size_t stride = 0;   // bytes from one segment to the next
  std::size_t surplus = 0;  // bytes more for the larger ones
  std::size_t grain = 0;    // bytes

  [[nodiscard]] std::size_t length(std::size_t segment) const noexcept {
    if (grain != 0) return moved_length(segment);
    return segment < larger ? count + unit : count;
  }

  // The address of a segment, or of the one behind the last.
  [[nodiscard]] T* start(std::size_t segment) const noexcept {
    if (grain != 0) return data + first_index(segment);
    const std::size_t offset = segment * stride + std::min(segment, larger) * surplus;
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(data) + offset);
  }

  [[nodiscard]] std::size_t first_index(std::size_t segment) const noexcept {
    const std::size_t even = segment * count + std::min(segment, larger) * unit;
    return grain == 0 || segment == segments ? even : moved(even);
  }

  // The segment that contains an element; for the index behind the last, a segment that has elements.
  [[nodiscard]] std::size_t segment_of(std::size_t index) const noexcept {
    if (index == size) return last();
    const std::size_t in_larger = larger * (count + unit);
    const std::size_t even =
        index < in_larger ? index / (count + unit) : larger + (index - in_larger) / count;
    if (grain == 0) return even;
    if (index < first_index(even)) return even - 1;
    return index < first_index(even + 1) ? even : even + 1;
  }

  // The segment with this address, which must have elements.
  [[nodiscard]] std::size_t segment_at(const T* begin) const noexcept {
    if (grain != 0) return segment_of(static_cast<std::size_t>(begin - data));
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(begin) -
                                                 reinterpret_cast<const std::byte*>(data));
    if (offset == 0) return 0;
    const std::size_t in_larger = larger * (stride + surplus);
    return offset < in_larger ? offset / (stride + surplus) : larger + (offset - in_larger) / stride;
  }

  // The last segment that has elements; the first if none has.
  [[nodiscard]] std::size_t last() const noexcept {
    return (count != 0 ? segments : std::max<std::size_t>(larger, 1)) - 1;
  }

 private:
  // Not inlined, since that would take registers from loops over padded segments and cost a fifth of their
  // speed.
  [[nodiscard, gnu::noinline]] std::size_t moved_length(std::size_t segment) const noexcept {
    return first_index(segment + 1) - first_index(segment);
  }
  [[nodiscard, gnu::noinline]] std::size_t moved(std::size_t cut) const noexcept {
    const std::size_t near = (cut * sizeof(T) + grain / 2) & ~(grain - 1);
    // Usually a unit is an element; compilers divide by its constant size without a division.
    if (unit == 1) return (near + sizeof(T) / 2) / sizeof(T);
    return (near + unit * sizeof(T) / 2) / (unit * sizeof(T)) * unit;
  }
};

/// A position in an array, with the bounds of its segment.
template <typename T>
struct segment_place {
  T* current = nullptr;
  T* begin = nullptr;
  T* end = nullptr;

  static segment_place at(const segment_map<T>& map, std::size_t segment, std::size_t offset) noexcept {
    T* const begin = map.start(segment);
    return {begin + offset, begin, begin + map.length(segment)};
  }

  [[gnu::noinline, gnu::cold]] static segment_place after(const segment_map<T>& map,
                                                          segment_place here) noexcept {
    const std::size_t segment = map.segment_at(here.begin);
    return segment == map.last() ? here : at(map, segment + 1, 0);
  }

  [[gnu::noinline, gnu::cold]] static segment_place before(const segment_map<T>& map,
                                                           segment_place here) noexcept {
    const std::size_t segment = map.segment_at(here.begin) - 1;
    return at(map, segment, map.length(segment) - 1);
  }

  static segment_place at_index(const segment_map<T>& map, std::size_t index) noexcept {
    // Most iterators start at the beginning, where no division is needed.
    return index < map.length(0) ? at(map, 0, index) : at_later_index(map, index);
  }

  [[gnu::noinline]] static segment_place at_later_index(const segment_map<T>& map,
                                                        std::size_t index) noexcept {
    const std::size_t segment = map.segment_of(index);
    return at(map, segment, index - map.first_index(segment));
  }

  [[nodiscard]] std::size_t index(const segment_map<T>& map) const noexcept {
    return map.first_index(map.segment_at(begin)) + static_cast<std::size_t>(current - begin);
  }
};

}  // namespace detail

/// Iterates over the segments of a `segmented_array`; each is a `std::span` of its elements. Random access in
/// the sense of C++20's ranges. Valid as long as the array's memory, so also after the array was moved or
/// swapped.
template <typename T>
class segment_iterator : public detail::iterator_operators<segment_iterator<T>> {
  using map_type = detail::segment_map<std::remove_const_t<T>>;

 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = std::span<T>;
  using reference = std::span<T>;
  using pointer = void;

  segment_iterator() noexcept = default;
  /// For containers: the segment with this index.
  segment_iterator(const map_type* map, std::size_t index) noexcept : map_(map), index_(index) {}
  /// Converts an iterator over segments of mutable elements to one over segments of const elements.
  template <typename Other>
    requires(std::is_same_v<T, const Other>)
  segment_iterator(const segment_iterator<Other>& other) noexcept : map_(other.map_), index_(other.index_) {}

  [[nodiscard]] std::span<T> operator*() const noexcept {
    return {map_->start(index_), map_->length(index_)};
  }

  /// Index of the segment in its array.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// Index of the segment, and the number of segments.
  [[nodiscard]] segment_position position() const noexcept {
    return {index_, map_ == nullptr ? 0 : map_->segments};
  }

 private:
  friend struct detail::iterator_access;
  friend class segment_iterator<const T>;
  template <typename>
  friend class element_iterator;
  template <typename>
  friend class contiguous_element_iterator;

  void advance(std::ptrdiff_t n) noexcept { index_ += static_cast<std::size_t>(n); }
  [[nodiscard]] std::size_t place() const noexcept { return index_; }

  const map_type* map_ = nullptr;
  std::size_t index_ = 0;
};

/// Iterates over the elements of a `segmented_array` whose segments have gaps between them, as if they were
/// contiguous: a random access iterator with true references, for the standard's algorithms and for loops
/// that the segmented ones do not cover. Valid as long as the array's memory, so also after the array was
/// moved or swapped.
///
/// Cost: an increment is an addition and a comparison, with a call of some nanoseconds at the end of a
/// segment. Jumps and [] are an addition and a comparison within the segment, else an integer division; so is
/// the difference of iterators in two segments. Comparisons compare addresses.
template <typename T>
class element_iterator : public detail::iterator_operators<element_iterator<T>> {
  using bare = std::remove_const_t<T>;
  using map_type = detail::segment_map<bare>;
  using place_type = detail::segment_place<bare>;

 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = bare;
  using reference = T&;
  using pointer = T*;
  using difference_type = std::ptrdiff_t;

  element_iterator() noexcept = default;
  /// For containers: the element with this index, which may be the one behind the last.
  element_iterator(const map_type* map, std::size_t index) noexcept : map_(map) {
    if (map != nullptr) place_ = index == 0 ? place_type::at(*map, 0, 0) : place_type::at_index(*map, index);
  }
  /// The element of a segment to which `local` points.
  element_iterator(const segment_iterator<T>& segment, T* local) noexcept : map_(segment.map_) {
    if (map_ == nullptr) return;
    place_ = place_type::at(*map_, segment.index_, 0);
    place_.current = const_cast<bare*>(local);
    // The end of a segment and the beginning of the next are the same position.
    if (place_.current == place_.end)
      place_ = place_type::at_index(*map_, map_->first_index(segment.index_) + map_->length(segment.index_));
  }
  /// Converts an iterator over mutable elements to one over const elements.
  template <typename Other>
    requires(std::is_same_v<T, const Other>)
  element_iterator(const element_iterator<Other>& other) noexcept : map_(other.map_), place_(other.place_) {}

  [[nodiscard]] reference operator*() const noexcept { return *place_.current; }
  [[nodiscard]] pointer operator->() const noexcept { return place_.current; }
  [[nodiscard]] reference operator[](difference_type n) const noexcept {
    if (const std::size_t offset = offset_of(n); offset < length()) [[likely]]
      return place_.begin[offset];
    return *place_type::at_index(*map_, index() + static_cast<std::size_t>(n)).current;
  }

  /// The element's index in its array. Cost: a division.
  [[nodiscard]] std::size_t index() const noexcept { return map_ == nullptr ? 0 : place_.index(*map_); }

 private:
  friend struct detail::iterator_access;
  friend class element_iterator<const T>;
  friend struct segmented_iterator_traits<element_iterator>;

  void advance(difference_type n) noexcept {
    if (const std::size_t offset = offset_of(n); offset < length()) [[likely]]
      place_.current = place_.begin + offset;
    else if (n != 0)
      place_ = place_type::at_index(*map_, index() + static_cast<std::size_t>(n));
  }
  void step() noexcept {
    // By value, so that the compiler can keep the iterator in registers.
    if (++place_.current == place_.end) [[unlikely]]
      place_ = place_type::after(*map_, place_);
  }
  void step_back() noexcept {
    if (place_.current == place_.begin) [[unlikely]]
      place_ = place_type::before(*map_, place_);
    else
      --place_.current;
  }
  [[nodiscard]] const T* place() const noexcept { return place_.current; }
  [[nodiscard]] difference_type distance_from(const element_iterator& other) const noexcept {
    if (place_.begin == other.place_.begin) return place_.current - other.place_.current;
    return static_cast<difference_type>(index() - other.index());
  }

  // From the beginning of the segment; a position before it becomes a huge offset.
  [[nodiscard]] std::size_t offset_of(difference_type n) const noexcept {
    return static_cast<std::size_t>(place_.current - place_.begin) + static_cast<std::size_t>(n);
  }
  [[nodiscard]] std::size_t length() const noexcept {
    return static_cast<std::size_t>(place_.end - place_.begin);
  }

  const map_type* map_ = nullptr;
  place_type place_;
};

/// Iterates over the elements of a contiguous `segmented_array`: a pointer that also knows the segments.
/// Contiguous in the sense of C++20, so that `std::to_address` returns the pointer, and compilers vectorise
/// loops and the standard's algorithms as they do those over pointers. Valid as long as the array's memory,
/// so also after the array was moved or swapped.
///
/// Cost: that of a pointer. Asking for a segment takes a division.
template <typename T>
class contiguous_element_iterator : public detail::iterator_operators<contiguous_element_iterator<T>> {
  using bare = std::remove_const_t<T>;
  using map_type = detail::segment_map<bare>;

 public:
  using iterator_concept = std::contiguous_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = bare;
  using element_type = T;
  using reference = T&;
  using pointer = T*;

  contiguous_element_iterator() noexcept = default;
  /// For containers: the element with this index, which may be the one behind the last.
  contiguous_element_iterator(const map_type* map, std::size_t index) noexcept : map_(map) {
    if (map != nullptr) current_ = map->data + index;
  }
  /// The element of a segment to which `local` points.
  contiguous_element_iterator(const segment_iterator<T>& segment, T* local) noexcept
      : map_(segment.map_), current_(local) {}
  /// Converts an iterator over mutable elements to one over const elements.
  template <typename Other>
    requires(std::is_same_v<T, const Other>)
  contiguous_element_iterator(const contiguous_element_iterator<Other>& other) noexcept
      : map_(other.map_), current_(other.current_) {}

  [[nodiscard]] reference operator*() const noexcept { return *current_; }
  [[nodiscard]] pointer operator->() const noexcept { return current_; }

  /// The element's index in its array.
  [[nodiscard]] std::size_t index() const noexcept {
    return map_ == nullptr ? 0 : static_cast<std::size_t>(current_ - map_->data);
  }

 private:
  friend struct detail::iterator_access;
  friend class contiguous_element_iterator<const T>;
  friend struct segmented_iterator_traits<contiguous_element_iterator>;

  void advance(std::ptrdiff_t n) noexcept { current_ += n; }
  [[nodiscard]] T* place() const noexcept { return current_; }

  const map_type* map_ = nullptr;
  T* current_ = nullptr;
};

namespace detail {

/// Common to both kinds of element iterators: segments are spans.
template <typename Iterator, typename T>
struct segments_of_spans {
  static constexpr bool is_segmented = true;
  using iterator = Iterator;
  using segment_iterator = nearfar::segment_iterator<T>;
  using local_iterator = T*;

  static local_iterator begin(const segment_iterator& it) noexcept { return (*it).data(); }
  static local_iterator end(const segment_iterator& it) noexcept {
    const std::span<T> segment = *it;
    return segment.data() + segment.size();
  }
  static iterator compose(const segment_iterator& segment, local_iterator local) noexcept {
    return {segment, local};
  }
  static segment_position position(const segment_iterator& it) noexcept { return it.position(); }
};

}  // namespace detail

template <typename T>
struct segmented_iterator_traits<element_iterator<T>> : detail::segments_of_spans<element_iterator<T>, T> {
  static segment_iterator<T> segment(const element_iterator<T>& it) noexcept {
    return {it.map_, it.map_ == nullptr ? 0 : it.map_->segment_at(it.place_.begin)};
  }
  static T* local(const element_iterator<T>& it) noexcept { return it.place_.current; }
};

template <typename T>
struct segmented_iterator_traits<contiguous_element_iterator<T>>
    : detail::segments_of_spans<contiguous_element_iterator<T>, T> {
  static segment_iterator<T> segment(const contiguous_element_iterator<T>& it) noexcept {
    return {it.map_, it.map_ == nullptr ? 0 : it.map_->segment_of(it.index())};
  }
  static T* local(const contiguous_element_iterator<T>& it) noexcept { return it.current_; }
};

}  // namespace nearfar
