// The writes that a rank must have seen: for each word, the version of the latest write that happens before
// the rank's next step. Versions order the writes of a word, with room between two for a write that comes
// later and counts as earlier. Releases carry views and acquires join them. Views are the checker's form of
// C++'s happens-before, which MPI's completed operations and messages extend between nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar::checker {

using version_number = std::uint64_t;

/// Views of programs with few words need no memory of their own.
class view {
 public:
  [[nodiscard]] version_number at(std::size_t word) const noexcept {
    if (word < few) return first_[word];
    return word - few < more_.size() ? more_[word - few] : 0;
  }
  void raise(std::size_t word, version_number version) {
    if (word >= few + more_.size()) more_.resize(word - few + 1);
    version_number& known = word < few ? first_[word] : more_[word - few];
    known = std::max(known, version);
  }
  void replace(std::size_t word, version_number version) {
    if (word < few)
      first_[word] = version;
    else if (word - few < more_.size())
      more_[word - few] = version;
  }
  void join(const view& other) {
    for (std::size_t i = 0; i < few; ++i) first_[i] = std::max(first_[i], other.first_[i]);
    if (other.more_.size() > more_.size()) more_.resize(other.more_.size());
    for (std::size_t i = 0; i < other.more_.size(); ++i) more_[i] = std::max(more_[i], other.more_[i]);
  }
  void clear() noexcept {
    first_.fill(0);
    more_.clear();
  }

 private:
  static constexpr std::size_t few = 12;

  std::array<version_number, few> first_{};
  std::vector<version_number> more_;
};

}  // namespace nearfar::checker
