/// \file
/// How algorithms divide their work: which thread does which part of a range, and of which contiguous pieces
/// of memory a part consists.
///
/// Source: M. H. Austern, "Segmented iterators and hierarchical algorithms", in Generic Programming, Lecture
/// Notes in Computer Science 1766, Springer, 2000; H. Stengel, diploma thesis,
/// Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.5.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nearfar/container/segmented_traits.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"

#ifndef __GLIBCXX__
#include <execution>
#endif

namespace nearfar {

namespace detail {

#ifdef __GLIBCXX__
// GCC's library declares the types of std::execution here, with its algorithms. Including its <execution>
// would make programs depend on oneTBB wherever that is installed.
namespace standard_policies = __pstl::execution;
#else
namespace standard_policies = std::execution;
#endif

template <typename Policy>
concept parallel_policy = std::same_as<Policy, standard_policies::parallel_policy> ||
                          std::same_as<Policy, standard_policies::parallel_unsequenced_policy>;

template <typename Policy>
concept serial_policy = std::same_as<Policy, standard_policies::sequenced_policy> ||
                        std::same_as<Policy, standard_policies::unsequenced_policy>;

}  // namespace detail

/// How to carry out an algorithm: the threads; the chunks in which they take elements of ranges that are not
/// segmented, 0 for one block per thread; and how many elements are worth starting them for. Wherever an
/// algorithm takes an `execution`, a `team` alone will do, and so will a policy of the standard:
/// `std::execution::seq` and `unseq` stand for the calling thread, `par` and `par_unseq` for as many threads
/// as a default `team`. With a policy, too, exceptions of functions propagate; they do not end the program.
struct execution {
  nearfar::team team{};
  std::size_t chunk = 0;
  /// The calling thread alone processes ranges of fewer elements, and is done before other threads would have
  /// started. If not set, the algorithm's own number applies: for sorts, scans and searches, the number of
  /// elements from which two threads are faster for numbers. For all other algorithms it is 0, since there
  /// the owner of each element calls a function, which may take any time.
  std::optional<std::size_t> alone_below{};

  constexpr execution() noexcept = default;
  constexpr execution(nearfar::team threads, std::size_t elements = 0,
                      std::optional<std::size_t> few = {}) noexcept
      : team(threads), chunk(elements), alone_below(few) {}
  template <detail::serial_policy Policy>
  constexpr execution(const Policy&) noexcept : team(nearfar::team::serial()) {}
  template <detail::parallel_policy Policy>
  constexpr execution(const Policy&) noexcept {}

  /// The threads for `elements` elements. Fewer than `alone_below` elements, or than `few` if the policy does
  /// not set it, are for the calling thread alone.
  [[nodiscard]] constexpr nearfar::team team_for(std::size_t elements, std::size_t few = 0) const noexcept {
    return elements < alone_below.value_or(few) ? nearfar::team::serial() : team;
  }
};

/// The policies under nearfar's own names, for programs that avoid `<execution>`: GCC's makes them link with
/// oneTBB if its headers are installed.
inline constexpr execution seq{team::serial()};
inline constexpr execution par{};

namespace detail {

/// Whether elements are objects or values, so that different threads may use them at once. Proxies, such as
/// those of `std::vector<bool>`, may share a word.
template <typename Iterator>
concept has_separate_elements = std::is_reference_v<std::iter_reference_t<Iterator>> ||
                                std::same_as<std::iter_reference_t<Iterator>, std::iter_value_t<Iterator>>;

/// Whether threads can begin in the middle of a range.
template <typename Iterator>
concept divisible =
    (std::random_access_iterator<Iterator> || segmented_iterator<Iterator>)&&has_separate_elements<Iterator>;

/// Returns the object that each thread copies of a caller's function: the function itself, or a reference to
/// it if it cannot be copied. The function may be a pointer to a member.
template <typename Function>
auto for_threads(Function& function) {
  if constexpr (std::is_member_pointer_v<std::remove_const_t<Function>>)
    return std::mem_fn(function);
  else if constexpr (std::is_copy_constructible_v<Function>)
    return function;
  else
    return std::ref(function);
}

/// The same for a function of projected elements.
template <typename Function, typename Projection>
auto for_threads(Function& function, Projection& projection) {
  if constexpr (std::same_as<Projection, std::identity>) {
    return for_threads(function);
  } else {
    return [of = for_threads(function),
            projected = for_threads(projection)](auto&&... elements) mutable -> decltype(auto) {
      return of(projected(std::forward<decltype(elements)>(elements))...);
    };
  }
}

template <typename Iterator>
auto unwrapped(Iterator it) {
  if constexpr (std::contiguous_iterator<Iterator>)
    return std::to_address(it);
  else
    return it;
}

template <typename Iterator>
constexpr Iterator advanced(Iterator it, std::size_t n) {
  return it + static_cast<std::iter_difference_t<Iterator>>(n);
}

/// Goes through a range in contiguous pieces of memory. This one is for a range that is a single piece.
template <typename Iterator>
class piece_cursor {
 public:
  piece_cursor() = default;
  // Implicit, so that tuples of cursors are constructed in place.
  piece_cursor(const Iterator& first, std::size_t offset = 0) : local_(unwrapped(advanced(first, offset))) {}

  [[nodiscard]] std::size_t available() const noexcept { return std::numeric_limits<std::size_t>::max(); }
  [[nodiscard]] auto local() const { return local_; }
  void advance(std::size_t n) { local_ = advanced(local_, n); }
  [[nodiscard]] Iterator position(Iterator first, std::size_t offset) const {
    return advanced(first, offset);
  }

 private:
  decltype(unwrapped(std::declval<Iterator>())) local_{};
};

/// For a range whose pieces are its segments, which together are not contiguous.
template <segmented_iterator Iterator>
  requires(!std::contiguous_iterator<Iterator>)
class piece_cursor<Iterator> {
  using traits = segmented_iterator_traits<Iterator>;

 public:
  piece_cursor() = default;
  piece_cursor(const Iterator& first, std::size_t offset = 0) {
    if constexpr (std::random_access_iterator<Iterator>) {
      if (offset != 0) {
        *this = piece_cursor(advanced(first, offset), 0);
        return;
      }
    }
    segment_ = traits::segment(first);
    local_ = traits::local(first);
    left_ = static_cast<std::size_t>(traits::end(segment_) - local_);
    if constexpr (!std::random_access_iterator<Iterator>)
      for (std::size_t step = 0; offset != 0; offset -= step) {
        step = std::min(available(), offset);
        advance(step);
      }
  }

  /// Elements left in this piece, at least one. The range must have elements left.
  [[nodiscard]] std::size_t available() {
    while (left_ == 0) {
      ++segment_;
      local_ = traits::begin(segment_);
      left_ = static_cast<std::size_t>(traits::end(segment_) - local_);
    }
    return left_;
  }
  [[nodiscard]] auto local() const { return unwrapped(local_); }
  void advance(std::size_t n) {
    local_ = advanced(local_, n);
    left_ -= n;
  }
  [[nodiscard]] Iterator position(Iterator, std::size_t) const { return traits::compose(segment_, local_); }

 private:
  typename traits::segment_iterator segment_{};
  typename traits::local_iterator local_{};
  std::size_t left_ = 0;
};

template <divisible Iterator>
Iterator jump(Iterator first, std::size_t n) {
  if constexpr (std::random_access_iterator<Iterator>)
    return advanced(first, n);
  else
    return piece_cursor<Iterator>(first, n).position(first, n);
}

template <divisible Iterator, std::sentinel_for<Iterator> Sentinel>
std::size_t length(const Iterator& first, const Sentinel& last) {
  if constexpr (std::sized_sentinel_for<Sentinel, Iterator>) {
    return static_cast<std::size_t>(last - first);
  } else if constexpr (!std::same_as<Iterator, Sentinel>) {
    return length(first, std::ranges::next(first, last));
  } else {
    using traits = segmented_iterator_traits<Iterator>;
    auto segment = traits::segment(first);
    const auto last_segment = traits::segment(last);
    std::ptrdiff_t size = traits::local(last) - traits::begin(last_segment);
    size -= traits::local(first) - traits::begin(segment);
    for (; segment != last_segment; ++segment) size += traits::end(segment) - traits::begin(segment);
    return static_cast<std::size_t>(size);
  }
}

/// The `size` elements from `first`, divided by segments: how many there are, and where each begins.
template <segmented_iterator Iterator>
class segment_division {
  using traits = segmented_iterator_traits<Iterator>;

 public:
  segment_division(Iterator first, std::size_t size) : first_(first), size_(size) {
    if constexpr (requires { traits::position(traits::segment(first)); }) {
      const segment_position here = traits::position(traits::segment(first));
      before_ = here.index;
      segments_ = here.segments;
    } else {
      std::size_t covered = 0;
      piece_cursor<Iterator> cursor(first, 0);
      for (; covered < size; ++segments_) {
        const std::size_t step = cursor.available();
        cursor.advance(step);
        covered += step;
      }
    }
  }

  [[nodiscard]] std::size_t segments() const noexcept { return segments_; }

  /// Index of the first element that is not in a segment before this one.
  [[nodiscard]] std::size_t offset(std::size_t segment) const {
    if (segment <= before_) return 0;
    if (segment >= segments_) return size_;
    if constexpr (std::random_access_iterator<Iterator> &&
                  std::random_access_iterator<typename traits::segment_iterator> &&
                  requires { traits::position(traits::segment(first_)); }) {
      const auto there = advanced(traits::segment(first_), segment - before_);
      return std::min(size_, static_cast<std::size_t>(traits::compose(there, traits::begin(there)) - first_));
    } else {
      std::size_t covered = 0;
      piece_cursor<Iterator> cursor(first_, 0);
      for (std::size_t i = before_; i < segment && covered < size_; ++i) {
        const std::size_t step = cursor.available();
        cursor.advance(step);
        covered += step;
      }
      return std::min(covered, size_);
    }
  }

 private:
  Iterator first_;
  std::size_t size_;
  std::size_t before_ = 0;  // segments of the container before the first element
  std::size_t segments_ = 0;
};

/// Calls `body(index_range)`, in ascending order, for the parts of the `size` elements from `first` that a
/// member of a team processes. For a segmented range with at least as many segments as threads, these are the
/// elements of the member's segments in a static schedule of all segments. Otherwise they are a static
/// schedule of the elements.
template <divisible Iterator, typename Body>
void for_each_share(const Iterator& first, std::size_t size, std::size_t chunk, team_member member,
                    Body&& body) {
  if (member.size == 1) {
    if (size != 0) body(index_range{0, size});
    return;
  }
  if constexpr (segmented_iterator<Iterator>) {
    const segment_division division(first, size);
    if (division.segments() >= static_cast<std::size_t>(member.size)) {
      const index_range mine = static_schedule(division.segments(), member.size).block(member.index, 0);
      const index_range elements{division.offset(mine.first), division.offset(mine.last)};
      if (!elements.empty()) body(elements);
      return;
    }
    chunk = 0;
  }
  static_schedule(size, member.size, chunk).for_each_block(member.index, body);
}

/// Calls `kernel(n, pointers or iterators...)` for the pieces of `size` elements at `offset` of all ranges.
/// Pieces are as large as possible; none crosses the end of a segment of any range.
///
/// Here and around, iterators are passed by reference. Copying an iterator that was just made means waiting
/// until it has left the store buffer, some ten cycles for each range.
template <typename Kernel, typename... Iterators>
void for_each_piece(std::size_t offset, std::size_t size, Kernel& kernel, const Iterators&... firsts) {
  std::tuple cursors{piece_cursor<Iterators>(firsts, offset)...};
  std::apply(
      [&](auto&... cursor) {
        while (size != 0) {
          std::size_t n = size;
          ((n = std::min(n, cursor.available())), ...);
          kernel(n, cursor.local()...);
          (cursor.advance(n), ...);
          size -= n;
        }
      },
      cursors);
}

template <std::ranges::random_access_range Range>
std::size_t size_of(Range& range) {
  return static_cast<std::size_t>(std::ranges::distance(range));
}

/// Whether the first `Count` of some arguments are ranges of any length, and none of the others is a range.
template <std::size_t Count, typename... Arguments>
constexpr bool begins_with_ranges = [] {
  [[maybe_unused]] std::size_t index = 0;
  return Count <= sizeof...(Arguments) && (((index++ < Count) ? std::ranges::random_access_range<Arguments>
                                                              : !std::ranges::range<Arguments>)&&...);
}();

/// The first segmented iterator, else the first iterator: its range decides which thread does what.
template <typename First, typename... Rest>
const auto& leading(const First& first, [[maybe_unused]] const Rest&... rest) {
  if constexpr (segmented_iterator<First> || !(segmented_iterator<Rest> || ...))
    return first;
  else
    return leading(rest...);
}

/// Calls a kernel's `finish` after its last piece, even if that threw.
template <typename Kernel>
class finishing {
 public:
  explicit finishing(const Kernel& kernel) noexcept : kernel_(kernel) {}
  finishing(const finishing&) = delete;
  finishing& operator=(const finishing&) = delete;
  ~finishing() {
    if constexpr (requires { kernel_.finish(); }) kernel_.finish();
  }

 private:
  const Kernel& kernel_;
};

/// Runs copies of `kernel` over the pieces of all ranges, on the threads that `how` selects.
template <typename Kernel, typename... Iterators>
void run_pieces(const execution& how, std::size_t size, const Kernel& kernel, const Iterators&... firsts) {
  if (size == 0) return;  // also for arrays that have no segment where a cursor could begin
  constexpr bool can_share = (has_separate_elements<Iterators> && ...);
  const team threads = how.team_for(size);
  if (!can_share || threads == team::serial()) {
    Kernel mine = kernel;
    const finishing<Kernel> at_end(mine);
    for_each_piece(0, size, mine, firsts...);
    return;
  }
  if constexpr (can_share) {
    // All by value, side by side: other threads get it in few cache lines, without indirections.
    threads.run([=, chunk = how.chunk](team_member member) {
      // The thread's own copy, so that the compiler knows that nothing else changes it.
      Kernel mine = kernel;
      const finishing<Kernel> at_end(mine);
      for_each_share(leading(firsts...), size, chunk, member,
                     [&](index_range share) { for_each_piece(share.first, share.size(), mine, firsts...); });
    });
  }
}

/// Lets an algorithm be called without an `execution`.
template <typename Algorithm>
struct on_default_team {
  // The first condition keeps the second from asking for itself.
  template <typename First, typename... Rest>
    requires(!std::convertible_to<First, execution>) &&
            std::invocable<const Algorithm&, execution, First, Rest...>
  decltype(auto) operator()(First&& first, Rest&&... rest) const {
    return static_cast<const Algorithm&>(*this)(execution{}, std::forward<First>(first),
                                                std::forward<Rest>(rest)...);
  }
};

/// The type of `{}` where nothing else determines it.
struct empty_braces {};

/// The same for an algorithm that takes a comparison and a projection; `{}` stands for `std::less<>`.
template <typename Algorithm>
struct on_default_team_by_less : on_default_team<Algorithm> {
  using on_default_team<Algorithm>::operator();

  template <std::ranges::range Range, typename Projection>
  decltype(auto) operator()(Range&& range, empty_braces, Projection projection) const {
    return static_cast<const Algorithm&>(*this)(execution{}, std::forward<Range>(range), std::less<>{},
                                                std::move(projection));
  }
  template <std::input_or_output_iterator Iterator, std::sentinel_for<Iterator> Sentinel, typename Projection>
  decltype(auto) operator()(Iterator first, Sentinel last, empty_braces, Projection projection) const {
    return static_cast<const Algorithm&>(*this)(execution{}, std::move(first), std::move(last), std::less<>{},
                                                std::move(projection));
  }
};

}  // namespace detail

}  // namespace nearfar
