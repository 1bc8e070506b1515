/// \file
/// Stable sorting in parallel. See algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/sort.hpp"

namespace nearfar {

namespace detail {

/// Elements moved aside, which leaves a gap where they came from. Those left at the end move back there.
template <typename Iterator>
class moved_aside {
  using T = std::iter_value_t<Iterator>;

 public:
  moved_aside(Iterator first, Iterator last, T* room) noexcept
      : room_(room), next_(room), end_(std::uninitialized_move(first, last, room)), gap_(first) {}
  moved_aside(const moved_aside&) = delete;
  moved_aside& operator=(const moved_aside&) = delete;
  ~moved_aside() {
    std::move(next_, end_, gap_);
    std::destroy(room_, end_);
  }

  [[nodiscard]] bool empty() const noexcept { return next_ == end_; }
  [[nodiscard]] const T& front() const noexcept { return *next_; }
  /// Moves the first element back to the beginning of the gap.
  void take_front() noexcept { *gap_++ = std::move(*next_++); }
  /// Moves another element into the gap, which then begins one further on.
  void take(Iterator from) noexcept { *gap_++ = std::move(*from); }

 private:
  T* room_;
  T* next_;
  T* end_;
  Iterator gap_;
};

/// Merge sort. Like `sort_in_bounds` it terminates with any `less`, and all elements stay.
struct stable_order {
  template <std::random_access_iterator Iterator, typename Compare>
  static void sort(Iterator first, Iterator last, Compare& less) {
    using T = std::iter_value_t<Iterator>;
    if (last - first <= few_to_sort) {
      insertion_sort(first, last, less);
    } else if constexpr (has_separate_elements<Iterator> && std::is_nothrow_move_constructible_v<T> &&
                         std::is_nothrow_move_assignable_v<T>) {
      const auto half = static_cast<std::size_t>((last - first) / 2);
      const auto give_back = [half](T* room) { std::allocator<T>().deallocate(room, half); };
      const std::unique_ptr<T, decltype(give_back)> room(std::allocator<T>().allocate(half), give_back);
      sort_with_room(first, last, room.get(), less);
    } else {
      sort_in_place(first, last, less);
    }
  }

 private:
  template <typename Iterator, typename Compare>
  static void sort_with_room(Iterator first, Iterator last, std::iter_value_t<Iterator>* room,
                             Compare& less) {
    if (last - first <= few_to_sort) return insertion_sort(first, last, less);
    const Iterator middle = first + (last - first) / 2;
    sort_with_room(first, middle, room, less);
    sort_with_room(middle, last, room, less);
    if (!less(*middle, *(middle - 1))) return;
    moved_aside<Iterator> left(first, middle, room);
    for (Iterator right = middle; right != last && !left.empty();) {
      if (less(*right, left.front()))
        left.take(right++);
      else
        left.take_front();
    }
  }

  template <typename Iterator, typename Compare>
  static void sort_in_place(Iterator first, Iterator last, Compare& less) {
    if (last - first <= few_to_sort) return insertion_sort(first, last, less);
    const Iterator middle = first + (last - first) / 2;
    sort_in_place(first, middle, less);
    sort_in_place(middle, last, less);
    merge_in_place(first, middle, last, less);
  }

  // Halves the longer side, and exchanges what is then in the wrong half.
  template <typename Iterator, typename Compare>
  static void merge_in_place(Iterator first, Iterator middle, Iterator last, Compare& less) {
    if (first == middle || middle == last) return;
    if (last - first == 2) {
      if (less(*middle, *first)) std::iter_swap(first, middle);
      return;
    }
    Iterator left = first + (middle - first) / 2;
    Iterator right = middle + (last - middle) / 2;
    if (middle - first > last - middle)
      right = std::lower_bound(middle, last, *left, comparing_by(less));
    else
      left = std::upper_bound(first, middle, *right, comparing_by(less));
    const Iterator between = std::rotate(left, middle, right);
    merge_in_place(first, left, between, less);
    merge_in_place(between, right, last, less);
  }
};

}  // namespace detail

struct stable_sort_algorithm : detail::on_default_team_by_less<stable_sort_algorithm> {
  using on_default_team_by_less::operator();

  /// Sorts by `less` after projection, and keeps equal elements in their order, for any number of threads.
  ///
  /// Otherwise like `sort`, also with a `less` that throws or is not an order, but by merges alone. It needs
  /// memory for half as many elements more, also for one thread over a contiguous range. Elements whose moves
  /// may throw need no memory, and n log(n)^2 moves.
  template <std::random_access_iterator Iterator, std::sentinel_for<Iterator> Sentinel,
            typename Compare = std::less<>, typename Projection = std::identity>
  void operator()(const execution& how, Iterator first, Sentinel last, Compare less = {},
                  Projection projection = {}) const {
    const auto size = static_cast<std::size_t>(std::ranges::distance(first, last));
    detail::sort_by_shares<detail::stable_order>::run(how, first, size,
                                                      detail::for_threads(less, projection));
  }

  template <std::ranges::random_access_range Range, typename Compare = std::less<>,
            typename Projection = std::identity>
  void operator()(const execution& how, Range&& range, Compare less = {}, Projection projection = {}) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(less), std::move(projection));
  }
};
/// `stable_sort([execution,] first, last [, less [, projection]])` or
/// `([execution,] range [, less [, projection]])`.
inline constexpr stable_sort_algorithm stable_sort{};

}  // namespace nearfar
