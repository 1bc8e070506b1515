/// \file
/// Near cell of the worlds that run on real hardware: `std::atomic` with no default order.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "nearfar/language.hpp"

namespace nearfar {

/// An atomic word in memory that the ranks of a node share. It must be lock-free, since a hidden mutex would
/// not work between processes; other types do not compile.
template <typename T>
class atomic_cell {
  static_assert(std::atomic<T>::is_always_lock_free,
                "near cells must be lock-free: use an integer of up to 64 bits");

 public:
  atomic_cell() = default;
  atomic_cell(const atomic_cell&) = delete;
  atomic_cell& operator=(const atomic_cell&) = delete;

  [[nodiscard]] T load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(T value, std::memory_order order) noexcept { value_.store(value, order); }
  [[nodiscard]] T exchange(T value, std::memory_order order) noexcept {
    return value_.exchange(value, order);
  }
  [[nodiscard]] bool compare_exchange(T& expected, T desired, std::memory_order success,
                                      std::memory_order failure) noexcept {
    return value_.compare_exchange_strong(expected, desired, success, failure);
  }
  T fetch_add(T value, std::memory_order order) noexcept { return value_.fetch_add(value, order); }

 private:
  std::atomic<T> value_{};
};

namespace detail {

/// Whether a world's near cells are words of real memory; elsewhere operations and waits are the engine's.
template <typename W>
inline constexpr bool is_hardware =
    std::same_as<typename W::template near<std::uint32_t>, atomic_cell<std::uint32_t>>;

}  // namespace detail

}  // namespace nearfar
