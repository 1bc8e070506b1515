#include "nearfar/memory/slab.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

slab::slab(std::size_t units, std::size_t granularity) : granularity_(granularity) {
  free_.push_back({0, units / granularity * granularity});
}

std::size_t slab::rounded(std::size_t bytes) const noexcept {
  return (bytes + granularity_ - 1) / granularity_ * granularity_;
}

std::optional<std::size_t> slab::allocate(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [wanted](const gap& one) { return one.end - one.begin >= wanted; });
  if (found == free_.end()) return std::nullopt;
  const std::size_t offset = found->begin;
  const auto index = found - free_.begin();
  make_room_for_gaps();
  const auto from = free_.begin() + index;
  from->begin += wanted;
  if (from->begin == from->end) free_.erase(from);
  used_ += wanted;
  ++allocations_;
  return offset;
}

void slab::make_room_for_gaps() {
  const std::size_t needed = allocations_ + 2;
  if (free_.capacity() < needed) free_.reserve(2 * needed);
}

void slab::release(std::size_t offset, std::size_t bytes) {
  --allocations_;
  const gap returned{offset, offset + rounded(bytes)};
  used_ -= returned.end - returned.begin;
  const auto next =
      std::find_if(free_.begin(), free_.end(), [offset](const gap& one) { return one.begin > offset; });
  const bool ends_at_next = next != free_.end() && next->begin == returned.end;
  const bool begins_at_previous = next != free_.begin() && std::prev(next)->end == returned.begin;
  if (ends_at_next && begins_at_previous) {
    std::prev(next)->end = next->end;
    free_.erase(next);
  } else if (ends_at_next) {
    next->begin = returned.begin;
  } else if (begins_at_previous) {
    std::prev(next)->end = returned.end;
  } else {
    free_.insert(next, returned);  // there is room
  }
}

std::size_t slab_bytes(std::size_t bytes, int ranks, const char* option) {
  if (bytes > PTRDIFF_MAX / static_cast<std::size_t>(ranks) - slot_bytes)
    throw out_of_memory(std::string(option) + " asks for " + std::to_string(bytes) + " bytes on each of " +
                        std::to_string(ranks) + " ranks, more than an address space has: lower it");
  return (std::max<std::size_t>(bytes, 1) + slot_bytes - 1) / slot_bytes * slot_bytes;
}

namespace detail {

void throw_no_room(std::size_t count, const slab_request& wanted) {
  throw out_of_memory(std::string("no room for ") + wanted.what + " of " + std::to_string(count) + " " +
                      wanted.unit + " on each rank: " + wanted.cure);
}

void throw_no_elements() { throw misuse("an array of no elements: ask for one at least"); }

void throw_outlived_world() {
  throw destroyed_while_in_use(
      "a lock or segment was used after the destruction of its world: destroy the world last");
}

void throw_no_such_element(std::size_t index, std::size_t count) {
  throw misuse("there is no element " + std::to_string(index) + " in an array of " + std::to_string(count));
}

std::size_t bytes_of(std::size_t count, std::size_t element_bytes) noexcept {
  constexpr std::size_t most = PTRDIFF_MAX / slot_bytes * slot_bytes;
  return count > most / element_bytes ? most : count * element_bytes;
}

}  // namespace detail

}  // namespace nearfar
