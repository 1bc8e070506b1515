/// \file
/// Fair reader-writer ticket lock over RMA. All its words are at home, so the only other rank whose progress
/// it needs is the home.
///
/// Source: the fair reader-writer spin lock of J. Mellor-Crummey, M. Scott, "Scalable reader-writer
/// synchronization for shared-memory multiprocessors", 1991, doi 10.1145/109625.109637 (section 2). It has
/// one counter of the ranks that have asked, and one of those that have left, each with readers and writers
/// in one word. The cohort of writers is from D. Dice, V. Marathe, N. Shavit, "Lock cohorting", PPoPP 2012,
/// doi 10.1145/2145816.2145848.
///
/// A writer is in when all ranks that asked before it have left; a reader is in when the writers among them
/// have. There the two counts of a word are cut off where they overflow. Here a word is one number, to which
/// a reader adds 1 and a writer 2^32; both words overflow alike. No rank that asked after a writer is in
/// before that writer has left. So `left` equals what a writer found in `asked` exactly when all ranks before
/// it have left. For a reader, the difference is at least 2^32 as long as a writer that asked before it has
/// not left. Afterwards the difference is less than the number of ranks, or negative if later readers have
/// left before this one looked.
///
/// A write that has been seen need not be complete: the words are written by sums only, which exclude each
/// other, and are never reset. A rank may read `left` before it has taken its place, since `left` only grows.
///
/// Fairness: first come, first served, and readers without a writer between them together (bound 0). As a
/// cohort, writers stand behind the first writer of their node: a rank that waits at home is overtaken by at
/// most `max_local_passes` writers of each node that asked before. Progress: an acquiring rank waits only for
/// ranks that asked before it. It waits by far operations at the home rank, each of which waits until the
/// home enters MPI where the transport has no hardware support; within a node of a cohort by shared memory.
/// There is no `try_acquire`: MPI promises no atomicity between sums and a compare-and-swap.
///
/// Cost in far operations, each at home:
///  - lock: 1 atomic, and 1 read completed by the same flush (none on the home's node); while it waits 1 for
///    each poll, few while several writers are before it, none on the home's node;
///  - unlock: 1 atomic;
///  - as a cohort, a writer to which a writer of its node hands over: none.
/// Memory: 64 bytes of far memory for each rank, as a cohort also that of the local lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/participant.hpp"
#include "nearfar/lock/shared_lockable.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// The parameters of an `rw_ticket_lock`.
struct rw_ticket_policy {
  /// Bits of a word that count readers, 1 to 32. The lock is for at most 2^reader_bits ranks. Small values
  /// are for tests of overflowing reader counts.
  unsigned reader_bits = 32;
  /// The longest pause between two polls, in nanoseconds. If the home was busy elsewhere while this rank
  /// measured how long a poll takes, the rank may sleep for that long after its turn has come. A thousand
  /// ranks that poll at this interval do not keep a home busy.
  std::int64_t longest_pause = 1'000'000;
};

/// Reader-writer lock for all ranks of a world. See the file's comment.
template <world W, rw_ticket_policy Policy = rw_ticket_policy{}>
class rw_ticket_lock : public shared_lockable<rw_ticket_lock<W, Policy>, W> {
 public:
  using world_type = W;
  /// The ranks of a node share a writer's place if another lock admits one at a time: any of them may
  /// release.
  static constexpr participant queued = participant::node;

  /// Collective. `home` keeps the words. Throws `misuse` for more ranks than `reader_bits` allow.
  explicit rw_ticket_lock(W& w, int home = 0)
      : rw_ticket_lock::shared_lockable(w, {{"home", home}}),
        world_(&w),
        words_(w),
        home_(checked_rank(w, home)),
        at_home_(w, home) {
    if (static_cast<std::uint64_t>(w.size()) > writer)
      throw misuse("this rw_ticket_lock is for " + std::to_string(writer) + " ranks, and there are " +
                   std::to_string(w.size()) + ": give its policy more reader_bits");
  }
  ~rw_ticket_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    ask(writer);
    return wait_until([before = before_](std::uint64_t left) { return is_turn_of_writer(before, left); });
  }
  void release() { leave(writer); }

  handover acquire_shared() {
    ask(reader);
    return wait_until([before = before_](std::uint64_t left) { return is_turn_of_reader(before, left); });
  }
  void release_shared() { leave(reader); }

  void downgrade() { leave(writer_that_reads_on); }

  // The same in steps, for a caller that waits by its own means: take a place, and ask whether its turn has
  // come.

  [[nodiscard]] bool try_ask() {
    ask(writer);
    return true;
  }
  [[nodiscard]] bool try_ask_shared() {
    ask(reader);
    return true;
  }
  [[nodiscard]] bool is_in() { return is_turn_of_writer(before_, look()); }
  [[nodiscard]] bool is_in_shared() { return is_turn_of_reader(before_, look()); }

 private:
  struct alignas(slot_bytes) words {
    far<std::uint64_t> asked;
    far<std::uint64_t> left;
  };

  static_assert(Policy.reader_bits >= 1 && Policy.reader_bits <= 32,
                "the word needs room for 2^31 writers beside the readers");
  static constexpr std::uint64_t reader = 1;
  static constexpr std::uint64_t writer = std::uint64_t{1} << Policy.reader_bits;
  /// The amount that a writer adds to `left` when it goes on as a reader.
  static constexpr std::uint64_t writer_that_reads_on = writer - reader;

  [[nodiscard]] static constexpr bool is_turn_of_writer(std::uint64_t before, std::uint64_t left) noexcept {
    return left == before;
  }
  [[nodiscard]] static constexpr bool is_turn_of_reader(std::uint64_t before, std::uint64_t left) noexcept {
    return static_cast<std::int64_t>(before - left) < static_cast<std::int64_t>(writer);
  }

  void ask(const std::uint64_t& as) {
    const auto start = time_for_waiting(*world_);
    words_.fetch_add(home_, &words::asked, as, before_);
    if (!at_home_.is_in_place()) words_.fetch(home_, &words::left, left_);
    words_.flush(home_);
    asking_ = time_for_waiting(*world_) - start;
  }
  template <typename Predicate>
  [[nodiscard]] handover wait_until(Predicate is_turn) {
    if (!at_home_.is_in_place()) {
      if (is_turn(left_)) return handover::uncontended;
      pause_until_next();
      if (is_turn(left_)) return handover::waited;
    }
    const bool has_waited = at_home_.look_and_await(words_, home_, &words::left, left_, is_turn);
    return has_waited ? handover::waited : handover::uncontended;
  }
  /// Polls seldom while several writers are before this rank, since the polls of all waiting ranks take the
  /// home's time. A writer takes at least as long as a far operation, unless the home was busy elsewhere
  /// during that one. So the pause uses the shorter of two measurements, and is never longer than
  /// `longest_pause`.
  void pause_until_next() {
    if (writers_before() <= 1) return;
    const auto start = time_for_waiting(*world_);
    left_ = look();
    const auto shortest = std::min(asking_, time_for_waiting(*world_) - start);
    while (writers_before() > 1) {
      world_->delay(
          std::min(shortest * (writers_before() - 1), std::chrono::nanoseconds(Policy.longest_pause)));
      left_ = world_->await_fetch(words_, home_, &words::left,
                                  [seen = left_](std::uint64_t left) { return left != seen; });
    }
  }
  [[nodiscard]] std::int64_t writers_before() const noexcept {
    return static_cast<std::int64_t>(before_ - left_) / static_cast<std::int64_t>(writer);
  }
  [[nodiscard]] std::uint64_t look() {
    at_home_.start_read(words_, home_, &words::left, left_);
    at_home_.flush(words_);
    return left_;
  }
  void leave(const std::uint64_t& as) {
    words_.accumulate(home_, &words::left, as, far_op::sum);
    words_.flush(home_);
  }

  W* world_;
  typename W::template far_segment<words> words_;
  int home_;
  nearest_access<W, far_read::fetch> at_home_;
  std::uint64_t before_ = 0;
  std::uint64_t left_ = 0;
  std::chrono::nanoseconds asking_{};  ///< how long it took to get the place
};

/// The same, with the writers of a node queued in a local lock. See the file's comment.
template <world W, cohort_local Local = mcs_lock<W>>
class cohort_rw_ticket_lock : public shared_lockable<cohort_rw_ticket_lock<W, Local>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the far words; `of_local` are further constructor arguments of the local lock.
  /// Throws `misuse` unless `max_local_passes` is 1 to 254.
  template <typename... OfLocal>
  explicit cohort_rw_ticket_lock(W& w, int home = 0, int max_local_passes = default_max_local_passes,
                                 const OfLocal&... of_local)
      : cohort_rw_ticket_lock::shared_lockable(w, {{"home", home}, {"max_local_passes", max_local_passes}}),
        writers_(w, home, max_local_passes, of_local...) {}
  ~cohort_rw_ticket_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() { return writers_.acquire(); }
  void release() { writers_.release(); }
  handover acquire_shared() { return at_home().acquire_shared(); }
  void release_shared() { at_home().release_shared(); }

  /// The lock that nodes and readers ask; a writer may ask it directly, too.
  [[nodiscard]] rw_ticket_lock<W>& at_home() noexcept { return writers_.above(); }

 private:
  cohort_lock<rw_ticket_lock<W>, Local> writers_;
};

}  // namespace nearfar
