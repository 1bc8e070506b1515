/// \file
/// Whether the ranks mean the same thing when they make something together.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// An argument of a construction, by the name that its caller knows it by.
struct named_value {
  std::string_view name;
  std::int64_t value = 0;
};

namespace detail {

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

// What the functions below do, once for all worlds.
void expect_alike(const ranks_of_a_world& ranks, std::string_view what,
                  std::initializer_list<named_value> arguments);
void expect_alike(const ranks_of_a_world& ranks, const std::type_info& made,
                  std::initializer_list<named_value> arguments);

}  // namespace detail

/// To be called first by whatever all ranks of `w` make together, before anything that waits in another way.
/// All that is made is compared by the same collective call, so that ranks that make different things throw
/// `collective_mismatch`, every one of them, instead of waiting for each other. Collective; synchronises.
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
