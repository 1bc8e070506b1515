// Operations of RMA between their issue and their completion.
#pragma once

#include "operations.hpp"
#include "windows.hpp"

namespace nearfar::program {

struct rma_operation {
  enum class kind : std::uint8_t { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };
  struct piece {
    std::uintptr_t at;
    std::size_t bytes;
    int basic;
  };

  kind what = kind::put;
  std::uint64_t number = 0;  ///< of all operations, for the buffers that it holds
  window* at = nullptr;
  int origin = 0;  ///< rank of MPI_COMM_WORLD
  int target = 0;  ///< in the window's group
  const operation* op = nullptr;
  int basic = 0;
  run_vector<piece> pieces;  ///< of the target's memory, in the order of the data
  run_vector<piece> ranges;  ///< the same in the order of memory, where neighbours are one
  std::size_t elements = 0;
  run_bytes data;     ///< from the origin
  run_bytes compare;  ///< of compare-and-swap
  run_bytes result;   ///< for the origin
  void* result_base = nullptr;
  std::size_t result_count = 0;
  const datatype* result_type = nullptr;

  vector_clock issued;   ///< the origin's knowledge
  vector_clock learned;  ///< the knowledge that comes with the fetched value
  epoch_kind epoch = epoch_kind::none;
  std::size_t post = 0;  ///< in a start epoch: the operation is delivered only after this post of the target
  site where;
  completion* done = nullptr;        ///< at the target
  completion* local_done = nullptr;  ///< at the origin
  bool is_noted = false;
  bool is_wanted = false;  ///< a rank waits or tests for its end, so that it is delivered some time
  bool is_delivered = false;
  bool is_locally_complete = false;
  flight* flying = nullptr;
  /// Earlier accumulates that come first, since they touch the same bytes.
  run_vector<rma_operation*> first;
  std::size_t arrived_first = 0;  ///< of these, from the front

  [[nodiscard]] bool fetches() const noexcept { return what != kind::put && what != kind::accumulate; }
  [[nodiscard]] bool accumulates() const noexcept { return what != kind::put && what != kind::get; }
  /// It must be delivered, and what comes first, too.
  void want() noexcept;
};

[[nodiscard]] const char* name_of(rma_operation::kind what) noexcept;

/// The rank at this index of the window waits for its operations to `target`, or for all if it is -1.
void want_delivery(window& at, int origin_index, int target, bool only_local) noexcept;
/// Waits until the operations of the running rank to `target` are delivered, or those to all targets if it is
/// -1. With `only_local`, operations whose origin needs nothing from the target are left in flight.
void await_delivery(window& at, int target, bool only_local);
/// Completes them. Their results are in the program's memory then.
void complete_operations(window& at, int target, bool only_local);
/// Those that Win_complete leaves to the target's wait are complete for all who know this moment of the
/// target.
void complete_at_target(window& at, int origin, int target, rank& by);
/// Completes one operation for the origin.
void complete_locally(rma_operation& one);
[[nodiscard]] bool is_all_delivered(window& at, int origin_index, int target, bool only_local);

}  // namespace nearfar::program
