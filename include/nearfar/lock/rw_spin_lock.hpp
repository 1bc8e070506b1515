/// \file
/// A flat reader-writer lock over RMA. One word counts readers and shows a writer; writers swap another.
///
/// Source: the reader-writer spin lock of J. Mellor-Crummey, M. Scott, "Scalable reader-writer
/// synchronization for shared-memory multiprocessors", 1991, doi 10.1145/109625.109637 (section 2), in terms
/// of sums only, as MPI promises atomicity among concurrent updates by one operation only.
///
/// Fairness: none. A writer that has shown itself keeps later readers out. Which of several writers is next,
/// and whether a reader gets in between two of them, is left to chance. Progress: some rank always acquires.
///
/// Cost in far operations at home, each completed by a flush: reader 1 fetch-and-add, and 1 accumulate when
/// it leaves; for each failed attempt 1 accumulate and polls more. Writer 1 swap for each attempt, 1
/// fetch-and-add, polls until readers have left, and 2 accumulates when it leaves. Memory: 128 bytes of far
/// memory for each rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/shared_lockable.hpp"
#include "nearfar/lock/tas_lock.hpp"

namespace nearfar {

/// Reader-writer lock for all ranks of a world. See the file's comment.
template <world W>
class rw_spin_lock : public shared_lockable<rw_spin_lock<W>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps both words; `pause` is the writers' backoff.
  explicit rw_spin_lock(W& w, int home = 0, backoff pause = {})
      : rw_spin_lock::shared_lockable(w, {{"home", home},
                                          {"pause.shortest", pause.shortest.count()},
                                          {"pause.longest", pause.longest.count()}}),
        world_(&w),
        writers_(w, home, pause),
        words_(w),
        home_(home) {}
  ~rw_spin_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    const handover how = writers_.acquire();
    if (readers_in(add(writer)) == 0) return how;
    world_->await_fetch(words_, home_, &word::state, has_no_readers);
    return handover::waited;
  }
  [[nodiscard]] bool try_acquire() {
    if (!writers_.try_acquire()) return false;
    if (readers_in(add(writer)) == 0) return true;
    give_up();
    return false;
  }
  [[nodiscard]] std::optional<handover> try_acquire_until(std::chrono::nanoseconds deadline) {
    const std::optional<handover> how = writers_.try_acquire_until(deadline);
    if (!how || readers_in(add(writer)) == 0) return how;
    if (world_->await_fetch_until(deadline, words_, home_, &word::state, has_no_readers))
      return handover::waited;
    give_up();
    return std::nullopt;
  }
  void release() { give_up(); }

  handover acquire_shared() {
    if (try_acquire_shared()) return handover::uncontended;
    do world_->await_fetch(words_, home_, &word::state, has_no_writer);
    while (!try_acquire_shared());
    return handover::waited;
  }
  [[nodiscard]] bool try_acquire_shared() {
    if (has_no_writer(add(reader))) return true;
    change(minus(reader));
    return false;
  }
  [[nodiscard]] std::optional<handover> try_acquire_shared_until(std::chrono::nanoseconds deadline) {
    if (try_acquire_shared()) return handover::uncontended;
    while (world_->await_fetch_until(deadline, words_, home_, &word::state, has_no_writer))
      if (try_acquire_shared()) return handover::waited;
    return std::nullopt;
  }
  void release_shared() { change(minus(reader)); }

  void downgrade() {
    change(minus(writer) + reader);
    writers_.release();
  }
  [[nodiscard]] bool try_upgrade() {
    if (!writers_.try_acquire()) return false;
    const bool is_alone = readers_in(add(writer)) == reader;
    if (is_alone)
      change(minus(reader));
    else
      give_up();
    return is_alone;
  }

 private:
  struct alignas(slot_bytes) word {
    far<std::uint64_t> state;
  };
  // At most one writer has its bit in the word, which `writers_` ensures. The bits above it count readers.
  static constexpr std::uint64_t writer = 1;
  static constexpr std::uint64_t reader = 2;
  [[nodiscard]] static constexpr std::uint64_t minus(std::uint64_t of) noexcept {
    return std::uint64_t{0} - of;
  }
  [[nodiscard]] static constexpr std::uint64_t readers_in(std::uint64_t state) noexcept {
    return state & minus(reader);
  }
  static constexpr auto has_no_readers = [](std::uint64_t state) { return readers_in(state) == 0; };
  static constexpr auto has_no_writer = [](std::uint64_t state) { return (state & writer) == 0; };

  /// Returns the word from before.
  [[nodiscard]] std::uint64_t add(const std::uint64_t& what) {
    std::uint64_t before = 0;
    words_.fetch_add(home_, &word::state, what, before);
    words_.flush(home_);
    return before;
  }
  void change(const std::uint64_t& by) {
    words_.accumulate(home_, &word::state, by, far_op::sum);
    words_.flush(home_);
  }
  /// Leaves as a writer. Readers may get in before the next writer does.
  void give_up() {
    change(minus(writer));
    writers_.release();
  }

  W* world_;
  tas_lock<W> writers_;
  typename W::template far_segment<word> words_;
  int home_;
};

}  // namespace nearfar
