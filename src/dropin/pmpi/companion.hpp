/// \file
/// The companion of a program's window: a reader-writer lock for each of its ranks, as targets.
///
/// A rank that waits for such a lock must need progress in MPI from no rank but the target. The library's own
/// locks need no more, so a program may let any other rank wait outside MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/near_rw_lock.hpp"
#include "nearfar/lock/rw_ticket_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace nearfar::pmpi {

/// How this process holds the lock of a target.
enum class hold : std::uint8_t {
  nothing,
  unchecked,  ///< MPI_MODE_NOCHECK: by MPI alone
  shared,
  exclusive,
};

/// Counts of this rank for one window; the end sums them over the window's ranks.
struct counts {
  std::int64_t exclusive = 0;
  std::int64_t shared = 0;  ///< by MPI_Win_lock
  std::int64_t all = 0;     ///< MPI_Win_lock_all, each of which takes every target's lock, shared
  std::int64_t unchecked = 0;
  std::int64_t waited = 0;  ///< exclusive or shared; each target of a lock_all counts once
  std::int64_t local = 0;   ///< of these, handed over in the memory of a node
  std::int64_t waiting_ns = 0;
};

/// The sums of one window.
struct summary {
  std::string name;
  int ranks = 0;
  counts of_all;
};

/// A world and its ranks; windows of the same ranks share one. Construction and destruction are collective.
struct ranks_of_windows {
  ranks_of_windows(MPI_Comm comm, bool is_tested);
  ranks_of_windows(const ranks_of_windows&) = delete;
  ranks_of_windows& operator=(const ranks_of_windows&) = delete;
  ~ranks_of_windows();

  MPI_Group group = MPI_GROUP_NULL;
  mpi::world world;
};

/// The locks of one window. Construction and destruction are collective over the window's communicator.
class companion {
 public:
  companion(std::shared_ptr<ranks_of_windows> of, bool several_threads);

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(held_.size()); }
  [[nodiscard]] hold held(int target) const { return held_[index(target)]; }
  /// Whether MPI_Win_lock_all holds all locks, and how.
  [[nodiscard]] hold held_all() const noexcept { return held_all_; }

  [[nodiscard]] bool several_threads() const noexcept { return several_threads_; }
  [[nodiscard]] bool holds_any() const noexcept {
    return held_all_ != hold::nothing ||
           std::any_of(held_.begin(), held_.end(), [](hold each) { return each != hold::nothing; });
  }
  /// Whether this is rank 0 of the window.
  [[nodiscard]] bool is_first() const noexcept { return of_->world.rank() == 0; }

  /// Waits for the lock of a target that this process does not hold.
  void acquire(int target, hold how);
  void release(int target);
  void acquire_all(hold how);
  void release_all();
  /// Counts an acquisition, once the MPI library has let it pass.
  void count(int target);
  void count_all();

  /// Collective. Returns the sums at rank 0 of the window.
  [[nodiscard]] summary add_up(const std::string& name);

 private:
  /// Lock if all ranks are on one node.
  using lock_in_node = near_rw_lock<mpi::world, fissile_lock<mpi::world>>;
  /// Lock if they are not.
  using lock_at_target = cohort_rw_ticket_lock<mpi::world, fissile_lock<mpi::world>>;

  [[nodiscard]] static std::size_t index(int target) noexcept { return static_cast<std::size_t>(target); }
  void take(int target, bool exclusively);
  void give_back(int target, bool exclusively);
  template <typename Lock>
  [[nodiscard]] handover wait_for(Lock& lock, bool exclusively);
  /// Makes access to the counts exclusive if there are several threads.
  [[nodiscard]] std::unique_lock<std::mutex> counting();

  std::shared_ptr<ranks_of_windows> of_;
  bool several_threads_;
  std::variant<std::deque<lock_in_node>, std::deque<lock_at_target>> locks_;
  std::vector<hold> held_;
  hold held_all_ = hold::nothing;
  std::mutex counts_mutex_;
  counts counts_{};
};

/// Traits on which all ranks of a window have agreed.
struct companion_traits {
  bool several_threads = false;  ///< one of them may call MPI from several threads at once
  bool is_tested = false;        ///< all have seen that this MPI can do what nearfar needs
};

/// Whether this process may call MPI from several threads at the same time.
[[nodiscard]] bool has_several_threads();

/// Whether this process has seen, in a world of all ranks, that this MPI can do what nearfar needs.
[[nodiscard]] bool has_tested_all_ranks() noexcept;

/// Collective. Makes a companion, in a world that it shares with other windows of the same ranks unless they
/// have several threads. If this MPI cannot do what the locks need, returns none, and the reason, on all
/// ranks alike.
[[nodiscard]] std::unique_ptr<companion> make_companion(MPI_Comm comm, const companion_traits& traits,
                                                        std::string& reason);

/// Frees what is kept for future windows. Collective over MPI_COMM_WORLD, at the end.
void free_kept();

}  // namespace nearfar::pmpi
