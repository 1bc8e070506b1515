// Synchronisation of windows: fences, post and start, locks, flushes.
#include <algorithm>
#include <string>

#include "rma.hpp"

namespace nearfar::program {

namespace {

constexpr const char* epochs_rule =
    "MPI 4.1, section 12.5: the epochs of a window in one rank follow each other";

[[nodiscard]] bool is_locking(const window_part& mine) noexcept {
  return mine.has_lock_all || std::any_of(mine.locks.begin(), mine.locks.end(),
                                          [](epoch_kind one) { return one != epoch_kind::none; });
}

class lock_step final : public step {
 public:
  lock_step(window& at, int first, int last, bool is_exclusive) noexcept
      : at_(&at), first_(first), last_(last), is_exclusive_(is_exclusive) {
    changed = true;
  }
  bool is_enabled() override { return trusts_ || (is_free() && is_helped()); }
  /// Whether MPI can reach the target, where it needs its help. For all locks of a window at once libraries
  /// ask nobody.
  [[nodiscard]] bool is_helped() const {
    return last_ - first_ != 1 || !target().waits_outside || &target() == by_;
  }
  [[nodiscard]] bool is_free() const {
    for (int i = first_; i < last_; ++i) {
      const window_part& part = at_->part(i);
      if (part.exclusive_holder >= 0 || (is_exclusive_ && part.sharers > 0)) return false;
    }
    return true;
  }
  void touch(footprint& to) override {
    to.add(keys::lock_of(at_->number, first_), keys::lock_of(at_->number, last_),
           is_exclusive_ ? effects::write : effects::share);
    if (run().how().needs_help && last_ - first_ == 1)
      to.add(keys::help_of(target().number), keys::help_of(target().number) + 1, effects::read);
  }
  void take(int /*choice*/) override {
    rank& by = *by_;
    if (trusts_ && !is_free()) {
      fault found{.kind = "epoch",
                  .text = "MPI_MODE_NOCHECK is wrong: another rank holds a lock that conflicts",
                  .places = {},
                  .rule = "MPI 4.1, section 12.5.5"};
      found.places.push_back({.rank = by.number, .what = {}, .where = by.here()});
      run().report(std::move(found));
      return;
    }
    for (int i = first_; i < last_; ++i) {
      window_part& part = at_->part(i);
      if (trusts_) {
        is_exclusive_ ? void(part.exclusive_holder = by.number) : void(++part.sharers);
        continue;
      }
      by.knows.join(part.left_exclusive);
      if (is_exclusive_) {
        by.knows.join(part.left_shared);
        part.exclusive_holder = by.number;
      } else {
        ++part.sharers;
      }
    }
  }
  void describe(std::string& to) const override {
    const bool is_taken = !trusts_ && !(is_free() && is_helped());
    to += (is_taken ? "waits for the lock of rank " : "takes the lock of rank ") +
          std::to_string(at_->of->members[static_cast<std::size_t>(first_)]) + " in window " +
          std::to_string(at_->number);
    if (last_ - first_ > 1) to += " and of all others";
    const int holder = at_->part(first_).exclusive_holder;
    if (!is_taken) return;
    if (holder >= 0)
      to += ", which rank " + std::to_string(holder) + " holds";
    else if (is_free())
      to += ": MPI cannot ask a rank that waits in a loop outside MPI";
    else if (at_->part(first_).sharers > 0)
      to += ", which others share";
  }
  void is_by(rank& one) noexcept { by_ = &one; }
  /// MPI_MODE_NOCHECK: the program promises that nobody holds a conflicting lock.
  void trust() noexcept { trusts_ = true; }

 private:
  [[nodiscard]] const rank& target() const {
    return run().at_rank(at_->of->members[static_cast<std::size_t>(first_)]);
  }
  window* at_;
  int first_;
  int last_;
  bool is_exclusive_;
  rank* by_ = nullptr;
  bool trusts_ = false;
};

/// Leaves the lock once the operations to its target are delivered.
class unlock_step final : public step {
 public:
  unlock_step(window& at, int origin, int first, int last, bool is_exclusive, rank& by) noexcept
      : at_(&at), origin_(origin), first_(first), last_(last), is_exclusive_(is_exclusive), by_(&by) {
    want_delivery(at, origin, last - first == 1 ? first : -1, false);
  }
  bool is_enabled() override {
    return is_all_delivered(*at_, origin_, last_ - first_ == 1 ? first_ : -1, false);
  }
  void touch(footprint& to) override {
    to.add(keys::lock_of(at_->number, first_), keys::lock_of(at_->number, last_),
           is_exclusive_ ? effects::write : effects::share);
  }
  void take(int /*choice*/) override {
    const int target = last_ - first_ == 1 ? first_ : -1;
    for (const rma_operation* one : at_->part(origin_).open)
      if (target < 0 || one->target == target) run().depend(*by_, one->flying->last_event);
    // The moment of completion precedes what others learn here.
    complete_for(*by_, target);
    const vector_clock knew = by_->publish();
    for (int i = first_; i < last_; ++i) {
      window_part& part = at_->part(i);
      if (is_exclusive_) {
        part.left_exclusive.join(knew);
        part.exclusive_holder = -1;
      } else {
        part.left_shared.join(knew);
        --part.sharers;
      }
    }
  }
  void describe(std::string& to) const override { to += "unlocks, once its operations are delivered"; }

 private:
  void complete_for(rank& by, int target) {
    ++by.knows[by.number];
    window_part& mine = at_->part(origin_);
    for (rma_operation* one : mine.open) {
      if (target >= 0 && one->target != target) continue;
      complete_locally(*one);
      *one->done = {.rank = by.number, .at = by.now()};
    }
    std::erase_if(mine.open, [&](const rma_operation* one) { return target < 0 || one->target == target; });
  }
  window* at_;
  int origin_;
  int first_;
  int last_;
  bool is_exclusive_;
  rank* by_;
};

/// Waits until targets have posted.
class post_wait final : public step {
 public:
  explicit post_wait(window& at, int origin) noexcept : at_(&at), origin_(origin) { changed = false; }
  bool is_enabled() override {
    const window_part& mine = at_->part(origin_);
    return std::all_of(mine.started.begin(), mine.started.end(), [&](int target) {
      const pair_state& pair = mine.as_origin[static_cast<std::size_t>(target)];
      return pair.posts.size() >= pair.starts;
    });
  }
  void describe(std::string& to) const override {
    to += "waits for the MPI_Win_post of";
    const window_part& mine = at_->part(origin_);
    for (const int target : mine.started) {
      const pair_state& pair = mine.as_origin[static_cast<std::size_t>(target)];
      if (pair.posts.size() < pair.starts)
        to += " rank " + std::to_string(at_->of->members[static_cast<std::size_t>(target)]);
    }
  }

 private:
  window* at_;
  int origin_;
};

/// Waits until the origins have completed their epochs.
class complete_wait final : public step {
 public:
  complete_wait(window& at, int target) noexcept : at_(&at), target_(target) { changed = false; }
  bool is_enabled() override { return missing() < 0; }
  void describe(std::string& to) const override {
    to += "waits for the MPI_Win_complete of rank " +
          std::to_string(at_->of->members[static_cast<std::size_t>(missing())]);
  }
  /// An origin that has not completed, or -1.
  [[nodiscard]] int missing() const {
    for (const int origin : at_->part(target_).posted) {
      const pair_state& pair = at_->part(origin).as_origin[static_cast<std::size_t>(target_)];
      if (pair.completes.size() <= pair.waits || !is_all_delivered(*at_, origin, target_, false))
        return origin;
    }
    return -1;
  }

 private:
  window* at_;
  int target_;
};

/// MPI_Win_test: what it finds depends on how far the origins are.
class test_step final : public step {
 public:
  explicit test_step(complete_wait& what, window& at, int target) noexcept
      : what_(&what), at_(&at), target_(target) {}
  void touch(footprint& to) override {
    const std::uint64_t key = keys::lock_of(at_->number, target_) + (std::uint64_t{1} << 41U);
    to.add(key, key + 1, effects::match);
  }
  void take(int /*choice*/) override {
    is_over = what_->missing() < 0;
    seen = is_over ? 1 : 0;
    changed = is_over;
  }
  void describe(std::string& to) const override { to += "tests for the end of its exposure epoch"; }
  bool is_over = false;

 private:
  complete_wait* what_;
  window* at_;
  int target_;
};

/// MPI_Win_complete tells the target, which may be testing.
class complete_step final : public step {
 public:
  complete_step(window& at, int target) noexcept : at_(&at), target_(target) {}
  void touch(footprint& to) override {
    const std::uint64_t key = keys::lock_of(at_->number, target_) + (std::uint64_t{1} << 41U);
    to.add(key, key + 1, effects::arrive);
  }
  void describe(std::string& to) const override { to += "completes its access epoch"; }

 private:
  window* at_;
  int target_;
};

[[nodiscard]] int indices_of(window& at, MPI_Group handle, run_vector<int>& to) {
  for (const int member : group_of(handle).members) {
    const int index = communicator::index_in(at.of->members, member);
    if (index < 0) return error_of(&at, MPI_ERR_GROUP, "the group has a rank that the window has not");
    to.push_back(index);
  }
  return MPI_SUCCESS;
}

void end_exposure(window& at) {
  window_part& mine = at.mine();
  rank& by = self();
  ++by.knows[by.number];
  const int target = at.of->rank_of(by.number);
  for (const int origin : mine.posted) {
    pair_state& pair = at.part(origin).as_origin[static_cast<std::size_t>(target)];
    const signal_mark& mark = pair.completes[pair.waits++];
    by.knows.join(mark.knew);
    run().depend(by, mark.event);
    complete_at_target(at, origin, target, by);
  }
  mine.is_posted = false;
  mine.forbids_puts = false;
  mine.posted.clear();
}

constexpr int assertions =
    MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

[[nodiscard]] int check_assertion(window& at, int assertion) {
  if ((assertion & ~assertions) == 0) return MPI_SUCCESS;
  return error_of(&at, MPI_ERR_ASSERT,
                  std::to_string(assertion) + " is no combination of MPI_MODE_ constants",
                  "MPI 4.1, section 12.5.5");
}

[[nodiscard]] int check_fence_is_idle(window& at, const char* what) {
  window_part& mine = at.mine();
  if (mine.is_fenced && mine.has_used_fence)
    return error_of(&at, MPI_ERR_RMA_SYNC,
                    std::string(what) + " in a fence epoch with operations: call MPI_Win_fence first",
                    epochs_rule);
  mine.is_fenced = false;
  return MPI_SUCCESS;
}

[[nodiscard]] int flush(MPI_Win win, int target, bool only_local) {
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  if (target >= static_cast<int>(at.parts.size()) || target < -1)
    return error_of(&at, MPI_ERR_RANK, "the window has no rank " + std::to_string(target));
  const bool is_locked =
      target < 0 ? is_locking(mine)
                 : mine.has_lock_all || mine.locks[static_cast<std::size_t>(target)] != epoch_kind::none;
  if (!is_locked)
    return error_of(
        &at, MPI_ERR_RMA_SYNC,
        "the rank flushes a target that it has not locked: call MPI_Win_lock or MPI_Win_lock_all before",
        "Flushes belong to epochs of MPI_Win_lock and MPI_Win_lock_all (MPI 4.1, section 12.5.4)");
  await_delivery(at, target, only_local);
  complete_operations(at, target, only_local);
  return MPI_SUCCESS;
}

}  // namespace

epoch_kind epoch_for(window& at, int target) {
  const window_part& mine = at.mine();
  if (mine.has_lock_all) return epoch_kind::lock_all;
  if (const epoch_kind one = mine.locks[static_cast<std::size_t>(target)]; one != epoch_kind::none)
    return one;
  if (mine.is_started)
    return std::find(mine.started.begin(), mine.started.end(), target) != mine.started.end()
               ? epoch_kind::start
               : epoch_kind::none;
  if (mine.is_fenced && !is_locking(mine)) return epoch_kind::fence;
  return epoch_kind::none;
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Win_fence(int assertion, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_fence);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (const int code = check_assertion(at, assertion); code != MPI_SUCCESS) return code;
  if (is_locking(mine))
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank calls MPI_Win_fence while it holds a lock of the window",
                    epochs_rule);
  if (mine.is_started || mine.is_posted)
    return error_of(&at, MPI_ERR_RMA_SYNC,
                    "the rank calls MPI_Win_fence in an epoch of MPI_Win_start or MPI_Win_post", epochs_rule);
  if ((assertion & MPI_MODE_NOPRECEDE) != 0 && mine.has_used_fence)
    return error_of(&at, MPI_ERR_RMA_SYNC, "MPI_MODE_NOPRECEDE is wrong: operations precede the fence",
                    "MPI 4.1, section 12.5.5");
  await_delivery(at, -1, false);
  complete_operations(at, -1, false);
  collective& meeting =
      arrive(*at.of, "MPI_Win_fence", -1, 0, "", [&](contribution& to) { to.number = assertion; });
  await(meeting, at.of->everybody());
  mine.fence = &meeting;
  mine.is_fenced = (assertion & MPI_MODE_NOSUCCEED) == 0;
  mine.has_used_fence = false;
  return MPI_SUCCESS;
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_post);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (const int code = check_assertion(at, assertion); code != MPI_SUCCESS) return code;
  if (mine.is_posted)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank has posted the window already: call MPI_Win_wait first",
                    epochs_rule);
  if (const int code = check_fence_is_idle(at, "MPI_Win_post"); code != MPI_SUCCESS) return code;
  if (const int code = indices_of(at, group, mine.posted); code != MPI_SUCCESS) return code;
  mine.is_posted = true;
  mine.forbids_puts = (assertion & MPI_MODE_NOPUT) != 0;
  const int target = at.of->rank_of(self().number);
  const signal_mark mark{self().publish(), self().last_event};
  for (const int origin : mine.posted)
    at.part(origin).as_origin[static_cast<std::size_t>(target)].posts.push_back(mark);
  return MPI_SUCCESS;
}

int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_start);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (const int code = check_assertion(at, assertion); code != MPI_SUCCESS) return code;
  if (mine.is_started)
    return error_of(&at, MPI_ERR_RMA_SYNC,
                    "the rank has started an access epoch already: call MPI_Win_complete first", epochs_rule);
  if (is_locking(mine))
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank calls MPI_Win_start while it holds a lock of the window",
                    epochs_rule);
  if (const int code = check_fence_is_idle(at, "MPI_Win_start"); code != MPI_SUCCESS) return code;
  if (const int code = indices_of(at, group, mine.started); code != MPI_SUCCESS) return code;
  mine.is_started = true;
  for (const int target : mine.started) ++mine.as_origin[static_cast<std::size_t>(target)].starts;
  if ((assertion & MPI_MODE_NOCHECK) != 0)
    for (const int target : mine.started) {
      const pair_state& pair = mine.as_origin[static_cast<std::size_t>(target)];
      const int world_rank = at.of->members[static_cast<std::size_t>(target)];
      if (pair.posts.size() < pair.starts ||
          self().knows[world_rank] < pair.posts[pair.starts - 1].knew[world_rank])
        return error_of(&at, MPI_ERR_RMA_SYNC,
                        "MPI_MODE_NOCHECK is wrong: nothing makes sure that rank " +
                            std::to_string(world_rank) + " has posted",
                        "MPI 4.1, section 12.5.5");
    }
  if (!run().chosen().collectives_wait) return MPI_SUCCESS;
  post_wait waiting(at, at.of->rank_of(self().number));
  wait_by(waiting);
  for (const int target : mine.started) {
    const pair_state& pair = mine.as_origin[static_cast<std::size_t>(target)];
    self().knows.join(pair.posts[pair.starts - 1].knew);
    run().depend(self(), pair.posts[pair.starts - 1].event);
  }
  return MPI_SUCCESS;
}

int MPI_Win_complete(MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_complete);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (!mine.is_started)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank calls MPI_Win_complete without MPI_Win_start",
                    epochs_rule);
  await_delivery(at, -1, !run().chosen().collectives_wait);
  ++self().knows[self().number];
  for (rma_operation* one : mine.open) complete_locally(*one);
  std::erase_if(mine.open, [](const rma_operation* one) { return one->what == rma_operation::kind::get; });
  for (const int target : mine.started) {
    complete_step telling(at, target);
    run().perform(self(), telling);
  }
  const signal_mark mark{self().publish(), self().last_event};
  for (const int target : mine.started)
    mine.as_origin[static_cast<std::size_t>(target)].completes.push_back(mark);
  mine.is_started = false;
  mine.started.clear();
  return MPI_SUCCESS;
}

int MPI_Win_wait(MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_wait);
  window& at = window_of(win);
  if (!at.mine().is_posted)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank calls MPI_Win_wait without MPI_Win_post", epochs_rule);
  complete_wait waiting(at, at.of->rank_of(self().number));
  wait_by(waiting);
  end_exposure(at);
  return MPI_SUCCESS;
}

int MPI_Win_test(MPI_Win win, int* flag) {
  NEARFAR_MPI_CALL(MPI_Win_test);
  window& at = window_of(win);
  if (!at.mine().is_posted)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank calls MPI_Win_test without MPI_Win_post", epochs_rule);
  complete_wait what(at, at.of->rank_of(self().number));
  test_step testing(what, at, at.of->rank_of(self().number));
  run().perform(self(), testing);
  *flag = testing.is_over ? 1 : 0;
  if (testing.is_over) end_exposure(at);
  return MPI_SUCCESS;
}

int MPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_lock);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (const int code = check_assertion(at, assertion); code != MPI_SUCCESS) return code;
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
    return error_of(&at, MPI_ERR_LOCKTYPE, "the lock is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED");
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (rank < 0 || static_cast<std::size_t>(rank) >= at.parts.size())
    return error_of(&at, MPI_ERR_RANK, "the window has no rank " + std::to_string(rank));
  if (mine.has_lock_all)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank has locked all ranks of the window already",
                    epochs_rule);
  if (mine.locks[static_cast<std::size_t>(rank)] != epoch_kind::none)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank has locked rank " + std::to_string(rank) + " already",
                    epochs_rule);
  if (mine.is_started)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank locks the window in an epoch of MPI_Win_start",
                    epochs_rule);
  if (const int code = check_fence_is_idle(at, "MPI_Win_lock"); code != MPI_SUCCESS) return code;
  const bool is_exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  lock_step locking(at, rank, rank + 1, is_exclusive);
  locking.is_by(self());
  if ((assertion & MPI_MODE_NOCHECK) != 0) locking.trust();
  run().perform(self(), locking);
  mine.locks[static_cast<std::size_t>(rank)] =
      is_exclusive ? epoch_kind::lock_exclusive : epoch_kind::lock_shared;
  return MPI_SUCCESS;
}

int MPI_Win_unlock(int rank, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_unlock);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (rank < 0 || static_cast<std::size_t>(rank) >= at.parts.size())
    return error_of(&at, MPI_ERR_RANK, "the window has no rank " + std::to_string(rank));
  const epoch_kind held = mine.locks[static_cast<std::size_t>(rank)];
  if (held == epoch_kind::none)
    return error_of(&at, MPI_ERR_RMA_SYNC,
                    "the rank unlocks rank " + std::to_string(rank) + ", which it has not locked",
                    epochs_rule);
  unlock_step unlocking(at, at.of->rank_of(self().number), rank, rank + 1, held == epoch_kind::lock_exclusive,
                        self());
  run().perform(self(), unlocking);
  mine.locks[static_cast<std::size_t>(rank)] = epoch_kind::none;
  return MPI_SUCCESS;
}

int MPI_Win_lock_all(int assertion, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_lock_all);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (const int code = check_assertion(at, assertion); code != MPI_SUCCESS) return code;
  if (is_locking(mine))
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank holds a lock of the window already", epochs_rule);
  if (mine.is_started)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank locks the window in an epoch of MPI_Win_start",
                    epochs_rule);
  if (const int code = check_fence_is_idle(at, "MPI_Win_lock_all"); code != MPI_SUCCESS) return code;
  lock_step locking(at, 0, static_cast<int>(at.parts.size()), false);
  locking.is_by(self());
  if ((assertion & MPI_MODE_NOCHECK) != 0) locking.trust();
  run().perform(self(), locking);
  mine.has_lock_all = true;
  return MPI_SUCCESS;
}

int MPI_Win_unlock_all(MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_unlock_all);
  window& at = window_of(win);
  window_part& mine = at.mine();
  if (!mine.has_lock_all)
    return error_of(&at, MPI_ERR_RMA_SYNC, "the rank calls MPI_Win_unlock_all without MPI_Win_lock_all",
                    epochs_rule);
  unlock_step unlocking(at, at.of->rank_of(self().number), 0, static_cast<int>(at.parts.size()), false,
                        self());
  run().perform(self(), unlocking);
  mine.has_lock_all = false;
  return MPI_SUCCESS;
}

int MPI_Win_flush(int rank, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_flush);
  return flush(win, rank, false);
}

int MPI_Win_flush_all(MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_flush_all);
  return flush(win, -1, false);
}

int MPI_Win_flush_local(int rank, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_flush_local);
  return flush(win, rank, true);
}

int MPI_Win_flush_local_all(MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_flush_local_all);
  return flush(win, -1, true);
}

int MPI_Win_sync(MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Win_sync);
  static_cast<void>(window_of(win));
  return MPI_SUCCESS;
}
}
