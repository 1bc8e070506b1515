#include "companion.hpp"

#include <mpi.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace nearfar::pmpi {

namespace {

[[nodiscard]] bool has_several_threads() {
  int level = MPI_THREAD_SINGLE;
  mpi::check(PMPI_Query_thread(&level), "MPI_Query_thread");
  return level == MPI_THREAD_MULTIPLE;
}

[[nodiscard]] int size_of(MPI_Comm comm) {
  int ranks = 0;
  mpi::check(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

/// For the locks of four windows: 448 bytes of far memory for each lock, 320 of near memory, and 8 for each
/// rank of a node, which may be all.
[[nodiscard]] mpi::options options_for(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  mpi::options result;
  result.far_bytes = 65'536 + 4 * count * (768 + 8 * count);
  result.near_bytes = result.far_bytes;
  // What else runs beside a program that is not ours is not known; a yield to nobody costs little.
  result.oversubscribed = true;
  return result;
}

/// Those that windows have, in the order in which they were made. Ranks of a communicator have made theirs
/// together, so that all find the same one.
std::vector<std::weak_ptr<ranks_of_windows>> known;

/// Those of all ranks, and of this one alone: programs make windows of them again and again, and all ranks
/// have them at the end. Others go with their last window.
std::vector<std::shared_ptr<ranks_of_windows>> kept;

void keep_if_all_or_one(const std::shared_ptr<ranks_of_windows>& one) {
  MPI_Group all = MPI_GROUP_NULL;
  int how = MPI_UNEQUAL;
  mpi::check(PMPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  mpi::check(PMPI_Group_compare(all, one->group, &how), "MPI_Group_compare");
  mpi::check(PMPI_Group_free(&all), "MPI_Group_free");
  if (how == MPI_IDENT || one->world.size() == 1) kept.push_back(one);
}

/// Those of the same ranks, the newest first, which has room most likely.
[[nodiscard]] std::vector<std::shared_ptr<ranks_of_windows>> find(MPI_Comm comm) {
  std::erase_if(known, [](const auto& one) { return one.expired(); });
  MPI_Group group = MPI_GROUP_NULL;
  mpi::check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
  std::vector<std::shared_ptr<ranks_of_windows>> found;
  for (const std::weak_ptr<ranks_of_windows>& each : std::views::reverse(known)) {
    std::shared_ptr<ranks_of_windows> one = each.lock();
    int how = MPI_UNEQUAL;
    mpi::check(PMPI_Group_compare(group, one->group, &how), "MPI_Group_compare");
    if (how == MPI_IDENT) found.push_back(std::move(one));
  }
  mpi::check(PMPI_Group_free(&group), "MPI_Group_free");
  return found;
}

}  // namespace

ranks_of_windows::ranks_of_windows(MPI_Comm comm) : world(comm, options_for(size_of(comm))) {
  mpi::check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
}
ranks_of_windows::~ranks_of_windows() { PMPI_Group_free(&group); }

companion::companion(std::shared_ptr<ranks_of_windows> of, bool several_threads)
    : of_(std::move(of)), several_threads_(several_threads), held_(index(of_->world.size()), hold::nothing) {
  for (int target = 0; target < ranks(); ++target) locks_.emplace_back(of_->world, target);
}

std::unique_lock<std::mutex> companion::alone() {
  return several_threads_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
}

/// Threads that wait by turns do not keep each other from releasing what is waited for; they have no place in
/// a queue, and come when the lock is free.
void companion::take(int target, bool exclusively) {
  lock_type& lock = locks_[index(target)];
  const auto start = of_->world.now();
  handover how = handover::uncontended;
  if (!several_threads_) {
    if (exclusively)
      lock.lock();
    else
      lock.lock_shared();
    how = lock.last_handover();
  } else {
    for (bool succeeded = false; !succeeded;) {
      {
        const auto hold_it = alone();
        succeeded = exclusively ? lock.try_lock() : lock.try_lock_shared();
      }
      if (!succeeded) {
        how = handover::waited;
        sched_yield();
      }
    }
  }
  if (how == handover::uncontended) return;
  const auto hold_it = alone();
  ++counts_.waited;
  if (how == handover::local) ++counts_.local;
  if (how == handover::remote) ++counts_.remote;
  counts_.waiting_ns += (of_->world.now() - start).count();
}

void companion::give_back(int target, bool exclusively) {
  const auto hold_it = alone();
  if (exclusively)
    locks_[index(target)].unlock();
  else
    locks_[index(target)].unlock_shared();
}

void companion::acquire(int target, hold how) {
  if (how != hold::unchecked) take(target, how == hold::exclusive);
  const auto hold_it = alone();
  held_[index(target)] = how;
  ++(how == hold::unchecked   ? counts_.unchecked
     : how == hold::exclusive ? counts_.exclusive
                              : counts_.shared);
}

void companion::release(int target) {
  const hold how = std::exchange(held_[index(target)], hold::nothing);
  if (how == hold::exclusive || how == hold::shared) give_back(target, how == hold::exclusive);
}

void companion::acquire_all(hold how) {
  if (how != hold::unchecked)
    for (int target = 0; target < ranks(); ++target) take(target, false);
  const auto hold_it = alone();
  held_all_ = how;
  ++(how == hold::unchecked ? counts_.unchecked : counts_.all);
}

void companion::release_all() {
  if (std::exchange(held_all_, hold::nothing) == hold::unchecked) return;
  for (int target = 0; target < ranks(); ++target) give_back(target, false);
}

summary companion::add_up(const std::string& name) {
  const counts& mine = counts_;
  const std::vector<std::int64_t> sums =
      of_->world.sum_over_ranks({mine.exclusive, mine.shared, mine.all, mine.unchecked, mine.waited,
                                 mine.local, mine.remote, mine.waiting_ns});
  return {.name = name,
          .ranks = ranks(),
          .of_all = {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]}};
}

std::unique_ptr<companion> make_companion(MPI_Comm comm, std::string& reason) {
  const bool several_threads = has_several_threads();
  try {
    // Threads may make windows of the same ranks at the same time, so that these have nothing in common.
    if (several_threads) return std::make_unique<companion>(std::make_shared<ranks_of_windows>(comm), true);
    const std::vector<std::shared_ptr<ranks_of_windows>> same = find(comm);
    for (const std::shared_ptr<ranks_of_windows>& each : same) {
      try {
        return std::make_unique<companion>(each, false);
      } catch (const out_of_memory&) {
        // On all ranks: that world is full.
      }
    }
    const auto fresh = std::make_shared<ranks_of_windows>(comm);
    if (same.empty()) keep_if_all_or_one(fresh);
    known.push_back(fresh);
    return std::make_unique<companion>(fresh, false);
  } catch (const mpi::mpi_error&) {
    throw;  // perhaps on this rank alone
  } catch (const error& problem) {
    reason = problem.what();
    return nullptr;
  }
}

void free_kept() { kept.clear(); }

}  // namespace nearfar::pmpi
