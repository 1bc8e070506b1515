/// \file
/// Reader-writer lock in near memory, for the ranks of one node: a turnstile that all ranks pass, and a count
/// of the readers that are in.
///
/// Source: P. Courtois, F. Heymans, D. Parnas, "Concurrent control with 'readers' and 'writers'", 1971, doi
/// 10.1145/362759.362813, for the order in which readers and writers pass one after the other. A turnstile in
/// front of both makes it fair, as in textbooks. Here the turnstile is the writers' lock. That any near lock
/// may be the turnstile is nearfar's.
///
/// A reader passes the turnstile, counts itself and leaves the turnstile open. A writer stays in the
/// turnstile and waits until no reader is counted.
///
/// Fairness: that of the turnstile; a rank that has passed it waits only for readers that passed before.
/// Progress: an acquiring rank waits for ranks that hold the lock, have passed the turnstile, or wait there
/// before it. No rank needs another's progress in MPI.
///
/// Cost: no far operations. Cache-line transfers: a writer that of the turnstile, and 1 if readers were in
/// since its last look; a reader those of the turnstile, and 1 at each end. Memory: 64 bytes of near memory
/// for each rank and that of the turnstile.
#pragma once

#include <concepts>
#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_lockable.hpp"
#include "nearfar/lock/shared_lockable.hpp"

namespace nearfar {

/// A near lock that readers and writers pass through.
template <typename T>
concept turnstile_of_rw_lock = requires(T& turnstile) {
  { turnstile.acquire_local() } -> std::same_as<typename T::grant>;
  turnstile.release_local(T::from_above);
};

/// Reader-writer lock for the ranks of one node. It has attempts if its turnstile has them. See the file's
/// comment.
template <near_world W, turnstile_of_rw_lock Turnstile = mcs_lock<W>>
class near_rw_lock : public shared_lockable<near_rw_lock<W, Turnstile>, W> {
  static constexpr bool can_try = requires(Turnstile& turnstile) { turnstile.try_acquire_local(); };

 public:
  using world_type = W;

  /// Collective. `home` keeps the words; `of_turnstile` are further constructor arguments of the turnstile.
  /// Throws `topology_error` unless all ranks are on one node.
  template <typename... OfTurnstile>
  explicit near_rw_lock(W& w, int home = 0, const OfTurnstile&... of_turnstile)
      : near_rw_lock::shared_lockable(w, {{"home", home}}),
        world_(&w),
        turnstile_(w, home, near_scope::world, of_turnstile...),
        counts_(w),
        readers_(&counts_.at(checked_rank(w, home)).readers) {}
  ~near_rw_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    const bool has_waited = turnstile_.acquire_local().waited;
    if (is_in()) return has_waited ? handover::local : handover::uncontended;
    world_->await(*readers_, [](count now) { return now == 0; });  // as (1)
    return handover::waited;
  }
  [[nodiscard]] bool try_acquire()
    requires can_try
  {
    if (!try_ask()) return false;
    if (is_in()) return true;
    release();
    return false;
  }
  void release() { turnstile_.release_local(Turnstile::from_above); }

  handover acquire_shared() {
    const bool has_waited = turnstile_.acquire_local().waited;
    pass();
    return has_waited ? handover::waited : handover::uncontended;
  }
  /// Also fails while another rank is passing the turnstile.
  [[nodiscard]] bool try_acquire_shared()
    requires can_try
  {
    if (!turnstile_.try_acquire_local()) return false;
    pass();
    return true;
  }
  void release_shared() { readers_->fetch_add(minus_one, std::memory_order_release); }  // (2)

  void downgrade() { pass(); }
  [[nodiscard]] bool try_upgrade()
    requires can_try
  {
    if (!turnstile_.try_acquire_local()) return false;
    const bool is_alone = readers_->load(std::memory_order_acquire) == 1;  // as (1)
    if (is_alone)
      readers_->store(0, std::memory_order_relaxed);
    else
      release();
    return is_alone;
  }

  // The same in steps, for a caller that waits by its own means: `try_ask` passes the turnstile as a writer,
  // and `is_in` says whether the readers have left as well.

  [[nodiscard]] bool try_ask()
    requires can_try
  {
    return turnstile_.try_acquire_local();
  }
  [[nodiscard]] bool is_in() const {
    return readers_->load(std::memory_order_acquire) == 0;  // (1) pairs with (2)
  }

 private:
  using count = std::uint32_t;
  static constexpr count minus_one = ~count{0};

  struct alignas(cache_line) counter {
    typename W::template near<count> readers{};
  };

  /// Leaves the turnstile as a reader. The turnstile's hand-over makes the count visible to the writer that
  /// passes it next.
  void pass() {
    readers_->fetch_add(1, std::memory_order_relaxed);
    turnstile_.release_local(Turnstile::from_above);
  }

  W* world_;
  Turnstile turnstile_;
  typename W::template near_segment<counter> counts_;
  typename W::template near<count>* readers_;
};

}  // namespace nearfar
