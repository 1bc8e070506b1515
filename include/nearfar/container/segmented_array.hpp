/// \file
/// An array whose elements lie in segments, each near the thread that works on it.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, sections 3.4 and 5.2.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/segmented_iterator.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

/// Contiguous segments: the whole array is one piece of memory, and its iterators are as fast as pointers.
struct contiguous_layout {
  /// Whether the array begins with a page and each segment has its own pages, so that no two threads share
  /// one. The cuts between segments are then moved to the nearest page, so that segments are up to a page
  /// larger or smaller than their even share. An element that crosses the end of a page belongs to the
  /// segment that holds its larger part. Shares of less than a page are cut at the nearest cache line. Shares
  /// of less than a cache line, or with units of more than a page, stay even: with so little memory, or such
  /// units, sharing pages is unavoidable.
  ///
  /// If false, segments are even, and arrays begin at different offsets within a page. Processors mistake a
  /// load for one that depends on a pending store if both are at the same offset of different pages; this
  /// costs a sweep from one grid to another 6 % if both begin with a page.
  bool page_aligned = true;
  /// Elements that stay together in one segment, such as the columns of a matrix whose segments hold whole
  /// rows.
  std::size_t unit = 1;
};

/// Segments with gaps between them, whose sizes differ by at most one unit. Iterators check for the end of a
/// segment at each step.
struct padded_layout {
  /// Unused bytes between a segment and the next.
  std::size_t padding = 0;
  /// Whether each segment begins on its own page, so that no two threads share one; padding then grows to the
  /// next page. Costs half a page per segment on average, and a whole one for tiny segments. If false, arrays
  /// begin at different offsets within a page, as with `contiguous_layout`.
  bool page_aligned = true;
  /// Elements that stay together in one segment.
  std::size_t unit = 1;
};

/// A fixed number of elements in a fixed number of segments of equal size. If the division is not even, the
/// first segments are one unit larger. With fewer units than segments, the last segments are empty. With the
/// default layout, cuts between segments of a page or more are then moved to the nearest page.
///
/// `Layout` determines how segments lie in memory: `contiguous_layout` or `padded_layout`. Arrays with the
/// former are contiguous ranges.
///
/// Segment i of S is constructed, and so placed by first touch, by the thread to which a static schedule of S
/// iterations assigns it. Usually there are as many segments as threads; with fewer, some threads have no
/// memory of their own. Algorithms of algorithm.hpp run on the same threads over raw pointers.
///
/// As with `std::vector`, only one thread at a time may change it, and moves and swaps keep iterators,
/// pointers and references valid. Copies and assignments take over layout, team and placement of their
/// source. A default-constructed or moved-from array has no elements and no segments, and can be assigned to.
template <typename T, typename Layout = contiguous_layout>
class segmented_array {
  static_assert(std::is_same_v<Layout, contiguous_layout> || std::is_same_v<Layout, padded_layout>,
                "segments are contiguous or padded");
  static constexpr bool contiguous = std::is_same_v<Layout, contiguous_layout>;
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>);
  static_assert(alignof(T) <= 4096,
                "segmented_array allows an alignment of at most 4096 bytes, the smallest page size");

 public:
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using layout_type = Layout;
  using iterator = std::conditional_t<contiguous, contiguous_element_iterator<T>, element_iterator<T>>;
  using const_iterator =
      std::conditional_t<contiguous, contiguous_element_iterator<const T>, element_iterator<const T>>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  segmented_array() noexcept = default;

  /// `size` value-initialised elements in `segments` segments.
  ///
  /// Throws `misuse` if `segments` is 0, if padding would misalign segments for T, or if `size` is not a
  /// multiple of the layout's unit. Throws `std::length_error` if no memory can be that large. Passes on
  /// exceptions of `map_pages`. If a constructor of T throws, destroys all elements constructed so far and
  /// passes the exception on. If constructors throw in several threads, passes one of the exceptions on.
  /// Cost: one parallel loop, and one page fault per page.
  segmented_array(std::size_t segments, std::size_t size, const Layout& layout = {}, team threads = {},
                  page_placement placement = {})
      : segmented_array(
            segments, size, layout, threads, std::move(placement),
            [](T* first, std::size_t, T* last) { std::uninitialized_value_construct(first, last); }) {}

  /// `size` copies of a value; otherwise as above. A braced list is taken as a value if possible:
  /// `segmented_array<int>(4, 8, {64})` holds eight times 64. For a layout name the members, as in `{.unit =
  /// 4}`.
  segmented_array(std::size_t segments, std::size_t size, const T& value, const Layout& layout = {},
                  team threads = {}, page_placement placement = {})
      : segmented_array(
            segments, size, layout, threads, std::move(placement),
            [&](T* first, std::size_t, T* last) { std::uninitialized_fill(first, last, value); }) {}

  /// Copies of the elements from `first` to `last`. All threads use copies of a forward iterator at once;
  /// each walks from `first` to its segments. The calling thread first collects the elements of an input
  /// iterator.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel>
  segmented_array(std::size_t segments, Iterator first, Sentinel last, const Layout& layout = {},
                  nearfar::team threads = {}, page_placement placement = {})
      : segmented_array(from_range{}, segments, collected(std::move(first), std::move(last)), layout, threads,
                        std::move(placement)) {}

  template <std::ranges::input_range Range>
    requires(!std::convertible_to<Range, std::size_t>)
  segmented_array(std::size_t segments, Range&& range, const Layout& layout = {}, nearfar::team threads = {},
                  page_placement placement = {})
      : segmented_array(segments, std::ranges::begin(range), std::ranges::end(range), layout, threads,
                        std::move(placement)) {}

  segmented_array(std::size_t segments, std::initializer_list<T> values, const Layout& layout = {},
                  nearfar::team threads = {}, page_placement placement = {})
      : segmented_array(segments, values.begin(), values.end(), layout, threads, std::move(placement)) {}

  /// The owner of each segment copies it.
  segmented_array(const segmented_array& other)
      : segmented_array(other.segments(), other.size(), other.layout_, other.team_, other.placement_,
                        [&](T* first, std::size_t segment, T*) {
                          std::ranges::uninitialized_copy_n(other.segment(segment).data(),
                                                            std::ssize(other.segment(segment)), first,
                                                            std::unreachable_sentinel);
                        }) {}

  segmented_array(segmented_array&& other) noexcept { swap(other); }

  segmented_array& operator=(const segmented_array& other) {
    if (this != std::addressof(other)) segmented_array(other).swap(*this);
    return *this;
  }

  segmented_array& operator=(segmented_array&& other) noexcept {
    segmented_array(std::move(other)).swap(*this);
    return *this;
  }

  /// The owners of the segments destroy the elements.
  ~segmented_array() {
    if (!memory_) return;
    destroy_elements();
  }

  /// Replaces the elements, in as many segments as before, or one for each thread of the team if there are
  /// none, with the same layout, team and placement. The source may be part of the array. If this throws, the
  /// array is unchanged. Cost: that of construction and destruction.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel>
  void assign(Iterator first, Sentinel last) {
    segmented_array(segments_to_assign(), std::move(first), std::move(last), layout_, team_, placement_)
        .swap(*this);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  void assign(std::size_t size, const T& value) {
    segmented_array(segments_to_assign(), size, value, layout_, team_, placement_).swap(*this);
  }
  template <std::ranges::input_range Range>
  void assign_range(Range&& range) {
    assign(std::ranges::begin(range), std::ranges::end(range));
  }

  void swap(segmented_array& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(layout_, other.layout_);
    std::swap(team_, other.team_);
    std::swap(placement_, other.placement_);
  }
  friend void swap(segmented_array& a, segmented_array& b) noexcept { a.swap(b); }

  [[nodiscard]] std::size_t size() const noexcept { return memory_ ? memory_->map.size : 0; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t segments() const noexcept { return memory_ ? memory_->map.segments : 0; }

  /// The elements of segment `index` < segments().
  [[nodiscard]] std::span<T> segment(std::size_t index) noexcept {
    return {memory_->map.start(index), memory_->map.length(index)};
  }
  [[nodiscard]] std::span<const T> segment(std::size_t index) const noexcept {
    return {memory_->map.start(index), memory_->map.length(index)};
  }

  /// The thread that constructed the segment: its index in the team.
  [[nodiscard]] int owner(std::size_t segment) const noexcept {
    return static_schedule(segments(), memory_->threads).owner(segment);
  }

  /// The NUMA domain on which its owner ran at construction; `unknown_domain` if that is not known. The
  /// memory is there if pages are placed by first touch and the segment does not share them.
  [[nodiscard]] int domain(std::size_t segment) const noexcept { return memory_->domains[segment]; }

  /// A view of the segments with this domain, as spans. Valid as long as the array's memory.
  [[nodiscard]] auto segments_of(int domain) noexcept { return view_of<T>(memory_.get(), domain); }
  [[nodiscard]] auto segments_of(int domain) const noexcept {
    return view_of<const T>(memory_.get(), domain);
  }

  /// The same for the domain on which the calling thread runs. Threads that process these by a schedule of
  /// their own stay near; `for_each_segment_dynamic` is one such schedule. May throw what
  /// `this_thread_domain()` throws.
  [[nodiscard]] auto my_segments() { return segments_of(this_thread_domain()); }
  [[nodiscard]] auto my_segments() const { return segments_of(this_thread_domain()); }

  [[nodiscard]] iterator begin() noexcept { return {map(), 0}; }
  [[nodiscard]] iterator end() noexcept { return {map(), size()}; }
  [[nodiscard]] const_iterator begin() const noexcept { return {map(), 0}; }
  [[nodiscard]] const_iterator end() const noexcept { return {map(), size()}; }
  [[nodiscard]] const_iterator cbegin() const noexcept { return begin(); }
  [[nodiscard]] const_iterator cend() const noexcept { return end(); }
  [[nodiscard]] reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  [[nodiscard]] reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  [[nodiscard]] const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  [[nodiscard]] const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  [[nodiscard]] const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  [[nodiscard]] const_reverse_iterator crend() const noexcept { return rend(); }
  [[nodiscard]] segment_iterator<T> segment_begin() noexcept { return {map(), 0}; }
  [[nodiscard]] segment_iterator<T> segment_end() noexcept { return {map(), segments()}; }
  [[nodiscard]] segment_iterator<const T> segment_begin() const noexcept { return {map(), 0}; }
  [[nodiscard]] segment_iterator<const T> segment_end() const noexcept { return {map(), segments()}; }

  /// The elements, contiguous, size() of them.
  [[nodiscard]] T* data() noexcept
    requires contiguous
  {
    return memory_ ? memory_->map.data : nullptr;
  }
  [[nodiscard]] const T* data() const noexcept
    requires contiguous
  {
    return memory_ ? memory_->map.data : nullptr;
  }

  /// Element `index` < size(). Cost: a division, unless the layout is contiguous.
  [[nodiscard]] T& operator[](std::size_t index) noexcept {
    // An iterator at each index would ask whether the array has memory, which halves the speed of a loop over
    // data in caches.
    if constexpr (contiguous)
      return memory_->map.data[index];
    else
      return begin()[static_cast<std::ptrdiff_t>(index)];
  }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    if constexpr (contiguous)
      return memory_->map.data[index];
    else
      return begin()[static_cast<std::ptrdiff_t>(index)];
  }

  /// Throws `std::out_of_range` for an index that is not less than size().
  [[nodiscard]] T& at(std::size_t index) { return (*this)[in_range(index)]; }
  [[nodiscard]] const T& at(std::size_t index) const { return (*this)[in_range(index)]; }

  /// The first and the last element. The array must have elements.
  [[nodiscard]] T& front() noexcept { return *begin(); }
  [[nodiscard]] const T& front() const noexcept { return *begin(); }
  [[nodiscard]] T& back() noexcept { return (*this)[size() - 1]; }
  [[nodiscard]] const T& back() const noexcept { return (*this)[size() - 1]; }

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] nearfar::team team() const noexcept { return team_; }
  [[nodiscard]] const page_placement& placement() const noexcept { return placement_; }

  [[nodiscard]] friend bool operator==(const segmented_array& a, const segmented_array& b)
    requires std::equality_comparable<T>
  {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }

  /// Lexicographic, on the calling thread; for types without `<=>`, by `<`.
  [[nodiscard]] friend auto operator<=>(const segmented_array& a, const segmented_array& b)
    requires std::three_way_comparable<T> || requires(const T& x, const T& y) {
      { x < y } -> std::convertible_to<bool>;
    }
  {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                  [](const T& x, const T& y) {
                                                    if constexpr (std::three_way_comparable<T>)
                                                      return x <=> y;
                                                    else
                                                      return x < y   ? std::weak_ordering::less
                                                             : y < x ? std::weak_ordering::greater
                                                                     : std::weak_ordering::equivalent;
                                                  });
  }

 private:
  // Not a domain: the segment has no elements yet.
  static constexpr int unbuilt = std::numeric_limits<int>::min();

  struct memory {
    detail::segment_map<T> map{};
    void* pages = nullptr;
    std::size_t bytes = 0;
    int threads = 1;
    std::vector<int> domains{};

    memory() = default;
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
      if (pages != nullptr) unmap_pages(pages, bytes);
    }
  };

  template <typename Construct>
  segmented_array(std::size_t segments, std::size_t size, const Layout& layout, nearfar::team threads,
                  page_placement placement, Construct&& construct)
      : layout_(layout), team_(threads), placement_(std::move(placement)) {
    if (segments == 0 && size == 0) return;  // the copy of an array without segments
    auto made = std::make_unique<memory>();
    made->bytes = plan(made->map, segments, size, layout);
    made->domains.assign(segments, unbuilt);
    if (made->bytes != 0) {
      const std::size_t before = layout.page_aligned ? 0 : next_place_in_page();
      made->bytes += before;
      made->pages = map_pages(made->bytes, placement_);
      made->map.data = reinterpret_cast<T*>(static_cast<std::byte*>(made->pages) + before);
    }
    memory_ = std::move(made);
    try {
      team_.run([&](team_member member) {
        if (member.index == 0) memory_->threads = member.size;
        const int domain = this_thread_domain();
        static_schedule(segments, member.size).for_each_block(member.index, [&](index_range mine) {
          for (std::size_t i = mine.first; i < mine.last; ++i) {
            const auto here = segment(i);
            construct(here.data(), i, here.data() + here.size());
            memory_->domains[i] = domain;
          }
        });
      });
    } catch (...) {
      destroy_elements();
      throw;
    }
  }

  struct from_range {};

  template <typename Elements>
  segmented_array(from_range, std::size_t segments, Elements&& elements, const Layout& layout,
                  nearfar::team threads, page_placement placement)
      : segmented_array(
            segments, static_cast<std::size_t>(std::ranges::distance(elements)), layout, threads,
            std::move(placement), [this, &elements](T* to, std::size_t segment, T* end) {
              const auto first = std::ranges::next(
                  std::ranges::begin(elements),
                  static_cast<std::ranges::range_difference_t<Elements>>(memory_->map.first_index(segment)));
              if constexpr (std::is_same_v<Elements, std::vector<T>>)
                std::ranges::uninitialized_move_n(first, end - to, to, end);
              else
                std::ranges::uninitialized_copy_n(first, end - to, to, end);
            }) {}

  // A range that several threads can traverse: the given one, or a copy of all elements if it can be read
  // only once.
  template <typename Iterator, typename Sentinel>
  static auto collected(Iterator first, Sentinel last) {
    if constexpr (std::forward_iterator<Iterator>) {
      return std::ranges::subrange(std::move(first), std::move(last));
    } else {
      std::vector<T> all;
      for (; first != last; ++first) all.emplace_back(*first);
      return all;
    }
  }

  [[nodiscard]] std::size_t segments_to_assign() const noexcept {
    return segments() != 0 ? segments() : static_cast<std::size_t>(team_.size());
  }

  [[nodiscard]] std::size_t in_range(std::size_t index) const {
    if (index >= size())
      throw std::out_of_range("element " + std::to_string(index) + " of a segmented_array of " +
                              std::to_string(size()));
    return index;
  }

  // Fills in the map except the address. Returns the number of bytes that it needs.
  static std::size_t plan(detail::segment_map<T>& map, std::size_t segments, std::size_t size,
                          const Layout& layout) {
    if (segments == 0) throw misuse("a segmented_array has at least 1 segment");
    if (layout.unit == 0 || size % layout.unit != 0)
      throw misuse("the size of a segmented_array, " + std::to_string(size) +
                   ", must be a multiple of its layout's unit, " + std::to_string(layout.unit));
    const std::size_t padding = padding_of(layout);
    if (!layout.page_aligned && padding % alignof(T) != 0)
      throw misuse("a padding of " + std::to_string(padding) +
                   " bytes misaligns segments of elements that are aligned to " + std::to_string(alignof(T)) +
                   " bytes: take a multiple, or page-aligned segments");
    const std::size_t units = size / layout.unit;
    map.size = size;
    map.segments = segments;
    map.unit = layout.unit;
    map.count = units / segments * layout.unit;
    map.larger = units % segments;
    const std::size_t longest = map.count + (map.larger != 0 ? layout.unit : 0);

    // No product or sum below exceeds this, so none overflows, even if less than a page is added.
    const std::size_t page = page_size();
    const auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    const bool too_long = longest > most / 2 / sizeof(T) || padding > most / 2 - page;
    const std::size_t apart = too_long ? most : longest * sizeof(T) + padding + page;
    if (too_long || segments > most / apart)
      throw std::length_error("segmented_array: the requested size exceeds the address space");

    if (size == 0) return 0;
    if (!contiguous && layout.page_aligned) {
      map.stride = (longest * sizeof(T) + padding + page - 1) / page * page;
      return (segments - 1) * map.stride + longest * sizeof(T);
    }
    map.stride = map.count * sizeof(T) + padding;
    map.surplus = layout.unit * sizeof(T);
    if (contiguous && layout.page_aligned) map.grain = grain_of(map, page);
    return size * sizeof(T) + (segments - 1) * padding;
  }

  static std::size_t padding_of([[maybe_unused]] const Layout& layout) noexcept {
    if constexpr (contiguous)
      return 0;
    else
      return layout.padding;
  }

  // The largest grain at which segments of this length can be cut.
  static std::size_t grain_of(const detail::segment_map<T>& map, std::size_t page) noexcept {
    for (const std::size_t grain : {page, cache_line})
      if (map.count * sizeof(T) >= grain && map.unit * sizeof(T) <= grain) return grain;
    return 0;
  }

  // Far from that of the previous array, and aligned for T.
  static std::size_t next_place_in_page() noexcept {
    constexpr std::array<std::size_t, 8> places{0, 2048, 1024, 3072, 512, 2560, 1536, 3584};
    static std::atomic<std::size_t> count{0};
    return places[count.fetch_add(1, std::memory_order_relaxed) % places.size()] / alignof(T) * alignof(T);
  }

  void destroy_elements() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      team_.for_each_block(segments(), 0, [&](index_range mine) {
        for (std::size_t i = mine.first; i < mine.last; ++i)
          if (memory_->domains[i] != unbuilt) std::ranges::destroy(segment(i));
      });
    }
  }

  template <typename Element>
  static auto view_of(const memory* memory, int domain) noexcept {
    return std::views::iota(std::size_t{0}, memory == nullptr ? 0 : memory->map.segments) |
           std::views::filter([=](std::size_t index) { return memory->domains[index] == domain; }) |
           std::views::transform([=](std::size_t index) {
             return std::span<Element>(memory->map.start(index), memory->map.length(index));
           });
  }

  [[nodiscard]] const detail::segment_map<T>* map() const noexcept {
    return memory_ ? std::addressof(memory_->map) : nullptr;
  }

  std::unique_ptr<memory> memory_{};
  Layout layout_{};
  nearfar::team team_{};
  page_placement placement_{};
};

}  // namespace nearfar
