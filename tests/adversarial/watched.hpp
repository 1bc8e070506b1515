/// \file Runs checks on locks that may hang, and ends all the same.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/kinds/locks/any_lock.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/level_waits.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::testing {

/// No rank made progress, although some rank still wanted the lock.
struct stuck : error {
  using error::error;
};

/// State that the ranks of one watched run share.
struct progress_of_all {
  std::atomic<std::int64_t> unlocks = 0;
};

/// A lock with a referee. The last rank, the referee, never takes the lock. It watches the progress of the
/// others, and ends the team if they make none. Once the others are through, its own part follows. The
/// algorithm is used without `lockable`, whose `unlock` waits for a successor even in an ended team; a flawed
/// lock's successor may never come.
template <typename Lock>
class watched_lock final : public bench::any_lock<threads::world> {
 public:
  /// Collective. The other ranks lock and unlock `rounds` times each.
  watched_lock(threads::world& w, progress_of_all& all, int rounds)
      : world_(&w), all_(&all), expected_(std::int64_t{rounds} * (w.size() - 1)), lock_(w) {}

  void lock() override {
    if (is_referee())
      watch();
    else
      last_ = lock_.acquire();
  }
  void unlock() override {
    if (is_referee()) return;
    lock_.release();
    all_->unlocks.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_try_lock() const override {
    return !is_referee() && requires(Lock& lock) { lock.try_lock(); };
  }
  [[nodiscard]] bool try_lock() override {
    last_ = handover::uncontended;
    if constexpr (requires { lock_.try_lock(); })
      return lock_.try_acquire();
    else
      throw std::logic_error("this lock has no try_lock");
  }
  [[nodiscard]] handover last_handover() const override { return is_referee() ? handover::unknown : last_; }
  [[nodiscard]] std::optional<level_waits> last_waits() const override { return std::nullopt; }
  void lock_and_unlock() override {}
  bench::lock_counts run_ecsb(threads::world&, bench::exclusion_check<threads::world>&,
                              const bench::lock_plan&) override {
    return {};
  }

 private:
  [[nodiscard]] bool is_referee() const { return world_->rank() == world_->size() - 1; }

  /// The run is stuck if no rank has made progress while the referee had this many turns. The time that they
  /// take matters only if the referee has a processor to itself.
  void watch() const {
    constexpr int turns = 20'000;
    constexpr std::chrono::seconds a_while{1};
    std::int64_t before = -1;
    int quiet = 0;
    auto since = std::chrono::steady_clock::now();
    for (;;) {
      const std::int64_t now = all_->unlocks.load(std::memory_order_relaxed);
      if (now == expected_) return;
      if (now != before) {
        before = now;
        quiet = 0;
        since = std::chrono::steady_clock::now();
      } else if (++quiet > turns && std::chrono::steady_clock::now() - since > a_while) {
        throw stuck("stuck after " + std::to_string(now) + " of " + std::to_string(expected_) +
                    " acquisitions");
      }
      world_->progress();
      sched_yield();
    }
  }

  threads::world* world_;
  progress_of_all* all_;
  std::int64_t expected_;
  handover last_ = handover::uncontended;
  Lock lock_;
};

/// All complaints of the ranks, or the error that ended the run; empty if all is well.
inline std::string complaints(int ranks, const std::string& topology,
                              const std::function<std::string(threads::world&)>& check) {
  threads::options chosen;
  if (!topology.empty()) chosen.topology = topology_spec::parse(topology);
  std::mutex guard;
  std::string all;
  try {
    threads::run(
        ranks,
        [&](threads::world& w) {
          const std::string mine = check(w);
          const std::scoped_lock hold(guard);
          all += mine;
        },
        chosen);
  } catch (const error& caught) {
    all += caught.what();
  }
  return all;
}

}  // namespace nearfar::testing
