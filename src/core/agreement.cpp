#include "nearfar/core/agreement.hpp"

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

namespace nearfar::detail {

namespace {

/// 64-bit FNV-1a.
class hash {
 public:
  void add(const void* data, std::size_t bytes) noexcept {
    for (const auto* at = static_cast<const unsigned char*>(data); bytes != 0; ++at, --bytes)
      value_ = (value_ ^ *at) * 0x100000001b3U;
  }
  void add(std::string_view text) noexcept {
    const std::size_t length = text.size();  // without the length "ab" and "c" would equal "a" and "bc"
    add(&length, sizeof length);
    add(text.data(), length);
  }
  [[nodiscard]] std::int64_t value() const noexcept { return static_cast<std::int64_t>(value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// Gathers `text` of every rank in rank order, using only what every world has. Collective.
std::vector<std::string> gather_texts(const ranks_of_a_world& ranks, const std::string& text) {
  const std::vector<std::int64_t> lengths =
      ranks.gather_to_all(ranks.world, static_cast<std::int64_t>(text.size()));
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<std::string> result(lengths.size());
  for (std::size_t at = 0; at < longest; at += sizeof(std::int64_t)) {
    std::int64_t piece = 0;
    if (at < text.size()) std::memcpy(&piece, &text[at], std::min(sizeof piece, text.size() - at));
    const std::vector<std::int64_t> pieces = ranks.gather_to_all(ranks.world, piece);
    for (std::size_t rank = 0; rank < pieces.size(); ++rank)
      result[rank].append(reinterpret_cast<const char*>(&pieces[rank]), sizeof piece);
  }
  for (std::size_t rank = 0; rank < result.size(); ++rank)
    result[rank].resize(static_cast<std::size_t>(lengths[rank]));
  return result;
}

/// The name of a type as people write it inside namespace nearfar.
std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  std::string result = name ? name.get() : type.name();
  constexpr std::string_view here = "nearfar::";
  for (std::size_t at = result.find(here); at != std::string::npos; at = result.find(here, at))
    result.erase(at, here.size());
  return result;
}

/// 64 bits that identify a construction, the same in every program of a job.
std::int64_t digest(std::string_view made, std::initializer_list<named_value> arguments) noexcept {
  hash all;
  all.add(made);
  for (const auto& [name, value] : arguments) {
    all.add(name);
    all.add(&value, sizeof value);
  }
  return all.value();
}

/// Throws `collective_mismatch` on every rank. All ranks call it if their digests differ. `made` names what
/// this rank makes, for the message. Collective.
[[noreturn]] void tell_difference(const ranks_of_a_world& ranks, std::int64_t digest, std::string_view made,
                                  std::initializer_list<named_value> arguments) {
  std::string text(made);
  for (const char* separator = " with "; const auto& [name, value] : arguments) {
    text.append(separator).append(name).append(" ").append(std::to_string(value));
    separator = ", ";
  }
  const std::vector<std::int64_t> all = ranks.gather_to_all(ranks.world, digest);
  const std::vector<std::string> texts = gather_texts(ranks, text);
  const auto other = static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](std::int64_t of_rank) { return of_rank != all.front(); }) -
      all.begin());
  throw collective_mismatch("the ranks of a world differ in what they make: rank 0 makes " + texts.front() +
                            ", rank " + std::to_string(other) + " makes " + texts[other] +
                            "; make and destroy the same objects with the same arguments on every rank, "
                            "in the same order");
}

}  // namespace

void expect_alike(const ranks_of_a_world& ranks, std::string_view what,
                  std::initializer_list<named_value> arguments) {
  const std::int64_t mine = digest(what, arguments);
  if (!ranks.all_alike(ranks.world, mine)) tell_difference(ranks, mine, what, arguments);
}

void expect_alike(const ranks_of_a_world& ranks, const std::type_info& made,
                  std::initializer_list<named_value> arguments) {
  // Compilers agree on the mangled name only.
  const std::int64_t mine = digest(made.name(), arguments);
  if (!ranks.all_alike(ranks.world, mine)) tell_difference(ranks, mine, readable(made), arguments);
}

}  // namespace nearfar::detail
