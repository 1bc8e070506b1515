/// \file
/// Loops over indices, by the same static schedule as loops over elements. See algorithm.hpp for what all
/// algorithms have in common.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

struct for_each_index_algorithm : detail::on_default_team<for_each_index_algorithm> {
  using on_default_team::operator();

  /// Calls `function(index)` for `first` to `last` - 1, on the threads on which a loop under OpenMP's
  /// `schedule(static)`, or with a chunk in `how` `schedule(static, chunk)`, runs them.
  /// `team::for_each_block` gives whole blocks. Throws `misuse` if `last` is less than `first`.
  template <std::integral Index, typename Function>
  void operator()(const execution& how, Index first, std::type_identity_t<Index> last,
                  Function function) const {
    if (last < first)
      throw misuse("for_each_index: the last index, " + std::to_string(last) + ", is less than the first, " +
                   std::to_string(first));
    // As unsigned numbers, since there may be more indices than the largest signed one.
    const std::size_t size = static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
    if (size == 0) return;
    const auto call = detail::for_threads(function);
    how.team_for(size).run([=, chunk = how.chunk](team_member member) {
      auto mine = call;
      static_schedule(size, member.size, chunk).for_each_block(member.index, [&](index_range block) {
        for (std::size_t i = block.first; i < block.last; ++i)
          mine(static_cast<Index>(static_cast<std::size_t>(first) + i));
      });
    });
  }

  template <std::integral Index, typename Function>
    requires(!std::integral<Function>)
  void operator()(const execution& how, Index size, Function function) const {
    (*this)(how, Index{0}, size, std::move(function));
  }

  /// Calls `function(index)` for the index of each element of a random access range, on the thread to which
  /// other algorithms assign the element. For example for several arrays that are divided alike, or to access
  /// neighbouring indices.
  template <std::ranges::random_access_range Range, typename Function>
  void operator()(const execution& how, Range&& range, Function function) const {
    const std::size_t size = detail::size_of(range);
    if (size == 0) return;
    const auto call = detail::for_threads(function);
    const auto first = std::ranges::begin(range);
    how.team_for(size).run([&, chunk = how.chunk](team_member member) {
      auto mine = call;
      detail::for_each_share(first, size, chunk, member, [&](index_range share) {
        for (std::size_t i = share.first; i < share.last; ++i) mine(i);
      });
    });
  }
};
/// `for_each_index([execution,] size, function)`, `([execution,] first, last, function)` or
/// `([execution,] range, function)`.
inline constexpr for_each_index_algorithm for_each_index{};

}  // namespace nearfar
