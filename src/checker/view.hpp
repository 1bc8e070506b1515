// What a rank must have seen: for each word, the version of the latest write that happens before it. Versions
// order the writes of a word, with room between two for one that comes later and counts as earlier. Carried
// by releases, joined by acquires; the checker's form of C++'s happens-before, which MPI's completed
// operations and messages extend between nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar::checker {

using version_number = std::uint64_t;

class view {
 public:
  [[nodiscard]] version_number at(std::size_t word) const noexcept {
    return word < versions_.size() ? versions_[word] : 0;
  }
  void raise(std::size_t word, version_number version) {
    if (word >= versions_.size()) versions_.resize(word + 1);
    versions_[word] = std::max(versions_[word], version);
  }
  void replace(std::size_t word, version_number version) {
    if (word < versions_.size()) versions_[word] = version;
  }
  void join(const view& other) {
    if (other.versions_.size() > versions_.size()) versions_.resize(other.versions_.size());
    for (std::size_t i = 0; i < other.versions_.size(); ++i)
      versions_[i] = std::max(versions_[i], other.versions_[i]);
  }
  void clear() noexcept { versions_.clear(); }

 private:
  std::vector<version_number> versions_;
};

}  // namespace nearfar::checker
