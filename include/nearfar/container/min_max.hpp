/// \file
/// The least and the greatest element in parallel. See algorithm.hpp for what all algorithms have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar {

namespace detail {

// Preferences: whether a later element is preferred to an earlier one.

template <typename Compare>
struct is_first_least {
  Compare less;
  bool operator()(auto&& later, auto&& earlier) { return static_cast<bool>(less(later, earlier)); }
};

template <typename Compare>
struct is_first_greatest {
  Compare less;
  bool operator()(auto&& later, auto&& earlier) { return static_cast<bool>(less(earlier, later)); }
};

template <typename Compare>
struct is_last_greatest {
  Compare less;
  bool operator()(auto&& later, auto&& earlier) { return !static_cast<bool>(less(later, earlier)); }
};

/// An element of a range: its index and its place in memory.
template <typename Iterator>
struct candidate {
  std::size_t index = 0;
  decltype(std::declval<const piece_cursor<Iterator>&>().local()) element{};
};

/// The index of a thread's candidate, and the thread. Outside the template, so that one function sorts these
/// for all kinds of elements.
struct place_of_candidate {
  std::size_t index = 0;
  std::size_t member = 0;
};
inline void sort_by_index(std::vector<place_of_candidate>& places) {
  std::ranges::sort(places, {}, &place_of_candidate::index);
}

/// Goes over elements in order, and keeps the preferred one.
template <typename Preference, typename Candidate>
void look_for(Preference& is_better, Candidate& best, std::size_t index, std::size_t n, auto piece) {
  Candidate local = best;  // a copy that compilers keep in registers
  for (std::size_t i = 0; i < n; ++i)
    if (const auto here = advanced(piece, i); is_better(*here, *local.element)) local = {index + i, here};
  best = local;
}

/// The preferred elements by each of some preferences; `first` for an empty range.
template <std::forward_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename... Preferences>
std::array<Iterator, sizeof...(Preferences)> preferred(const execution& how, const Iterator& first,
                                                       const Sentinel& last, Preferences... preferences) {
  std::array<Iterator, sizeof...(Preferences)> result;
  result.fill(first);
  if (first == last) return result;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (divisible<Iterator>) {
      using candidates = std::array<candidate<Iterator>, sizeof...(Preferences)>;
      const std::size_t size = length(first, last);
      const team threads = how.team_for(size);
      std::vector<std::optional<candidates>> of_members(static_cast<std::size_t>(threads.size()));
      threads.run([&](team_member member) {
        std::tuple<Preferences...> mine(preferences...);
        std::optional<candidates> best;
        for_each_share(first, size, how.chunk, member, [&](index_range share) {
          std::size_t index = share.first;
          const auto look = [&](std::size_t n, auto piece) {
            if (!best) best.emplace().fill({index, piece});
            (look_for(std::get<I>(mine), (*best)[I], index, n, piece), ...);
            index += n;
          };
          for_each_piece(share.first, share.size(), look, first);
        });
        of_members[static_cast<std::size_t>(member.index)] = best;
      });
      std::vector<place_of_candidate> places;
      places.reserve(of_members.size());
      const auto best_of_all = [&](std::size_t which, auto& is_better) {
        // In the order of the range, which differs from that of the threads if they take chunks in turn.
        places.clear();
        for (std::size_t member = 0; member < of_members.size(); ++member)
          if (of_members[member]) places.push_back({(*of_members[member])[which].index, member});
        sort_by_index(places);
        const auto candidate_at = [&](const place_of_candidate& place) {
          return &(*of_members[place.member])[which];
        };
        const auto* best = candidate_at(places.front());
        for (const place_of_candidate& place : places)
          if (is_better(*candidate_at(place)->element, *best->element)) best = candidate_at(place);
        return jump(first, best->index);
      };
      ((result[I] = best_of_all(I, preferences)), ...);
    } else {
      for (Iterator it = std::next(first); it != last; ++it)
        ((preferences(*it, *result[I]) ? static_cast<void>(result[I] = it) : void()), ...);
    }
  }(std::index_sequence_for<Preferences...>{});
  return result;
}

/// The first element preferred by `less` after projection.
template <template <typename> typename Preference>
struct preferred_element_algorithm : on_default_team_by_less<preferred_element_algorithm<Preference>> {
  using on_default_team_by_less<preferred_element_algorithm>::operator();

  template <std::forward_iterator Iterator, std::sentinel_for<Iterator> Sentinel,
            typename Compare = std::less<>, typename Projection = std::identity>
  Iterator operator()(const execution& how, Iterator first, Sentinel last, Compare less = {},
                      Projection projection = {}) const {
    auto call = for_threads(less, projection);
    return preferred(how, first, last, Preference<decltype(call)>{std::move(call)})[0];
  }

  template <std::ranges::forward_range Range, typename Compare = std::less<>,
            typename Projection = std::identity>
  std::ranges::borrowed_iterator_t<Range> operator()(const execution& how, Range&& range, Compare less = {},
                                                     Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(less),
                   std::move(projection));
  }
};

}  // namespace detail

/// `min_element([execution,] first, last [, less [, projection]])` or `([execution,] range [, less [,
/// projection]])`: the first of the least elements by `less` after projection; the end for an empty range. If
/// `less` is not a strict weak order, as for numbers with NaN among them, the result is some element, the
/// same each time for the same number of threads and the same segments.
inline constexpr detail::preferred_element_algorithm<detail::is_first_least> min_element{};

/// The first of the greatest elements; otherwise as `min_element`.
inline constexpr detail::preferred_element_algorithm<detail::is_first_greatest> max_element{};

struct minmax_element_algorithm : detail::on_default_team_by_less<minmax_element_algorithm> {
  using on_default_team_by_less::operator();

  /// Returns the first of the least and, as in the standard, the last of the greatest elements, in one pass
  /// with two comparisons per element. Otherwise as `min_element`.
  template <std::forward_iterator Iterator, std::sentinel_for<Iterator> Sentinel,
            typename Compare = std::less<>, typename Projection = std::identity>
  std::ranges::minmax_element_result<Iterator> operator()(const execution& how, Iterator first, Sentinel last,
                                                          Compare less = {},
                                                          Projection projection = {}) const {
    const auto call = detail::for_threads(less, projection);
    // Named in full: clang 16 does not deduce them.
    using compare = std::remove_cv_t<decltype(call)>;
    const auto [least, greatest] = detail::preferred(how, first, last, detail::is_first_least<compare>{call},
                                                     detail::is_last_greatest<compare>{call});
    return {least, greatest};
  }

  template <std::ranges::forward_range Range, typename Compare = std::less<>,
            typename Projection = std::identity>
  std::ranges::minmax_element_result<std::ranges::borrowed_iterator_t<Range>> operator()(
      const execution& how, Range&& range, Compare less = {}, Projection projection = {}) const {
    return (*this)(how, std::ranges::begin(range), std::ranges::end(range), std::move(less),
                   std::move(projection));
  }
};
/// Called like `min_element`; the result has the members `min` and `max`.
inline constexpr minmax_element_algorithm minmax_element{};

}  // namespace nearfar
