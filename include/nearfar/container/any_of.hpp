/// \file
/// Whether a predicate holds for any, no or all elements, in parallel. See algorithm.hpp for what all
/// algorithms have in common.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/find.hpp"

namespace nearfar {

struct any_of_algorithm : detail::on_default_team<any_of_algorithm> {
  using on_default_team::operator();

  /// Whether `predicate(projection(element))` is true for any element. Threads stop as in `find_if`.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename Predicate,
            typename Projection = std::identity>
  bool operator()(const execution& how, Iterator first, Sentinel last, Predicate predicate,
                  Projection projection = {}) const {
    return find_if(how, std::move(first), last, std::move(predicate), std::move(projection)) != last;
  }

  template <std::ranges::input_range Range, typename Predicate, typename Projection = std::identity>
  bool operator()(const execution& how, Range&& range, Predicate predicate,
                  Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(predicate),
                   std::move(projection));
  }
};
/// `any_of([execution,] first, last, predicate [, projection])` or
/// `([execution,] range, predicate [, projection])`.
inline constexpr any_of_algorithm any_of{};

struct none_of_algorithm : detail::on_default_team<none_of_algorithm> {
  using on_default_team::operator();

  /// The opposite of `any_of`, for a range as for iterators.
  template <typename... Arguments>
    requires std::invocable<const any_of_algorithm&, const execution&, Arguments...>
  bool operator()(const execution& how, Arguments&&... arguments) const {
    return !any_of(how, std::forward<Arguments>(arguments)...);
  }
};
/// Called like `any_of`.
inline constexpr none_of_algorithm none_of{};

struct all_of_algorithm : detail::on_default_team<all_of_algorithm> {
  using on_default_team::operator();

  /// Whether `predicate(projection(element))` is true for all elements. Threads stop as in `find_if`.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename Predicate,
            typename Projection = std::identity>
  bool operator()(const execution& how, Iterator first, Sentinel last, Predicate predicate,
                  Projection projection = {}) const {
    auto call = detail::for_threads(predicate);
    return none_of(how, std::move(first), last, std::not_fn(call), std::move(projection));
  }

  template <std::ranges::input_range Range, typename Predicate, typename Projection = std::identity>
  bool operator()(const execution& how, Range&& range, Predicate predicate,
                  Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(predicate),
                   std::move(projection));
  }
};
/// Called like `any_of`.
inline constexpr all_of_algorithm all_of{};

}  // namespace nearfar
