/// \file
/// Algorithms that work on data where they are: over segmented ranges segment by segment at the speed of
/// pointers, each thread on the data it placed; over other random access ranges by the same static schedule
/// as everything else; over weaker ones as the standard's.
///
/// All are function objects, so that they are never found in place of the standard's by accident. Each takes
/// an optional `execution` or `team` first, and where it writes an optional `store_choice` or `store_kind`
/// last. Ranges may be segmented in different ways, or some of them not at all. The first segmented range,
/// outputs before inputs, decides which thread does what: segments in a static schedule if it has at least as
/// many as there are threads, else elements. An output may be an input too, element for element; any other
/// overlap is an error that is not noticed.
///
/// Functions that a caller gives are copied for each thread and called for any elements in any order, by
/// several threads at once. What they throw comes out as from `team::run`; outputs are then partly written.
/// Costs: one parallel loop each, some microseconds with more than one thread. See also scan.hpp and
/// sort.hpp.
///
/// Source: M. H. Austern, "Segmented iterators and hierarchical algorithms", in Generic Programming, Lecture
/// Notes in Computer Science 1766, Springer, 2000; H. Stengel, diploma thesis,
/// Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.5.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/streaming.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

namespace detail {

/// Whether results can be written as bytes, past the caches.
template <typename Output>
concept streamable =
    std::is_pointer_v<Output> && std::is_trivially_copyable_v<std::remove_pointer_t<Output>> &&
    !std::is_volatile_v<std::remove_pointer_t<Output>>;

/// Streaming stores of a thread are in order with what it does later.
struct fence_at_end {
  bool needed = false;

  explicit fence_at_end(bool streams) noexcept : needed(streams) {}
  fence_at_end(const fence_at_end&) = default;
  fence_at_end& operator=(const fence_at_end&) = delete;
  ~fence_at_end() {
    if (needed) native_stores::fence();
  }
};

template <typename Function>
struct transform_kernel {
  Function function;
  fence_at_end streams;

  template <typename Output, typename... Inputs>
  void operator()(std::size_t n, Output out, Inputs... in) {
    if constexpr (streamable<Output>) {
      if (streams.needed) {
        stream_blocks(out, n, [&](auto* block, std::size_t first, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i)
            std::construct_at(block + i, function(*advanced(in, first + i)...));
        });
        return;
      }
    }
    // Unrolled, else its speed depends by a fifth on where in the cache lines of the code it happens to lie.
#pragma GCC unroll 4
    for (std::size_t i = 0; i < n; ++i) *advanced(out, i) = function(*advanced(in, i)...);
  }
};

struct copy_kernel {
  fence_at_end streams;

  template <typename Output, typename Input>
  void operator()(std::size_t n, Output out, Input in) {
    if constexpr (streamable<Output> && std::is_pointer_v<Input>) {
      using element = std::remove_pointer_t<Output>;
      if constexpr (std::is_same_v<element, std::remove_const_t<std::remove_pointer_t<Input>>>) {
        if (streams.needed) {
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
  fence_at_end streams;

  template <typename Output>
  void operator()(std::size_t n, Output out) {
    if constexpr (streamable<Output>) {
      if (streams.needed) {
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

template <std::ranges::random_access_range Range>
std::size_t size_of(Range& range) {
  return static_cast<std::size_t>(std::ranges::distance(range));
}

}  // namespace detail

struct for_each_algorithm : detail::on_default_team<for_each_algorithm> {
  using on_default_team::operator();

  /// Calls `function(element)` for all elements.
  template <std::input_iterator Iterator, typename Function>
  void operator()(const execution& how, Iterator first, Iterator last, Function function) const {
    if constexpr (detail::divisible<Iterator>) {
      const auto kernel = [function](std::size_t n, auto piece) mutable {
        for (std::size_t i = 0; i < n; ++i) function(*detail::advanced(piece, i));
      };
      detail::run_pieces(how, detail::length(first, last), kernel, first);
    } else {
      std::for_each(first, last, function);
    }
  }

  template <std::ranges::input_range Range, typename Function>
    requires std::ranges::common_range<Range>
  void operator()(const execution& how, Range&& range, Function function) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(function));
  }
};
/// `for_each([execution,] first, last, function)` or `([execution,] range, function)`.
inline constexpr for_each_algorithm for_each{};

struct transform_algorithm : detail::on_default_team<transform_algorithm> {
  using on_default_team::operator();

  /// Writes `function(element)` for all elements from `out` on; the end of what was written.
  template <std::input_iterator Input, std::input_or_output_iterator Output, typename Function>
  Output operator()(const execution& how, Input first, Input last, Output out, Function function,
                    store_choice stores = {}) const {
    if constexpr (detail::divisible<Input> && detail::divisible<Output>) {
      const std::size_t size = detail::length(first, last);
      run(how, size, stores, std::move(function), out, first);
      return detail::jump(out, size);
    } else {
      return std::transform(first, last, out, function);
    }
  }

  /// The same with `function(element1, element2)`.
  template <std::input_iterator Input1, std::input_iterator Input2, std::input_or_output_iterator Output,
            typename Function>
  Output operator()(const execution& how, Input1 first1, Input1 last1, Input2 first2, Output out,
                    Function function, store_choice stores = {}) const {
    if constexpr (detail::divisible<Input1> && detail::divisible<Input2> && detail::divisible<Output>) {
      const std::size_t size = detail::length(first1, last1);
      run(how, size, stores, std::move(function), out, first1, first2);
      return detail::jump(out, size);
    } else {
      return std::transform(first1, last1, first2, out, function);
    }
  }

  /// Writes `function(elements...)` to all elements of a range, from as many random access ranges as one
  /// likes; the last argument may be a `store_choice`. Throws `misuse` if an input is shorter than the
  /// output.
  template <std::ranges::random_access_range Output, typename Function, typename... Rest>
    requires(sizeof...(Rest) >= 1)
  void operator()(const execution& how, Output&& out, Function function, Rest&&... rest) const {
    const auto all = std::forward_as_tuple(rest...);
    using last_type = std::remove_cvref_t<std::tuple_element_t<sizeof...(Rest) - 1, decltype(all)>>;
    constexpr bool has_stores = std::convertible_to<last_type, store_choice>;
    store_choice stores;
    if constexpr (has_stores) stores = std::get<sizeof...(Rest) - 1>(all);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const std::size_t size = detail::size_of(out);
      if (((detail::size_of(std::get<I>(all)) < size) || ...))
        throw misuse("transform: an input is shorter than the output");
      run(how, size, stores, std::move(function), std::ranges::begin(out),
          std::ranges::begin(std::get<I>(all))...);
    }(std::make_index_sequence<sizeof...(Rest) - (has_stores ? 1 : 0)>{});
  }

 private:
  template <typename Function, typename Output, typename... Inputs>
  static void run(const execution& how, std::size_t size, const store_choice& stores, Function function,
                  Output out, Inputs... in) {
    const bool streams = stores.streams(size * detail::bytes_of_each<Output, Inputs...>);
    detail::run_pieces(how, size,
                       detail::transform_kernel<Function>{std::move(function), detail::fence_at_end(streams)},
                       out, in...);
  }
};
/// `transform([execution,] first, last, out, function [, stores])`,
/// `([execution,] first1, last1, first2, out, function [, stores])` or
/// `([execution,] out_range, function, in_range... [, stores])`.
///
/// Elements are written past the caches only if the output is in memory, trivially copyable, and of a type
/// that results convert to; else as usual. The triad is `transform(a, triad, b, c, d)` with `triad =
/// [](double b, double c, double d) { return b + c * d; }`.
inline constexpr transform_algorithm transform{};

struct copy_algorithm : detail::on_default_team<copy_algorithm> {
  using on_default_team::operator();

  /// Copies all elements to `out` and on; the end of what was written.
  template <std::input_iterator Input, std::input_or_output_iterator Output>
  Output operator()(const execution& how, Input first, Input last, Output out,
                    store_choice stores = {}) const {
    if constexpr (detail::divisible<Input> && detail::divisible<Output>) {
      const std::size_t size = detail::length(first, last);
      const bool streams = stores.streams(size * detail::bytes_of_each<Input, Output>);
      detail::run_pieces(how, size, detail::copy_kernel{detail::fence_at_end(streams)}, out, first);
      return detail::jump(out, size);
    } else {
      return std::copy(first, last, out);
    }
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output>
    requires std::ranges::common_range<Range>
  Output operator()(const execution& how, Range&& range, Output out, store_choice stores = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), out, stores);
  }
};
/// `copy([execution,] first, last, out [, stores])` or `([execution,] range, out [, stores])`.
inline constexpr copy_algorithm copy{};

struct fill_algorithm : detail::on_default_team<fill_algorithm> {
  using on_default_team::operator();

  /// Assigns the value to all elements.
  template <std::forward_iterator Iterator, typename T = std::iter_value_t<Iterator>>
  void operator()(const execution& how, Iterator first, Iterator last, const T& value,
                  store_choice stores = {}) const {
    if constexpr (detail::divisible<Iterator>) {
      const std::size_t size = detail::length(first, last);
      const bool streams = stores.streams(size * detail::bytes_of_each<Iterator>);
      detail::run_pieces(how, size, detail::fill_kernel<T>{value, detail::fence_at_end(streams)}, first);
    } else {
      std::fill(first, last, value);
    }
  }

  template <std::ranges::forward_range Range, typename T = std::ranges::range_value_t<Range>>
    requires std::ranges::common_range<Range>
  void operator()(const execution& how, Range&& range, const T& value, store_choice stores = {}) const {
    (*this)(how, std::ranges::begin(range), std::ranges::end(range), value, stores);
  }
};
/// `fill([execution,] first, last, value [, stores])` or `([execution,] range, value [, stores])`.
inline constexpr fill_algorithm fill{};

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
          std::size_t at = share.first;
          const auto search = [&](std::size_t n, auto piece) {
            for (std::size_t done = 0; done < n; done += at_a_time, at += at_a_time) {
              // Relaxed: the answer is read after all threads have met.
              if (found.load(std::memory_order_relaxed) <= at) return;
              const auto begin = detail::advanced(piece, done);
              const auto end = detail::advanced(begin, std::min(at_a_time, n - done));
              const auto hit = std::find_if(begin, end, std::ref(mine));
              if (hit == end) continue;
              const std::size_t index = at + static_cast<std::size_t>(hit - begin);
              std::size_t best = found.load(std::memory_order_relaxed);
              while (index < best && !found.compare_exchange_weak(best, index, std::memory_order_relaxed)) {
              }
              return;
            }
            at -= (n + at_a_time - 1) / at_a_time * at_a_time - n;
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
