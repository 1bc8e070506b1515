/// \file
/// Reader-writer lock that is an exclusive lock until a rank first shares it: for locks of which it is not
/// known whether they will ever be shared.
///
/// Source: nearfar's own. It is the reverse of D. Dice, A. Kogan, "BRAVO - Biased locking for reader-writer
/// locks", USENIX ATC 2019, whose locks provide for writers only once one comes; this one provides for
/// readers only once one comes.
///
/// Until then a writer takes the exclusive lock alone. The first reader takes it too, marks the lock as
/// shared at each node, and releases the exclusive lock. A writer checks the mark once it has the exclusive
/// lock. So it either is in before the first reader marks the lock, or finds the mark. A rank that has found
/// the mark never takes the exclusive lock again, and takes the reader-writer lock. The first reader writes
/// the mark at a node once, by far operations that complete before it releases the exclusive lock; other
/// ranks read it in place. A rank may see the mark early without harm, since only the first reader has the
/// exclusive lock then.
///
/// Fairness: that of the exclusive lock, then that of the reader-writer lock; a rank that waits during the
/// change waits in both, once. Progress: an acquiring rank waits as in both locks.
///
/// Cost: until the lock is shared that of the exclusive lock, and a load in place. The first reader 1 put for
/// each node, all at once; each other rank at most one acquisition of the exclusive lock in vain. From then
/// on that of the reader-writer lock, and a load in place at each rank's first acquisition. Memory: that of
/// both locks, and 64 bytes of far memory for each rank.
#pragma once

#include <concepts>
#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/shared_lockable.hpp"

namespace nearfar {

/// Reader-writer lock for all ranks of a world. See the file's comment.
template <typename Exclusive, typename ReaderWriter>
  requires std::same_as<typename Exclusive::world_type, typename ReaderWriter::world_type>
class late_rw_lock
    : public shared_lockable<late_rw_lock<Exclusive, ReaderWriter>, typename Exclusive::world_type> {
 public:
  using world_type = typename Exclusive::world_type;

  /// Collective. `home` is the home of both locks; `of_shared` are further constructor arguments of the
  /// reader-writer lock.
  template <typename... OfShared>
  explicit late_rw_lock(world_type& w, int home = 0, const OfShared&... of_shared)
      : late_rw_lock::shared_lockable(w, {{"home", home}}),
        world_(&w),
        alone_(w, home),
        shared_(w, home, of_shared...),
        words_(w),
        leader_(w.locality().leader(level::node, w.rank())) {}
  ~late_rw_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    handover before = handover::uncontended;
    if (!is_shared()) {
      before = alone_.acquire();
      if (!is_shared()) return before;
      alone_.release();
    }
    return after(before, shared_.acquire());
  }
  [[nodiscard]] bool try_acquire() {
    if (!is_shared()) {
      if (!alone_.try_acquire()) return false;
      if (!is_shared()) return true;
      alone_.release();
    }
    return shared_.try_acquire();
  }
  void release() {
    // Only the holder of the exclusive lock marks the lock as shared, so what this rank knows has not changed
    // since it acquired.
    if (is_known_)
      shared_.release();
    else
      alone_.release();
  }

  handover acquire_shared() {
    handover before = handover::uncontended;
    if (!is_shared()) {
      before = alone_.acquire();
      share();
      alone_.release();
    }
    return after(before, shared_.acquire_shared());
  }
  /// Also fails while another rank, as the first reader, has the exclusive lock.
  [[nodiscard]] bool try_acquire_shared() {
    if (!is_shared()) {
      if (!alone_.try_acquire()) return false;
      share();
      alone_.release();
    }
    return shared_.try_acquire_shared();
  }
  void release_shared() { shared_.release_shared(); }

  void downgrade() {
    if (is_known_) return shared_.downgrade();
    // Before any other rank may take the reader-writer lock.
    shared_.acquire_shared();
    share();
    alone_.release();
  }
  [[nodiscard]] bool try_upgrade() { return shared_.try_upgrade(); }

 private:
  struct alignas(slot_bytes) words {
    far<std::uint64_t> shared;
  };

  [[nodiscard]] static handover after(handover before, handover how) noexcept {
    return how == handover::uncontended && before != handover::uncontended ? handover::waited : how;
  }

  [[nodiscard]] bool is_shared() {
    if (!is_known_) is_known_ = words_.read_direct(leader_, &words::shared) != 0;
    return is_known_;
  }

  /// Marks the lock as shared. Called by the holder of the exclusive lock.
  void share() {
    if (is_shared()) return;
    const locality& where = world_->locality();
    for (int rank = 0; rank < world_->size(); ++rank)
      if (where.leader(level::node, rank) == rank) words_.put(rank, &words::shared, yes);
    for (int rank = 0; rank < world_->size(); ++rank)
      if (where.leader(level::node, rank) == rank) words_.flush(rank);
    is_known_ = true;
  }

  static constexpr std::uint64_t yes = 1;

  world_type* world_;
  Exclusive alone_;
  ReaderWriter shared_;
  typename world_type::template far_segment<words> words_;
  int leader_;
  bool is_known_ = false;  ///< this rank knows that the lock is shared
};

/// The recommended exclusive lock until somebody shares it, then the recommended reader-writer lock.
template <world W>
using default_late_rw_lock = late_rw_lock<default_cohort_lock<W>, cohort_rw_lock<W>>;

}  // namespace nearfar
