/// \file
/// The conditions on several words for which `await_any` of a world waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

#include "nearfar/core/layout.hpp"

namespace nearfar {

/// A predicate on a near cell's value.
template <typename Cell, typename Predicate>
struct near_condition {
  const Cell* cell;
  Predicate predicate;
  std::source_location site;
};

/// A predicate on the value of a far word in the memory of a rank of this node, read in place.
template <typename Array, typename Field, typename Predicate>
struct direct_condition {
  const Array* array;
  element where;
  Field field;
  Predicate predicate;
  std::source_location site;
};

/// Makes a condition. `cell`, or `array` below, must outlive the wait.
template <typename Cell, typename Predicate>
[[nodiscard]] auto when(const Cell& cell, Predicate predicate,
                        std::source_location site = std::source_location::current()) {
  return near_condition<Cell, Predicate>{&cell, std::move(predicate), site};
}

template <typename Array, typename T, typename V, typename Predicate>
[[nodiscard]] auto when(const Array& array, element where, far<V> T::*field, Predicate predicate,
                        std::source_location site = std::source_location::current()) {
  return direct_condition<Array, far<V> T::*, Predicate>{&array, where, field, std::move(predicate), site};
}

namespace detail {

template <typename T>
inline constexpr bool is_condition = false;
template <typename Cell, typename Predicate>
inline constexpr bool is_condition<near_condition<Cell, Predicate>> = true;
template <typename Array, typename Field, typename Predicate>
inline constexpr bool is_condition<direct_condition<Array, Field, Predicate>> = true;

}  // namespace detail

/// A condition made by `when`.
template <typename T>
concept wait_condition = detail::is_condition<T>;

/// Which of several conditions held, as an index in the order in which they were given, and for which value.
/// If several keep holding at once, the first does not win every time: waits start with another condition
/// each time.
struct satisfied_condition {
  std::size_t index;
  std::uint64_t value;  ///< the word's bits, zero-extended
};

}  // namespace nearfar
