/// \file
/// Scans (prefix sums) in parallel. See algorithm.hpp for what all algorithms have in common.
#pragma once

#include <array>
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

namespace nearfar {

namespace detail {

/// Below this number of elements one thread is faster than two, which synchronise twice: that takes as long
/// as a sum of some thousand numbers, of which two threads save a third.
inline constexpr std::size_t few_to_scan_together = 16384;

/// Whether the sum written for an element includes the element.
enum class scan_kind { inclusive, exclusive };

/// Scans the results of `function` for the elements, starting from a sum that is empty if there is no init.
template <scan_kind Kind, typename T, typename Operation, typename Transform>
class scan {
 public:
  scan(Operation operation, Transform function)
      : operation_(std::move(operation)), transform_(std::move(function)) {}

  template <std::input_iterator Input, typename Sentinel, std::input_or_output_iterator Output>
  Output run(const execution& how, Input first, const Sentinel& last, Output out,
             std::optional<T> init) const {
    if constexpr (divisible<Input> && divisible<Output>) {
      const std::size_t size = length(first, last);
      const team threads = how.team_for(size, few_to_scan_together);
      if (size == 0) return out;
      if (threads.size() == 1)
        threads.run([&](team_member) { scan(*this).scan_part({0, size}, std::move(init), out, first); });
      else
        in_parallel(threads, first, size, out, std::move(init));
      return jump(out, size);
    } else {
      if (first == last) return out;
      scan mine = *this;
      T so_far = mine.begin(out, std::move(init), *first);
      for (++first, ++out; first != last; ++first, ++out) mine.go_on(out, so_far, *first);
      return out;
    }
  }

 private:
  void add(std::optional<T>& sum, auto&& more) {
    if (sum)
      sum = static_cast<T>(operation_(std::move(*sum), std::forward<decltype(more)>(more)));
    else
      sum.emplace(std::forward<decltype(more)>(more));
  }

  // Writes the result for the first of some elements, and returns the sum for the next.
  template <typename Output, typename Element>
  T begin(Output& out, std::optional<T> sum, Element&& element) {
    if constexpr (Kind == scan_kind::inclusive) {
      add(sum, transform_(std::forward<Element>(element)));
      *out = *sum;
    } else {
      go_on(out, *sum, std::forward<Element>(element));
    }
    return std::move(*sum);
  }

  template <typename Output, typename Element>
  void go_on(Output& out, T& so_far, Element&& element) {
    if constexpr (Kind == scan_kind::inclusive) {
      so_far = static_cast<T>(operation_(std::move(so_far), transform_(std::forward<Element>(element))));
      *out = so_far;
    } else {
      // The element may be where the sum is written.
      T next = static_cast<T>(operation_(so_far, transform_(std::forward<Element>(element))));
      *out = std::move(so_far);
      so_far = std::move(next);
    }
  }

  void add_piece(std::optional<T>& sum, std::size_t n, auto piece) {
    // For numbers it keeps the sums of several blocks side by side, so that one addition need not wait for
    // the previous one.
    constexpr std::size_t lanes = 4;
    if constexpr (std::is_arithmetic_v<T>) {
      if (const std::size_t block = n / lanes; block >= lanes) {
        std::array<T, lanes> sums{};
        for (std::size_t lane = 0; lane < lanes; ++lane)
          sums[lane] = static_cast<T>(transform_(*advanced(piece, lane * block)));
        for (std::size_t i = 1; i < block; ++i)
          for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] =
                static_cast<T>(operation_(sums[lane], transform_(*advanced(piece, lane * block + i))));
        for (const T& of_block : sums) add(sum, of_block);
        piece = advanced(piece, lanes * block);
        n -= lanes * block;
        if (n == 0) return;
      }
    }
    add(sum, transform_(*piece));
    T so_far = std::move(*sum);
    for (std::size_t i = 1; i < n; ++i)
      so_far = static_cast<T>(operation_(std::move(so_far), transform_(*advanced(piece, i))));
    *sum = std::move(so_far);
  }

  void scan_piece(std::optional<T>& sum, std::size_t n, auto to, auto from) {
    T so_far = begin(to, std::move(sum), *from);  // a local variable, which compilers keep in a register
    for (std::size_t i = 1; i < n; ++i) {
      auto place = advanced(to, i);
      go_on(place, so_far, *advanced(from, i));
    }
    sum = std::move(so_far);
  }

  template <typename Input, typename Output>
  void scan_part(index_range part, std::optional<T> sum, const Output& out, const Input& first) {
    const auto scan_one = [&](std::size_t n, auto to, auto from) { scan_piece(sum, n, to, from); };
    for_each_piece(part.first, part.size(), scan_one, out, first);
  }

  template <typename Input, typename Output>
  void in_parallel(const team& threads, const Input& first, std::size_t size, const Output& out,
                   std::optional<T> init) const {
    const auto for_each_part_of = [&](team_member member, auto&& body) {
      for_each_share(leading(out, first), size, 0, member, body);
    };
    // The sum of each member; empty for a member without elements, and for the last, whose sum is not needed.
    std::vector<std::optional<T>> sums(static_cast<std::size_t>(threads.size()));
    team_member last_member;
    threads.run([&](team_member member) {
      if (member.index == member.size - 1) {
        last_member = member;
        return;
      }
      scan mine = *this;
      std::optional<T> sum;
      const auto add_piece = [&](std::size_t n, auto piece) { mine.add_piece(sum, n, piece); };
      for_each_part_of(
          member, [&](index_range share) { for_each_piece(share.first, share.size(), add_piece, first); });
      sums[static_cast<std::size_t>(member.index)] = std::move(sum);
    });

    scan serial = *this;
    for (std::optional<T>& sum : sums) {
      std::optional<T> before = init;
      if (sum) serial.add(init, std::move(*sum));
      sum = std::move(before);
    }

    threads.run([&](team_member member) {
      // There may be fewer threads than before.
      for (int part = member.index; part <= last_member.index; part += member.size) {
        scan mine = *this;
        for_each_part_of({part, last_member.size}, [&](index_range share) {
          mine.scan_part(share, std::move(sums[static_cast<std::size_t>(part)]), out, first);
        });
      }
    });
  }

  Operation operation_;
  Transform transform_;
};

template <scan_kind Kind, typename T, typename Operation, typename Transform>
scan<Kind, T, Operation, Transform> make_scan(Operation operation, Transform function) {
  return {std::move(operation), std::move(function)};
}

/// The type in which a scan of transformed elements without an init adds up. Elements that are not
/// transformed may be proxies, such as those of `std::vector<bool>`.
template <typename Transform, typename Iterator>
using transformed_value = std::conditional_t<
    std::same_as<Transform, std::identity>, std::iter_value_t<Iterator>,
    std::remove_cvref_t<std::invoke_result_t<Transform&, std::iter_reference_t<Iterator>>>>;

}  // namespace detail

struct transform_inclusive_scan_algorithm : detail::on_default_team<transform_inclusive_scan_algorithm> {
  using on_default_team::operator();

  /// Writes to `out` onwards, for each element, the sum of `function(element)` for it and all elements before
  /// it, by an operation that is associative, or nearly so, like that of floating-point numbers; it need not
  /// be commutative. Returns the end of the output, which may begin where the elements do. The results are
  /// the same each time for the same number of threads and the same segments.
  ///
  /// Each thread first adds up its elements, and then scans them on top of the sum of the threads before it:
  /// with two threads or more, twice the additions of a serial scan. The caller alone scans fewer than 16384
  /// elements (`execution::alone_below`). A chunk in `how` is ignored.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename Operation, typename Transform>
  Output operator()(const execution& how, Input first, Sentinel last, Output out, Operation operation,
                    Transform function) const {
    using T = detail::transformed_value<Transform, Input>;
    return detail::make_scan<detail::scan_kind::inclusive, T>(detail::for_threads(operation),
                                                              detail::for_threads(function))
        .run(how, std::move(first), last, std::move(out), std::nullopt);
  }

  /// The same with `init` in all sums.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename Operation, typename Transform, typename T>
  Output operator()(const execution& how, Input first, Sentinel last, Output out, Operation operation,
                    Transform function, T init) const {
    return detail::make_scan<detail::scan_kind::inclusive, T>(detail::for_threads(operation),
                                                              detail::for_threads(function))
        .run(how, std::move(first), last, std::move(out), std::move(init));
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output, typename Operation,
            typename Transform, typename... Init>
    requires(sizeof...(Init) <= 1)
  Output operator()(const execution& how, Range&& range, Output out, Operation operation, Transform function,
                    Init... init) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(out),
                   std::move(operation), std::move(function), std::move(init)...);
  }
};
/// `transform_inclusive_scan([execution,] first, last, out, operation, function [, init])` or
/// `([execution,] range, out, operation, function [, init])`.
inline constexpr transform_inclusive_scan_algorithm transform_inclusive_scan{};

struct inclusive_scan_algorithm : detail::on_default_team<inclusive_scan_algorithm> {
  using on_default_team::operator();

  /// The sums of the elements themselves; otherwise as `transform_inclusive_scan`.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename Operation = std::plus<>>
  Output operator()(const execution& how, Input first, Sentinel last, Output out,
                    Operation operation = {}) const {
    return transform_inclusive_scan(how, std::move(first), last, std::move(out), std::move(operation),
                                    std::identity{});
  }

  /// The same with `init` in all sums.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename Operation, typename T>
  Output operator()(const execution& how, Input first, Sentinel last, Output out, Operation operation,
                    T init) const {
    return transform_inclusive_scan(how, std::move(first), last, std::move(out), std::move(operation),
                                    std::identity{}, std::move(init));
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output,
            typename Operation = std::plus<>, typename... Init>
    requires(sizeof...(Init) <= 1)
  Output operator()(const execution& how, Range&& range, Output out, Operation operation = {},
                    Init... init) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(out),
                   std::move(operation), std::move(init)...);
  }
};
/// `inclusive_scan([execution,] first, last, out [, operation [, init]])` or
/// `([execution,] range, out [, operation [, init]])`.
inline constexpr inclusive_scan_algorithm inclusive_scan{};

struct transform_exclusive_scan_algorithm : detail::on_default_team<transform_exclusive_scan_algorithm> {
  using on_default_team::operator();

  /// Writes, for each element, the sum of `init` and `function(element)` of all elements before it. Otherwise
  /// as `transform_inclusive_scan`.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename T, typename Operation, typename Transform>
  Output operator()(const execution& how, Input first, Sentinel last, Output out, T init, Operation operation,
                    Transform function) const {
    return detail::make_scan<detail::scan_kind::exclusive, T>(detail::for_threads(operation),
                                                              detail::for_threads(function))
        .run(how, std::move(first), last, std::move(out), std::move(init));
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output, typename T,
            typename Operation, typename Transform>
  Output operator()(const execution& how, Range&& range, Output out, T init, Operation operation,
                    Transform function) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(out), std::move(init),
                   std::move(operation), std::move(function));
  }
};
/// `transform_exclusive_scan([execution,] first, last, out, init, operation, function)` or
/// `([execution,] range, out, init, operation, function)`.
inline constexpr transform_exclusive_scan_algorithm transform_exclusive_scan{};

struct exclusive_scan_algorithm : detail::on_default_team<exclusive_scan_algorithm> {
  using on_default_team::operator();

  /// The sums of `init` and the elements before each; otherwise as `transform_exclusive_scan`.
  template <std::input_iterator Input, std::sentinel_for<Input> Sentinel,
            std::input_or_output_iterator Output, typename T, typename Operation = std::plus<>>
  Output operator()(const execution& how, Input first, Sentinel last, Output out, T init,
                    Operation operation = {}) const {
    return transform_exclusive_scan(how, std::move(first), last, std::move(out), std::move(init),
                                    std::move(operation), std::identity{});
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output, typename T,
            typename Operation = std::plus<>>
  Output operator()(const execution& how, Range&& range, Output out, T init, Operation operation = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(out), std::move(init),
                   std::move(operation));
  }
};
/// `exclusive_scan([execution,] first, last, out, init [, operation])` or
/// `([execution,] range, out, init [, operation])`.
inline constexpr exclusive_scan_algorithm exclusive_scan{};

}  // namespace nearfar
