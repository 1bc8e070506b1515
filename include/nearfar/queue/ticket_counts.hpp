/// \file
/// The word by which the ranks of a `ticket_queue` agree on what each of them does next.
#pragma once

#include <cstdint>

#include "nearfar/language.hpp"

namespace nearfar::detail {

/// Tickets of pushes and tickets of pops are both counted up from the same start, and a pop takes the value
/// of the push with its number. The word holds the next ticket of a push, the number of pushes less that of
/// pops, and whether the queue is closed. A push and a pop each add a constant to it. The size is biased, so
/// that it never borrows from the bits above; it is negative after pops that found nothing.
class ticket_counts {
 public:
  static constexpr unsigned ticket_bits = 39;
  /// The absolute value of a size is less than this.
  static constexpr std::int64_t size_limit = std::int64_t{1} << 23U;

  constexpr ticket_counts() = default;
  explicit constexpr ticket_counts(std::uint64_t bits) noexcept : bits_(bits) {}
  [[nodiscard]] static constexpr ticket_counts initial() noexcept {
    return ticket_counts(static_cast<std::uint64_t>(size_limit));
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool is_closed() const noexcept { return (bits_ & closed_bit) != 0; }
  [[nodiscard]] constexpr std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(bits_ & (closed_bit - 1)) - size_limit;
  }
  /// The ticket of the next push, and of the next pop.
  [[nodiscard]] constexpr std::uint64_t tail() const noexcept { return bits_ >> ticket_at; }
  [[nodiscard]] constexpr std::uint64_t head() const noexcept { return before(tail(), size()); }

  /// The number to add to the bits for `count` operations.
  [[nodiscard]] static constexpr std::uint64_t of_pushes(std::uint64_t count) noexcept {
    return count * ((std::uint64_t{1} << ticket_at) + 1);
  }
  [[nodiscard]] static constexpr std::uint64_t of_pops(std::uint64_t count) noexcept {
    return std::uint64_t{0} - count;
  }
  [[nodiscard]] constexpr ticket_counts plus(std::uint64_t sum) const noexcept {
    return ticket_counts(bits_ + sum);
  }
  [[nodiscard]] constexpr ticket_counts closed() const noexcept { return ticket_counts(bits_ | closed_bit); }

  // Tickets wrap around after 2^39; the differences of tickets in use are small.

  [[nodiscard]] static constexpr std::uint64_t after(std::uint64_t ticket, std::uint64_t by) noexcept {
    return (ticket + by) & tickets;
  }
  [[nodiscard]] static constexpr std::uint64_t before(std::uint64_t ticket, std::int64_t by) noexcept {
    return (ticket - static_cast<std::uint64_t>(by)) & tickets;
  }
  /// How far `ticket` is ahead of `other`; negative if `other` is ahead.
  [[nodiscard]] static constexpr std::int64_t ahead(std::uint64_t ticket, std::uint64_t other) noexcept {
    constexpr unsigned above = 64 - ticket_bits;
    return static_cast<std::int64_t>((ticket - other) << above) >> above;
  }

 private:
  static constexpr unsigned closed_at = 24;
  static constexpr unsigned ticket_at = closed_at + 1;
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << closed_at;
  static constexpr std::uint64_t tickets = (std::uint64_t{1} << ticket_bits) - 1;
  static_assert(ticket_at + ticket_bits == 64 && size_limit == std::int64_t{1} << (closed_at - 1));

  std::uint64_t bits_ = 0;
};

}  // namespace nearfar::detail
