/// \file
/// The names of a struct's fields as its author wrote them, for schedules that people read.
///
/// C++20 has no reflection. The names come from the text that the compiler prints for a pointer to a member
/// of a prototype object.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "nearfar/language.hpp"

namespace nearfar::engine {

/// One field of a layout.
struct field_name {
  std::size_t offset;
  std::size_t bytes;
  std::string_view name;
};

/// A struct that ranks share and its fields. `owner` is "mcs_lock" for `mcs_lock<W>::node`.
struct layout_names {
  std::string owner;
  std::size_t bytes = 0;  ///< of one element
  std::vector<field_name> fields;
};

namespace detail {

template <typename T>
struct prototype_holder {
  T value;
};
template <typename T>
inline prototype_holder<T> prototype{};

struct any_field {
  template <typename T>
  constexpr operator T() const;
};

template <typename T, std::size_t... Index>
consteval bool has_fields(std::index_sequence<Index...>) {
  return requires { T{(static_cast<void>(Index), any_field{})...}; };
}

inline constexpr std::size_t most_fields = 8;

/// 0 for a struct of more than `most_fields`, whose fields have no names.
template <typename T, std::size_t Count = most_fields>
consteval std::size_t count_fields() {
  if constexpr (Count == most_fields && has_fields<T>(std::make_index_sequence<most_fields + 1>{})) return 0;
  if constexpr (Count == 0)
    return 0;
  else if constexpr (has_fields<T>(std::make_index_sequence<Count>{}))
    return Count;
  else
    return count_fields<T, Count - 1>();
}

template <typename T>
constexpr auto field_pointers() {
  constexpr std::size_t count = count_fields<T>();
  auto& object = prototype<T>.value;
  if constexpr (count == 1) {
    auto& [a] = object;
    return std::tuple(&a);
  } else if constexpr (count == 2) {
    auto& [a, b] = object;
    return std::tuple(&a, &b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = object;
    return std::tuple(&a, &b, &c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = object;
    return std::tuple(&a, &b, &c, &d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = object;
    return std::tuple(&a, &b, &c, &d, &e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = object;
    return std::tuple(&a, &b, &c, &d, &e, &f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = object;
    return std::tuple(&a, &b, &c, &d, &e, &f, &g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = object;
    return std::tuple(&a, &b, &c, &d, &e, &f, &g, &h);
  } else {
    return std::tuple();
  }
}

/// A pointer as a template argument. Clang 16 takes a pointer to a subobject only inside a class.
template <typename Pointer>
struct boxed {
  Pointer pointer;
};
template <typename Pointer>
boxed(Pointer) -> boxed<Pointer>;

template <boxed Box>
[[nodiscard]] constexpr std::string_view last_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  // From the address to the bracket that closes it; the brackets in between belong to template arguments.
  std::size_t end = text.find('&') + 1;
  for (int depth = 0; end < text.size() && depth >= 0; ++end) {
    if (text[end] == '(' || text[end] == '{') ++depth;
    if (text[end] == ')' || text[end] == '}') --depth;
  }
  const std::string_view path = text.substr(0, end - 1);
  return path.substr(path.find_last_of(".:") + 1);
}

template <typename T>
[[nodiscard]] std::string owner_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("T = ") + 4);
  // The enclosing class template without namespaces and arguments. A struct outside any template keeps its
  // own name.
  std::vector<std::string> parts(1);
  std::string enclosing;
  int depth = 0;
  for (const char letter : text) {
    if (depth == 0 && (letter == ';' || letter == ']')) break;
    if (depth == 0 && letter == '<') enclosing = parts.back();
    if (letter == '<' || letter == '(' || letter == '{') ++depth;
    if (depth == 0 && letter == ':') {
      if (!parts.back().empty()) parts.emplace_back();
    } else if (depth == 0) {
      parts.back() += letter;
    }
    if (letter == '>' || letter == ')' || letter == '}') --depth;
  }
  return enclosing.empty() ? parts.back() : enclosing;
}

}  // namespace detail

/// The names of the fields of `T`, an aggregate with at most eight fields.
template <typename T>
[[nodiscard]] const layout_names& names_of() {
  static const layout_names names = [] {
    layout_names result;
    result.owner = detail::owner_name<T>();
    result.bytes = sizeof(T);
    constexpr auto pointers = detail::field_pointers<T>();
    const auto* base = reinterpret_cast<const std::byte*>(&detail::prototype<T>.value);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (result.fields.push_back(
           {static_cast<std::size_t>(reinterpret_cast<const std::byte*>(std::get<Index>(pointers)) - base),
            sizeof(*std::get<Index>(pointers)),
            detail::last_name<detail::boxed{std::get<Index>(pointers)}>()}),
       ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(pointers)>>{});
    return result;
  }();
  return names;
}

}  // namespace nearfar::engine
