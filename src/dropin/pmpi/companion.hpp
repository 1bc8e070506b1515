/// \file
/// What a window of the program's has beside it: a reader-writer lock for each of its ranks, as targets.
///
/// Nobody who waits for one of them may need another rank than the target to make progress in MPI: the
/// library's own locks do not, so that a program may let any other wait outside of MPI.
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

/// How a target is locked by this process.
enum class hold : std::uint8_t {
  nothing,
  unchecked,  ///< MPI_MODE_NOCHECK: by MPI alone
  shared,
  exclusive,
};

/// What this rank has counted, of one window; added up over its ranks at the end.
struct counts {
  std::int64_t exclusive = 0;
  std::int64_t shared = 0;  ///< by MPI_Win_lock
  std::int64_t all = 0;     ///< MPI_Win_lock_all, each of which takes every target's lock, shared
  std::int64_t unchecked = 0;
  std::int64_t waited = 0;  ///< exclusive or shared, of which each target of a lock_all is one
  std::int64_t local = 0;   ///< of those handed over in the memory of a node
  std::int64_t waiting_ns = 0;
};

/// Of one window.
struct summary {
  std::string name;
  int ranks = 0;
  counts of_all;
};

/// A world, and whose it is: windows of the same ranks share one. Constructing and destroying it is
/// collective.
struct ranks_of_windows {
  ranks_of_windows(MPI_Comm comm, bool is_tested);
  ranks_of_windows(const ranks_of_windows&) = delete;
  ranks_of_windows& operator=(const ranks_of_windows&) = delete;
  ~ranks_of_windows();

  MPI_Group group = MPI_GROUP_NULL;
  mpi::world world;
};

/// The locks of one window. Constructing and destroying it is collective over the window's communicator.
class companion {
 public:
  companion(std::shared_ptr<ranks_of_windows> of, bool several_threads);

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(held_.size()); }
  [[nodiscard]] hold held(int target) const { return held_[index(target)]; }
  /// Whether MPI_Win_lock_all holds them, and how.
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
  /// Counts what was acquired, once the library has let it pass.
  void count(int target);
  void count_all();

  /// Collective; what rank 0 of the window gets.
  [[nodiscard]] summary add_up(const std::string& name);

 private:
  /// Where all ranks are on one node.
  using lock_in_node = near_rw_lock<mpi::world, fissile_lock<mpi::world>>;
  /// Where they are not.
  using lock_at_target = cohort_rw_ticket_lock<mpi::world, fissile_lock<mpi::world>>;

  [[nodiscard]] static std::size_t index(int target) noexcept { return static_cast<std::size_t>(target); }
  void take(int target, bool exclusively);
  void give_back(int target, bool exclusively);
  template <typename Lock>
  [[nodiscard]] handover wait_for(Lock& lock, bool exclusively);
  /// Counts are one thread's at a time.
  [[nodiscard]] std::unique_lock<std::mutex> counting();

  std::shared_ptr<ranks_of_windows> of_;
  bool several_threads_;
  std::variant<std::deque<lock_in_node>, std::deque<lock_at_target>> locks_;
  std::vector<hold> held_;
  hold held_all_ = hold::nothing;
  std::mutex counts_mutex_;
  counts counts_{};
};

/// What all ranks of a window know alike.
struct companion_traits {
  bool several_threads = false;  ///< one of them may call MPI from several at the same time
  bool is_tested = false;        ///< all have seen that this MPI can do what nearfar needs
};

/// Whether this process may call MPI from several threads at the same time.
[[nodiscard]] bool has_several_threads();

/// Whether this process has seen that this MPI can do what nearfar needs, among all ranks.
[[nodiscard]] bool has_tested_all_ranks() noexcept;

/// Makes one, in a world that it shares with other windows of the same ranks unless they have several
/// threads. Returns none, and the reason, if this MPI cannot do what the locks need; on all ranks alike.
/// Collective.
[[nodiscard]] std::unique_ptr<companion> make_companion(MPI_Comm comm, const companion_traits& traits,
                                                        std::string& reason);

/// What is kept for windows to come. Collective over MPI_COMM_WORLD, at the end.
void free_kept();

}  // namespace nearfar::pmpi
