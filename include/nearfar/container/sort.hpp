/// \file
/// Sorting in parallel; see algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar {

namespace detail {

/// Memory for elements that move out of a range and back. Its pages are placed by whoever writes first.
template <typename T>
class sort_buffer {
 public:
  explicit sort_buffer(std::size_t size)
      : request_(size * sizeof(T), alignof(T), false), data_(static_cast<T*>(request_.get({}))) {}
  sort_buffer(const sort_buffer&) = delete;
  sort_buffer& operator=(const sort_buffer&) = delete;
  ~sort_buffer() { request_.give_back(data_); }

  [[nodiscard]] T* data() const noexcept { return data_; }

 private:
  memory_request request_;
  T* data_;
};

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
inline constexpr bool finite_math_only = true;
#else
inline constexpr bool finite_math_only = false;
#endif

/// Whether comparisons are the language's own of numbers. These are not all of a strict weak order either if
/// there are NaN, but each gives the same every time, and of `a < b` and `b < a` one is false: loops that go
/// on while one is true then end at an element that was found not to be beyond them.
/// Not so where the compiler has been told that there are no NaN, and turns a comparison round as it likes.
/// (A program may have sources of both kinds: either's code of one sort is right for both.)
template <typename T, typename Compare>
inline constexpr bool compares_numbers =
    std::is_arithmetic_v<T> && !(std::is_floating_point_v<T> && finite_math_only) &&
    (std::same_as<Compare, std::less<>> || std::same_as<Compare, std::greater<>> ||
     std::same_as<Compare, std::less<T>> || std::same_as<Compare, std::greater<T>> ||
     std::same_as<Compare, std::ranges::less> || std::same_as<Compare, std::ranges::greater>);

/// Sorts few elements, stably. All stay, whatever `less` says; if it throws, one may be a moved-from one.
/// With `HasLower` an element in front of `first` stops those that would go there.
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

/// So many are sorted by insertion.
inline constexpr std::ptrdiff_t few_to_sort = 16;

/// Fewer numbers than this one thread sorts before two have: they meet twice, and need memory in between.
inline constexpr std::size_t few_to_sort_together = 512;

/// Sorts, and with any `less` uses no memory but that of the elements, and ends: `std::sort` relies on its
/// being a strict weak order where it does not look for the end. Quicksort by the median of three, or a heap
/// sort where that divides badly, and insertion sort for few. All elements stay, in whatever order.
template <std::random_access_iterator Iterator, typename Compare>
void sort_in_bounds(Iterator first, Iterator last, Compare& less, int divisions_left,
                    [[maybe_unused]] bool has_lower = false) {
  constexpr bool is_stopped = compares_numbers<std::iter_value_t<Iterator>, Compare>;
  while (last - first > few_to_sort) {
    if (divisions_left-- == 0) {
      std::make_heap(first, last, std::ref(less));
      std::sort_heap(first, last, std::ref(less));
      return;
    }
    const Iterator middle = first + (last - first) / 2;
    if (less(*middle, *first)) std::iter_swap(middle, first);
    if (less(*(last - 1), *middle)) {
      std::iter_swap(last - 1, middle);
      if (less(*middle, *first)) std::iter_swap(middle, first);
    }
    std::iter_swap(first, middle);
    Iterator low = first + 1;
    Iterator high = last;
    for (;;) {
      // Stopped at first by the last and by the pivot itself, then by those that were swapped.
      while ((is_stopped || low < high) && less(*low, *first)) ++low;
      while ((is_stopped || low < high) && less(*first, *(high - 1))) --high;
      if (high - low < 2) break;
      std::iter_swap(low, high - 1);
      ++low;
      --high;
    }
    const Iterator pivot = low - 1;
    std::iter_swap(first, pivot);
    sort_in_bounds(low, last, less, divisions_left, true);
    last = pivot;
  }
  if constexpr (is_stopped) {
    if (has_lower) return insertion_sort<true>(first, last, less);
  }
  insertion_sort(first, last, less);
}

struct quick_order {
  template <std::random_access_iterator Iterator, typename Compare>
  static void sort(Iterator first, Iterator last, Compare& less) {
    sort_in_bounds(first, last, less,
                   2 * static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first))));
  }
};

/// Sorted runs that follow each other in memory, and how far each is used up.
template <typename T>
class sorted_runs {
 public:
  struct run {
    T* next;
    T* end;
    std::size_t rank;  // of equal elements, those of the run with the lower one come first
  };

  explicit sorted_runs(std::vector<run> runs) : runs_(std::move(runs)) {}

  /// How many elements of each run have a rank below this one in the sorted whole. Equal elements rank by
  /// run, then by place, so that those between two ranks adjoin those from the second on.
  using division = std::vector<std::size_t>;

  /// As above if `less` is a strict weak order; otherwise no more than there are.
  template <typename Compare>
  [[nodiscard]] division divide(std::size_t rank, Compare& less) const {
    division low(runs_.size(), 0);
    division high(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) high[i] = length(i);
    division below(runs_.size());
    for (;;) {
      // The middle of the longest run of candidates halves it, and gives bounds in all others.
      std::size_t widest = 0;
      for (std::size_t i = 1; i < runs_.size(); ++i)
        if (high[i] - low[i] > high[widest] - low[widest]) widest = i;
      if (runs_.empty() || low[widest] == high[widest]) return low;
      const std::size_t middle = low[widest] + (high[widest] - low[widest]) / 2;
      const T& pivot = runs_[widest].next[middle];
      std::size_t pivot_rank = 0;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const T* const begin = runs_[i].next;
        const T* const end = runs_[i].end;
        if (i == widest)
          below[i] = middle;
        else if (i < widest)
          below[i] = static_cast<std::size_t>(std::upper_bound(begin, end, pivot, std::ref(less)) - begin);
        else
          below[i] = static_cast<std::size_t>(std::lower_bound(begin, end, pivot, std::ref(less)) - begin);
        pivot_rank += below[i];
      }
      // Without an order, bounds may contradict each other; the run that was halved is narrowed always.
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const std::size_t bound = std::clamp(below[i], low[i], high[i]);
        if (pivot_rank < rank)
          low[i] = i == widest ? middle + 1 : bound;
        else
          high[i] = bound;
      }
    }
  }
  /// The division after so many elements of one run after the other: what there is if there is no order.
  [[nodiscard]] division divide_in_place(std::size_t rank) const {
    division result;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      result.push_back(std::min(rank, length(i)));
      rank -= result.back();
    }
    return result;
  }
  /// Whether both together give a part of so many elements.
  [[nodiscard]] static bool is_part(const division& first, const division& last, std::size_t size) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i] > last[i]) return false;
      all += last[i] - first[i];
    }
    return all == size;
  }

  /// The parts of all runs between two divisions.
  [[nodiscard]] sorted_runs part(const division& first, const division& last) const {
    std::vector<run> parts;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (first[i] != last[i])
        parts.push_back({runs_[i].next + first[i], runs_[i].next + last[i], runs_[i].rank});
    return sorted_runs(std::move(parts));
  }

  /// Elements that are left.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t all = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) all += length(i);
    return all;
  }

  /// To be called before the first merge. If `less` throws, all elements are still here.
  template <typename Compare>
  void begin_merge(Compare& less) {
    for (std::size_t i = runs_.size() / 2; i != 0; --i) sift_down(i - 1, less);
  }

  /// Moves the next n elements of the merged runs to `out` and on. If `less` throws, those moved so far are
  /// no longer here.
  template <typename Output, typename Compare>
  void merge(std::size_t n, Output out, Compare& less) {
    for (; n != 0 && runs_.size() > 1; --n) {
      run& least = runs_.front();
      *out = std::move(*least.next);
      ++out;
      if (++least.next == least.end) {
        least = runs_.back();
        runs_.pop_back();
      }
      sift_down(0, less);
    }
    drain(n, out);
  }

  /// Moves the next n elements in any order.
  template <typename Output>
  void drain(std::size_t n, Output out) {
    while (n != 0) {
      run& from = runs_.back();
      const std::size_t step = std::min(n, static_cast<std::size_t>(from.end - from.next));
      out = std::move(from.next, advanced(from.next, step), out);
      from.next += step;
      n -= step;
      if (from.next == from.end) runs_.pop_back();
    }
  }

 private:
  // Makes a heap with the least run first of what is one but for run `at`.
  template <typename Compare>
  void sift_down(std::size_t at, Compare& less) {
    for (std::size_t child = 2 * at + 1; child < runs_.size(); child = 2 * at + 1) {
      if (child + 1 < runs_.size() && precedes(runs_[child + 1], runs_[child], less)) ++child;
      if (!precedes(runs_[child], runs_[at], less)) return;
      std::swap(runs_[at], runs_[child]);
      at = child;
    }
  }

  template <typename Compare>
  [[nodiscard]] static bool precedes(const run& a, const run& b, Compare& less) {
    return a.rank < b.rank ? !less(*b.next, *a.next) : static_cast<bool>(less(*a.next, *b.next));
  }

  [[nodiscard]] std::size_t length(std::size_t of) const noexcept {
    return static_cast<std::size_t>(runs_[of].end - runs_[of].next);
  }

  std::vector<run> runs_;
};

/// Sorts shares as `Order` does, and merges them stably.
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
    std::vector<runs> parts;
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
      // Where each share begins, and the end.
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
        parts.push_back(all.part(divisions[i], divisions[i + 1]));
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

  // Calls body(0) to body(count - 1), the nth on the nth thread; all, even if some throw.
  template <typename Body>
  static void for_each_of(const team& threads, std::size_t count, Body&& body) {
    // What is one thread's needs no others.
    (count > 1 ? threads : team::serial()).run([&](team_member member) {
      std::exception_ptr thrown;
      // Those of threads that are no longer there are done by others.
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

  // Moves what is left of the elements of a share, which were not moved back yet, to where they belong.
  template <typename T, typename Iterator>
  static void bring_back(sorted_runs<T>& left, index_range share, Iterator first) {
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

  /// Sorts by `less` after projection; equal elements end up in any order, the same each time for the same
  /// number of threads and the same segments.
  ///
  /// Each thread moves its elements to a buffer, sorts them there and, after all have, merges from all
  /// buffers the elements that belong into its part of the range. So it takes memory for as many elements
  /// again, and throws `std::bad_alloc` without it; the merge of p threads compares about 2 log2(p)
  /// times for each element, once if there are two. Fewer than 512 elements (`execution::alone_below`) are
  /// sorted by the caller alone. One thread over a range in one piece needs no buffer, and
  /// elements whose moves may throw are sorted by one thread without one. If `less` throws, all elements are
  /// valid, but as with `std::sort` in any order, and one for each thread that threw may be a moved-from one.
  /// If `less` is no strict weak order, as that of numbers with NaN among them, or differs from call to call,
  /// all elements are there afterwards, in any order.
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
