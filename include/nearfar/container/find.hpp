/// \file
/// Linear search in parallel. See algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar {

namespace detail {

/// The number of elements that the caller searches in the time that other threads need to start.
inline constexpr std::size_t few_to_search = 4096;

}  // namespace detail

struct find_if_algorithm : detail::on_default_team<find_if_algorithm> {
  using on_default_team::operator();

  /// Returns the first element for which `predicate(projection(element))` is true, else the end. The caller
  /// searches the first 4096 elements alone (`execution::alone_below`). After that, threads stop soon after
  /// one of them has found an element further ahead. If computing the distance to a sentinel takes a walk,
  /// the caller alone searches while it walks.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename Predicate,
            typename Projection = std::identity>
  Iterator operator()(const execution& how, Iterator first, Sentinel last, Predicate predicate,
                      Projection projection = {}) const {
    auto of_caller = detail::for_threads(predicate, projection);
    using call_type = decltype(of_caller);
    if constexpr (detail::divisible<Iterator> &&
                  (std::sized_sentinel_for<Sentinel, Iterator> || std::same_as<Sentinel, Iterator>)) {
      constexpr std::size_t at_a_time = 1024;  // elements between two looks at what the others found
      const std::size_t size = detail::length(first, last);
      const std::size_t few = std::min(size, how.alone_below.value_or(detail::few_to_search));
      const call_type original = of_caller;
      std::size_t searched = 0;
      if (few != 0) {
        detail::piece_cursor<Iterator> cursor(first);
        while (searched < few) {
          const std::size_t n = std::min(few - searched, cursor.available());
          const auto begin = cursor.local();
          const auto end = detail::advanced(begin, n);
          if (const auto hit = std::find_if(begin, end, std::ref(of_caller)); hit != end)
            return detail::jump(first, searched + static_cast<std::size_t>(hit - begin));
          searched += n;
          cursor.advance(n);
        }
      }
      if (searched == size) return detail::jump(first, size);
      std::atomic<std::size_t> found{size};
      const auto search_in = [&](index_range share, call_type& mine) {
        std::size_t next = share.first;
        const auto search = [&](std::size_t n, auto piece) {
          const std::size_t first_index = std::exchange(next, next + n);
          for (std::size_t done = 0; done < n; done += at_a_time) {
            // Relaxed, since the answer is read after all threads have joined.
            if (found.load(std::memory_order_relaxed) <= first_index + done) return;
            const auto begin = detail::advanced(piece, done);
            const auto end = detail::advanced(begin, std::min(at_a_time, n - done));
            const auto hit = std::find_if(begin, end, std::ref(mine));
            if (hit == end) continue;
            const std::size_t index = first_index + done + static_cast<std::size_t>(hit - begin);
            std::size_t best = found.load(std::memory_order_relaxed);
            while (index < best && !found.compare_exchange_weak(best, index, std::memory_order_relaxed)) {
            }
            return;
          }
        };
        if (!share.empty()) detail::for_each_piece(share.first, share.size(), search, first);
      };
      how.team.run([&](team_member member) {
        call_type mine = original;
        detail::for_each_share(first, size, how.chunk, member, [&](index_range share) {
          share.first = std::clamp(searched, share.first, share.last);
          search_in(share, mine);
        });
      });
      return detail::jump(first, found.load(std::memory_order_relaxed));
    } else {
      while (first != last && !of_caller(*first)) ++first;
      return first;
    }
  }

  template <std::ranges::input_range Range, typename Predicate, typename Projection = std::identity>
  std::ranges::borrowed_iterator_t<Range> operator()(const execution& how, Range&& range, Predicate predicate,
                                                     Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(predicate),
                   std::move(projection));
  }
};
/// `find_if([execution,] first, last, predicate [, projection])` or
/// `([execution,] range, predicate [, projection])`.
inline constexpr find_if_algorithm find_if{};

struct find_algorithm : detail::on_default_team<find_algorithm> {
  using on_default_team::operator();

  /// Returns the first element that equals the value after projection, else the end.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename T,
            typename Projection = std::identity>
  Iterator operator()(const execution& how, Iterator first, Sentinel last, const T& value,
                      Projection projection = {}) const {
    return find_if(
        how, std::move(first), last, [&value](const auto& element) { return element == value; },
        std::move(projection));
  }

  template <std::ranges::input_range Range, typename T, typename Projection = std::identity>
  std::ranges::borrowed_iterator_t<Range> operator()(const execution& how, Range&& range, const T& value,
                                                     Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), value, std::move(projection));
  }
};
/// `find([execution,] first, last, value [, projection])` or
/// `([execution,] range, value [, projection])`.
inline constexpr find_algorithm find{};

}  // namespace nearfar
