/// \file
/// Checks that all ranks agree when they make something collectively.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nearfar/language.hpp"

namespace nearfar {

/// A constructor argument, with the name by which the caller knows it.
struct named_value {
  std::string_view name;
  std::int64_t value = 0;
};

namespace detail {

/// A size as such an argument; -1 for all sizes that no argument can be.
[[nodiscard]] constexpr std::int64_t size_argument(std::size_t size) noexcept {
  return std::in_range<std::int64_t>(size) ? static_cast<std::int64_t>(size) : -1;
}

/// Marks a private constructor whose arguments have been compared and checked.
struct checked_arguments {};

/// The ranks of a world of any type.
struct ranks_of_a_world {
  void* world;
  bool (*all_alike)(void* world, std::int64_t mine);
  std::vector<std::int64_t> (*gather_to_all)(void* world, std::int64_t mine);
};

template <typename W>
[[nodiscard]] ranks_of_a_world ranks_of(W& w) noexcept {
  return {&w, [](void* world, std::int64_t mine) { return static_cast<W*>(world)->all_alike(mine); },
          [](void* world, std::int64_t mine) { return static_cast<W*>(world)->gather_to_all(mine); }};
}

// The implementation of the functions below, compiled once for all worlds.
void expect_alike(const ranks_of_a_world& ranks, std::string_view what,
                  std::initializer_list<named_value> arguments);
void expect_alike(const ranks_of_a_world& ranks, const std::type_info& made,
                  std::initializer_list<named_value> arguments);

}  // namespace detail

/// Must be called first by everything that all ranks of `w` make collectively, before anything that waits in
/// another way. The same collective call compares everything that is made. So if ranks make different things,
/// each of them throws `collective_mismatch` instead of waiting for the others. Collective; synchronises.
template <typename W>
void expect_alike(W& w, std::string_view what, std::initializer_list<named_value> arguments) {
  detail::expect_alike(detail::ranks_of(w), what, arguments);
}

/// The same for an object of type `Made`.
template <typename Made, typename W>
void expect_alike(W& w, std::initializer_list<named_value> arguments) {
  detail::expect_alike(detail::ranks_of(w), typeid(Made), arguments);
}

}  // namespace nearfar
