// The bytes that a step touches. The search derives from them which steps depend on each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfar::program {

/// The effect of a step on bytes. Steps with the same effect can be exchanged, unless they write.
using effect = std::uint32_t;
namespace effects {
inline constexpr effect write = 0;
inline constexpr effect read = 1;
inline constexpr effect share = 2;   ///< of a lock, taken or left in shared mode
inline constexpr effect arrive = 3;  ///< of a message at the queue of its receiver
inline constexpr effect match = 4;   ///< of a receive that may take messages of several senders
/// Accumulates by one commutative operation on one integer type. The operation's number is added.
inline constexpr effect combine = 16;
}  // namespace effects

struct touched_bytes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  effect how = effects::read;

  [[nodiscard]] bool overlaps(const touched_bytes& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  [[nodiscard]] bool conflicts_with(const touched_bytes& other) const noexcept {
    return overlaps(other) && (how != other.how || how == effects::write);
  }
};

/// At most a few ranges. A step that touches more has the hull of the last ones, as if it wrote all of it,
/// which makes the search try more orders than it needs.
class footprint {
 public:
  void add(std::uint64_t begin, std::uint64_t end, effect how) noexcept {
    if (begin == end) return;
    if (count_ > 0) {  // neighbours are one
      touched_bytes& last = ranges_[count_ - 1];
      if (last.end == begin && last.how == how) {
        last.end = end;
        return;
      }
    }
    if (count_ == ranges_.size()) {
      touched_bytes& last = ranges_.back();
      last.begin = std::min(last.begin, begin);
      last.end = std::max(last.end, end);
      if (last.how != how) last.how = effects::write;
      return;
    }
    ranges_[count_++] = {begin, end, how};
  }
  void add(const void* begin, std::size_t bytes, effect how) noexcept {
    const auto at = reinterpret_cast<std::uint64_t>(begin);
    add(at, at + bytes, how);
  }
  [[nodiscard]] const touched_bytes* begin() const noexcept { return ranges_.data(); }
  [[nodiscard]] const touched_bytes* end() const noexcept { return ranges_.data() + count_; }
  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool conflicts_with(const footprint& other) const noexcept {
    for (const touched_bytes& mine : *this)
      for (const touched_bytes& theirs : other)
        if (mine.conflicts_with(theirs)) return true;
    return false;
  }
  friend bool operator==(const footprint& a, const footprint& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const touched_bytes& x, const touched_bytes& y) {
                        return x.begin == y.begin && x.end == y.end && x.how == y.how;
                      });
  }

 private:
  std::array<touched_bytes, 4> ranges_{};
  std::size_t count_ = 0;
};

/// Things without an address, such as the lock of a window, are bytes above all memory.
namespace keys {
inline constexpr std::uint64_t base = std::uint64_t{1} << 62U;
[[nodiscard]] constexpr std::uint64_t lock_of(int window, int target) noexcept {
  return base + (static_cast<std::uint64_t>(window) << 8U) + static_cast<std::uint64_t>(target);
}
/// The messages from one sender to one receiver. Those of one receiver are neighbours.
[[nodiscard]] constexpr std::uint64_t messages(int context, int receiver, int sender) noexcept {
  return base + (std::uint64_t{1} << 40U) + (static_cast<std::uint64_t>(context) << 16U) +
         (static_cast<std::uint64_t>(receiver) << 8U) + static_cast<std::uint64_t>(sender);
}
/// Whether a rank waits outside MPI, where operations do not reach it if MPI needs its help.
[[nodiscard]] constexpr std::uint64_t help_of(int rank) noexcept {
  return base + (std::uint64_t{1} << 42U) + static_cast<std::uint64_t>(rank);
}
/// The receives of one receiver that may take messages of several senders.
[[nodiscard]] constexpr std::uint64_t any_sender(int context, int receiver) noexcept {
  return messages(context, receiver, 0) + (std::uint64_t{1} << 40U);
}
}  // namespace keys

}  // namespace nearfar::program
