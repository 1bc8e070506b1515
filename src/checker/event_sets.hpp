// For each event of an execution the set of events that happen before it by the order of dependent steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar::checker {

/// A set of event indices that grows with them.
class event_set {
 public:
  void clear() noexcept { words_.clear(); }
  void insert(std::size_t event) {
    if (event / 64 >= words_.size()) words_.resize(event / 64 + 1);
    words_[event / 64] |= std::uint64_t{1} << (event % 64);
  }
  void join(const event_set& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  [[nodiscard]] bool contains(std::size_t event) const noexcept {
    return event / 64 < words_.size() && (words_[event / 64] >> (event % 64) & 1U) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace nearfar::checker
