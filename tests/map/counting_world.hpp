/// \file
/// The world of threads, which counts each rank's far operations.
#pragma once

#include <cstdint>
#include <utility>

#include "nearfar/core/world.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::testing {

/// Far operations of one thread, and its operations in place.
struct far_operations {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t flushes = 0;
  std::uint64_t in_place = 0;

  [[nodiscard]] std::uint64_t all() const noexcept { return reads + writes + atomics; }
  [[nodiscard]] friend bool operator==(const far_operations&, const far_operations&) = default;
};
inline thread_local far_operations counted;

/// The cost of one call.
template <typename Call>
far_operations cost_of(const Call& call) {
  counted = {};
  call();
  return counted;
}

template <far_element T>
class counting_array : public threads::far_array<threads::world, T> {
  using base = threads::far_array<threads::world, T>;

 public:
  using base::base;

  template <typename... Arguments>
  void put(element where, Arguments&&... arguments) {
    ++counted.writes;
    base::put(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void get(element where, Arguments&&... arguments) {
    ++counted.reads;
    base::get(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void put_range(element first, Arguments&&... arguments) {
    ++counted.writes;
    base::put_range(first, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void get_range(element first, Arguments&&... arguments) {
    ++counted.reads;
    base::get_range(first, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void fetch(element where, Arguments&&... arguments) {
    ++counted.atomics;
    base::fetch(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void swap(element where, Arguments&&... arguments) {
    ++counted.atomics;
    base::swap(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void fetch_add(element where, Arguments&&... arguments) {
    ++counted.atomics;
    base::fetch_add(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void compare_and_swap(element where, Arguments&&... arguments) {
    ++counted.atomics;
    base::compare_and_swap(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void accumulate(element where, Arguments&&... arguments) {
    ++counted.atomics;
    base::accumulate(where, std::forward<Arguments>(arguments)...);
  }
  void flush(int target) const noexcept(!checked_build) {
    ++counted.flushes;
    base::flush(target);
  }
  template <typename... Arguments>
  decltype(auto) read_direct(element where, Arguments&&... arguments) const {
    ++counted.in_place;
    return base::read_direct(where, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  void write_direct(element where, Arguments&&... arguments) {
    ++counted.in_place;
    base::write_direct(where, std::forward<Arguments>(arguments)...);
  }
};

template <far_layout T>
class counting_segment : public counting_array<T> {
 public:
  explicit counting_segment(threads::world& w) : counting_array<T>(w, 1) {}
};

class counting_world : public threads::world {
 public:
  using threads::world::world;
  template <typename T>
  using far_array = counting_array<T>;
  template <typename T>
  using far_segment = counting_segment<T>;
};
static_assert(world<counting_world>);

}  // namespace nearfar::testing
