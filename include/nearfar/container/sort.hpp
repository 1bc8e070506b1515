/// \file
/// Sorting in parallel. See algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/sorted_runs.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

namespace detail {

/// Memory into which elements of a range move, and from which they move back. The thread that writes first
/// places fresh pages. But the allocator may have memory that was used before, and this takes it, since page
/// faults cost more than a fourth of the time: two threads sort 10,000 doubles in 0.72 of the time without
/// them.
template <typename T>
class sort_buffer {
 public:
  explicit sort_buffer(std::size_t size)
      : data_(static_cast<T*>(::operator new(size * sizeof(T), alignment))) {}
  sort_buffer(const sort_buffer&) = delete;
  sort_buffer& operator=(const sort_buffer&) = delete;
  ~sort_buffer() { ::operator delete(data_, alignment); }

  [[nodiscard]] T* data() const noexcept { return data_; }

 private:
  static constexpr std::align_val_t alignment{std::max(alignof(T), cache_line)};

  T* data_;
};

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
inline constexpr bool finite_math_only = true;
#else
inline constexpr bool finite_math_only = false;
#endif

/// Whether comparisons are the language's own comparisons of numbers. With NaN these are not a strict weak
/// order, either. But each comparison gives the same result every time, and of `a < b` and `b < a` at most
/// one is true. So a loop that continues while a comparison is true ends at an element that was found not to
/// be beyond the compared ones. This does not hold if the compiler was told that there are no NaN, and
/// reverses comparisons as it likes. (A program may contain sources compiled both ways: either one's code for
/// a sort is right for both.)
template <typename T, typename Compare>
inline constexpr bool compares_numbers =
    std::is_arithmetic_v<T> && !(std::is_floating_point_v<T> && finite_math_only) &&
    (std::same_as<Compare, std::less<>> || std::same_as<Compare, std::greater<>> ||
     std::same_as<Compare, std::less<T>> || std::same_as<Compare, std::greater<T>> ||
     std::same_as<Compare, std::ranges::less> || std::same_as<Compare, std::ranges::greater>);

/// Sorts few elements, stably. All elements stay, whatever `less` returns; if it throws, one may be
/// moved-from. With `HasLower`, an element before `first` stops those that would move beyond.
template <bool HasLower = false, std::random_access_iterator Iterator, typename Compare>
void insertion_sort(Iterator first, Iterator last, Compare& less) {
  using T = std::iter_value_t<Iterator>;
  for (Iterator next = first; next != last; ++next) {
    if ((!HasLower && next == first) || !less(*next, *(next - 1))) continue;
    T moved = std::move(*next);
    Iterator to = next;
    do {
      *to = std::move(*(to - 1));
      --to;
    } while ((HasLower || to != first) && less(moved, *(to - 1)));
    *to = std::move(moved);
  }
}

/// The largest number of elements that are sorted by insertion.
inline constexpr std::ptrdiff_t few_to_sort = 16;

/// Below this number of elements one thread is faster than two, which synchronise twice and need a buffer.
inline constexpr std::size_t few_to_sort_together = 512;

/// Puts first an element whose rank is near the middle: the median of three, or of three such medians if
/// there are many elements. Returns whether there are many, and those examined are all in order, or all in
/// reverse.
template <std::random_access_iterator Iterator, typename Compare>
bool put_pivot_first(Iterator first, Iterator last, Compare& less) {
  int exchanged = 0;
  const auto exchange = [&](Iterator a, Iterator b) {
    std::iter_swap(a, b);
    ++exchanged;
  };
  const auto order = [&](Iterator a, Iterator b, Iterator c) {
    if (less(*b, *a)) exchange(a, b);
    if (!less(*c, *b)) return;
    exchange(b, c);
    if (less(*b, *a)) exchange(a, b);
  };
  const bool are_many = last - first > 128;
  const Iterator middle = first + (last - first) / 2;
  order(first, middle, last - 1);
  if (are_many) {
    order(first + 1, middle - 1, last - 2);
    order(first + 2, middle + 1, last - 3);
    order(middle - 1, middle, middle + 1);
  }
  std::iter_swap(first, middle);
  return are_many && exchanged % 12 == 0;  // the reverse takes three for each three
}

template <typename Iterator>
struct division_in_two {
  Iterator pivot;       // those before it are less, the others are not
  bool had_been_there;  // nothing else was moved
};

/// Partitions by the first element. Elements that are in no order and move cheaply all move, so that no
/// branch depends on a comparison (Lomuto's scheme). Others move only if both of a pair are on the wrong side
/// (Hoare's scheme).
template <std::random_access_iterator Iterator, typename Compare>
[[nodiscard]] division_in_two<Iterator> divide_by_first(Iterator first, Iterator last, bool in_order,
                                                        Compare& less) {
  Iterator low = first + 1;
  Iterator high = last;
  const auto skip_what_is_there = [&] {
    while (low < high && less(*low, *first)) ++low;
    while (low < high && !less(*(high - 1), *first)) --high;
  };
  skip_what_is_there();
  const bool had_been_there = low == high;
  if constexpr (moves_cheaply<std::iter_value_t<Iterator>>) {
    if (!in_order) {
      const std::iter_value_t<Iterator> pivot = *first;
      for (Iterator next = low; next != high; ++next) {
        const std::iter_value_t<Iterator> element = *next;
        const bool is_less = less(element, pivot);
        *next = *low;
        *low = element;
        low += static_cast<std::iter_difference_t<Iterator>>(is_less);
      }
      high = low;
    }
  }
  // A single element can be on the wrong side of both, if there is no order.
  while (high - low > 1) {
    std::iter_swap(low++, --high);
    skip_what_is_there();
  }
  std::iter_swap(first, low - 1);
  return {low - 1, had_been_there};
}

/// Insertion sort that gives up after a few moves. Returns whether the range is sorted.
template <std::random_access_iterator Iterator, typename Compare>
[[nodiscard]] bool is_sorted_by_few_moves(Iterator first, Iterator last, Compare& less) {
  if (first == last) return true;
  std::ptrdiff_t moves = 8;
  for (Iterator next = first + 1; next != last; ++next) {
    if (!less(*next, *(next - 1))) continue;
    std::iter_value_t<Iterator> moved = std::move(*next);
    Iterator to = next;
    do {
      *to = std::move(*(to - 1));
      --to;
    } while (--moves != 0 && to != first && less(moved, *(to - 1)));
    *to = std::move(moved);
    if (moves == 0) return false;
  }
  return true;
}

/// Exchanges elements at the positions from which pivots are taken with others.
template <std::random_access_iterator Iterator>
void disarrange(Iterator first, Iterator last) {
  const std::ptrdiff_t quarter = (last - first) / 4;
  if (quarter < few_to_sort / 4) return;
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    std::iter_swap(first + i, first + quarter + i);
    std::iter_swap(first + 2 * quarter + i, last - quarter - 1 - i);
    std::iter_swap(last - 1 - i, first + quarter + 2 + i);
  }
}

/// Sorts without memory beyond that of the elements. Terminates with any `less`, whereas `std::sort` relies
/// on a strict weak order where it does not check for the end. All elements stay, in whatever order. It is a
/// quicksort that detects sorted ranges, breaks patterns that make it partition badly, and switches to heap
/// sort if it does so too often (Peters, "Pattern-defeating Quicksort", 2021); insertion sort for few
/// elements.
template <std::random_access_iterator Iterator, typename Compare>
void sort_in_bounds(Iterator first, Iterator last, Compare& less, int bad_divisions_left,
                    bool has_lower = false) {
  while (last - first > few_to_sort) {
    const std::ptrdiff_t size = last - first;
    const bool in_order = put_pivot_first(first, last, less);
    // A pivot that is not greater than the element before the range is the least. Elements equal to it are
    // then in their place.
    const bool is_least = has_lower && !less(*(first - 1), *first);
    const auto divided = [&] {
      if (!is_least) return divide_by_first(first, last, in_order, less);
      auto is_not_more = [&less](const auto& element, const auto& pivot) { return !less(pivot, element); };
      return divide_by_first(first, last, in_order, is_not_more);
    }();
    const Iterator pivot = divided.pivot;
    const std::ptrdiff_t lower = pivot - first;
    const std::ptrdiff_t higher = last - pivot - 1;
    const bool is_bad = (is_least ? lower : std::min(lower, higher)) < size / 8;
    if (is_bad && --bad_divisions_left <= 0) {
      std::make_heap(first, last, comparing_by(less));
      std::sort_heap(first, last, comparing_by(less));
      return;
    }
    if (is_least) {
      first = pivot + 1;
      continue;
    }
    if (is_bad) {
      disarrange(first, pivot);
      disarrange(pivot + 1, last);
    } else if (divided.had_been_there && is_sorted_by_few_moves(first, pivot, less) &&
               is_sorted_by_few_moves(pivot + 1, last, less)) {
      return;
    }
    if (lower < higher) {
      sort_in_bounds(first, pivot, less, bad_divisions_left, has_lower);
      first = pivot + 1;
      has_lower = true;
    } else {
      sort_in_bounds(pivot + 1, last, less, bad_divisions_left, true);
      last = pivot;
    }
  }
  if constexpr (compares_numbers<std::iter_value_t<Iterator>, Compare>) {
    if (has_lower) return insertion_sort<true>(first, last, less);
  }
  insertion_sort(first, last, less);
}

struct quick_order {
  template <std::random_access_iterator Iterator, typename Compare>
  static void sort(Iterator first, Iterator last, Compare& less) {
    sort_in_bounds(first, last, less,
                   static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first))));
  }
};

/// Sorts shares by `Order`, and merges them stably.
template <typename Order>
class sort_by_shares {
 public:
  template <std::random_access_iterator Iterator, typename Compare>
  static void run(const execution& how, const Iterator& first, std::size_t size, Compare less) {
    using T = std::iter_value_t<Iterator>;
    if (size < 2) return;
    if constexpr (divisible<Iterator> && std::is_nothrow_move_constructible_v<T> &&
                  std::is_nothrow_move_assignable_v<T>) {
      piece_cursor<Iterator> cursor(first, 0);
      const team threads = how.team_for(size, few_to_sort_together);
      if (threads.size() > 1 || cursor.available() < size)
        return through_buffer<T>(threads, first, size, less);
      Order::sort(cursor.local(), advanced(cursor.local(), size), less);
    } else {
      Order::sort(first, advanced(first, size), less);
    }
  }

 private:
  template <typename T, typename Iterator, typename Compare>
  static void through_buffer(const team& threads, Iterator first, std::size_t size, const Compare& less) {
    using runs = sorted_runs<T>;
    const sort_buffer<T> buffer(size);
    std::vector<index_range> shares(static_cast<std::size_t>(threads.size()));
    std::vector<merge_of_runs<T>> parts;
    try {
      threads.run([&](team_member member) {
        Compare mine = less;
        for_each_share(first, size, 0, member, [&](index_range share) {
          T* to = buffer.data() + share.first;
          const auto take = [&](std::size_t n, auto from) {
            to = std::uninitialized_move_n(from, n, to).second;
          };
          for_each_piece(share.first, share.size(), take, first);
          shares[static_cast<std::size_t>(member.index)] = share;
          Order::sort(buffer.data() + share.first, to, mine);
        });
      });
      std::erase_if(shares, [](index_range share) { return share.empty(); });
      std::vector<typename runs::run> sorted;
      for (const index_range share : shares)
        sorted.push_back({buffer.data() + share.first, buffer.data() + share.last, sorted.size()});
      const runs all(std::move(sorted));
      // The beginning of each share, and the end.
      std::vector<typename runs::division> divisions(shares.size() + 1);
      divisions.front() = all.divide_in_place(0);
      divisions.back() = all.divide_in_place(size);
      for_each_of(threads, shares.size() - 1, [&](std::size_t i) {
        Compare mine = less;
        divisions[i + 1] = all.divide(shares[i + 1].first, mine);
      });
      const auto is_share = [&](std::size_t i) {
        return runs::is_part(divisions[i], divisions[i + 1], shares[i].size());
      };
      if (!std::ranges::all_of(std::views::iota(std::size_t{0}, shares.size()), is_share))
        for (std::size_t i = 0; i < shares.size(); ++i) divisions[i] = all.divide_in_place(shares[i].first);
      for (std::size_t i = 0; i < shares.size(); ++i)
        parts.emplace_back(all.part(divisions[i], divisions[i + 1]));
    } catch (...) {
      for (const index_range share : shares) {
        T* from = buffer.data() + share.first;
        const auto move_back = [&](std::size_t n, auto to) {
          std::move(from, from + n, to);
          from += n;
        };
        if (!share.empty()) for_each_piece(share.first, share.size(), move_back, first);
      }
      destroy(buffer.data(), shares);
      throw;
    }

    try {
      for_each_of(threads, shares.size(), [&](std::size_t i) {
        try {
          Compare mine = less;
          parts[i].begin_merge(mine);
          const auto merge = [&](std::size_t n, auto to) { parts[i].merge(n, to, mine); };
          for_each_piece(shares[i].first, shares[i].size(), merge, first);
        } catch (...) {
          bring_back(parts[i], shares[i], first);
          throw;
        }
      });
    } catch (...) {
      destroy(buffer.data(), shares);
      throw;
    }
    destroy(buffer.data(), shares);
  }

  // Calls body(0) to body(count - 1), the nth on the nth thread; all calls are made, even if some throw.
  template <typename Body>
  static void for_each_of(const team& threads, std::size_t count, Body&& body) {
    // A single call needs no other threads.
    (count > 1 ? threads : team::serial()).run([&](team_member member) {
      std::exception_ptr thrown;
      // If there are fewer threads now, the others take over the calls of those missing.
      for (auto i = static_cast<std::size_t>(member.index); i < count;
           i += static_cast<std::size_t>(member.size)) {
        try {
          body(i);
        } catch (...) {
          thrown = std::current_exception();
        }
      }
      if (thrown) std::rethrow_exception(std::move(thrown));
    });
  }

  // Moves the elements of a share that were not yet moved back to where they belong.
  template <typename Merge, typename Iterator>
  static void bring_back(Merge& left, index_range share, Iterator first) {
    const std::size_t size = left.size();
    const auto drain = [&](std::size_t n, auto to) { left.drain(n, to); };
    if (size != 0) for_each_piece(share.last - size, size, drain, first);
  }

  template <typename T>
  static void destroy(T* elements, const std::vector<index_range>& shares) noexcept {
    for (const index_range share : shares) std::destroy(elements + share.first, elements + share.last);
  }
};

}  // namespace detail

struct sort_algorithm : detail::on_default_team_by_less<sort_algorithm> {
  using on_default_team_by_less::operator();

  /// Sorts by `less` after projection. Equal elements end up in any order, which is the same each time for
  /// the same number of threads and the same segments.
  ///
  /// Each thread moves its elements to a buffer and sorts them there. When all have done so, each thread
  /// merges from all buffers the elements that belong into its part of the range. The sort therefore needs
  /// memory for as many elements again, and throws `std::bad_alloc` without it. The merge of p threads makes
  /// about log2(p) comparisons per element, twice as many if elements are more than 16 bytes or not trivially
  /// copyable. The caller alone sorts fewer than 512 elements (`execution::alone_below`). One thread sorting
  /// a contiguous range needs no buffer; elements whose moves may throw are sorted by one thread without a
  /// buffer.
  ///
  /// If `less` throws, all elements are valid, but, as with `std::sort`, in any order, and one for each
  /// thread that threw may be moved-from. If `less` is not a strict weak order, as for numbers with NaN among
  /// them, or differs from call to call, all elements are still there afterwards, in any order.
  template <std::random_access_iterator Iterator, std::sentinel_for<Iterator> Sentinel,
            typename Compare = std::less<>, typename Projection = std::identity>
  void operator()(const execution& how, Iterator first, Sentinel last, Compare less = {},
                  Projection projection = {}) const {
    const auto size = static_cast<std::size_t>(std::ranges::distance(first, last));
    detail::sort_by_shares<detail::quick_order>::run(how, first, size, detail::for_threads(less, projection));
  }

  template <std::ranges::random_access_range Range, typename Compare = std::less<>,
            typename Projection = std::identity>
  void operator()(const execution& how, Range&& range, Compare less = {}, Projection projection = {}) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(less), std::move(projection));
  }
};
/// `sort([execution,] first, last [, less [, projection]])` or
/// `([execution,] range [, less [, projection]])`.
inline constexpr sort_algorithm sort{};

}  // namespace nearfar
