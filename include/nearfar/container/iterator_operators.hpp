/// \file
/// The operators of random access iterators, built from the few operations that each iterator itself
/// provides.
///
/// Source: Z. Laine, "std::iterator_interface", P2727, 2023; its predecessor is Boost's `iterator_facade`.
#pragma once

#include <compare>
#include <cstddef>

#include "nearfar/language.hpp"

namespace nearfar::detail {

/// Lets `iterator_operators` call private members of iterators that declare this a friend.
struct iterator_access {
  template <typename Iterator>
  static constexpr void advance(Iterator& it, std::ptrdiff_t n) noexcept {
    it.advance(n);
  }
  template <typename Iterator>
  static constexpr void step(Iterator& it) noexcept {
    it.step();
  }
  template <typename Iterator>
  static constexpr void step_back(Iterator& it) noexcept {
    it.step_back();
  }
  template <typename Iterator>
  static constexpr auto place(const Iterator& it) noexcept {
    return it.place();
  }
  template <typename Iterator>
  static constexpr std::ptrdiff_t distance(const Iterator& from, const Iterator& to) noexcept {
    return to.distance_from(from);
  }
};

/// Base of a random access iterator, which has `*` and, for `iterator_access`,
///
///     void advance(difference_type n);
///     auto place() const;  // what iterators are compared by: an index, or an address
///
/// and, if the defaults are not the best implementation,
///
///     void step();
///     void step_back();
///     difference_type distance_from(const Iterator& other) const;
template <typename Iterator>
class iterator_operators {
 public:
  using difference_type = std::ptrdiff_t;

  [[nodiscard]] constexpr decltype(auto) operator[](difference_type n) const { return *(self() + n); }

  constexpr Iterator& operator++() noexcept {
    iterator_access::step(self());
    return self();
  }
  constexpr Iterator& operator--() noexcept {
    iterator_access::step_back(self());
    return self();
  }
  constexpr Iterator operator++(int) noexcept {
    const Iterator before = self();
    ++*this;
    return before;
  }
  constexpr Iterator operator--(int) noexcept {
    const Iterator before = self();
    --*this;
    return before;
  }
  constexpr Iterator& operator+=(difference_type n) noexcept {
    iterator_access::advance(self(), n);
    return self();
  }
  constexpr Iterator& operator-=(difference_type n) noexcept {
    iterator_access::advance(self(), -n);
    return self();
  }

  [[nodiscard]] friend constexpr Iterator operator+(Iterator it, difference_type n) noexcept {
    return it += n;
  }
  [[nodiscard]] friend constexpr Iterator operator+(difference_type n, Iterator it) noexcept {
    return it += n;
  }
  [[nodiscard]] friend constexpr Iterator operator-(Iterator it, difference_type n) noexcept {
    return it -= n;
  }
  [[nodiscard]] friend constexpr difference_type operator-(const Iterator& a, const Iterator& b) noexcept {
    return iterator_access::distance(b, a);
  }
  [[nodiscard]] friend constexpr bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return iterator_access::place(a) == iterator_access::place(b);
  }
  [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const Iterator& a,
                                                                  const Iterator& b) noexcept {
    return std::compare_three_way{}(iterator_access::place(a), iterator_access::place(b));
  }

 private:
  friend Iterator;
  friend iterator_access;

  iterator_operators() = default;

  // Defaults. An iterator's own members of these names hide them.
  constexpr void step() noexcept { iterator_access::advance(self(), 1); }
  constexpr void step_back() noexcept { iterator_access::advance(self(), -1); }
  [[nodiscard]] constexpr difference_type distance_from(const Iterator& other) const noexcept {
    return static_cast<difference_type>(iterator_access::place(self()) - iterator_access::place(other));
  }

  [[nodiscard]] constexpr Iterator& self() noexcept { return static_cast<Iterator&>(*this); }
  [[nodiscard]] constexpr const Iterator& self() const noexcept {
    return static_cast<const Iterator&>(*this);
  }
};

}  // namespace nearfar::detail
