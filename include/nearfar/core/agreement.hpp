/// \file
/// Whether the ranks mean the same thing when they make something together.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "nearfar/core/error.hpp"

namespace nearfar {

/// An argument of a construction, by the name that its caller knows it by.
struct named_value {
  std::string_view name;
  std::int64_t value = 0;
};

namespace detail {

/// 64-bit FNV-1a, which is the same in every program of a job.
class digest {
 public:
  void add(const void* data, std::size_t bytes) noexcept {
    for (const auto* at = static_cast<const unsigned char*>(data); bytes != 0; ++at, --bytes)
      value_ = (value_ ^ *at) * 0x100000001b3U;
  }
  [[nodiscard]] std::int64_t value() const noexcept { return static_cast<std::int64_t>(value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// `text` of every rank, in rank order, by no more than every world has. Collective.
template <typename W>
[[nodiscard]] std::vector<std::string> gather_texts(W& w, const std::string& text) {
  const std::vector<std::int64_t> lengths = w.gather_to_all(static_cast<std::int64_t>(text.size()));
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<std::string> result(lengths.size());
  for (std::size_t at = 0; at < longest; at += sizeof(std::int64_t)) {
    std::int64_t piece = 0;
    if (at < text.size()) std::memcpy(&piece, &text[at], std::min(sizeof piece, text.size() - at));
    const std::vector<std::int64_t> pieces = w.gather_to_all(piece);
    for (std::size_t rank = 0; rank < pieces.size(); ++rank)
      result[rank].append(reinterpret_cast<const char*>(&pieces[rank]), sizeof piece);
  }
  for (std::size_t rank = 0; rank < result.size(); ++rank)
    result[rank].resize(static_cast<std::size_t>(lengths[rank]));
  return result;
}

/// A type as people write it inside this namespace. The compilers agree on the mangled name only.
[[nodiscard]] inline std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  std::string result = name ? name.get() : type.name();
  constexpr std::string_view here = "nearfar::";
  for (std::size_t at = result.find(here); at != std::string::npos; at = result.find(here, at))
    result.erase(at, here.size());
  return result;
}

/// `key` tells apart what `shown` names for people.
template <typename W, typename Shown>
void expect_alike(W& w, std::string_view key, std::initializer_list<named_value> arguments, Shown shown) {
  digest mine;
  const auto add_text = [&mine](std::string_view text) {
    const std::size_t length = text.size();  // or "ab" and "c" would be "a" and "bc"
    mine.add(&length, sizeof length);
    mine.add(text.data(), length);
  };
  add_text(key);
  for (const auto& [name, value] : arguments) {
    add_text(name);
    mine.add(&value, sizeof value);
  }
  if (w.all_alike(mine.value())) [[likely]]
    return;

  std::string text = shown();
  for (const char* separator = " with "; const auto& [name, value] : arguments) {
    text.append(separator).append(name).append(" ").append(std::to_string(value));
    separator = ", ";
  }
  const std::vector<std::int64_t> all = w.gather_to_all(mine.value());
  const std::vector<std::string> texts = gather_texts(w, text);
  const auto other = static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](std::int64_t of_rank) { return of_rank != all.front(); }) -
      all.begin());
  throw collective_mismatch("the ranks of a world differ in what they make: rank 0 makes " + texts.front() +
                            ", rank " + std::to_string(other) + " makes " + texts[other] +
                            "; make and destroy the same locks with the same arguments on every rank, in "
                            "the same order");
}

}  // namespace detail

/// To be called first by whatever all ranks of `w` make together, before anything that waits in another way.
/// All that is made is compared by the same collective call, so that ranks that make different things throw
/// `collective_mismatch`, every one of them, instead of waiting for each other. Collective; synchronises.
template <typename W>
void expect_alike(W& w, std::string_view what, std::initializer_list<named_value> arguments) {
  detail::expect_alike(w, what, arguments, [what] { return std::string(what); });
}

/// The same for an object of type `Made`.
template <typename Made, typename W>
void expect_alike(W& w, std::initializer_list<named_value> arguments) {
  detail::expect_alike(w, typeid(Made).name(), arguments, [] { return detail::readable(typeid(Made)); });
}

}  // namespace nearfar
