/// \file
/// The participants of a queue, and what they remember from one acquisition to the next.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

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

/// A number that a participant keeps for itself, 0 at first. A rank keeps it in its own object. Ranks that
/// take part together keep it in a far word of their owner, which only they access. The lock that admits one
/// of them at a time orders these accesses. Ranks of the owner's node access the word in place. It lies
/// beside words that they touch anyway, so it costs no further cache line. For other ranks each access is a
/// far operation with its flush.
template <participant Queued>
class participant_memory {
 public:
  template <near_world W>
  participant_memory(const W& w, int owner)
      : is_in_place_(Queued == participant::rank || w.locality().same(level::node, w.rank(), owner)) {}

  /// Whether the owner is on this rank's node.
  [[nodiscard]] bool is_in_place() const noexcept { return is_in_place_; }

  template <typename Segment, typename Words>
  [[nodiscard]] std::uint64_t load(Segment& words, int owner, far<std::uint64_t> Words::*field) const {
    if constexpr (Queued == participant::rank) {
      return value_;
    } else {
      if (is_in_place_) return words.read_direct(owner, field);
      std::uint64_t value = 0;
      words.get(owner, field, value);
      words.flush(owner);
      return value;
    }
  }
  template <typename Segment, typename Words>
  void store(Segment& words, int owner, far<std::uint64_t> Words::*field, std::uint64_t value) {
    if constexpr (Queued == participant::rank) {
      value_ = value;
    } else if (is_in_place_) {
      words.write_direct(owner, field, value);
    } else {
      words.put(owner, field, value);
      words.flush(owner);
    }
  }

 private:
  std::uint64_t value_ = 0;
  bool is_in_place_;
};

}  // namespace nearfar
