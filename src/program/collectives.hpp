// Collective calls: which call of one rank belongs to which of another, and who waits for whom.
#pragma once

#include <cstdint>
#include <string>

#include "communicators.hpp"
#include "datatypes.hpp"

namespace nearfar::program {

/// The part of one rank in a collective call.
struct contribution {
  bool is_there = false;
  run_bytes data;
  run_vector<int> counts;
  const void* object = nullptr;
  std::intptr_t number = 0;
  vector_clock knew;
  int event = -1;
  site where;
};

/// The n-th collective call of a communicator, by all its ranks.
struct collective {
  communicator* in = nullptr;
  const char* name = "";
  int root = -1;
  std::intptr_t signature = 0;  ///< equal for all ranks, such as the operation
  const char* signature_name = "";
  std::uint32_t arrived = 0;  ///< a bit for each rank of MPI_COMM_WORLD
  std::array<contribution, most_ranks> by;
  void* result = nullptr;  ///< that the call makes for all, such as a new window

  [[nodiscard]] contribution& mine() noexcept { return by[static_cast<std::size_t>(self().number)]; }
  [[nodiscard]] contribution& of(int world_rank) noexcept { return by[static_cast<std::size_t>(world_rank)]; }
};

/// The running rank calls the next collective of the communicator. Fill in `mine()` before, by `bring`.
/// A fault if another rank calls something else, or with another root or another signature.
template <typename Fill>
collective& arrive(communicator& in, const char* name, int root, std::intptr_t signature,
                   const char* signature_name, Fill bring);

namespace detail {
collective& find_collective(communicator& in, const char* name, int root, std::intptr_t signature,
                            const char* signature_name);
void note_arrival(collective& one);
}  // namespace detail

template <typename Fill>
collective& arrive(communicator& in, const char* name, int root, std::intptr_t signature,
                   const char* signature_name, Fill bring) {
  collective& one = detail::find_collective(in, name, root, signature, signature_name);
  bring(one.mine());
  detail::note_arrival(one);
  return one;
}

/// Waits until these ranks have arrived, and learns what they knew.
void await(collective& one, std::uint32_t needs);
/// Whether they have arrived. Then `learn` makes the rank know what they knew.
[[nodiscard]] inline bool is_there(const collective& one, std::uint32_t needs) noexcept {
  return (one.arrived & needs) == needs;
}
void learn(rank& who, collective& one, std::uint32_t needs);
/// The ranks that are missing, for a report of a hang.
[[nodiscard]] std::string missing_from(const collective& one, std::uint32_t needs);

/// A collective that only synchronises.
void synchronise(communicator& in, const char* name);

/// Waits in a step of the search, unless the wait is over already. Such waits depend on nothing that could be
/// otherwise, so a step that need not wait need not be taken.
void wait_by(step& what);

}  // namespace nearfar::program
