/// \file
/// The participants of a queue, and what they remember from one acquisition to the next.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// Whether a rank or a node takes a place in a queue.
enum class participant : std::uint8_t {
  rank,  ///< each rank for itself
  node,  ///< the ranks of a node together, or of another element of the machine, one at a time; one rank may
         ///< acquire and another release
};

/// The rank in whose memory the words of this rank's participant lie; for a `participant::node` that is a
/// node.
template <participant Queued, near_world W>
[[nodiscard]] int owner_of(const W& w) {
  return Queued == participant::rank ? w.rank() : w.locality().leader(level::node, w.rank());
}

/// A number that a participant keeps for itself, 0 at first.
template <world W, participant Queued>
class participant_memory;

/// A rank keeps the number in its own object.
template <world W>
class participant_memory<W, participant::rank> {
 public:
  participant_memory(const W& /*w*/, int /*owner*/) {}

  [[nodiscard]] static bool is_in_place() noexcept { return true; }

  template <typename Segment, typename Words>
  [[nodiscard]] std::uint64_t load(Segment& /*words*/, int /*owner*/,
                                   far<std::uint64_t> Words::* /*field*/) const noexcept {
    return value_;
  }
  template <typename Segment, typename Words>
  void store(Segment& /*words*/, int /*owner*/, far<std::uint64_t> Words::* /*field*/,
             std::uint64_t value) noexcept {
    value_ = value;
  }

 private:
  std::uint64_t value_ = 0;
};

/// Ranks that take part together keep the number in a far word of their owner, which only they access. The
/// lock that admits one of them at a time orders these accesses. Ranks of the owner's node access the word in
/// place. It lies beside words that they touch anyway, so it costs no further cache line. For other ranks
/// each access is a far operation with its flush. `owner` of an access is the rank given at construction or,
/// on this rank's node, another rank of the node.
template <world W>
class participant_memory<W, participant::node> {
 public:
  participant_memory(W& w, int owner) : access_(w, owner) {}

  /// Whether the owner is on this rank's node.
  [[nodiscard]] bool is_in_place() const noexcept { return access_.is_in_place(); }

  template <typename Segment, typename Words>
  [[nodiscard]] std::uint64_t load(Segment& words, int owner, far<std::uint64_t> Words::*field) const {
    return access_.read(words, element(owner), field);
  }
  template <typename Segment, typename Words>
  void store(Segment& words, int owner, far<std::uint64_t> Words::*field, std::uint64_t value) const {
    access_.write(words, element(owner), field, value);
  }

 private:
  nearest_access<W, far_read::get> access_;
};

}  // namespace nearfar
