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
  node,  ///< the ranks of a node together, one at a time; one rank may acquire and another release
};

/// The rank in whose memory the words of this rank's participant lie.
template <participant Queued, near_world W>
[[nodiscard]] int owner_of(const W& w) {
  return Queued == participant::rank ? w.rank() : w.locality().leader(level::node, w.rank());
}

/// A number that a participant keeps for itself, 0 at first. A rank keeps it in its own object. A node keeps
/// it in a far word of its leader, which only the ranks of the node access, in place. The lock that admits
/// one rank of the node at a time orders these accesses. The word lies beside words that the ranks touch
/// anyway, so it costs no further cache line.
template <participant Queued>
class participant_memory {
 public:
  template <typename Segment, typename Words>
  [[nodiscard]] std::uint64_t load(const Segment& words, int owner, far<std::uint64_t> Words::*field) const {
    if constexpr (Queued == participant::rank)
      return value_;
    else
      return words.read_direct(owner, field);
  }
  template <typename Segment, typename Words>
  void store(Segment& words, int owner, far<std::uint64_t> Words::*field, std::uint64_t value) {
    if constexpr (Queued == participant::rank)
      value_ = value;
    else
      words.write_direct(owner, field, value);
  }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace nearfar
