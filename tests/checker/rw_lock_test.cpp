// Reader-writer locks in the checker: every registered one, in every mode.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/distributed_counter.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/near_rw_lock.hpp"
#include "nearfar/lock/node_flags.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/lock/rw_ticket_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/delivery_modes.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/rw_lock_programs.hpp"

namespace nearfar::test {
namespace {

using checker::delivery_mode;
using checker::fault;
using checker::overtaking_limits;
using checker::program;
using checker::rw_script;
using engine::world;

using scripts = std::vector<rw_script>;

using checker::testing::all_modes;
using checker::testing::expect_nothing_found;
using checker::testing::modes_of;

void expect_right_in_all_modes(const std::string& lock, const std::string& nodes, const scripts& all,
                               checker::options how = {}) {
  for (const delivery_mode mode : modes_of(*bench::rw_catalogue::instance().find(lock))) {
    how.mode = mode;
    std::string title = lock;
    title.append(" on ").append(nodes);
    for (const rw_script& one : all) title.append(" ").append(one);
    expect_nothing_found(rw_program_of(lock, nodes, all), how, title);
  }
}

class every_rw_lock : public testing::TestWithParam<std::string> {};

TEST_P(every_rw_lock, exclude_writers_and_share_among_readers) {
  for (const scripts& all : {scripts{"w", "w", "r"},
                             {"w", "r", "r"},
                             {"w", "r", "w", "r"},
                             {"w", "w", "r", "r"},
                             {"ww", "rr"},
                             {"wr", "rw"},
                             {"wrw", "rwr"}})
    for (const char* nodes : {"node:1", "node:2"}) {
      expect_right_in_all_modes(GetParam(), nodes, all);
      if (bench::rw_catalogue::instance().find(GetParam())->one_node_only) break;
    }
}

// Other tests leave out lazy delivery for these locks.
TEST(rw_locks, of_one_node_have_the_same_schedules_with_early_and_late_delivery) {
  int compared = 0;
  for (const std::string& name : sound_rw_names()) {
    if (!bench::rw_catalogue::instance().find(name)->one_node_only) continue;
    std::set<std::uint64_t> executions;
    for (const delivery_mode mode : {delivery_mode::eager, delivery_mode::lazy}) {
      const checker::report result =
          checker::check(rw_program_of(name, "node:1", {"wr", "rw"}), {.mode = mode});
      EXPECT_TRUE(result.complete) << name;
      executions.insert(result.executions);
    }
    EXPECT_EQ(executions.size(), 1U) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST_P(every_rw_lock, leave_nothing_behind_by_attempts) {
  for (const scripts& all : {scripts{"wW", "rR"},
                             {"WW", "Rr"},
                             {"wT", "rt"},
                             {"wt", "tr"},
                             {"TW", "tR"},
                             {"W", "w", "R"},
                             {"w", "t", "r"}})
    expect_right_in_all_modes(GetParam(), "node:2", all);
}

TEST_P(every_rw_lock, change_hands_without_a_gap) {
  for (const scripts& all : {scripts{"dr", "wr"}, {"d", "ww"}, {"uw", "uw"}, {"ur", "dw"}, {"u", "w", "r"}})
    expect_right_in_all_modes(GetParam(), "node:2", all);
}

/// Locks that can downgrade.
class every_downgrading_rw_lock : public testing::TestWithParam<std::string> {};

TEST_P(every_downgrading_rw_lock, lets_no_writer_in_between_writing_and_reading) {
  const bench::rw_lock_entry& entry = *bench::rw_catalogue::instance().find(GetParam());
  const auto& factory = entry.factory<world>();
  const auto make = [&factory](world& w) { return factory(w, 0, reached_by_few()); };
  const char* nodes = entry.one_node_only ? "node:1" : "node:2";
  for (const delivery_mode mode : all_modes)
    expect_nothing_found(downgrading(nodes, 2, make), {.mode = mode}, GetParam());
}

TEST_P(every_rw_lock, block_at_worst_where_a_rank_crashes) {
  for (const scripts& all : {scripts{"w", "r"}, {"r", "w", "r"}, {"w", "w", "r"}})
    expect_right_in_all_modes(GetParam(), "node:2", all, {.crashes = 1});
}

TEST_P(every_rw_lock, hold_at_random_where_too_many_take_part) {
  for (const unsigned seed : {1U, 2U})
    expect_right_in_all_modes(GetParam(), "node:2", {"wwr", "rrw", "wdr", "tru", "WRr"},
                              {.by = checker::search::random, .most_executions = 200, .seed = seed});
}

/// Islands of one node, and islands of two.
TEST(rw_locks, hold_on_islands) {
  const char* const lock = "rma_rw.island";
  for (const scripts& all : {scripts{"w", "r"}, {"ww", "rr"}, {"wr", "rw"}, {"wW", "rR"}})
    expect_right_in_all_modes(lock, "island:2", all);
  for (const scripts& all : {scripts{"w", "w", "w", "r"}, {"w", "r", "w", "r"}, {"W", "w", "R", "w"}})
    expect_right_in_all_modes(lock, "island:2 node:2", all);
  for (const scripts& all : {scripts{"www", "wwr", "www", "rrw"}, {"wwr", "rrw", "wdr", "wru", "WRr", "ww"}})
    for (const auto conflict : {checker::conflicts::reported, checker::conflicts::enacted})
      expect_right_in_all_modes(
          lock, "island:2 node:2", all,
          {.conflict = conflict, .by = checker::search::random, .most_executions = 500});
}

/// A turn has (1 + 1) writers of a node, from (1 + 1) nodes of an island, from (1 + 1) islands.
TEST(rw_locks, let_no_reader_be_overtaken_too_often_on_islands) {
  const overtaking_limits limits{.writers_past_reader = 8};
  const program what =
      rw_program_of("rma_rw.island", "island:2 node:2", {"www", "www", "www", "www", "rr"}, limits);
  expect_nothing_found(what, {.by = checker::search::random, .most_executions = 3000}, "rma_rw.island");
}

/// Locks that promise fairness.
class every_fair_rw_lock : public testing::TestWithParam<std::string> {};

TEST_P(every_fair_rw_lock, lets_no_waiting_reader_be_overtaken_too_often) {
  // Turns of (1 + 1) * (1 + 1) writers, for each further level of queues twice as many. The writer that the
  // reader finds inside asked before the reader.
  const int levels = bench::rw_catalogue::instance().find(GetParam())->bypass.levels;
  const overtaking_limits limits{.writers_past_reader = 4 << (levels - 1)};
  for (const delivery_mode mode : all_modes)
    expect_nothing_found(rw_program_of(GetParam(), "node:1", {"wwww", "rr", "www"}, limits),
                         {.mode = mode, .by = checker::search::random, .most_executions = 1500}, GetParam());
  expect_nothing_found(rw_program_of(GetParam(), "node:1", {"wwwww", "r"}, limits), {}, GetParam());
}

TEST(rw_locks, that_prefer_writers_let_any_number_overtake_a_reader) {
  const auto reckless =
      rw_program_of("cohort_rw.writers", "node:3", {"wwwwww", "r", "wwwwww"}, {.writers_past_reader = 4});
  const checker::report found = check(reckless, {.by = checker::search::random, .most_executions = 100'000});
  ASSERT_TRUE(found.found);
  EXPECT_EQ(found.found->what, fault::bypass);
}

/// The locks for which that holds.
template <typename Holds>
std::vector<std::string> rw_names_where(Holds holds) {
  std::vector<std::string> names = rw_names_for_every_schedule();
  std::erase_if(names, [&](const std::string& name) { return !holds(name); });
  return names;
}
bool bounds_overtaking(const std::string& name) {
  return bench::rw_catalogue::instance().find(name)->bypass.bounds_writers_past_reader;
}
bool downgrades(const std::string& name) { return abilities_of(name).downgrades; }

INSTANTIATE_TEST_SUITE_P(of, every_downgrading_rw_lock, testing::ValuesIn(rw_names_where(&downgrades)),
                         &name_of_case);
INSTANTIATE_TEST_SUITE_P(of, every_fair_rw_lock, testing::ValuesIn(rw_names_where(&bounds_overtaking)),
                         &name_of_case);
INSTANTIATE_TEST_SUITE_P(of, every_rw_lock, testing::ValuesIn(rw_names_for_every_schedule()), &name_of_case);

/// The list keeps the tests above from asking less of a lock than they seem to.
TEST(rw_locks, lack_no_function_but_these) {
  std::set<std::string> lacking;
  for (const std::string& lock : rw_names_for_every_schedule()) {
    const auto can = abilities_of(lock);
    const auto note = [&](bool is_there, const char* function) {
      if (!is_there) lacking.insert(lock + " has no " + function);
    };
    note(can.tries, "try_lock");
    note(can.tries_shared, "try_lock_shared");
    note(can.tries_until, "try_lock_until");
    note(can.tries_shared_until, "try_lock_shared_until");
    note(can.downgrades, "unlock_and_lock_shared");
    note(can.upgrades, "try_unlock_shared_and_lock");
  }
  const std::set<std::string> expected{"cohort_rw has no try_lock_until",
                                       "cohort_rw.readers has no try_lock_until",
                                       "cohort_rw.writers has no try_lock_until",
                                       "mpi_rw has no try_lock",
                                       "mpi_rw has no try_lock_shared",
                                       "mpi_rw has no try_lock_shared_until",
                                       "mpi_rw has no try_lock_until",
                                       "mpi_rw has no try_unlock_shared_and_lock",
                                       "mpi_rw has no unlock_and_lock_shared",
                                       "near_rw has no try_lock_shared_until",
                                       "near_rw has no try_lock_until",
                                       "rma_rw has no try_lock_until",
                                       "rma_rw.consecutive has no try_lock_until",
                                       "rma_rw.island has no try_lock_until",
                                       "rma_rw.numa has no try_lock_until",
                                       "rma_rw.optimised has no try_lock_until",
                                       "rw_ticket has no try_lock",
                                       "rw_ticket has no try_lock_shared",
                                       "rw_ticket has no try_lock_shared_until",
                                       "rw_ticket has no try_lock_until",
                                       "rw_ticket has no try_unlock_shared_and_lock",
                                       "rw_ticket.cohort has no try_lock",
                                       "rw_ticket.cohort has no try_lock_shared",
                                       "rw_ticket.cohort has no try_lock_shared_until",
                                       "rw_ticket.cohort has no try_lock_until",
                                       "rw_ticket.cohort has no try_unlock_shared_and_lock",
                                       "rw_ticket.cohort has no unlock_and_lock_shared"};
  EXPECT_EQ(lacking, expected);
}

/// Lets two in.
template <typename Gate>
Gate gate_of(world& w) {
  if constexpr (std::is_same_v<Gate, node_flags<world>>)
    return Gate(w, 2);
  else
    return Gate(w, 1, 2);
}

/// Rank 0 has opened the gate; rank 1 comes in `times` times.
template <typename Gate>
program entering(bool is_limited, int times) {
  return {.where = topology_spec::parse("node:1").place(2),
          .body =
              [=](world& w, checker::monitor&) {
                Gate gate = gate_of<Gate>(w);
                world::signal_channel opened(w);
                if (w.rank() == 0) {
                  gate.shut(readers_turn::none);
                  gate.open(is_limited);
                  opened.signal(1);
                  return;
                }
                opened.await_signal(0);
                for (int i = 0; i < times; ++i) {
                  static_cast<void>(gate.enter());
                  gate.leave();
                }
              },
          .bytes = std::size_t{16} << 10U};
}

template <typename Gate>
class gates : public testing::Test {};
using all_gates = testing::Types<node_flags<world>, distributed_counter<world>>;
TYPED_TEST_SUITE(gates, all_gates);

TYPED_TEST(gates, let_in_as_many_as_may_come_while_writers_wait) {
  for (const delivery_mode mode : all_modes) {
    expect_nothing_found(entering<TypeParam>(true, 2), {.mode = mode}, "as many as may");
    expect_nothing_found(entering<TypeParam>(false, 4), {.mode = mode}, "no writer waits");
    const checker::report one_more = check(entering<TypeParam>(true, 3), {.mode = mode});
    ASSERT_TRUE(one_more.found);
    EXPECT_EQ(one_more.found->what, fault::deadlock);
  }
}

template <counted_readers Counted>
void let_readers_give_up() {
  const auto make = [](world& w) {
    return std::make_unique<basic_rma_rw_lock<world, Counted>>(
        w, 0,
        rma_rw_parameters{.tree = lock_tree(std::vector<tree_level>{}),
                          .turns = {.max_writer_passes = 0, .max_readers = 1}});
  };
  for (const scripts& all :
       {scripts{"t", "rr", "w", "w"}, {"R", "rr", "w", "w"}, {"tt", "tt", "rrrr", "w", "w", "w"}})
    for (const char* nodes : {"node:1", "node:2"})
      for (const delivery_mode mode : {delivery_mode::eager, delivery_mode::progress})
        expect_nothing_found(
            checker::rw_program(topology_spec::parse(nodes).place(static_cast<int>(all.size())), all, make),
            {.mode = mode, .by = checker::search::random, .most_executions = 7500}, all[0]);
}

// A reader that gives up after its phase has begun must not make room among the readers that count as inside.
TEST(rw_locks, let_readers_give_up_in_a_limited_phase) {
  let_readers_give_up<counted_readers::while_writers_wait>();
}
TEST(rw_locks, let_readers_give_up_where_all_readers_count) {
  let_readers_give_up<counted_readers::always>();
}

/// Rank 0 has opened the gate; rank 1 comes in `times` times, and finds the queue of writers as said.
program entering_beside_writers(bool is_wanted, int times) {
  return {.where = topology_spec::parse("node:1").place(2),
          .body =
              [=](world& w, checker::monitor&) {
                distributed_counter<world, counted_readers::always> gate(w, 1, 2);
                world::signal_channel opened(w);
                if (w.rank() == 0) {
                  gate.shut(readers_turn::none);
                  gate.open(false);
                  opened.signal(1);
                  return;
                }
                opened.await_signal(0);
                for (int i = 0; i < times; ++i) {
                  static_cast<void>(gate.enter([=] { return is_wanted; }));
                  gate.leave();
                }
              },
          .bytes = std::size_t{16} << 10U};
}

TEST(consecutive_readers, are_as_many_as_may_come_where_a_writer_is_in_the_queue) {
  for (const delivery_mode mode : all_modes) {
    expect_nothing_found(entering_beside_writers(true, 2), {.mode = mode}, "as many as may");
    expect_nothing_found(entering_beside_writers(false, 5), {.mode = mode}, "no writer is there");
    const checker::report one_more = check(entering_beside_writers(true, 3), {.mode = mode});
    ASSERT_TRUE(one_more.found);
    EXPECT_EQ(one_more.found->what, fault::deadlock);
  }
}

TEST(consecutive_readers, pass_a_waiting_writer_no_more_often_than_their_limit_allows) {
  for (const delivery_mode mode : all_modes)
    expect_nothing_found(reads_past_a_writer("rma_rw.consecutive"), {.mode = mode}, "counted always");
  const checker::report found = check(reads_past_a_writer("rma_rw"), {});
  ASSERT_TRUE(found.found) << "the limit of rma_rw does not count while a writer is on its way";
  EXPECT_EQ(found.found->what, fault::bypass);
}

TEST(consecutive_readers, are_together_in_the_lock_beyond_their_limit) {
  // Each rank holds the lock until the other has it, too.
  const auto meet = [](world& w, checker::monitor&) {
    const auto lock =
        bench::rw_catalogue::instance().find("rma_rw.consecutive")->factory<world>()(w, 0, reached_by_few());
    world::signal_channel is_in(w);
    for (int i = 0; i < 3; ++i) {
      lock->lock_shared();
      is_in.signal(1 - w.rank());
      is_in.await_signal(1 - w.rank());
      lock->unlock_shared();
    }
  };
  for (const char* nodes : {"node:1", "node:2"})
    for (const delivery_mode mode : all_modes)
      expect_nothing_found(
          {.where = topology_spec::parse(nodes).place(2), .body = meet, .bytes = std::size_t{16} << 10U},
          {.mode = mode}, nodes);
}

TEST(rw_locks, that_prefer_writers_stay_on_a_node_beyond_its_limit) {
  // The writers of one node, while no other node has any, exceed their local limit at once.
  const auto make = [](world& w) {
    return std::make_unique<cohort_rw_lock<world>>(
        w, 0, cohort_rw_parameters{.max_local_passes = 0, .prefers = rw_preference::writers});
  };
  const program alone = checker::rw_program(topology_spec::parse("node:1").place(3), {"ww", "ww", "r"}, make);
  expect_nothing_found(alone, {}, "writers first, without local passes");
}

TEST(rw_lock_trees, of_three_levels_hold_at_random) {
  const auto where = topology_spec::parse("node:2 numa:2 core:2").place(8);
  const auto make = [](world& w) {
    return std::make_unique<rma_rw_lock<world>>(
        w, 3,
        rma_rw_parameters{.tree = {{level::node, 1}, {level::numa, 1}},
                          .turns = {.max_writer_passes = 1, .max_readers = 1},
                          .nodes_per_counter = 2});
  };
  const program what = checker::rw_program(where, {"wr", "rw", "ww", "rr", "dr", "uw", "Wr", "tw"}, make, {});
  for (const delivery_mode mode : all_modes)
    expect_nothing_found(what, {.mode = mode, .by = checker::search::random, .most_executions = 300},
                         "three levels");
}

/// A counter whose numbers are large soon.
template <std::uint64_t HighMark>
class low_lock
    : public phase_fair_lock<low_lock<HighMark>, rma_mcs_tree<world, handover_by::sum, true>,
                             distributed_counter<world, counted_readers::while_writers_wait, HighMark>> {
  using writers = rma_mcs_tree<world, handover_by::sum, true>;
  using gate = distributed_counter<world, counted_readers::while_writers_wait, HighMark>;

 public:
  explicit low_lock(world& w)
      : low_lock::phase_fair_lock(
            w, {}, {}, rw_preference::fair,
            [&] { return writers(w, 0, lock_tree(std::vector<tree_level>{})); },
            [&] { return gate(w, 1, 1); }) {}
};

TEST(distributed_counters, keep_their_numbers_low) {
  const auto make = [](world& w) { return std::make_unique<low_lock<1>>(w); };
  for (const scripts& all : {scripts{"rrr", "rw"}, {"rr", "r", "w"}, {"rR", "rtW"}, {"ru", "rr"}})
    for (const delivery_mode mode : all_modes)
      for (const char* nodes : {"node:1", "node:2"})
        expect_nothing_found(
            checker::rw_program(topology_spec::parse(nodes).place(static_cast<int>(all.size())), all, make),
            {.mode = mode}, std::string("low numbers on ") + nodes);
}

/// With the fourth reader, counts of readers overflow into those of writers.
using few_readers = rw_ticket_lock<world, rw_ticket_policy{.reader_bits = 2}>;

TEST(rw_ticket_locks, hold_where_counts_of_readers_overflow) {
  const auto make = [](world& w) { return std::make_unique<few_readers>(w, 0); };
  for (const scripts& all : {scripts{"rrrrr", "w"}, {"rrrr", "rw"}, {"drrr", "wr"}, {"rrr", "r", "w"}})
    for (const char* nodes : {"node:1", "node:2"})
      for (const delivery_mode mode : all_modes)
        expect_nothing_found(
            checker::rw_program(topology_spec::parse(nodes).place(static_cast<int>(all.size())), all, make),
            {.mode = mode}, nodes);
}

/// Ranks that wait in steps, each after a release of another rank, beside ranks that wait inside the lock.
template <typename Lock>
program in_steps(const char* nodes, int writers) {
  return {.where = topology_spec::parse(nodes).place(3),
          .body =
              [writers](world& w, checker::monitor& watch) {
                Lock lock(w, 0);
                world::signal_channel released(w);
                const auto step_until = [&released](const auto& is_done) {
                  while (!is_done()) released.await_signal(any_rank);
                };
                const bool is_writer = w.rank() < writers;
                if (w.rank() == 0) {
                  watch.ask();
                  static_cast<void>(lock.acquire());
                } else if (is_writer) {
                  watch.ask();
                  step_until([&] { return lock.try_ask(); });
                  step_until([&] { return lock.is_in(); });
                } else {
                  watch.ask_shared();
                  if constexpr (requires { lock.try_ask_shared(); }) {
                    step_until([&] { return lock.try_ask_shared(); });
                    step_until([&] { return lock.is_in_shared(); });
                  } else {
                    step_until([&] { return lock.try_acquire_shared(); });
                  }
                }
                if (is_writer) {
                  watch.enter();
                  watch.leave();
                  lock.release();
                } else {
                  watch.enter_shared();
                  watch.leave_shared();
                  lock.release_shared();
                }
                for (int other = 1; other < w.size(); ++other)
                  if (other != w.rank()) released.signal(other);
              },
          .bytes = std::size_t{16} << 10U};
}

TEST(rw_ticket_locks, can_be_waited_for_in_steps) {
  for (const char* nodes : {"node:1", "node:3"})
    for (const delivery_mode mode : all_modes)
      for (const int writers : {1, 2})
        expect_nothing_found(in_steps<rw_ticket_lock<world>>(nodes, writers), {.mode = mode}, nodes);
}

/// Writers of one node, and a reader that counts the writers that enter while it has its place. Throws if
/// these are more than `most`.
program passing_a_reader(int local_passes, int most) {
  return {.where = topology_spec::parse("node:1").place(3),
          .body =
              [=, entered = std::make_shared<int>(0)](world& w, checker::monitor& watch) {
                if (w.rank() == 0) *entered = 0;
                cohort_rw_ticket_lock<world> lock(w, 0, local_passes);
                world::signal_channel released(w);
                if (w.rank() == 2) {
                  static_cast<void>(lock.at_home().try_ask_shared());
                  const int before = *entered;
                  while (!lock.at_home().is_in_shared()) released.await_signal(any_rank);
                  if (*entered - before > most) throw error("overtaken by too many");
                  lock.at_home().release_shared();
                  return;
                }
                for (int i = 0; i < 3; ++i) {
                  watch.ask();
                  static_cast<void>(lock.acquire());
                  ++*entered;
                  watch.enter();
                  watch.leave();
                  lock.release();
                  released.signal(2);
                }
              },
          .bytes = std::size_t{16} << 10U};
}

TEST(rw_ticket_locks, let_few_writers_of_a_node_pass_a_reader) {
  const auto found_with = [](int local_passes, int most) {
    return check(passing_a_reader(local_passes, most),
                 {.by = checker::search::random, .most_executions = 20'000})
        .found;
  };
  EXPECT_FALSE(found_with(1, 2));
  ASSERT_TRUE(found_with(2, 2));
  EXPECT_EQ(found_with(2, 2)->what, fault::exception);
}

TEST(rw_ticket_locks, refuse_more_ranks_than_fit_into_a_word) {
  const auto make = [](world& w) {
    return std::make_unique<rw_ticket_lock<world, rw_ticket_policy{.reader_bits = 1}>>(w, 0);
  };
  const auto of = [&](const scripts& all) {
    return check(
        checker::rw_program(topology_spec::parse("node:1").place(static_cast<int>(all.size())), all, make),
        {});
  };
  EXPECT_FALSE(of({"rw", "wr"}).found);
  ASSERT_TRUE(of({"r", "r", "r"}).found);
  EXPECT_EQ(of({"r", "r", "r"}).found->what, fault::exception);
}

TEST(near_rw_locks, can_be_waited_for_in_steps) {
  for (const delivery_mode mode : all_modes)
    for (const int writers : {1, 2})
      expect_nothing_found(in_steps<near_rw_lock<world>>("node:1", writers), {.mode = mode}, "node:1");
}

}  // namespace
}  // namespace nearfar::test
