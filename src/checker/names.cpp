#include "names.hpp"

namespace nearfar::checker {

std::uint64_t renamed(std::uint64_t name, int a, int b, std::uint64_t words) {
  const auto other = [&](std::uint64_t rank) {
    if (rank == static_cast<std::uint64_t>(a)) return static_cast<std::uint64_t>(b);
    return rank == static_cast<std::uint64_t>(b) ? static_cast<std::uint64_t>(a) : rank;
  };
  const name_kind kind = kind_of(name);
  const std::uint64_t number = name % name_numbers;
  switch (kind) {
    case name_kind::cell:
    case name_kind::lifetime:
      return named(kind, other(number / words) * words + number % words);
    case name_kind::guard:
    case name_kind::object:
    case name_kind::heavy_fences:
      return name;
    case name_kind::mailbox:
    case name_kind::exclusive_epoch:
    case name_kind::shared_epoch:
    case name_kind::library:
    case name_kind::fences:
    case name_kind::life:
    case name_kind::choices:
      break;
  }
  const std::uint64_t rank = number % name_ranks;
  return named(kind, number - rank + other(rank));
}

}  // namespace nearfar::checker
