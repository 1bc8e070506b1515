// For each event of an execution the set of events that happen before it by the order of dependent steps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar::checker {

/// A set of event indices that grows with them. Those of short executions need no memory of their own.
class event_set {
 public:
  void clear() noexcept { *this = {}; }
  void insert(std::size_t event) { word(event / bits) |= std::uint64_t{1} << (event % bits); }
  void join(const event_set& other) {
    for (std::size_t i = 0; i < few; ++i) first_[i] |= other.first_[i];
    if (other.more_.size() > more_.size()) more_.resize(other.more_.size());
    for (std::size_t i = 0; i < other.more_.size(); ++i) more_[i] |= other.more_[i];
  }
  [[nodiscard]] bool intersects(const event_set& other) const noexcept {
    std::uint64_t both = 0;
    for (std::size_t i = 0; i < few; ++i) both |= first_[i] & other.first_[i];
    for (std::size_t i = 0; i < std::min(more_.size(), other.more_.size()); ++i)
      both |= more_[i] & other.more_[i];
    return both != 0;
  }
  [[nodiscard]] bool contains(std::size_t event) const noexcept {
    return (word_at(event / bits) >> (event % bits) & 1U) != 0;
  }
  /// Calls `action` with those below `end` that are not in it, the last one first: most of a long execution
  /// is in the past of each of its steps.
  template <typename Action>
  void for_each_absent(std::size_t end, Action action) const {
    for (std::size_t place = (end + bits - 1) / bits; place-- > 0;) {
      std::uint64_t absent = ~word_at(place);
      if (end - place * bits < bits) absent &= (std::uint64_t{1} << (end % bits)) - 1;
      while (absent != 0) {
        const auto last = static_cast<std::size_t>(std::bit_width(absent)) - 1;
        absent ^= std::uint64_t{1} << last;
        action(place * bits + last);
      }
    }
  }
  template <typename Action>
  void for_each(Action action) const {
    for (std::size_t place = 0; place < few + more_.size(); ++place)
      for (std::uint64_t left = place < few ? first_[place] : more_[place - few]; left != 0; left &= left - 1)
        action(place * bits + static_cast<std::size_t>(std::countr_zero(left)));
  }

 private:
  static constexpr std::size_t bits = 64;
  static constexpr std::size_t few = 2;

  [[nodiscard]] std::uint64_t word_at(std::size_t place) const noexcept {
    if (place < few) return first_[place];
    return place - few < more_.size() ? more_[place - few] : 0;
  }

  [[nodiscard]] std::uint64_t& word(std::size_t place) {
    if (place < few) return first_[place];
    if (place - few >= more_.size()) more_.resize(place - few + 1);
    return more_[place - few];
  }

  std::array<std::uint64_t, few> first_{};
  std::vector<std::uint64_t> more_;
};

}  // namespace nearfar::checker
