/// \file
/// Near cells of the engine's world. Every operation on an atomic cell is a scheduling point.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <source_location>

#include "nearfar/core/layout.hpp"
#include "nearfar/engine/substrate.hpp"

namespace nearfar::engine {

/// An atomic word that the engine owns.
template <std::integral T>
class near_cell {
 public:
  near_cell() = default;
  near_cell(const near_cell&) = delete;
  near_cell& operator=(const near_cell&) = delete;

  [[nodiscard]] T load(std::memory_order order,
                       std::source_location site = std::source_location::current()) const {
    return decoded(substrate::current().at(site).perform(operation_of(action::load, 0, 0, order, order)));
  }
  void store(T value, std::memory_order order, std::source_location site = std::source_location::current()) {
    substrate::current().at(site).perform(operation_of(action::store, encoded(value), 0, order, order));
  }
  [[nodiscard]] T exchange(T value, std::memory_order order,
                           std::source_location site = std::source_location::current()) {
    return decoded(substrate::current().at(site).perform(
        operation_of(action::exchange, encoded(value), 0, order, order)));
  }
  [[nodiscard]] bool compare_exchange(T& expected, T desired, std::memory_order success,
                                      std::memory_order failure,
                                      std::source_location site = std::source_location::current()) {
    const std::uint64_t wanted = encoded(expected);
    const std::uint64_t old = substrate::current().at(site).perform(
        operation_of(action::compare_exchange, encoded(desired), wanted, success, failure));
    expected = decoded(old);
    return old == wanted;
  }
  T fetch_add(T value, std::memory_order order, std::source_location site = std::source_location::current()) {
    return decoded(
        substrate::current().at(site).perform(operation_of(action::add, encoded(value), 0, order, order)));
  }

  /// The load that a waiting rank repeats.
  [[nodiscard]] operation awaited() const {
    return operation_of(action::load, 0, 0, std::memory_order_acquire, std::memory_order_acquire);
  }
  /// The read-modify-write that a waiting rank repeats.
  [[nodiscard]] operation awaited_for_writing() const {
    return operation_of(action::add, 0, 0, std::memory_order_acquire, std::memory_order_acquire);
  }
  [[nodiscard]] operation awaited_by_exchange(T value) const {
    return operation_of(action::exchange, encoded(value), 0, std::memory_order_acq_rel,
                        std::memory_order_acquire);
  }
  [[nodiscard]] static T decoded(std::uint64_t word) noexcept { return static_cast<T>(word); }

 private:
  static constexpr std::uint64_t mask =
      sizeof(T) == sizeof(std::uint64_t) ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * sizeof(T) % 64)) - 1;

  [[nodiscard]] static std::uint64_t encoded(T value) noexcept {
    return static_cast<std::uint64_t>(value) & mask;
  }
  [[nodiscard]] operation operation_of(action what, std::uint64_t operand, std::uint64_t expected,
                                       std::memory_order order, std::memory_order failure) const {
    return {.what = what,
            .target = substrate::current().running(),
            .word = &word_,
            .operand = operand,
            .expected = expected,
            .mask = mask,
            .order = order,
            .failure = failure};
  }

  mutable std::uint64_t word_ = 0;
};

/// A value that is not atomic. Its accesses are not scheduling points: the checker detects two unordered
/// accesses whichever of them comes first.
template <plain_value T>
class plain_cell {
 public:
  plain_cell() = default;
  plain_cell(const plain_cell&) = delete;
  plain_cell& operator=(const plain_cell&) = delete;

  [[nodiscard]] T load(std::source_location site = std::source_location::current()) const {
    access(nullptr, site);
    return value_;
  }
  void store(const T& value, std::source_location site = std::source_location::current()) {
    access(&value, site);
    value_ = value;
  }

 private:
  /// `stored`: null for a load.
  void access(const T* stored, const std::source_location& site) const {
    substrate::current().at(site).access({.first = reinterpret_cast<const std::uint64_t*>(this),
                                          .bytes = sizeof(T),
                                          .writes = stored != nullptr,
                                          .stored = stored});
  }

  alignas(std::uint64_t) T value_{};
};

}  // namespace nearfar::engine
