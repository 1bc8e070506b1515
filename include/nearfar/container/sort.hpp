/// \file
/// Sorting in parallel; see algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
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
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

namespace detail {

/// Memory for elements that move out of a range and back. Its pages are placed by whoever writes first.
template <typename T>
class sort_buffer {
 public:
  explicit sort_buffer(std::size_t size)
      : size_(size), elements_(static_cast<T*>(map_pages(size * sizeof(T)))) {}
  sort_buffer(const sort_buffer&) = delete;
  sort_buffer& operator=(const sort_buffer&) = delete;
  ~sort_buffer() { unmap_pages(elements_, size_ * sizeof(T)); }

  [[nodiscard]] T* data() const noexcept { return elements_; }

 private:
  std::size_t size_;
  T* elements_;
};

/// Sorted runs that follow each other in memory, and how far each is used up.
template <typename T>
class sorted_runs {
 public:
  struct run {
    T* next;
    T* end;
  };

  explicit sorted_runs(std::vector<run> runs) : runs_(std::move(runs)) {}

  /// The parts of all runs that hold the elements of these ranks in the sorted whole. Equal elements rank by
  /// run, then by place, so that parts for adjoining ranks adjoin.
  template <typename Compare>
  [[nodiscard]] sorted_runs part(index_range ranks, Compare& less) const {
    const std::vector<std::size_t> first = split(ranks.first, less);
    const std::vector<std::size_t> last = split(ranks.last, less);
    std::vector<run> parts;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (first[i] != last[i]) parts.push_back({runs_[i].next + first[i], runs_[i].next + last[i]});
    sorted_runs result(std::move(parts));
    for (std::size_t i = result.runs_.size() / 2; i != 0; --i) result.sift_down(i - 1, less);
    return result;
  }

  /// Elements that are left.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t all = 0;
    for (const run& each : runs_) all += static_cast<std::size_t>(each.end - each.next);
    return all;
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
      if (child + 1 < runs_.size() && less(*runs_[child + 1].next, *runs_[child].next)) ++child;
      if (!less(*runs_[child].next, *runs_[at].next)) return;
      std::swap(runs_[at], runs_[child]);
      at = child;
    }
  }

  // How many elements of each run have a rank below this one.
  template <typename Compare>
  [[nodiscard]] std::vector<std::size_t> split(std::size_t rank, Compare& less) const {
    std::vector<std::size_t> low(runs_.size(), 0);
    std::vector<std::size_t> high(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i)
      high[i] = static_cast<std::size_t>(runs_[i].end - runs_[i].next);
    std::vector<std::size_t> below(runs_.size());
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
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        if (pivot_rank < rank)
          low[i] = std::max(low[i], i == widest ? middle + 1 : below[i]);
        else
          high[i] = std::min(high[i], below[i]);
      }
    }
  }

  std::vector<run> runs_;
};

}  // namespace detail

struct sort_algorithm : detail::on_default_team<sort_algorithm> {
  using on_default_team::operator();

  /// Sorts by `less`; equal elements end up in any order, the same each time for the same number of threads
  /// and the same segments.
  ///
  /// Each thread moves its elements to a buffer, sorts them there and, after all have, merges from all
  /// buffers the elements that belong into its part of the range. So it takes memory for as many elements
  /// again, and throws `std::bad_alloc` without it; the merge of p threads compares about 2 log2(p)
  /// times for each element, once if there are two. One thread over a range in one piece needs no buffer, and
  /// elements whose moves may throw are sorted by one thread without one. If `less` throws, all elements are
  /// valid, but as with `std::sort` in any order, and one for each thread that threw may be a moved-from one.
  template <std::random_access_iterator Iterator, typename Compare = std::less<>>
  void operator()(const execution& how, Iterator first, Iterator last, Compare less = {}) const {
    using T = std::iter_value_t<Iterator>;
    const auto size = static_cast<std::size_t>(last - first);
    if (size < 2) return;
    if constexpr (detail::divisible<Iterator> && std::is_nothrow_move_constructible_v<T> &&
                  std::is_nothrow_move_assignable_v<T>) {
      detail::piece_cursor<Iterator> cursor(first, 0);
      if (how.team.size() > 1 || cursor.available() < size) return through_buffer<T>(how, first, size, less);
      std::sort(cursor.local(), detail::advanced(cursor.local(), size), less);
    } else {
      std::sort(first, last, less);
    }
  }

  template <std::ranges::random_access_range Range, typename Compare = std::less<>>
    requires std::ranges::common_range<Range>
  void operator()(const execution& how, Range&& range, Compare less = {}) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(less));
  }

 private:
  template <typename T, typename Iterator, typename Compare>
  static void through_buffer(const execution& how, Iterator first, std::size_t size, const Compare& less) {
    using runs = detail::sorted_runs<T>;
    const detail::sort_buffer<T> buffer(size);
    std::vector<index_range> shares(static_cast<std::size_t>(how.team.size()));
    std::vector<runs> parts;
    try {
      how.team.run([&](team_member member) {
        Compare mine = less;
        detail::for_each_share(first, size, 0, member, [&](index_range share) {
          T* to = buffer.data() + share.first;
          const auto take = [&](std::size_t n, auto from) {
            to = std::uninitialized_move_n(from, n, to).second;
          };
          detail::for_each_piece(share.first, share.size(), take, first);
          shares[static_cast<std::size_t>(member.index)] = share;
          std::sort(buffer.data() + share.first, to, mine);
        });
      });
      std::erase_if(shares, [](index_range share) { return share.empty(); });
      std::vector<typename runs::run> sorted;
      for (const index_range share : shares)
        sorted.push_back({buffer.data() + share.first, buffer.data() + share.last});
      const runs all(std::move(sorted));
      parts.resize(shares.size(), all);
      for_each_of(how, shares.size(), [&](std::size_t i) {
        Compare mine = less;
        parts[i] = all.part(shares[i], mine);
      });
    } catch (...) {
      for (const index_range share : shares) {
        T* from = buffer.data() + share.first;
        const auto move_back = [&](std::size_t n, auto to) {
          std::move(from, from + n, to);
          from += n;
        };
        if (!share.empty()) detail::for_each_piece(share.first, share.size(), move_back, first);
      }
      destroy(buffer.data(), shares);
      throw;
    }

    try {
      for_each_of(how, shares.size(), [&](std::size_t i) {
        try {
          Compare mine = less;
          const auto merge = [&](std::size_t n, auto to) { parts[i].merge(n, to, mine); };
          detail::for_each_piece(shares[i].first, shares[i].size(), merge, first);
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
  static void for_each_of(const execution& how, std::size_t count, Body&& body) {
    how.team.run([&](team_member member) {
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
  static void bring_back(detail::sorted_runs<T>& left, index_range share, Iterator first) {
    const std::size_t size = left.size();
    const auto drain = [&](std::size_t n, auto to) { left.drain(n, to); };
    if (size != 0) detail::for_each_piece(share.last - size, size, drain, first);
  }

  template <typename T>
  static void destroy(T* elements, const std::vector<index_range>& shares) noexcept {
    for (const index_range share : shares) std::destroy(elements + share.first, elements + share.last);
  }
};
/// `sort([execution,] first, last [, less])` or `([execution,] range [, less])`.
inline constexpr sort_algorithm sort{};

}  // namespace nearfar
