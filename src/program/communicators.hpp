// Communicators and groups.
#pragma once

#include <array>
#include <cstdint>

#include "mpi_state.hpp"

namespace nearfar::program {

struct collective;

struct attribute {
  key_value* key = nullptr;
  void* value = nullptr;
};

struct topology;
struct mailbox;

/// The part of a communicator that each rank has of its own.
struct own_communicator {
  unsigned collectives = 0;  ///< calls so far
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  run_vector<attribute> attributes;
  char name[MPI_MAX_OBJECT_NAME] = "";
  bool is_freed = false;
  site made;
  const void* info = nullptr;
};

struct communicator {
  int number = 0;
  run_vector<int> members;  ///< ranks of MPI_COMM_WORLD
  run_vector<int> others;   ///< of an intercommunicator: the other group
  bool is_inter = false;
  std::array<own_communicator, most_ranks> own;
  run_vector<collective*> collectives;
  std::array<mailbox*, most_ranks> boxes{};
  topology* shape = nullptr;

  /// The group that the rank is in, and the one that it communicates with.
  [[nodiscard]] const run_vector<int>& local(int world_rank) const noexcept;
  [[nodiscard]] const run_vector<int>& remote(int world_rank) const noexcept;
  /// -1 if it is no member.
  [[nodiscard]] static int index_in(const run_vector<int>& all, int world_rank) noexcept;
  [[nodiscard]] int rank_of(int world_rank) const noexcept { return index_in(local(world_rank), world_rank); }
  [[nodiscard]] own_communicator& mine() noexcept { return own[static_cast<std::size_t>(self().number)]; }
  /// A bit for each rank of MPI_COMM_WORLD in it.
  [[nodiscard]] std::uint32_t everybody() const noexcept;
};

struct group {
  run_vector<int> members;
};

[[nodiscard]] communicator* make_communicator(const run_vector<int>& members);
/// The handle of the running rank for a communicator that this call makes.
[[nodiscard]] MPI_Comm add_communicator(communicator* made);
/// The communicator of a handle of the running rank; a fault if there is none.
[[nodiscard]] communicator& communicator_of(MPI_Comm handle);
/// The handle of the running rank.
[[nodiscard]] MPI_Comm handle_of(communicator* one);
[[nodiscard]] group& group_of(MPI_Group handle);
[[nodiscard]] MPI_Group add_group(const run_vector<int>& members);

/// How the ranks are divided among nodes.
[[nodiscard]] int node_of(int world_rank) noexcept;

}  // namespace nearfar::program
