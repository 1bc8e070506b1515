/// \file
/// Sums, in the widest sense, in parallel. See algorithm.hpp for what all algorithms have in common.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

namespace detail {

/// The sum of n > 0 elements, which `at(i)` returns. For numbers it keeps several sums side by side, so that
/// one addition need not wait for the previous one.
template <typename T, typename Operation, typename At>
T sum_of(std::size_t n, Operation& operation, At at) {
  constexpr std::size_t lanes = 8;
  if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<std::remove_cvref_t<decltype(at(n))>>) {
    if (n >= 2 * lanes) {
      std::array<T, lanes> sums{};
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = static_cast<T>(at(lane));
      std::size_t i = lanes;
      for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
          sums[lane] = static_cast<T>(operation(sums[lane], at(i + lane)));
      T sum = sums[0];
      for (std::size_t lane = 1; lane < lanes; ++lane) sum = static_cast<T>(operation(sum, sums[lane]));
      for (; i < n; ++i) sum = static_cast<T>(operation(sum, at(i)));
      return sum;
    }
  }
  T sum(at(0));
  for (std::size_t i = 1; i < n; ++i) sum = static_cast<T>(operation(std::move(sum), at(i)));
  return sum;
}

/// The sum of `init` and of the results of `function`, called for the elements at each index of all ranges.
template <typename T, typename Operation, typename Transform, typename... Iterators>
T reduce_transformed(const execution& how, std::size_t size, T init, Operation operation,
                     const Transform& function, const Iterators&... firsts) {
  const team threads = how.team_for(size);
  std::vector<std::optional<T>> sums(static_cast<std::size_t>(threads.size()));
  threads.run([&](team_member member) {
    Operation mine = operation;
    Transform one = function;
    std::optional<T> sum;
    const auto add = [&](std::size_t n, auto... pieces) {
      // A reference only to something that outlives the call, as elements do unless the iterator makes them.
      using result = decltype(one(*pieces...));
      using kept = std::conditional_t<(std::is_reference_v<decltype(*pieces)> && ...), result,
                                      std::remove_cvref_t<result>>;
      // Pieces by value, so that compilers know that nothing changes them.
      T more = sum_of<T>(n, mine,
                         [&one, pieces...](std::size_t i) -> kept { return one(*advanced(pieces, i)...); });
      if (sum)
        sum = static_cast<T>(mine(std::move(*sum), std::move(more)));
      else
        sum = std::move(more);
    };
    for_each_share(leading(firsts...), size, how.chunk, member,
                   [&](index_range share) { for_each_piece(share.first, share.size(), add, firsts...); });
    sums[static_cast<std::size_t>(member.index)] = std::move(sum);
  });
  for (std::optional<T>& sum : sums)
    if (sum) init = static_cast<T>(operation(std::move(init), std::move(*sum)));
  return init;
}

}  // namespace detail

struct transform_reduce_algorithm : detail::on_default_team<transform_reduce_algorithm> {
  using on_default_team::operator();

  /// The sum of `init` and `function(element)` of all elements, by an operation that is associative and
  /// commutative, or nearly so, like that of floating-point numbers. The results of `function` must convert
  /// to T. The sum is the same each time for the same number of threads and the same segments.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename T,
            typename Operation, typename Transform>
    requires(!std::input_iterator<T>)
  T operator()(const execution& how, Iterator first, Sentinel last, T init, Operation operation,
               Transform function) const {
    auto add = detail::for_threads(operation);
    auto call = detail::for_threads(function);
    if constexpr (detail::divisible<Iterator>) {
      return detail::reduce_transformed(how, detail::length(first, last), std::move(init), add, call, first);
    } else {
      for (; first != last; ++first) init = static_cast<T>(add(std::move(init), call(*first)));
      return init;
    }
  }

  /// The same for `function(element1, element2)`: the scalar product, if no functions are given.
  template <std::input_iterator Iterator1, std::sentinel_for<Iterator1> Sentinel,
            std::input_iterator Iterator2, typename T, typename Operation = std::plus<>,
            typename Transform = std::multiplies<>>
  T operator()(const execution& how, Iterator1 first1, Sentinel last1, Iterator2 first2, T init,
               Operation operation = {}, Transform function = {}) const {
    auto add = detail::for_threads(operation);
    auto call = detail::for_threads(function);
    if constexpr (detail::divisible<Iterator1> && detail::divisible<Iterator2>) {
      return detail::reduce_transformed(how, detail::length(first1, last1), std::move(init), add, call,
                                        first1, first2);
    } else {
      for (; first1 != last1; ++first1, ++first2)
        init = static_cast<T>(add(std::move(init), call(*first1, *first2)));
      return init;
    }
  }

  template <std::ranges::input_range Range, typename T, typename Operation, typename Transform>
    requires(!std::ranges::range<T>)
  T operator()(const execution& how, Range&& range, T init, Operation operation, Transform function) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(init),
                   std::move(operation), std::move(function));
  }

  /// Throws `misuse` if the second range is shorter than the first.
  template <std::ranges::random_access_range Range1, std::ranges::random_access_range Range2, typename T,
            typename Operation = std::plus<>, typename Transform = std::multiplies<>>
  T operator()(const execution& how, Range1&& range1, Range2&& range2, T init, Operation operation = {},
               Transform function = {}) const {
    if (detail::size_of(range2) < detail::size_of(range1))
      throw misuse("transform_reduce: the second range is shorter than the first");
    return (*this)(how, std::ranges::begin(range1), std::ranges::end(range1), std::ranges::begin(range2),
                   std::move(init), std::move(operation), std::move(function));
  }
};
/// `transform_reduce([execution,] first, last, init, operation, function)`,
/// `([execution,] first1, last1, first2, init [, operation, function])`,
/// `([execution,] range, init, operation, function)` or
/// `([execution,] range1, range2, init [, operation, function])`.
inline constexpr transform_reduce_algorithm transform_reduce{};

struct reduce_algorithm : detail::on_default_team<reduce_algorithm> {
  using on_default_team::operator();

  /// The sum of `init` and all elements; elements must convert to T. Otherwise as `transform_reduce`.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel,
            typename T = std::iter_value_t<Iterator>, typename Operation = std::plus<>>
  T operator()(const execution& how, Iterator first, Sentinel last, T init = T{},
               Operation operation = {}) const {
    return transform_reduce(how, std::move(first), last, std::move(init), std::move(operation),
                            std::identity{});
  }

  template <std::ranges::input_range Range, typename T = std::ranges::range_value_t<Range>,
            typename Operation = std::plus<>>
  T operator()(const execution& how, Range&& range, T init = T{}, Operation operation = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(init),
                   std::move(operation));
  }
};
/// `reduce([execution,] first, last [, init [, operation]])` or `([execution,] range [, init [,
/// operation]])`.
inline constexpr reduce_algorithm reduce{};

}  // namespace nearfar
