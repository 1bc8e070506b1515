/// \file
/// Linear search in parallel; see algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar {

struct find_if_algorithm : detail::on_default_team<find_if_algorithm> {
  using on_default_team::operator();

  /// The first element that the predicate is true for, else `last`. Threads stop soon after one of them found
  /// something further ahead.
  template <std::input_iterator Iterator, typename Predicate>
  Iterator operator()(const execution& how, Iterator first, Iterator last, Predicate predicate) const {
    if constexpr (detail::divisible<Iterator>) {
      constexpr std::size_t at_a_time = 1024;  // elements between two looks at what the others found
      const std::size_t size = detail::length(first, last);
      std::atomic<std::size_t> found{size};
      how.team.run([&](team_member member) {
        Predicate mine = predicate;
        detail::for_each_share(first, size, how.chunk, member, [&](index_range share) {
          std::size_t next = share.first;
          const auto search = [&](std::size_t n, auto piece) {
            const std::size_t first_index = std::exchange(next, next + n);
            for (std::size_t done = 0; done < n; done += at_a_time) {
              // Relaxed: the answer is read after all threads have met.
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
          detail::for_each_piece(share.first, share.size(), search, first);
        });
      });
      return detail::jump(first, found.load(std::memory_order_relaxed));
    } else {
      return std::find_if(first, last, predicate);
    }
  }

  template <std::ranges::input_range Range, typename Predicate>
    requires std::ranges::common_range<Range>
  auto operator()(const execution& how, Range&& range, Predicate predicate) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(predicate));
  }
};
/// `find_if([execution,] first, last, predicate)` or `([execution,] range, predicate)`.
inline constexpr find_if_algorithm find_if{};

struct find_algorithm : detail::on_default_team<find_algorithm> {
  using on_default_team::operator();

  /// The first element that is equal to the value, else `last`.
  template <std::input_iterator Iterator, typename T>
  Iterator operator()(const execution& how, Iterator first, Iterator last, const T& value) const {
    return find_if(how, first, last, [&value](const auto& element) { return element == value; });
  }

  template <std::ranges::input_range Range, typename T>
    requires std::ranges::common_range<Range>
  auto operator()(const execution& how, Range&& range, const T& value) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), value);
  }
};
/// `find([execution,] first, last, value)` or `([execution,] range, value)`.
inline constexpr find_algorithm find{};

}  // namespace nearfar
