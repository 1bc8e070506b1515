// Operations of shared objects in programs: whether some order of them explains their results, and whether
// some operation returns again and again whatever the other ranks do.
#include <array>

#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/recorder.hpp"
#include "nearfar/simulation/cluster.hpp"
#include "nearfar/simulation/machine.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

constexpr std::uint64_t object = 1;

using reg = register_specification;
using counter = counter_specification;

program judged(program what, std::function<judgement(const history&)> judge) {
  what.judge = std::move(judge);
  return what;
}

/// Rank 0 writes, the others read, twice.
program written_and_read(int readers, std::memory_order store, std::memory_order load) {
  return judged(program_of(1 + readers,
                           [=](scene& s) {
                             if (s.rank() == 0) {
                               s.watch.call(object, reg::write, {1});
                               s.cells.x.store(1, store);
                               s.watch.returned({});
                               return;
                             }
                             for (int i = 0; i < 2; ++i) {
                               s.watch.call(object, reg::read, {});
                               s.watch.returned({s.cells.x.load(load)});
                             }
                           }),
                linearizable_by(reg{}));
}

TEST(operations, are_in_some_order) {
  EXPECT_TRUE(is_right(written_and_read(1, relaxed, relaxed), by(strong)));
  EXPECT_TRUE(is_right(written_and_read(2, relaxed, relaxed), by(strong)));
  // A load may miss a store that is over, and even one that another rank has read already.
  for (const std::memory_order load : {relaxed, acquire})
    EXPECT_TRUE(finds(written_and_read(1, release, load), by(weak), fault::history, "write"));
}

/// In each search the time between operations matters, although their steps touch different words.
TEST(operations, precede_others_in_real_time) {
  const program what = judged(program_of(2,
                                         [](scene& s) {
                                           // Says that it has written, and has not.
                                           if (s.rank() == 0) {
                                             s.watch.call(object, reg::write, {1});
                                             s.watch.returned({});
                                           } else {
                                             s.watch.call(object, reg::read, {});
                                             s.watch.returned({0});
                                           }
                                         }),
                              linearizable_by(reg{}));
  EXPECT_TRUE(finds(what, by(strong), fault::history, "read"));
  EXPECT_TRUE(finds(what, by(weak), fault::history, "read"));
}

/// Rank 0 writes; the others read behind a fence.
program read_behind_fences(int readers, std::memory_order store, bool fences) {
  return judged(program_of(1 + readers,
                           [=](scene& s) {
                             s.watch.call(object, s.rank() == 0 ? reg::write : reg::read,
                                          s.rank() == 0 ? value_list{1} : value_list{});
                             if (s.rank() == 0) {
                               s.cells.x.store(1, store);
                               s.watch.returned({});
                               return;
                             }
                             if (fences) s.w.fence(seq_cst);
                             s.watch.returned({s.cells.x.load(acquire)});
                           }),
                linearizable_by(reg{}));
}

TEST(operations, have_a_total_order_that_agrees_with_real_time) {
  EXPECT_TRUE(is_right(written_and_read(2, seq_cst, seq_cst), by(weak)));
  EXPECT_TRUE(is_right(read_behind_fences(1, seq_cst, true), by(weak)));
  EXPECT_TRUE(finds(read_behind_fences(1, seq_cst, false), by(weak), fault::history, "write"));
  EXPECT_TRUE(finds(read_behind_fences(1, release, true), by(weak), fault::history, "write"));
  // The write that the first reader has seen happens before that reader's return, although the write has not
  // returned.
  EXPECT_TRUE(is_right(read_behind_fences(2, seq_cst, true), by(weak)));
}

TEST(operations, have_orders_of_calls_and_returns_only_where_they_matter) {
  const auto executions = [](std::array<std::uint64_t, 2> objects) {
    return check(program_of(2,
                            [=](scene& s) {
                              s.watch.call(objects[static_cast<std::size_t>(s.rank())], counter::add, {1});
                              s.watch.returned({});
                            }),
                 by(strong))
        .executions;
  };
  // Either one before the other, or neither.
  EXPECT_EQ(executions({1, 1}), 3U);
  EXPECT_EQ(executions({1, 2}), 1U);
}

program counting(bool atomic) {
  return judged(program_of(2,
                           [=](scene& s) {
                             s.watch.call(object, counter::add, {1});
                             if (atomic)
                               s.cells.x.fetch_add(1, acq_rel);
                             else
                               s.cells.x.store(s.cells.x.load(acquire) + 1, release);
                             s.watch.returned({});
                             s.watch.call(object, counter::read, {});
                             s.watch.returned({s.cells.x.fetch_add(0, acq_rel)});
                           }),
                linearizable_by(counter{}));
}

TEST(operations, lose_nothing) {
  for (const near_model near : {strong, weak}) {
    EXPECT_TRUE(is_right(counting(true), by(near)));
    EXPECT_TRUE(finds(counting(false), by(near), fault::history, "add"));
  }
}

TEST(operations, may_have_taken_effect_when_their_rank_crashed) {
  const auto writes_first = [](word told) {
    return judged(program_of(2,
                             [=](scene& s) {
                               if (s.rank() == 0) {
                                 s.watch.call(object, reg::write, {1});
                                 // A store could come later in the cell's order than the other's addition of
                                 // 0.
                                 (void)s.cells.x.exchange(1, acq_rel);
                                 s.watch.returned({});
                               } else {
                                 s.watch.call(object, reg::read, {});
                                 s.watch.returned({s.cells.x.fetch_add(0, acquire) == 1 ? told : 0});
                               }
                             }),
                  linearizable_by(reg{}));
  };
  options how = by(weak);
  how.crashes = 1;
  EXPECT_TRUE(is_right(writes_first(1), how));
  EXPECT_TRUE(finds(writes_first(2), how, fault::history, "read"));
}

TEST(operations, come_and_go_in_turn) {
  const auto with = [](bool calls_twice) {
    return program_of(1, [=](scene& s) {
      if (calls_twice) s.watch.call(object, counter::read, {});
      if (calls_twice) s.watch.call(object, counter::read, {});
      s.watch.returned({0});
    });
  };
  EXPECT_TRUE(finds(with(true), by(strong), fault::exception, "calls another before it returns"));
  EXPECT_TRUE(finds(with(false), by(strong), fault::exception, "that it has not called"));
}

// ---- lock-freedom -----------------------------------------------------------------------------------------

program lock_free(program what, std::size_t most_steps) {
  what.is_nonblocking = true;
  what.most_steps_between_returns = most_steps;
  return what;
}

/// Adds by compare-and-swap; the failed attempt of one is the success of another.
void add_by_attempts(scene& s) {
  s.watch.call(object, counter::add, {1});
  for (word now = 0; !s.cells.x.compare_exchange(now, now + 1, acq_rel, acquire);) continue;
  s.watch.returned({});
}

/// Raises a flag of its own and withdraws on seeing another flag. One rank alone succeeds; two may both fail.
void add_politely(scene& s) {
  auto& mine = s.rank() == 0 ? s.cells.x : s.cells.y;
  auto& other = s.rank() == 0 ? s.cells.y : s.cells.x;
  s.watch.call(object, counter::add, {1});
  for (;;) {
    mine.store(1, seq_cst);
    if (other.load(seq_cst) == 0) break;
    mine.store(0, seq_cst);
  }
  s.cells.z.fetch_add(1, acq_rel);
  mine.store(0, seq_cst);
  s.watch.returned({});
}

TEST(lock_freedom, is_that_some_operation_returns) {
  options how = by(weak);
  how.crashes = 1;
  constexpr std::size_t most = 16;
  EXPECT_TRUE(
      is_right(judged(lock_free(program_of(2, add_by_attempts), most), linearizable_by(counter{})), how));
  const report polite = check(lock_free(program_of(2, add_politely), most), by(strong));
  ASSERT_TRUE(polite.found);
  EXPECT_EQ(polite.found->what, fault::livelock);
  EXPECT_EQ(polite.found->text, "more than 16 steps in which no operation returns");
}

TEST(lock_freedom, is_of_operations_that_are_called) {
  const auto stores = [](bool calls) {
    return lock_free(program_of(1,
                                [=](scene& s) {
                                  for (int i = 0; i < 12; ++i) s.cells.x.store(1, relaxed);
                                  if (calls) s.watch.call(object, counter::add, {1});
                                  if (calls) s.watch.returned({});
                                  for (int i = 0; i < 12; ++i) s.cells.x.store(1, relaxed);
                                }),
                     10);
  };
  EXPECT_TRUE(is_right(stores(false), by(strong)));
  EXPECT_TRUE(is_right(stores(true), by(strong)));
}

TEST(lock_freedom, counts_steps_from_the_first_call_or_the_last_return) {
  const auto adds = [](int ranks, std::size_t most) {
    return lock_free(program_of(ranks,
                                [](scene& s) {
                                  s.watch.call(object, counter::add, {1});
                                  for (int i = 0; i < 3; ++i) s.cells.x.fetch_add(1, relaxed);
                                  s.watch.returned({});
                                }),
                     most);
  };
  // The call counts, the return does not.
  for (const int ranks : {1, 2}) {
    const auto most = 4 * static_cast<std::size_t>(ranks);
    EXPECT_TRUE(is_right(adds(ranks, most), by(strong)));
    EXPECT_TRUE(finds(judged(adds(ranks, most - 1), linearizable_by(counter{})), by(strong), fault::livelock,
                      "steps in which no operation returns"));
  }
}

TEST(operations, are_not_for_the_search_by_states) {
  EXPECT_THROW((void)check(counting(true), by(strong, lazy, search::hash)), error);
}

// ---- records on a clock that the ranks share --------------------------------------------------------------

TEST(recorders, stamp_calls_and_returns_in_time) {
  std::vector<operation> recorded;
  simulation::machine plain;
  for (int kind = 0; kind < static_cast<int>(simulation::transfer_count); ++kind)
    plain.cost(simulation::distance::remote, static_cast<simulation::transfer>(kind)).by =
        simulation::executor::nic;
  simulation::run(plain, one_node(2), [&](world& w) {
    world::near_segment<board::cells> cells(w);
    recorder own(w);
    const auto adds = [&](int times) {
      own.call(object, counter::add, {static_cast<word>(w.rank())});
      for (int i = 0; i < times; ++i) w.compute(std::chrono::microseconds(1));
      own.returned({static_cast<word>(times)});
    };
    auto& is_told = cells.at(0).x;
    if (w.rank() == 1) w.await(is_told, is_set);
    adds(w.rank() == 0 ? 1 : 4);
    if (w.rank() == 0) adds(2);
    if (w.rank() == 0) is_told.store(1, release);
    const history all = own.gathered();
    EXPECT_EQ(all.size(), w.rank() == 0 ? 3U : 0U);
    if (w.rank() == 0) recorded.assign(all.operations().begin(), all.operations().end());
  });
  // The record is behind rank 0's steps and the end of the wait.
  ASSERT_EQ(recorded.size(), 3U);
  const std::array<word, 3> times{1, 2, 4};
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const operation& one = recorded[i];
    EXPECT_EQ(one.process, i < 2 ? 0 : 1);
    EXPECT_EQ(one.object, object);
    EXPECT_EQ(one.method, counter::add);
    EXPECT_EQ(one.arguments, (value_list{static_cast<word>(one.process)}));
    ASSERT_TRUE(one.returned);
    EXPECT_EQ(one.returned->result, (value_list{times[i]}));
    EXPECT_GE(one.called, before);
    EXPECT_GE(one.returned->at - one.called, 1000 * times[i]);
    before = one.returned->at;
  }
}

}  // namespace
}  // namespace nearfar::checker::testing
