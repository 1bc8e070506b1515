/// \file
/// HCLH: a CLH queue of all ranks that keeps the ranks of a node together. Each node has a queue of its own,
/// whose first rank appends all ranks that are in it by then to the queue of all.
///
/// Source: V. Luchangco, D. Nussbaum, N. Shavit, "A hierarchical CLH queue lock", Euro-Par 2006, doi
/// 10.1007/11823285_84. A. Uffmann's master thesis, LMU Munich, 2022, section 5.3, argues that it does not
/// pay over RMA, and leaves it out. The form over RMA here is nearfar's, with Craig's variant (clh_lock.hpp),
/// which the thesis has in mind, and without.
///
/// A rank swaps itself into its node's queue (near memory) and waits for its predecessor there. The
/// predecessor tells it either that it has the lock, or that it is the first of a new batch. The first of a
/// batch swaps the last of the batch into the queue of all (far memory). It tells the last rank, and with it
/// the next rank on this node, that the batch has ended there, and waits for the previous end of the queue of
/// all.
///
/// In the source a rank keeps its predecessor's queue node, which may be in the memory of another node of the
/// machine. Here each rank has two queue nodes, which take turns. Two are enough for the following reason.
/// The rank that polls the queue node of acquisition k-2 is behind that acquisition in the queue. It is
/// before acquisition k-1 of the node's owner, since that comes behind whichever rank had reached that end of
/// the queue. So the polling rank has the lock, and has polled for the last time, before the owner has the
/// lock by acquisition k-1.
///
/// A write that has been seen need not be complete. The words that ranks of other nodes poll are therefore
/// written by their owners only, in place. In Craig's variant both sides swap, and a reset is an accumulate
/// too. A name that was swapped into a word by a rank that then got the lock is complete when the word's
/// owner comes to reset it, as above.
///
/// Fairness: between batches, in which each rank of a node is at most once, first come, first served from
/// when the first rank of a batch has appended it. Until then, while that rank's swap is on the way to the
/// home, other nodes may overtake the ranks behind it without a bound. Progress: an acquiring rank waits for
/// its predecessors, and for the first of its batch. There is no `try_acquire` (near_clh_lock.hpp says why).
///
/// Cost in far operations, each completed by a flush:
///  - as published: lock 1 swap at home by the first of a batch, and 1 get at its predecessor for each poll;
///    unlock none;
///  - Craig's variant: lock 1 atomic at home and 1 at the predecessor by the first of a batch; unlock 1 at
///    the own node and 1 at the successor by the last of a batch. A reset takes 1 at the own node.
/// Memory: 64 bytes of far (Craig: 128) and 128 of near memory for each rank.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/clh_lock.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, clh_waiting Where = clh_waiting::at_predecessor>
class hclh_lock : public lockable<hclh_lock<W, Where>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the queue of all.
  explicit hclh_lock(W& w, int home = 0)
      : hclh_lock::lockable(w, {{"home", home}}),
        world_(&w),
        nodes_(w),
        words_(w),
        grants_(w),
        home_(checked_rank(w, home)),
        rank_(w.rank()),
        my_name_(to_word(rank_) + released),
        local_end_(&nodes_.at(w.locality().leader(level::node, rank_)).end) {}
  ~hclh_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    turn_ = 1 - turn_;
    const queue_node mine{rank_, turn_};
    cell_of(mine).store(waiting, std::memory_order_relaxed);
    reset();
    // (1) Releases both resets to the successor on this node, and to the first of the batch (2).
    const std::uint64_t before = local_end_->exchange(mine.name(), std::memory_order_acq_rel);
    if (before != nobody) {
      const std::uint64_t told =
          world_->await(cell_of(queue_node::of(before)), is_told);  // pairs with (3), (4)
      if (told == is_next) return handover::local;
    }
    return append_batch();
  }

  void release() {
    const queue_node mine{rank_, turn_};
    // (3) Releases the critical section to the successor on this node. If this rank is the last of its batch,
    // that was written before the batch could have the lock.
    if (cell_of(mine).load(std::memory_order_relaxed) == waiting)
      cell_of(mine).store(is_next, std::memory_order_release);
    else
      release_last(mine);
  }

 private:
  using access = nearest_access<W, far_read::get>;

  // A rank's predecessor on its node tells it one of these values.
  static constexpr std::uint64_t waiting = 0;
  static constexpr std::uint64_t is_next = 1;   ///< it has the lock
  static constexpr std::uint64_t is_first = 2;  ///< of a batch
  static bool is_told(std::uint64_t told) noexcept { return told != waiting; }
  // The values of a status word, by which the last rank of a batch tells the successor that it has released.
  // In Craig's variant the word may also hold the successor's name, which is above these values. Origins of
  // far operations, so they must be objects.
  static constexpr std::uint64_t pending = 0;
  static constexpr std::uint64_t released = 1;
  static constexpr std::uint64_t grant = 1;

  struct alignas(cache_line) near_words {
    std::array<typename W::template near<std::uint64_t>, 2> told{};
    alignas(cache_line) typename W::template near<std::uint64_t> end{};
  };
  struct alignas(slot_bytes) far_words {
    far<std::uint64_t> status;
    far<std::uint64_t> other_status;
    far<std::uint64_t> end;
  };

  /// One of a rank's two queue nodes.
  struct queue_node {
    int owner;
    std::uint64_t turn;

    [[nodiscard]] static queue_node of(std::uint64_t name) noexcept {
      return {.owner = to_rank(name / 2), .turn = name % 2};
    }
    /// Never `nobody`.
    [[nodiscard]] std::uint64_t name() const noexcept { return to_word(owner) * 2 + turn; }
    [[nodiscard]] far<std::uint64_t> far_words::*status() const noexcept {
      return turn == 0 ? &far_words::status : &far_words::other_status;
    }
  };

  struct no_grants {
    explicit no_grants(W& /*w*/) {}
  };

  [[nodiscard]] auto& cell_of(queue_node node) { return nodes_.at(node.owner).told[node.turn]; }

  void reset() {
    const queue_node mine{rank_, turn_};
    if constexpr (Where == clh_waiting::at_predecessor) {
      words_.write_direct(rank_, mine.status(), pending);
    } else if (is_used_[turn_]) {
      words_.accumulate(rank_, mine.status(), pending, far_op::replace);
      words_.flush(rank_);
      is_used_[turn_] = false;
    }
  }

  /// Appends the batch to the queue of all: from this rank, its first, to the rank that is now the last on
  /// its node.
  handover append_batch() {
    // (2) Pairs with (1) of the last rank, whose reset is in place by the time that others can see its name.
    last_ = local_end_->load(std::memory_order_acquire);
    words_.swap(home_, &far_words::end, last_, before_);
    words_.flush(home_);
    // (4) For the next rank on this node. The last rank of the batch reads it too, when it has the lock.
    cell_of(queue_node::of(last_)).store(is_first, std::memory_order_release);
    if (before_ == nobody) return handover::uncontended;
    const queue_node before = queue_node::of(before_);
    const access there(*world_, before.owner);
    const bool has_waited = Where == clh_waiting::at_home ? await_grant(before) : poll(before, there);
    if (!has_waited) return handover::uncontended;
    return there.is_in_place() ? handover::local : handover::remote;
  }

  /// Waits until the predecessor has released. Returns whether it had to wait.
  [[nodiscard]] bool poll(queue_node before, const access& there) {
    return there.look_and_await(words_, before.owner, before.status(), seen_,
                                [](std::uint64_t status) { return status == released; });
  }
  [[nodiscard]] bool await_grant([[maybe_unused]] queue_node before) {
    if constexpr (Where == clh_waiting::at_home) {
      words_.swap(before.owner, before.status(), my_name_, seen_);
      words_.flush(before.owner);
      if (seen_ == released) return false;
      static_cast<void>(grants_.await());
    }
    return true;
  }

  /// Releases as the last of a batch.
  void release_last(queue_node mine) {
    if constexpr (Where == clh_waiting::at_predecessor) {
      words_.write_direct(rank_, mine.status(), released);
    } else {
      is_used_[turn_] = true;
      words_.swap(rank_, mine.status(), released, seen_);
      words_.flush(rank_);
      if (seen_ != pending) grants_.give(to_rank(seen_ - released), grant);
    }
  }

  W* world_;
  typename W::template near_segment<near_words> nodes_;
  typename W::template far_segment<far_words> words_;
  [[no_unique_address]] std::conditional_t<Where == clh_waiting::at_home, far_handover<W>, no_grants> grants_;
  int home_;
  int rank_;
  std::uint64_t my_name_;  ///< distinct from the values of a status word
  typename W::template near<std::uint64_t>* local_end_;
  std::uint64_t turn_ = 0;
  std::array<bool, 2> is_used_{};  ///< Craig: whether each status was written since its reset
  std::uint64_t last_ = nobody;
  std::uint64_t before_ = nobody;
  std::uint64_t seen_ = pending;
};

}  // namespace nearfar
