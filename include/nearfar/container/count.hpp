/// \file
/// Counts elements for which a predicate holds, or that equal a value, in parallel. See algorithm.hpp for
/// what all algorithms have in common.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/reduce.hpp"

namespace nearfar {

struct count_if_algorithm : detail::on_default_team<count_if_algorithm> {
  using on_default_team::operator();

  /// The number of elements for which `predicate(projection(element))` is true.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename Predicate,
            typename Projection = std::identity>
  std::iter_difference_t<Iterator> operator()(const execution& how, Iterator first, Sentinel last,
                                              Predicate predicate, Projection projection = {}) const {
    using difference = std::iter_difference_t<Iterator>;
    const auto one = [call = detail::for_threads(predicate, projection)](auto&& element) mutable {
      return static_cast<difference>(static_cast<bool>(call(std::forward<decltype(element)>(element))));
    };
    return transform_reduce(how, std::move(first), last, difference{0}, std::plus<>{}, one);
  }

  template <std::ranges::input_range Range, typename Predicate, typename Projection = std::identity>
  std::ranges::range_difference_t<Range> operator()(const execution& how, Range&& range, Predicate predicate,
                                                    Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(predicate),
                   std::move(projection));
  }
};
/// `count_if([execution,] first, last, predicate [, projection])` or
/// `([execution,] range, predicate [, projection])`.
inline constexpr count_if_algorithm count_if{};

struct count_algorithm : detail::on_default_team<count_algorithm> {
  using on_default_team::operator();

  /// The number of elements that are equal to the value after projection.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename T,
            typename Projection = std::identity>
  std::iter_difference_t<Iterator> operator()(const execution& how, Iterator first, Sentinel last,
                                              const T& value, Projection projection = {}) const {
    return count_if(
        how, std::move(first), last, [&value](const auto& element) { return element == value; },
        std::move(projection));
  }

  template <std::ranges::input_range Range, typename T, typename Projection = std::identity>
  std::ranges::range_difference_t<Range> operator()(const execution& how, Range&& range, const T& value,
                                                    Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), value, std::move(projection));
  }
};
/// `count([execution,] first, last, value [, projection])` or `([execution,] range, value [, projection])`.
/// It is a function, since many variables have this name, which would hide an object.
template <typename... Arguments>
  requires std::invocable<const count_algorithm&, Arguments...>
[[nodiscard]] auto count(Arguments&&... arguments) {
  return count_algorithm{}(std::forward<Arguments>(arguments)...);
}

}  // namespace nearfar
