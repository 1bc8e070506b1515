/// \file
/// Who takes a place in a queue, and what it remembers from one acquisition to the next.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// Who takes a place in a queue.
enum class participant : std::uint8_t {
  rank,  ///< each rank for itself
  node,  ///< the ranks of a node together, one at a time; one may acquire and another release
};

/// The rank in whose memory the words of this rank's participant lie.
template <participant Queued, world W>
[[nodiscard]] int owner_of(const W& w) {
  return Queued == participant::rank ? w.rank() : w.locality().leader(level::node, w.rank());
}

/// A number that a participant keeps for itself, 0 at first: a rank in its own object, a node in the near
/// memory of its leader. The latter needs no order of its own, since the lock that admits one rank of the node
/// at a time orders all that they do.
template <world W, participant Queued>
class participant_memory {
 public:
  /// Collective, as for all participants.
  explicit participant_memory(W& /*w*/) {}
  [[nodiscard]] std::uint64_t load() const noexcept { return value_; }
  void store(std::uint64_t value) noexcept { value_ = value; }

 private:
  std::uint64_t value_ = 0;
};

template <world W>
class participant_memory<W, participant::node> {
 public:
  explicit participant_memory(W& w) : cells_(w), value_(&cells_.at(owner_of<participant::node>(w)).value) {}
  [[nodiscard]] std::uint64_t load() const { return value_->load(std::memory_order_relaxed); }
  void store(std::uint64_t value) { value_->store(value, std::memory_order_relaxed); }

 private:
  struct alignas(cache_line) cell {
    typename W::template near<std::uint64_t> value{};
  };
  typename W::template near_segment<cell> cells_;
  typename W::template near<std::uint64_t>* value_;
};

}  // namespace nearfar
