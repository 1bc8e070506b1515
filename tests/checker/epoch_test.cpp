// MPI's locks of a target's memory: which ranks may hold one together, what a holder knows of the holders
// before, and the agreement of the searches about ranks that share one.
#include <algorithm>
#include <string>
#include <vector>

#include "nearfar/lock/mpi_rw_lock.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/random_programs.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::epoch_kind;
constexpr auto exclusive = epoch_kind::exclusive;
constexpr auto shared = epoch_kind::shared;

void begin(world::lock_epoch& epoch, epoch_kind how) { how == shared ? epoch.begin_shared() : epoch.begin(); }

/// Every rank does `turn` once, with the epoch of rank 0.
template <typename Turn>
body with_epoch(Turn turn) {
  return [turn](scene& s) {
    world::lock_epoch epoch(s.w, 0);
    turn(s, epoch);
  };
}

void go_inside(scene& s, epoch_kind how) {
  if (how == shared) {
    s.watch.enter_shared();
    s.watch.leave_shared();
  } else {
    s.watch.enter();
    s.watch.leave();
  }
}

/// Ranks that write first, then ranks that read, which hold the epoch as `by_writers` and `by_readers` say.
program of_class(int writers, int readers, int times = 1, epoch_kind by_writers = exclusive,
                 epoch_kind by_readers = shared) {
  return program_of(writers + readers, with_epoch([=](scene& s, world::lock_epoch& epoch) {
                      const bool writes = s.rank() < writers;
                      for (int i = 0; i < times; ++i) {
                        begin(epoch, writes ? by_writers : by_readers);
                        go_inside(s, writes ? exclusive : shared);
                        epoch.end();
                      }
                    }));
}

/// Whether every search finds a fault of exclusion or order: two ranks inside together, or one after the
/// other by chance.
::testing::AssertionResult lets_in(const program& what, options how = by(strong)) {
  for (const auto tier : {search::exhaustive, search::hash}) {
    how.by = tier;
    const report result = check(what, how);
    if (!result.found) return ::testing::AssertionFailure() << "nothing found";
    if (result.found->what != fault::exclusion && result.found->what != fault::order)
      return ::testing::AssertionFailure() << name(result.found->what) << ": " << result.found->text;
  }
  return ::testing::AssertionSuccess();
}

program demanding_two(program what) {
  what.demands = {std::string(shared_by_two)};
  return what;
}

TEST(lock_epochs, exclude) {
  const auto program = [](bool epochs) {
    return with_epoch([epochs](scene& s, world::lock_epoch& epoch) {
      if (epochs) epoch.begin();
      go_inside(s, exclusive);
      if (epochs) epoch.end();
    });
  };
  for (const auto tier : {search::exhaustive, search::hash}) {
    EXPECT_TRUE(check(program_of(3, program(true)), by(strong, lazy, tier)).complete);
    EXPECT_TRUE(check(program_of(3, program(false)), by(strong, lazy, tier)).found);
  }
  EXPECT_TRUE(check(program_of(3, program(true)), by(weak)).complete);
}

TEST(lock_epochs, that_are_shared_exclude_writers_only) {
  for (const auto& [writers, readers, times] :
       {std::tuple(1, 1, 2), std::tuple(2, 1, 1), std::tuple(1, 2, 1), std::tuple(0, 3, 2)})
    for (const delivery_mode mode : all_modes) {
      SCOPED_TRACE(std::to_string(writers) + " writers, " + std::to_string(readers) + " readers");
      program what = of_class(writers, readers, times);
      if (readers > 1) what = demanding_two(what);
      EXPECT_TRUE(is_right(what, by(strong, mode)));
      EXPECT_TRUE(is_right(what, by(weak, mode)));
      EXPECT_TRUE(is_right(what, by(strong, mode, search::hash)));
    }
  // A rank that enters the section in another way than it holds the epoch is not alone there.
  EXPECT_TRUE(lets_in(of_class(2, 0, 1, shared)));
  EXPECT_TRUE(lets_in(of_class(1, 1, 1, shared)));
  // Readers that hold it alone are right, but never two at once.
  EXPECT_TRUE(finds(demanding_two(of_class(0, 2, 1, exclusive, exclusive)), by(strong), fault::unreached,
                    std::string(shared_by_two)));
}

TEST(lock_epochs, that_are_shared_commute) {
  EXPECT_EQ(check(of_class(0, 3, 2), by(weak)).executions, 1U);
  // Traces differ in the order of the writer and each reader, and so in what they know of each other's ends.
  EXPECT_EQ(check(of_class(1, 1), by(strong)).executions, 2U);
  EXPECT_EQ(check(of_class(1, 2), by(strong)).executions, 4U);
  EXPECT_EQ(check(of_class(1, 3), by(strong)).executions, 8U);
}

TEST(lock_epochs, can_be_held_while_another_waits_for_who_shares_them) {
  // Each ends its epoch only when the other has begun.
  const auto meeting = [](epoch_kind first, epoch_kind second) {
    return program_of(2, with_epoch([=](scene& s, world::lock_epoch& epoch) {
                        begin(epoch, s.rank() == 0 ? first : second);
                        (s.rank() == 0 ? s.cells.x : s.cells.y).store(1, release);
                        s.w.await(s.rank() == 0 ? s.cells.y : s.cells.x, is_set);
                        epoch.end();
                      }));
  };
  EXPECT_TRUE(is_right(meeting(shared, shared), by(weak)));
  for (const epoch_kind first : {shared, exclusive})
    EXPECT_TRUE(finds(meeting(first, exclusive), by(weak), fault::deadlock, "epoch of rank 0"));
}

TEST(lock_epochs, are_waited_for) {
  const auto never_ended = [](epoch_kind first, epoch_kind second) {
    return program_of(2, with_epoch([=](scene& s, world::lock_epoch& epoch) {
                        if (s.rank() == 1) s.w.await(s.cells.x, is_set);
                        begin(epoch, s.rank() == 0 ? first : second);
                        if (s.rank() == 0) s.cells.x.store(1, release);
                      }));
  };
  const auto text = [](epoch_kind how) {
    return "rank 1 waits for the " + std::string(name(how)) + " epoch of rank 0";
  };
  for (const epoch_kind first : {exclusive, shared})
    for (const epoch_kind second : {exclusive, shared}) {
      const program what = never_ended(first, second);
      if (first == shared && second == shared)
        EXPECT_TRUE(is_right(what, by(strong)));
      else
        EXPECT_TRUE(finds(what, by(strong), fault::deadlock, text(second)));
    }
}

TEST(lock_epochs, of_several_who_share_all_have_to_end) {
  // Rank 2 wants to be alone, when both others are in.
  const auto ended_by = [](int who) {
    return program_of(3, with_epoch([=](scene& s, world::lock_epoch& epoch) {
                        if (s.rank() == 2) {
                          s.w.await(s.cells.x, [](word in) { return in == 2; });
                          epoch.begin();
                          epoch.end();
                          return;
                        }
                        epoch.begin_shared();
                        s.cells.x.fetch_add(1, acq_rel);
                        if (s.rank() < who) epoch.end();
                      }));
  };
  EXPECT_TRUE(is_right(ended_by(2), by(weak)));
  for (const int who : {0, 1})
    EXPECT_TRUE(
        finds(ended_by(who), by(weak), fault::deadlock, "rank 2 waits for the exclusive epoch of rank 0"));
}

TEST(lock_epochs, tell_the_next_unless_both_share) {
  // Only the epoch tells what rank 0 wrote before its end.
  const auto seen_by_next = [](epoch_kind first, epoch_kind second) {
    return outcomes_of(2, 1, by(weak), with_epoch([=](scene& s, world::lock_epoch& epoch) {
                         if (s.rank() == 1) s.w.await(s.cells.y, is_set);
                         begin(epoch, s.rank() == 0 ? first : second);
                         if (s.rank() == 0) s.cells.x.store(1, relaxed);
                         if (s.rank() == 1) s.r[0] = s.cells.x.load(relaxed);
                         epoch.end();
                         if (s.rank() == 0) s.cells.y.store(1, relaxed);
                       }));
  };
  EXPECT_EQ(seen_by_next(exclusive, exclusive), (outcomes{{1}}));
  EXPECT_EQ(seen_by_next(exclusive, shared), (outcomes{{1}}));
  EXPECT_EQ(seen_by_next(shared, exclusive), (outcomes{{1}}));
  EXPECT_EQ(seen_by_next(shared, shared), (outcomes{{0}, {1}}));
}

TEST(lock_epochs, tell_of_all_who_shared_them_before) {
  // Rank 2 comes behind both others, rank 3 behind rank 2.
  const auto seen_at_last = [](epoch_kind third) {
    return outcomes_by(4, 2, by(weak), with_epoch([=](scene& s, world::lock_epoch& epoch) {
                         if (s.rank() == 2) s.w.await(s.cells.z, [](word out) { return out == 2; });
                         if (s.rank() == 3) s.w.await(s.cells.z, [](word out) { return out == 3; });
                         begin(epoch, s.rank() == 2 ? third : shared);
                         if (s.rank() == 0) s.cells.x.store(1, relaxed);
                         if (s.rank() == 1) s.cells.y.store(1, relaxed);
                         if (s.rank() == 3) {
                           s.r[0] = s.cells.x.load(relaxed);
                           s.r[1] = s.cells.y.load(relaxed);
                         }
                         epoch.end();
                         s.cells.z.fetch_add(1, relaxed);
                       }));
  };
  EXPECT_EQ(seen_at_last(exclusive), (outcomes{{1, 1}}));
  EXPECT_EQ(seen_at_last(shared), (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(lock_epochs, of_each_home_are_its_own) {
  const program apart = program_of(2, [](scene& s) {
    world::lock_epoch of_first(s.w, 0);
    world::lock_epoch of_second(s.w, 1);
    world::lock_epoch& mine = s.rank() == 0 ? of_first : of_second;
    mine.begin();
    s.watch.enter();
    s.watch.leave();
    mine.end();
  });
  EXPECT_TRUE(lets_in(apart));
}

TEST(lock_epochs, that_are_missing_show) {
  const auto site_of = [](const program& what, const std::string& text) {
    for (const mutation& one : mutations_of(what, by(strong), "epoch_test"))
      if (one.operation == text) return one;
    ADD_FAILURE() << "nothing to drop: " << text;
    return mutation{};
  };
  const program what = of_class(1, 1);
  for (const char* text : {"begin exclusive", "begin shared"}) {
    options how = by(strong);
    how.broken = site_of(what, text);
    EXPECT_TRUE(lets_in(what, how)) << text;
  }
  for (const char* text : {"end exclusive", "end shared"}) {
    options how = by(strong);
    how.broken = site_of(what, text);
    EXPECT_TRUE(finds(what, how, fault::deadlock, "epoch of rank 0")) << text;
  }
}

// ---- the lock that is made of them ------------------------------------------------------------------------

program under_rw_lock(int writers, int readers, int times) {
  program result{.where = topology_spec::parse("node:2").place(writers + readers),
                 .body = [=](world& w, monitor& watch) {
                   mpi_rw_lock<world> lock(w, w.size() - 1);
                   for (int i = 0; i < times; ++i) {
                     if (w.rank() < writers) {
                       watch.ask();
                       lock.lock();
                       watch.expect_complete("lock()");
                       watch.enter();
                       watch.leave();
                       lock.unlock();
                     } else {
                       watch.ask_shared();
                       lock.lock_shared();
                       watch.expect_complete("lock_shared()");
                       watch.enter_shared();
                       watch.leave_shared();
                       lock.unlock_shared();
                     }
                   }
                 }};
  if (readers > 1) result.demands = {std::string(shared_by_two)};
  return result;
}

TEST(mpi_rw_locks, are_right) {
  for (const auto& [writers, readers, times] :
       {std::tuple(1, 1, 2), std::tuple(2, 1, 2), std::tuple(1, 2, 2), std::tuple(2, 2, 1)})
    for (const delivery_mode mode : all_modes) {
      SCOPED_TRACE(std::to_string(writers) + " writers, " + std::to_string(readers) + " readers");
      EXPECT_TRUE(is_right(under_rw_lock(writers, readers, times), by(weak, mode)));
    }
}

TEST(mpi_rw_locks, order_what_they_guard) {
  struct alignas(cache_line) guarded {
    world::plain<word> value{};
  };
  const auto adding = [](bool shares) {
    return program{.where = one_node(3), .body = [=](world& w, monitor&) {
                     world::near_segment<guarded> cells(w);
                     world::plain<word>& value = cells.at(0).value;
                     mpi_rw_lock<world> lock(w);
                     if (w.rank() == 2) {
                       lock.lock_shared();
                       (void)value.load();
                       lock.unlock_shared();
                     } else {
                       shares ? lock.lock_shared() : lock.lock();
                       value.store(value.load() + 1);
                       shares ? lock.unlock_shared() : lock.unlock();
                     }
                     w.barrier();
                     if (value.load() != 2) throw misuse("an addition is lost");
                   }};
  };
  EXPECT_TRUE(is_right(adding(false), by(weak)));
  EXPECT_TRUE(finds(adding(true), by(weak), fault::race, ""));
}

// ---- searches that must agree -----------------------------------------------------------------------------

/// The next deed of a rank: an operation on an epoch or on a cell.
struct deed {
  enum class kind : std::uint8_t { begin, begin_shared, end, load, store, wait };
  kind what = kind::load;
  int place = 0;
  word value = 0;
};

/// Each rank holds one of two epochs, shared or exclusive, and reads and writes inside and outside.
std::vector<std::vector<deed>> drawn_deeds(std::uint64_t seed, int ranks, int epochs, bool waits) {
  using kind = deed::kind;
  random_draw draw(seed);
  std::vector<std::vector<deed>> result(static_cast<std::size_t>(ranks));
  for (std::vector<deed>& mine : result) {
    const auto touch = [&] {
      deed one{.what = draw.of({kind::load, kind::store}), .place = draw.below(2)};
      if (waits && draw.below(4) == 0) one.what = kind::wait;
      one.value = 1 + static_cast<word>(draw.below(3));
      mine.push_back(one);
    };
    for (int i = 0; i < epochs; ++i) {
      const int which = draw.below(4) == 0 ? 1 : 0;
      if (draw.below(4) == 0) touch();
      mine.push_back(
          {.what = draw.of({kind::begin, kind::begin_shared, kind::begin_shared}), .place = which});
      if (draw.below(3) != 0) touch();
      mine.push_back({.what = kind::end, .place = which});
    }
  }
  return result;
}

struct search_of_deeds {
  report found;
  outcomes seen;
};

search_of_deeds searched(const std::vector<std::vector<deed>>& of, const options& how) {
  search_of_deeds result;
  outcome observed;
  const program what{.where = one_node(static_cast<int>(of.size())), .body = [&](world& w, monitor& watch) {
                       if (w.rank() == 0) observed.assign(of.size() + 2, 0);
                       scene s(w, watch, observed);
                       world::lock_epoch first(w, 0);
                       world::lock_epoch second(w, 1);
                       word& mine = observed[static_cast<std::size_t>(w.rank())];
                       for (const deed& one : of[static_cast<std::size_t>(w.rank())]) {
                         world::lock_epoch& epoch = one.place == 0 ? first : second;
                         auto& cell = one.place == 0 ? s.cells.x : s.cells.y;
                         switch (one.what) {
                           case deed::kind::begin:
                             epoch.begin();
                             break;
                           case deed::kind::begin_shared:
                             epoch.begin_shared();
                             break;
                           case deed::kind::end:
                             epoch.end();
                             break;
                           case deed::kind::load:
                             mine = 4 * mine + cell.load(relaxed);
                             break;
                           case deed::kind::store:
                             cell.store(one.value, relaxed);
                             break;
                           case deed::kind::wait:
                             mine = 4 * mine + w.await(cell, is_set);
                             break;
                         }
                       }
                       w.barrier();
                       if (w.rank() != w.size() - 1) return w.barrier();
                       observed[of.size()] = s.cells.x.load(relaxed);
                       observed[of.size() + 1] = s.cells.y.load(relaxed);
                       result.seen.insert(observed);
                       w.barrier();
                     }};
  result.found = check(what, how);
  return result;
}

struct tally {
  int compared = 0;
  int right = 0;
};

void compare(const std::vector<std::vector<deed>>& deeds, options how, tally& count) {
  how.most_executions = 20000;
  how.keep_traces = how.keep_end_states = true;
  const search_of_deeds quick = searched(deeds, how);
  how.reduce = reduction::sleep_sets_only;
  const search_of_deeds plain = searched(deeds, how);
  const auto is_cut_short = [](const report& one) { return !one.complete && !one.found; };
  if (is_cut_short(quick.found) || is_cut_short(plain.found)) return;
  ++count.compared;
  ASSERT_EQ(quick.found.found.has_value(), plain.found.found.has_value());
  if (!quick.found.found) {
    ++count.right;
    EXPECT_EQ(quick.seen, plain.seen);
  }
  if (how.near != strong) return;
  if (!quick.found.found) {
    EXPECT_EQ(quick.found.traces, plain.found.traces);
    EXPECT_EQ(quick.found.executions, quick.found.traces.size()) << "a trace was visited twice";
  }
  how.by = search::hash;
  const search_of_deeds states = searched(deeds, how);
  ASSERT_EQ(states.found.found.has_value(), quick.found.found.has_value());
  if (states.found.found) return;
  EXPECT_EQ(states.found.end_states, quick.found.end_states);
  EXPECT_EQ(states.seen, quick.seen);
}

tally compare_all(int programs, int ranks, int epochs, bool waits, near_model near) {
  tally count;
  for (int seed = 1; seed <= programs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare(drawn_deeds(static_cast<std::uint64_t>(seed), ranks, epochs, waits), by(near), count);
  }
  return count;
}

TEST(random_epochs, have_the_same_traces_and_states_by_every_search) {
  EXPECT_EQ(compare_all(100, 2, 2, false, strong).right, 100);
  EXPECT_GE(compare_all(100, 3, 1, false, strong).right, 90);
  EXPECT_GE(compare_all(60, 3, 2, false, strong).right, 40);
}

TEST(random_epochs, have_the_same_outcomes_in_weak_memory) {
  EXPECT_GE(compare_all(100, 2, 2, false, weak).right, 90);
  EXPECT_GE(compare_all(100, 3, 1, false, weak).right, 90);
}

TEST(random_epochs, that_may_deadlock_do_so_by_every_search) {
  const tally count = compare_all(150, 3, 1, true, strong);
  EXPECT_GE(count.compared - count.right, 30);
  EXPECT_GE(count.right, 30);
}

}  // namespace
}  // namespace nearfar::checker::testing
