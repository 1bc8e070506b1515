/// \file
/// Inclusive scan (prefix sums) in parallel; see algorithm.hpp for what all algorithms have in common.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar {

struct inclusive_scan_algorithm : detail::on_default_team<inclusive_scan_algorithm> {
  using on_default_team::operator();

  /// Writes to `out` and on, for each element, the sum of it and all before it by an operation that is
  /// associative, or nearly so as that of floating-point numbers; it need not be commutative. The end of what
  /// was written. The results are the same each time for the same number of threads and the same segments.
  ///
  /// Each thread first adds up its elements, then scans them on top of what the threads before it have: twice
  /// the additions of a serial scan if there are two threads or more. A chunk in `how` is not used.
  template <std::input_iterator Input, std::input_or_output_iterator Output, typename Operation = std::plus<>>
    requires(!std::ranges::range<Input>)
  Output operator()(const execution& how, Input first, Input last, Output out,
                    Operation operation = {}) const {
    if constexpr (detail::divisible<Input> && detail::divisible<Output>)
      return run(how, first, last, out, operation, std::optional<std::iter_value_t<Input>>{});
    else
      return std::inclusive_scan(first, last, out, operation);
  }

  /// The same with `init` in all sums.
  template <std::input_iterator Input, std::input_or_output_iterator Output, typename Operation, typename T>
  Output operator()(const execution& how, Input first, Input last, Output out, Operation operation,
                    T init) const {
    if constexpr (detail::divisible<Input> && detail::divisible<Output>)
      return run(how, first, last, out, operation, std::optional<T>{std::move(init)});
    else
      return std::inclusive_scan(first, last, out, operation, std::move(init));
  }

  template <std::ranges::input_range Range, std::input_or_output_iterator Output,
            typename Operation = std::plus<>, typename... Init>
    requires std::ranges::common_range<Range>
  Output operator()(const execution& how, Range&& range, Output out, Operation operation = {},
                    Init... init) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), out, std::move(operation),
                   std::move(init)...);
  }

 private:
  template <typename Input, typename Output, typename Operation, typename T>
  static Output run(const execution& how, Input first, Input last, Output out, const Operation& operation,
                    std::optional<T> init) {
    const std::size_t size = detail::length(first, last);
    const auto add = [](Operation& mine, std::optional<T>& sum, const auto& more) {
      if (sum)
        sum = static_cast<T>(mine(std::move(*sum), more));
      else
        sum.emplace(more);
    };
    // A member's sum; empty for one that has no elements, and for the last, whose sum nobody needs.
    std::vector<std::optional<T>> sums(static_cast<std::size_t>(how.team.size()));
    team_member last_member;
    how.team.run([&](team_member member) {
      if (member.index == member.size - 1) {
        last_member = member;
        return;
      }
      Operation mine = operation;
      std::optional<T> sum;
      const auto add_piece = [&](std::size_t n, auto piece) {
        add(mine, sum, *piece);
        T so_far = std::move(*sum);
        for (std::size_t i = 1; i < n; ++i)
          so_far = static_cast<T>(mine(std::move(so_far), *detail::advanced(piece, i)));
        *sum = std::move(so_far);
      };
      for_each_share(first, out, size, member, [&](index_range share) {
        detail::for_each_piece(share.first, share.size(), add_piece, first);
      });
      sums[static_cast<std::size_t>(member.index)] = std::move(sum);
    });

    Operation serial = operation;
    for (std::optional<T>& sum : sums) {
      std::optional<T> before = init;
      if (sum) add(serial, init, *sum);
      sum = std::move(before);
    }

    how.team.run([&](team_member member) {
      // There may be fewer threads than before.
      for (int part = member.index; part <= last_member.index; part += member.size) {
        Operation mine = operation;
        std::optional<T> sum = std::move(sums[static_cast<std::size_t>(part)]);
        const auto scan_piece = [&](std::size_t n, auto to, auto from) {
          add(mine, sum, *from);
          *to = *sum;
          T so_far = std::move(*sum);  // a local one, which compilers keep in a register
          for (std::size_t i = 1; i < n; ++i) {
            so_far = static_cast<T>(mine(std::move(so_far), *detail::advanced(from, i)));
            *detail::advanced(to, i) = so_far;
          }
          *sum = std::move(so_far);
        };
        for_each_share(first, out, size, {part, last_member.size}, [&](index_range share) {
          detail::for_each_piece(share.first, share.size(), scan_piece, out, first);
        });
      }
    });
    return detail::jump(out, size);
  }

  template <typename Input, typename Output, typename Body>
  static void for_each_share(Input first, Output out, std::size_t size, team_member member, Body&& body) {
    detail::for_each_share(detail::leading(out, first), size, 0, member, body);
  }
};
/// `inclusive_scan([execution,] first, last, out [, operation [, init]])` or
/// `([execution,] range, out [, operation [, init]])`.
inline constexpr inclusive_scan_algorithm inclusive_scan{};

}  // namespace nearfar
