/// \file
/// Sums, in the widest sense, in parallel; see algorithm.hpp for what all algorithms have in common.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar {

namespace detail {

/// The sum of a piece that has elements. Sums of numbers go side by side, so that one addition need not wait
/// for the one before.
template <typename T, typename Piece, typename Operation>
T reduce_piece(Piece piece, std::size_t n, Operation& operation) {
  constexpr std::size_t lanes = 8;
  if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<std::iter_value_t<Piece>>) {
    if (n >= 2 * lanes) {
      std::array<T, lanes> sums{};
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = static_cast<T>(*advanced(piece, lane));
      std::size_t i = lanes;
      for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
          sums[lane] = static_cast<T>(operation(sums[lane], *advanced(piece, i + lane)));
      T sum = sums[0];
      for (std::size_t lane = 1; lane < lanes; ++lane) sum = static_cast<T>(operation(sum, sums[lane]));
      for (; i < n; ++i) sum = static_cast<T>(operation(sum, *advanced(piece, i)));
      return sum;
    }
  }
  T sum(*piece);
  for (std::size_t i = 1; i < n; ++i) sum = static_cast<T>(operation(std::move(sum), *advanced(piece, i)));
  return sum;
}

}  // namespace detail

struct reduce_algorithm : detail::on_default_team<reduce_algorithm> {
  using on_default_team::operator();

  /// The sum of `init` and all elements by an operation that is associative and commutative, or nearly so as
  /// that of floating-point numbers; elements must convert to T. The result is the same each time for the
  /// same number of threads and the same segments.
  template <std::input_iterator Iterator, typename T = std::iter_value_t<Iterator>,
            typename Operation = std::plus<>>
  T operator()(const execution& how, Iterator first, Iterator last, T init = T{},
               Operation operation = {}) const {
    if constexpr (detail::divisible<Iterator>) {
      const std::size_t size = detail::length(first, last);
      std::vector<std::optional<T>> sums(static_cast<std::size_t>(how.team.size()));
      how.team.run([&](team_member member) {
        Operation mine = operation;
        std::optional<T> sum;
        const auto add = [&](std::size_t n, auto piece) {
          T more = detail::reduce_piece<T>(piece, n, mine);
          if (sum)
            sum = static_cast<T>(mine(std::move(*sum), std::move(more)));
          else
            sum = std::move(more);
        };
        detail::for_each_share(first, size, how.chunk, member, [&](index_range share) {
          detail::for_each_piece(share.first, share.size(), add, first);
        });
        sums[static_cast<std::size_t>(member.index)] = std::move(sum);
      });
      for (std::optional<T>& sum : sums)
        if (sum) init = static_cast<T>(operation(std::move(init), std::move(*sum)));
      return init;
    } else {
      return std::reduce(first, last, std::move(init), operation);
    }
  }

  template <std::ranges::input_range Range, typename T = std::ranges::range_value_t<Range>,
            typename Operation = std::plus<>>
    requires std::ranges::common_range<Range>
  T operator()(const execution& how, Range&& range, T init = T{}, Operation operation = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(init),
                   std::move(operation));
  }
};
/// `reduce([execution,] first, last [, init [, operation]])` or `([execution,] range [, init [,
/// operation]])`.
inline constexpr reduce_algorithm reduce{};

}  // namespace nearfar
