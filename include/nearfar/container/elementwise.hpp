/// \file
/// Algorithms on single elements: for_each, transform, copy, fill. See algorithm.hpp for what all algorithms
/// have in common.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/streaming.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

namespace detail {

/// Whether results can be written as bytes, bypassing the caches.
template <typename Output, typename Result>
concept streamable =
    std::is_pointer_v<Output> && std::is_trivially_copyable_v<std::remove_pointer_t<Output>> &&
    !std::is_volatile_v<std::remove_pointer_t<Output>> &&
    std::is_constructible_v<std::remove_pointer_t<Output>, Result>;

/// Orders a thread's streaming stores before what it does later.
inline void finish_streaming(bool streams) noexcept {
  if (streams) native_stores::fence();
}

template <typename Function>
struct transform_kernel {
  Function function;
  bool streams;

  void finish() const noexcept { finish_streaming(streams); }

  template <typename Output, typename... Inputs>
  void operator()(std::size_t n, Output out, Inputs... in) {
    using result = decltype(function(*advanced(in, n)...));
    if constexpr (streamable<Output, result>) {
      if (streams) {
        stream_blocks(out, n, [&](auto* block, std::size_t first, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i)
            std::construct_at(block + i, function(*advanced(in, first + i)...));
        });
        return;
      }
    }
    // Unrolled; otherwise its speed varies by a fifth with the position of its code in the cache lines.
#pragma GCC unroll 4
    for (std::size_t i = 0; i < n; ++i) *advanced(out, i) = function(*advanced(in, i)...);
  }
};

struct copy_kernel {
  bool streams;

  void finish() const noexcept { finish_streaming(streams); }

  template <typename Output, typename Input>
  void operator()(std::size_t n, Output out, Input in) {
    if constexpr (std::is_pointer_v<Output> && std::is_pointer_v<Input>) {
      using element = std::remove_pointer_t<Output>;
      if constexpr (streamable<Output, element> &&
                    std::is_same_v<element, std::remove_const_t<std::remove_pointer_t<Input>>>) {
        if (streams) {
          stream_bytes(reinterpret_cast<std::byte*>(out), reinterpret_cast<const std::byte*>(in),
                       n * sizeof(element));
          return;
        }
      }
    }
    std::copy(in, advanced(in, n), out);
  }
};

template <typename T>
struct fill_kernel {
  T value;
  bool streams;

  void finish() const noexcept { finish_streaming(streams); }

  template <typename Output>
  void operator()(std::size_t n, Output out) {
    if constexpr (streamable<Output, const T&>) {
      if (streams) {
        std::size_t filled = 0;  // elements of the block that hold the value already
        stream_blocks(out, n, [&](auto* block, std::size_t, std::size_t count) {
          for (; filled < count; ++filled) std::construct_at(block + filled, value);
        });
        return;
      }
    }
    std::fill(out, advanced(out, n), value);
  }
};

template <typename... Iterators>
constexpr std::size_t bytes_of_each = (sizeof(std::iter_value_t<Iterators>) + ... + 0);

/// Whether the last of some arguments chooses how to store.
template <typename... Arguments>
constexpr bool ends_with_stores = false;
template <typename First, typename... Rest>
constexpr bool ends_with_stores<First, Rest...> =
    std::convertible_to<std::tuple_element_t<sizeof...(Rest), std::tuple<First, Rest...>>, store_choice>;

/// Whether these arguments, after an output, are a function, inputs and perhaps a choice of stores.
template <typename Function, typename... Rest>
concept output_first = !std::ranges::range<Function> &&
                       sizeof...(Rest) > (ends_with_stores<Rest...> ? 1 : 0) &&
                       begins_with_ranges<sizeof...(Rest) - (ends_with_stores<Rest...> ? 1 : 0), Rest...>;

template <typename... Arguments>
store_choice stores_of(const std::tuple<Arguments...>& arguments) {
  if constexpr (ends_with_stores<Arguments...>)
    return std::get<sizeof...(Arguments) - 1>(arguments);
  else
    return {};
}

}  // namespace detail

struct for_each_algorithm : detail::on_default_team<for_each_algorithm> {
  using on_default_team::operator();

  /// Calls `function(projection(element))` for all elements.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename Function,
            typename Projection = std::identity>
  void operator()(const execution& how, Iterator first, Sentinel last, Function function,
                  Projection projection = {}) const {
    auto call = detail::for_threads(function, projection);
    if constexpr (detail::divisible<Iterator>) {
      const auto kernel = [call](std::size_t n, auto piece) mutable {
        for (std::size_t i = 0; i < n; ++i) call(*detail::advanced(piece, i));
      };
      detail::run_pieces(how, detail::length(first, last), kernel, first);
    } else {
      for (; first != last; ++first) call(*first);
    }
  }

  template <std::ranges::input_range Range, typename Function, typename Projection = std::identity>
    requires(!std::ranges::range<Function>)
  void operator()(const execution& how, Range&& range, Function function, Projection projection = {}) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(function),
            std::move(projection));
  }

  /// Calls `function(elements...)` for all elements of the first of two or more random access ranges,
  /// together with those at the same index of the others. Throws `misuse` if another range is shorter than
  /// the first.
  template <typename... Arguments>
    requires(sizeof...(Arguments) >= 3 && detail::begins_with_ranges<sizeof...(Arguments) - 1, Arguments...>)
  void operator()(const execution& how, Arguments&&... arguments) const {
    constexpr std::size_t ranges = sizeof...(Arguments) - 1;
    const auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
    auto& function = std::get<ranges>(all);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const std::size_t size = detail::size_of(std::get<0>(all));
      if (((detail::size_of(std::get<I>(all)) < size) || ...))
        throw misuse("for_each: a range is shorter than the first");
      const auto kernel = [call = detail::for_threads(function)](std::size_t n, auto... pieces) mutable {
        for (std::size_t i = 0; i < n; ++i) call(*detail::advanced(pieces, i)...);
      };
      detail::run_pieces(how, size, kernel, std::ranges::begin(std::get<I>(all))...);
    }(std::make_index_sequence<ranges>{});
  }
};
/// `for_each([execution,] first, last, function [, projection])`,
/// `([execution,] range, function [, projection])` or `([execution,] range..., function)`.
inline constexpr for_each_algorithm for_each{};

struct transform_algorithm : detail::on_default_team<transform_algorithm> {
  using on_default_team::operator();

  /// Writes `function(element)` for all elements to `out` onwards. Returns the end of the output.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename Function>
  Output operator()(const execution& how, Input first, Sentinel last, Output out, Function function,
                    store_choice stores = {}) const {
    if constexpr (detail::divisible<Input> && detail::divisible<Output>) {
      const std::size_t size = detail::length(first, last);
      run(how, size, stores, function, out, first);
      return detail::jump(out, size);
    } else {
      auto call = detail::for_threads(function);
      for (; first != last; ++first, ++out) *out = call(*first);
      return out;
    }
  }

  /// The same with `function(element1, element2)`.
  template <std::input_iterator Input1, std::sentinel_for<Input1> Sentinel, std::input_iterator Input2,
            std::input_or_output_iterator Output, typename Function>
  Output operator()(const execution& how, Input1 first1, Sentinel last1, Input2 first2, Output out,
                    Function function, store_choice stores = {}) const {
    if constexpr (detail::divisible<Input1> && detail::divisible<Input2> && detail::divisible<Output>) {
      const std::size_t size = detail::length(first1, last1);
      run(how, size, stores, function, out, first1, first2);
      return detail::jump(out, size);
    } else {
      auto call = detail::for_threads(function);
      for (; first1 != last1; ++first1, ++first2, ++out) *out = call(*first1, *first2);
      return out;
    }
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output, typename Function>
    requires(!std::ranges::range<Output> && !std::ranges::range<Function>)
  Output operator()(const execution& how, Range&& range, Output out, Function function,
                    store_choice stores = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(out),
                   std::move(function), stores);
  }

  /// Writes `function(elements...)` to all elements of the last range, from any number of random access
  /// ranges before it. Throws `misuse` if an input is shorter than the output.
  template <typename... Arguments>
    requires(detail::ends_with_stores<Arguments...> ? sizeof...(Arguments) >= 4
                                                    : sizeof...(Arguments) >= 3) &&
            detail::begins_with_ranges<
                sizeof...(Arguments) - (detail::ends_with_stores<Arguments...> ? 2 : 1), Arguments...>
  void operator()(const execution& how, Arguments&&... arguments) const {
    constexpr std::size_t inputs = sizeof...(Arguments) - (detail::ends_with_stores<Arguments...> ? 3 : 2);
    const auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      to_range(how, detail::stores_of(all), std::get<inputs>(all), std::get<inputs + 1>(all),
               std::get<I>(all)...);
    }(std::make_index_sequence<inputs>{});
  }

  /// The argument order of version 0.1, with the output and the function first.
  template <std::ranges::random_access_range Output, typename Function, typename... Rest>
    requires detail::output_first<Function, Rest...>
  [[deprecated("output and function come last: transform(in..., out, function)")]] void operator()(
      const execution& how, Output&& out, Function&& function, Rest&&... rest) const {
    output_first(how, out, function, std::forward_as_tuple(std::forward<Rest>(rest)...));
  }

  /// A separate overload, so that compilers warn at the caller's line.
  template <std::ranges::random_access_range Output, typename Function, typename... Rest>
    requires detail::output_first<Function, Rest...>
  [[deprecated("output and function come last: transform(in..., out, function)")]] void operator()(
      Output&& out, Function&& function, Rest&&... rest) const {
    output_first({}, out, function, std::forward_as_tuple(std::forward<Rest>(rest)...));
  }

 private:
  // Writes to all elements of `out`.
  template <typename Output, typename Function, typename... Inputs>
  static void to_range(const execution& how, const store_choice& stores, Output& out, Function& function,
                       Inputs&... in) {
    const std::size_t size = detail::size_of(out);
    if (((detail::size_of(in) < size) || ...)) throw misuse("transform: an input is shorter than the output");
    run(how, size, stores, function, std::ranges::begin(out), std::ranges::begin(in)...);
  }

  template <typename Output, typename Function, typename... Rest>
  static void output_first(const execution& how, Output& out, const Function& function,
                           const std::tuple<Rest...>& rest) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      to_range(how, detail::stores_of(rest), out, function, std::get<I>(rest)...);
    }(std::make_index_sequence<sizeof...(Rest) - (detail::ends_with_stores<Rest...> ? 1 : 0)>{});
  }

  template <typename Function, typename Output, typename... Inputs>
  static void run(const execution& how, std::size_t size, const store_choice& stores, Function& function,
                  const Output& out, const Inputs&... in) {
    const bool streams = stores.streams(size * detail::bytes_of_each<Output, Inputs...>);
    auto call = detail::for_threads(function);
    detail::run_pieces(how, size, detail::transform_kernel<decltype(call)>{call, streams}, out, in...);
  }
};
/// `transform([execution,] first, last, out, function [, stores])`,
/// `([execution,] first1, last1, first2, out, function [, stores])`,
/// `([execution,] range, out, function [, stores])` or
/// `([execution,] in_range..., out_range, function [, stores])`.
///
/// Elements bypass the caches only if the output is in memory, trivially copyable, and of a type to which
/// results convert. The triad is `transform(b, c, d, a, triad)` with `triad = [](double b, double c, double
/// d) { return b + c * d; }`.
inline constexpr transform_algorithm transform{};

struct copy_algorithm : detail::on_default_team<copy_algorithm> {
  using on_default_team::operator();

  /// Copies all elements to `out` onwards. Returns the end of the output.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output>
  Output operator()(const execution& how, Input first, Sentinel last, Output out,
                    store_choice stores = {}) const {
    if constexpr (detail::divisible<Input> && detail::divisible<Output>) {
      const std::size_t size = detail::length(first, last);
      const bool streams = stores.streams(size * detail::bytes_of_each<Input, Output>);
      detail::run_pieces(how, size, detail::copy_kernel{streams}, out, first);
      return detail::jump(out, size);
    } else if constexpr (std::same_as<Input, Sentinel>) {
      return std::copy(first, last, out);
    } else {
      for (; first != last; ++first, ++out) *out = *first;
      return out;
    }
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output>
  Output operator()(const execution& how, Range&& range, Output out, store_choice stores = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), out, stores);
  }
};
/// `copy([execution,] first, last, out [, stores])` or `([execution,] range, out [, stores])`.
inline constexpr copy_algorithm copy{};

struct fill_algorithm : detail::on_default_team<fill_algorithm> {
  using on_default_team::operator();

  /// Assigns the value to all elements.
  template <std::forward_iterator Iterator, std::sentinel_for<Iterator> Sentinel,
            typename T = std::iter_value_t<Iterator>>
  void operator()(const execution& how, Iterator first, Sentinel last, const T& value,
                  store_choice stores = {}) const {
    if constexpr (detail::divisible<Iterator>) {
      const std::size_t size = detail::length(first, last);
      const bool streams = stores.streams(size * detail::bytes_of_each<Iterator>);
      detail::run_pieces(how, size, detail::fill_kernel<T>{value, streams}, first);
    } else {
      std::fill(first, std::ranges::next(first, last), value);
    }
  }

  template <std::ranges::forward_range Range, typename T = std::ranges::range_value_t<Range>>
  void operator()(const execution& how, Range&& range, const T& value, store_choice stores = {}) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), value, stores);
  }
};
/// `fill([execution,] first, last, value [, stores])` or `([execution,] range, value [, stores])`.
inline constexpr fill_algorithm fill{};

}  // namespace nearfar
