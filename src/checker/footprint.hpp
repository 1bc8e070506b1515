// The words that a step touches. The searches derive from them which steps depend on each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar::checker {

/// The effect of a step on a word. Two steps with the same effect can be exchanged, unless they write.
enum class use : std::uint8_t {
  write,
  read,
  call,    ///< of an operation on an object whose history is judged; real time orders calls
  finish,  ///< comes behind finished operations; the end comes behind earlier calls
};

/// A word that a step touches.
struct word_access {
  std::uint64_t word = 0;
  use how = use::read;
  std::uint64_t before = 0;  ///< its value before the step, once that is taken

  [[nodiscard]] bool writes() const noexcept { return how == use::write; }
  [[nodiscard]] bool conflicts_with(const word_access& other) const noexcept {
    return word == other.word && (how != other.how || writes());
  }
};

/// The word of the step's operation comes first. Other words may follow: the one that heavy fences write, the
/// one that says whether a rank is in the library, and the further words of a wait for several words.
class footprint {
 public:
  void add(const word_access& one) {
    if (count_ < few_.size()) few_[count_] = one;
    if (count_ == few_.size()) more_.assign(few_.begin(), few_.end());
    if (count_ >= few_.size()) more_.push_back(one);
    ++count_;
  }
  [[nodiscard]] word_access* begin() noexcept { return count_ > few_.size() ? more_.data() : few_.data(); }
  [[nodiscard]] word_access* end() noexcept { return begin() + count_; }
  [[nodiscard]] const word_access* begin() const noexcept {
    return count_ > few_.size() ? more_.data() : few_.data();
  }
  [[nodiscard]] const word_access* end() const noexcept { return begin() + count_; }
  [[nodiscard]] word_access& word() noexcept { return *begin(); }
  [[nodiscard]] const word_access& word() const noexcept { return *begin(); }

  [[nodiscard]] bool conflicts_with(const footprint& other) const noexcept {
    return std::any_of(begin(), end(), [&](const word_access& mine) {
      return std::any_of(other.begin(), other.end(),
                         [&](const word_access& theirs) { return mine.conflicts_with(theirs); });
    });
  }

 private:
  std::array<word_access, 4> few_{};
  std::vector<word_access> more_;  // all words, if they are more
  std::size_t count_ = 0;
};

}  // namespace nearfar::checker
