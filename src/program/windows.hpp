// Windows and their epochs.
#pragma once

#include <cstddef>

#include "collectives.hpp"
#include "races.hpp"

namespace nearfar::program {

struct rma_operation;

/// A post or a complete, which the other side waits for.
struct signal_mark {
  vector_clock knew;
  int event = -1;
};

/// The signals between an origin and a target by post, start, complete and wait.
struct pair_state {
  run_vector<signal_mark> posts;      ///< by the target
  std::size_t starts = 0;             ///< posts that the origin has used
  run_vector<signal_mark> completes;  ///< by the origin
  std::size_t waits = 0;              ///< completes that the target has used
};

/// The part of a window that is of one rank.
struct window_part {
  std::byte* base = nullptr;
  MPI_Aint bytes = 0;
  int unit = 1;
  struct region {
    std::byte* begin;
    MPI_Aint bytes;
    moment at;  ///< others must know that it is attached
    site where;
    bool is_detached;
  };
  run_vector<region> attached;

  // The lock of this part, and what those knew who have left it.
  int exclusive_holder = -1;
  int sharers = 0;
  vector_clock left_exclusive;
  vector_clock left_shared;

  // The epochs that its rank has as an origin, and as a target.
  bool is_fenced = false;        ///< a fence has opened an epoch, and none has closed it
  bool has_used_fence = false;   ///< and the epoch has operations
  run_vector<epoch_kind> locks;  ///< of each target
  bool has_lock_all = false;
  const collective* fence = nullptr;  ///< the last one, with the assertions of all
  bool forbids_puts = false;          ///< MPI_MODE_NOPUT of a post
  bool is_started = false;
  run_vector<int> started;
  bool is_posted = false;
  run_vector<int> posted;
  run_vector<pair_state> as_origin;  ///< for each target
  run_vector<rma_operation*> open;   ///< operations that are not complete at the target

  info_object* hints = nullptr;  ///< those that the standard names
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  bool is_freed = false;
  site made;
  run_vector<attribute> attributes;
  char name[MPI_MAX_OBJECT_NAME] = "";
};

struct window {
  int number = 0;
  communicator* of = nullptr;  ///< the group of the window, and its collective calls
  int flavour = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
  bool any_operation = false;  ///< info accumulate_ops=any_op... or the user's promise
  /// Info accumulate_ordering: of two accumulates of one origin, the later reads or writes what the earlier
  /// does.
  bool orders_rar = true;
  bool orders_raw = true;
  bool orders_war = true;
  bool orders_waw = true;
  run_vector<window_part> parts;

  [[nodiscard]] window_part& mine() noexcept {
    return parts[static_cast<std::size_t>(of->rank_of(self().number))];
  }
  [[nodiscard]] window_part& part(int target) noexcept { return parts[static_cast<std::size_t>(target)]; }
};

/// A fault if there is no such window.
[[nodiscard]] window& window_of(MPI_Win handle);

/// The epoch in which the running rank may access the target. A fault, with `none` as its result if the
/// window's error handler returns, if there is none.
[[nodiscard]] epoch_kind epoch_for(window& at, int target);

}  // namespace nearfar::program
