/// \file Checks for every reader-writer lock, in any world, like `conformance.hpp` for exclusive ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/kinds/rw_locks/any_rw_lock.hpp"
#include "nearfar/core/world.hpp"
#include "tests/lock/conformance.hpp"
#include "tests/lock/guarded.hpp"
#include "tests/lock/jitter.hpp"

namespace nearfar::testing {

/// Makes the lock under test. Collective.
template <nearfar::world W>
using rw_lock_maker = std::function<std::unique_ptr<bench::any_rw_lock<W>>(W&, int home)>;

/// The data of one reader-writer lock: two counts that are equal whenever no writer is in. They lie in memory
/// that is not atomic, so that ThreadSanitizer sees a missing order. Where the ranks share no memory, far
/// operations also access such counts.
template <nearfar::world W>
class rw_guarded {
 public:
  /// Collective.
  explicit rw_guarded(W& w, access how = access::plain) : world_(&w), how_(how), near_(w), far_(w) {}

  /// The caller holds the lock exclusively.
  void write(jitter& timing) {
    ++writes_;
    store(near_->first, load(near_->first, how_) + 1, how_);
    timing.pause();
    if (!near_.one_for_all()) far_.write();
    store(near_->second, load(near_->second, how_) + 1, how_);
  }
  /// The caller shares the lock.
  void read(jitter& timing) {
    const std::uint64_t second = load(near_->second, how_);
    timing.pause();
    if (!near_.one_for_all()) far_.read();
    if (load(near_->first, how_) != second) ++torn_;
  }

  /// The faults so far, or an empty text. Collective; the lock must be free.
  [[nodiscard]] std::string violations() {
    world_->barrier();
    const auto mine = static_cast<std::int64_t>(writes_);
    const auto counted = near_.is_keeper() ? static_cast<std::int64_t>(load(near_->second, how_)) : 0;
    const auto sums = world_->sum_over_ranks({mine - counted, static_cast<std::int64_t>(torn_)});
    const std::int64_t far_faults = near_.one_for_all() ? 0 : far_.faults();
    world_->barrier();
    std::string result;
    if (sums[0] != 0) result += " " + std::to_string(sums[0]) + " writes were lost.";
    if (sums[1] != 0) result += " " + std::to_string(sums[1]) + " reads saw a writer at work.";
    if (far_faults != 0) result += " " + std::to_string(far_faults) + " faults in far memory.";
    return result.empty() ? result : "exclusion:" + result;
  }

 private:
  struct alignas(cache_line) words {
    std::uint64_t first = 0;
    alignas(cache_line) std::uint64_t second = 0;
  };

  W* world_;
  access how_;
  shared_words<W, words> near_;
  bench::rw_check<W> far_;
  std::uint64_t writes_ = 0;
  std::uint64_t torn_ = 0;
};

/// All ranks at once, in every way that the lock offers, in random turns.
template <nearfar::world W>
[[nodiscard]] std::string check_rw_exclusion(W& w, bench::any_rw_lock<W>& lock, rw_guarded<W>& inside,
                                             const effort& much) {
  using namespace std::chrono_literals;
  jitter timing(much.seed, w.rank());
  const auto can = lock.can();
  w.barrier();
  for (int round = 0; round < much.rounds; ++round) {
    timing.pause();
    const bool timed = timing.below(4) == 0;
    if (timing.below(4) == 0) {
      bool held = can.tries && timing.below(3) == 0 && lock.try_lock();
      if (!held && timed && can.tries_until) held = lock.try_lock_until(w.now() + 2us);
      if (!held) lock.lock();
      inside.write(timing);
      if (can.downgrades && timing.below(3) == 0) {
        lock.unlock_and_lock_shared();
        inside.read(timing);
        lock.unlock_shared();
      } else {
        lock.unlock();
      }
    } else {
      bool held = can.tries_shared && timing.below(3) == 0 && lock.try_lock_shared();
      if (!held && timed && can.tries_shared_until) held = lock.try_lock_shared_until(w.now() + 2us);
      if (!held) lock.lock_shared();
      inside.read(timing);
      if (can.upgrades && timing.below(4) == 0 && lock.try_unlock_shared_and_lock()) {
        inside.write(timing);
        lock.unlock();
      } else {
        lock.unlock_shared();
      }
    }
  }
  return inside.violations();
}

/// All ranks are in at once as readers. They would wait for ever in a lock that does not share.
template <nearfar::world W>
[[nodiscard]] std::string check_readers_meet(W& w, bench::any_rw_lock<W>& lock) {
  for (int time = 0; time < 3; ++time) {
    lock.lock_shared();
    w.barrier();
    lock.unlock_shared();
    if (w.rank() == time % w.size()) {
      lock.lock();
      lock.unlock();
    }
    // Without this barrier the writer would wait for a reader that has come in again and waits for the
    // writer.
    w.barrier();
  }
  return {};
}

/// The attempts that fail while one rank holds the lock, in either way. A failed attempt must leave nothing
/// behind.
template <nearfar::world W>
[[nodiscard]] std::string check_rw_tries(W& w, bench::any_rw_lock<W>& lock, const effort& much) {
  std::string complaint;
  rw_guarded<W> inside(w, much.how);
  jitter timing(much.seed, w.rank());
  const auto can = lock.can();
  const auto expect = [&](bool is_so, const char* what) {
    if (!is_so) complaint += std::string(what) + "; ";
  };
  const auto attempts = [&](bool shared_is_free) {
    if (can.tries) {
      const bool took = lock.try_lock();
      expect(!took, "try_lock took a lock that another rank held");
      if (took) lock.unlock();
    }
    if (can.tries_until) {
      const bool took = lock.try_lock_until(w.now());
      expect(!took, "try_lock_until took a lock that another rank held");
      if (took) lock.unlock();
    }
    // A writer's attempt may be under way at another rank. For readers' attempts only this is promised then.
    if (can.tries_shared && lock.try_lock_shared()) {
      expect(shared_is_free, "try_lock_shared took a lock that a writer held");
      inside.read(timing);
      lock.unlock_shared();
    }
    if (can.tries_shared_until && lock.try_lock_shared_until(w.now())) {
      expect(shared_is_free, "try_lock_shared_until took a lock that a writer held");
      inside.read(timing);
      lock.unlock_shared();
    }
  };
  for (int holder = 0; holder < w.size(); ++holder) {
    const bool is_me = w.rank() == holder;
    if (is_me && can.tries) {
      expect(lock.try_lock(), "try_lock failed on a free lock");
      inside.write(timing);
      w.barrier();
      w.barrier();
      if (can.downgrades) {
        lock.unlock_and_lock_shared();
      } else {
        lock.unlock();
        lock.lock_shared();
      }
    } else if (is_me) {
      lock.lock();
      w.barrier();
      w.barrier();
      lock.unlock();
      lock.lock_shared();
    } else {
      w.barrier();
      attempts(false);
      w.barrier();
    }
    w.barrier();
    if (!is_me) {
      if (w.size() == 2 && can.tries_shared) {
        const bool took = lock.try_lock_shared();
        expect(took, "try_lock_shared failed beside a reader");
        if (took) lock.unlock_shared();
      }
      attempts(true);
    }
    w.barrier();
    if (is_me && can.upgrades) {
      expect(lock.try_unlock_shared_and_lock(), "the only reader could not upgrade");
      inside.write(timing);
      lock.unlock();
    } else if (is_me) {
      lock.unlock_shared();
    }
    w.barrier();
    // Two readers that both want to upgrade: neither may do so.
    lock.lock_shared();
    w.barrier();
    if (can.upgrades && w.size() > 1)
      expect(!lock.try_unlock_shared_and_lock(), "a reader upgraded beside another");
    w.barrier();
    lock.unlock_shared();
    // All ranks at once would find here what a failed attempt has left behind.
    lock.lock();
    inside.write(timing);
    lock.unlock();
    w.barrier();
  }
  return complaint + inside.violations();
}

/// Several locks are made and destroyed again and again, with different homes.
template <nearfar::world W>
[[nodiscard]] std::string check_rw_remade(W& w, const rw_lock_maker<W>& make, int times, const effort& much) {
  std::string complaint;
  for (int time = 0; time < times; ++time) {
    const auto first = make(w, time % w.size());
    const auto second = make(w, 0);
    rw_guarded<W> inside_first(w, much.how);
    rw_guarded<W> inside_second(w, much.how);
    const auto seed = much.seed + static_cast<std::uint32_t>(time);
    complaint += check_rw_exclusion(w, *first, inside_first, {much.rounds, seed, much.how});
    complaint += check_rw_exclusion(w, *second, inside_second, {3, seed, much.how});
  }
  return complaint;
}

}  // namespace nearfar::testing
