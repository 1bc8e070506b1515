/// \file
/// Locks with one flaw each, which the checks of conformance.hpp have to find.
#pragma once

#include <sched.h>

#include <cstdint>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/mcs_lock.hpp"

namespace nearfar::testing {

/// The flaw of a `flawed_mcs_lock`.
enum class flaw : std::uint8_t {
  none,                   ///< a right lock: the checks must not complain about it
  no_queue_reset,         ///< the word for the successor still names the earlier successor
  no_grant_reset,         ///< the word that the predecessor writes keeps its old value
  torn_swap,              ///< the tail is read and then written
  released_too_early,     ///< hands over before the critical section
  successor_forgotten,    ///< does not wait for a successor that has yet to register
  never_handed_over,      ///< does not hand over to a registered successor
  tries_without_looking,  ///< try_lock always succeeds
  tries_by_queueing,      ///< a failed try_lock stays in the queue
  claims_local,           ///< always reports a hand-over from its own node
  claims_remote,          ///< always reports a hand-over from another node
};

/// MCS over far words, with a flaw.
template <world W, flaw Flaw>
class flawed_mcs_lock : public lockable<flawed_mcs_lock<W, Flaw>, W> {
 public:
  explicit flawed_mcs_lock(W& w, int home = 0)
      : flawed_mcs_lock::lockable(w, {{"home", home}}),
        world_(&w),
        words_(w),
        home_(home),
        rank_(w.rank()),
        self_(to_word(rank_)) {}
  ~flawed_mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  handover acquire() {
    reset();
    const rank_word predecessor = swap_tail();
    if (predecessor != nobody) {
      sched_yield();  // a moment in which the rank is in the queue and its predecessor cannot know that
      words_.put(to_rank(predecessor), &words::next, self_);
      words_.flush(to_rank(predecessor));
      world_->await_direct(words_, rank_, &words::granted,
                           [](std::uint64_t granted) { return granted != 0; });
    }
    if constexpr (Flaw == flaw::released_too_early) leave();
    if constexpr (Flaw == flaw::claims_local) return handover::local;
    if constexpr (Flaw == flaw::claims_remote) return handover::remote;
    return predecessor == nobody ? handover::uncontended : handover::waited;
  }

  [[nodiscard]] bool try_acquire() {
    if constexpr (Flaw == flaw::tries_without_looking) return true;
    reset();
    if constexpr (Flaw == flaw::tries_by_queueing) return swap_tail() == nobody;
    rank_word seen = nobody;
    words_.compare_and_swap(home_, &words::tail, nobody, self_, seen);
    words_.flush(home_);
    if constexpr (Flaw == flaw::released_too_early)
      if (seen == nobody) leave();
    return seen == nobody;
  }

  void release() {
    if constexpr (Flaw != flaw::released_too_early) leave();
  }

 private:
  struct alignas(slot_bytes) words {
    far<rank_word> tail;
    alignas(slot_bytes) far<rank_word> next;
    far<std::uint64_t> granted;
  };
  static constexpr std::uint64_t yes = 1;

  void reset() {
    if constexpr (Flaw != flaw::no_queue_reset) words_.write_direct(rank_, &words::next, nobody);
    if constexpr (Flaw != flaw::no_grant_reset) words_.write_direct(rank_, &words::granted, std::uint64_t{0});
  }

  [[nodiscard]] rank_word swap_tail() {
    rank_word old = nobody;
    if constexpr (Flaw == flaw::torn_swap) {
      words_.get(home_, &words::tail, old);
      words_.flush(home_);
      sched_yield();
      words_.put(home_, &words::tail, self_);
    } else {
      words_.swap(home_, &words::tail, self_, old);
    }
    words_.flush(home_);
    return old;
  }

  void leave() {
    rank_word successor = words_.read_direct(rank_, &words::next);
    if (successor == nobody) {
      rank_word seen = nobody;
      words_.compare_and_swap(home_, &words::tail, self_, nobody, seen);
      words_.flush(home_);
      if (seen == self_ || Flaw == flaw::successor_forgotten) return;
      successor =
          world_->await_direct(words_, rank_, &words::next, [](rank_word next) { return next != nobody; });
    }
    if constexpr (Flaw == flaw::never_handed_over) return;
    words_.put(to_rank(successor), &words::granted, yes);
    words_.flush(to_rank(successor));
  }

  W* world_;
  typename W::template far_segment<words> words_;
  int home_;
  int rank_;
  rank_word self_;
};

/// A lock that does nothing.
template <world W>
class no_lock : public lockable<no_lock<W>, W> {
 public:
  explicit no_lock(W& w, int home = 0) : no_lock::lockable(w, {{"home", home}}) {}
  ~no_lock() noexcept(!checked_build) { this->expect_not_held(); }
  handover acquire() { return handover::uncontended; }
  [[nodiscard]] bool try_acquire() { return true; }
  void release() {}
};

/// The flaw of a `flawed_cohort_lock`.
enum class cohort_flaw : std::uint8_t {
  none,
  passed_on_after_giving_up,  ///< the next rank of the node believes that the node still has the global lock
  local_only,                 ///< no global lock at all
  unlimited,                  ///< hands over within the node for ever
};

/// A cohort lock with a flaw and a limit of `max_passes` hand-overs within a node.
template <world W, cohort_flaw Flaw>
class flawed_cohort_lock : public lockable<flawed_cohort_lock<W, Flaw>, W> {
 public:
  static constexpr int max_passes = 2;

  explicit flawed_cohort_lock(W& w, int home = 0)
      : flawed_cohort_lock::lockable(w, {{"home", home}}),
        global_(w, home),
        local_(w, home, near_scope::node) {}
  ~flawed_cohort_lock() noexcept(!checked_build) { this->expect_not_held(); }

  handover acquire() {
    const auto grant = local_.acquire_local();
    passes_ = grant.passes;
    if (passes_ != local::from_above) return handover::local;
    if constexpr (Flaw != cohort_flaw::local_only) global_.acquire();
    return handover::waited;
  }

  void release() {
    const bool may_pass = !local_.alone() && (passes_ < max_passes || Flaw == cohort_flaw::unlimited);
    const auto passes = static_cast<typename local::status>(passes_ < max_passes ? passes_ + 1 : max_passes);
    if (may_pass && Flaw != cohort_flaw::passed_on_after_giving_up) return local_.release_local(passes);
    if constexpr (Flaw != cohort_flaw::local_only) global_.release();
    local_.release_local(may_pass ? passes : local::from_above);
  }

 private:
  using local = mcs_lock<W>;
  dash_lock<W, dash_policy{.queued = participant::node}> global_;
  local local_;
  typename local::status passes_ = local::from_above;
};

}  // namespace nearfar::testing
