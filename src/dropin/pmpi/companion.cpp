#include "companion.hpp"

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/level.hpp"

namespace nearfar::pmpi {

namespace {

[[nodiscard]] int size_of(MPI_Comm comm) {
  int ranks = 0;
  mpi::check(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

/// Sized for the locks of four windows: 64 bytes of far memory for each lock, and at most 192 of near memory.
[[nodiscard]] mpi::options options_for(int ranks, bool is_tested) {
  const auto count = static_cast<std::size_t>(ranks);
  mpi::options result;
  result.far_bytes = 65'536 + 4 * count * 64;
  result.near_bytes = 65'536 + 4 * count * 192;
  result.self_test = !is_tested;
  return result;
}

/// Set by any thread once a world of all ranks has passed its test.
std::atomic<bool> is_tested_among_all = false;

/// The worlds of existing windows, in the order in which they were made. The ranks of a communicator make
/// theirs together, so that all of them find the same one.
std::vector<std::weak_ptr<ranks_of_windows>> known;

/// The worlds of all ranks, and of this rank alone. Programs make windows of these again and again, and all
/// ranks have them at the end. Other worlds end with their last window.
std::vector<std::shared_ptr<ranks_of_windows>> kept;

void keep_if_all_or_one(const std::shared_ptr<ranks_of_windows>& one) {
  MPI_Group all = MPI_GROUP_NULL;
  int how = MPI_UNEQUAL;
  mpi::check(PMPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  mpi::check(PMPI_Group_compare(all, one->group, &how), "MPI_Group_compare");
  mpi::check(PMPI_Group_free(&all), "MPI_Group_free");
  if (how == MPI_IDENT || one->world.size() == 1) kept.push_back(one);
}

/// The known worlds of the same ranks. The newest comes first, since it most likely has room.
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

ranks_of_windows::ranks_of_windows(MPI_Comm comm, bool is_tested)
    : world(comm, options_for(size_of(comm), is_tested)) {
  mpi::check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
}
ranks_of_windows::~ranks_of_windows() { PMPI_Group_free(&group); }

namespace {

// Steps of a lock that wait for neither its holder nor the waiting ranks: whether this rank has a place in
// the order, if the lock keeps one, and whether its turn has come.

template <typename Lock>
[[nodiscard]] bool has_asked(Lock& lock, bool exclusively) {
  if constexpr (requires { lock.at_home(); })
    return exclusively ? lock.at_home().try_ask() : lock.at_home().try_ask_shared();
  else
    return exclusively ? lock.try_ask() : lock.try_acquire_shared();
}
template <typename Lock>
[[nodiscard]] bool is_in(Lock& lock, bool exclusively) {
  if constexpr (requires { lock.at_home(); })
    return exclusively ? lock.at_home().is_in() : lock.at_home().is_in_shared();
  else
    return !exclusively || lock.is_in();
}

/// The most writers of a node that follow each other while others wait at the target, less one. It is small,
/// since the lock cannot tell whether the waiting ones are many readers or one.
constexpr int local_passes = 15;

template <typename Locks>
void make_lock(Locks& locks, mpi::world& w, int target) {
  if constexpr (requires { locks.front().at_home(); })
    locks.emplace_back(w, target, local_passes);
  else
    locks.emplace_back(w, target);
}

}  // namespace

companion::companion(std::shared_ptr<ranks_of_windows> of, bool several_threads)
    : of_(std::move(of)), several_threads_(several_threads), held_(index(of_->world.size()), hold::nothing) {
  mpi::world& w = of_->world;
  if (w.locality().groups(level::node) > 1) locks_.emplace<std::deque<lock_at_target>>();
  std::visit(
      [&](auto& locks) {
        for (int target = 0; target < ranks(); ++target) make_lock(locks, w, target);
      },
      locks_);
}

std::unique_lock<std::mutex> companion::counting() {
  return several_threads_ ? std::unique_lock(counts_mutex_) : std::unique_lock<std::mutex>();
}

/// Several threads may wait at the same time. They do so in steps, none of which uses the world except for
/// its progress. The world and each lock are used by one thread at a time, which the MPI library ensures. No
/// step runs under a lock of this process, since a step may last until its target makes progress.
template <typename Lock>
handover companion::wait_for(Lock& lock, bool exclusively) {
  if (!several_threads_) return exclusively ? lock.acquire() : lock.acquire_shared();
  bool has_waited = false;
  const auto wait_until = [&](bool (*step)(Lock&, bool)) {
    while (!step(lock, exclusively)) {
      has_waited = true;
      of_->world.progress();
      sched_yield();
    }
  };
  wait_until(&has_asked<Lock>);
  const bool came_after_another = has_waited && exclusively && std::same_as<Lock, lock_in_node>;
  wait_until(&is_in<Lock>);
  if (!has_waited) return handover::uncontended;
  return came_after_another ? handover::local : handover::waited;
}

void companion::take(int target, bool exclusively) {
  // Before reading the clock, which takes as long.
  if (auto* in_node = std::get_if<std::deque<lock_in_node>>(&locks_); in_node && !several_threads_) {
    lock_in_node& lock = (*in_node)[index(target)];
    if (exclusively ? lock.try_acquire() : lock.try_acquire_shared()) return;
  }
  const auto start = of_->world.now();
  const handover how =
      std::visit([&](auto& locks) { return wait_for(locks[index(target)], exclusively); }, locks_);
  if (how == handover::uncontended) return;
  const auto hold_it = counting();
  ++counts_.waited;
  if (how == handover::local) ++counts_.local;
  counts_.waiting_ns += (of_->world.now() - start).count();
}

void companion::give_back(int target, bool exclusively) {
  const auto give = [exclusively](auto& lock) {
    if (exclusively)
      lock.release();
    else
      lock.release_shared();
  };
  if (auto* in_node = std::get_if<std::deque<lock_in_node>>(&locks_)) return give((*in_node)[index(target)]);
  lock_at_target& lock = std::get<std::deque<lock_at_target>>(locks_)[index(target)];
  if (several_threads_)
    give(lock.at_home());
  else
    give(lock);
}

void companion::acquire(int target, hold how) {
  if (how != hold::unchecked) take(target, how == hold::exclusive);
  held_[index(target)] = how;
}

void companion::release(int target) {
  const hold how = std::exchange(held_[index(target)], hold::nothing);
  if (how == hold::exclusive || how == hold::shared) give_back(target, how == hold::exclusive);
}

void companion::count(int target) {
  const hold how = held_[index(target)];
  const auto hold_it = counting();
  ++(how == hold::unchecked   ? counts_.unchecked
     : how == hold::exclusive ? counts_.exclusive
                              : counts_.shared);
}

void companion::acquire_all(hold how) {
  if (how != hold::unchecked)
    for (int target = 0; target < ranks(); ++target) take(target, false);
  held_all_ = how;
}

void companion::release_all() {
  const hold how = std::exchange(held_all_, hold::nothing);
  if (how != hold::shared) return;
  for (int target = 0; target < ranks(); ++target) give_back(target, false);
}

void companion::count_all() {
  const auto hold_it = counting();
  ++(held_all_ == hold::unchecked ? counts_.unchecked : counts_.all);
}

summary companion::add_up(const std::string& name) {
  const counts& mine = counts_;
  const std::vector<std::int64_t> sums = of_->world.sum_over_ranks(
      {mine.exclusive, mine.shared, mine.all, mine.unchecked, mine.waited, mine.local, mine.waiting_ns});
  return {.name = name,
          .ranks = ranks(),
          .of_all = {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6]}};
}

bool has_several_threads() {
  int level = MPI_THREAD_SINGLE;
  mpi::check(PMPI_Query_thread(&level), "MPI_Query_thread");
  return level == MPI_THREAD_MULTIPLE;
}

bool has_tested_all_ranks() noexcept { return is_tested_among_all; }

std::unique_ptr<companion> make_companion(MPI_Comm comm, const companion_traits& traits,
                                          std::string& reason) {
  const auto make_in = [&](const std::shared_ptr<ranks_of_windows>& of) {
    auto result = std::make_unique<companion>(of, traits.several_threads);
    if (of->world.size() == size_of(MPI_COMM_WORLD)) is_tested_among_all = true;
    return result;
  };
  try {
    // Threads may make windows of the same ranks at the same time, so their windows share nothing.
    if (traits.several_threads) return make_in(std::make_shared<ranks_of_windows>(comm, traits.is_tested));
    const std::vector<std::shared_ptr<ranks_of_windows>> same = find(comm);
    for (const std::shared_ptr<ranks_of_windows>& each : same) {
      try {
        return make_in(each);
      } catch (const out_of_memory&) {
        // On all ranks: that world is full.
      }
    }
    const auto fresh = std::make_shared<ranks_of_windows>(comm, traits.is_tested);
    if (same.empty()) keep_if_all_or_one(fresh);
    known.push_back(fresh);
    return make_in(fresh);
  } catch (const mpi::mpi_error&) {
    throw;  // perhaps on this rank alone
  } catch (const error& problem) {
    reason = problem.what();
    return nullptr;
  }
}

void free_kept() { kept.clear(); }

}  // namespace nearfar::pmpi
