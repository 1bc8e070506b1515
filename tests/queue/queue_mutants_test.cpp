// Queues broken on purpose, one operation at a time: the checker must find the fault of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/mutation.hpp"
#include "tests/checker/mutants.hpp"
#include "tests/queue/queue_plans.hpp"
#include "tests/queue/spsc_streams.hpp"

namespace nearfar::checker::testing {
namespace {

namespace test = nearfar::test;

/// The programs in which each mutant is searched for.
std::vector<plan> plans() {
  const std::vector<step_of> lap{1, pop, 2, pop, 3, pop, 4, pop};
  return {{.of_ranks = {{1, 2}, {3, pop}}},
          {.of_ranks = {{1, pop}, {pop, 2}}},
          {.before = {1, 2}, .of_ranks = {{pop}, {pop, 3}}},
          {.before = lap, .of_ranks = {{7, pop}, {6}}, .capacity = 2, .announce_every = 2, .ring = 8},
          {.before = lap, .of_ranks = {{6}, {7, pop}}, .capacity = 2, .announce_every = 2, .ring = 8},
          {.before = {1, pop, 2, pop, 3, pop},
           .of_ranks = {{4, pop, 5, pop}, {6, pop, 7, pop}},
           .capacity = 2,
           .announce_every = 0,
           .ring = 8},
          {.before = {1, 2, pop},
           .of_ranks = {{pop, 3, 4, pop}, {pop, 5, pop}},
           .capacity = 3,
           .announce_every = 1,
           .ring = 8},
          {.before = {1, pop}, .of_ranks = {{2, pop}, {pop, 3}}, .capacity = 2},
          {.of_ranks = {{1, 2}, {pop, pop}}, .waits = true},
          {.of_ranks = {{1, 2}, {pop}, {pop}}, .waits = true}};
}
template <typename Queue>
std::vector<program> programs() {
  std::vector<program> result;
  for (const plan& what : plans()) result.push_back(program_of<Queue>(for_queue<Queue>(what)));
  // A pop that is overtaken by a whole lap.
  if constexpr (std::same_as<Queue, ticketed>)
    result.push_back(program_of<Queue>(
        {.before = {1}, .of_ranks = {{2, pop, 3, pop, 4, pop, 5, pop}, {pop}}, .capacity = 1, .ring = 4}));
  return result;
}
std::vector<program> streams() {
  std::vector<program> result;
  for (const char* topology : {"node:2", "node:1"})
    for (const stream& what :
         {stream{.capacity = 1}, stream{.count = 3, .at_once = 3}, stream{.closes = true},
          stream{.count = 4, .at_once = 2, .capacity = 1, .closes = true}}) {
      stream there = what;
      there.topology = topology;
      result.push_back(stream_program<spsc_faults{}>(there));
    }
  for (const char* topology : {"node:2", "node:1"}) result.push_back(timed_stream_program(topology));
  return result;
}

/// Whether the checker finds a fault in some program with one operation changed.
bool is_caught(const std::vector<program>& programs, const mutation& one) {
  for (const program& what : programs)
    for (const delivery_mode mode : all_modes)
      for (const search by_what : {search::exhaustive, search::random}) {
        options how = by(mode);
        how.by = by_what;
        how.broken = one;
        how.most_executions = 1000;
        how.most_steps = 3000;
        if (check(what, how).found) return true;
      }
  return false;
}

/// Changes that leave a queue right.
constexpr std::array harmless_in_queues{
    test::harmless{"queue/linked_queue.hpp", "hints_.accumulate", change::dropped,
                   "who is told of no ends looks for them from where it last knew them"},
    test::harmless{"queue/linked_queue.hpp", "hints_.accumulate", change::postponed, "the same"},
    test::harmless{"queue/linked_queue.hpp", "values_.write_direct", change::postponed,
                   "before the flush of the state, all the same"},
    test::harmless{"queue/linked_queue.hpp", "&words::next, nothing_after_", change::postponed,
                   "before the flush of the state, all the same"},
    test::harmless{"queue/ticket_queue.hpp", "&home_words::done, done_, far_op", change::dropped,
                   "who is not told what is done looks for it"},
    test::harmless{"queue/ticket_queue.hpp", "&home_words::done, done_, far_op", change::postponed,
                   "the same"},
    test::harmless{"queue/ticket_queue.hpp", "before this object may be gone", change::dropped,
                   "the next addition flushes it, and no object is destroyed before"},
    test::harmless{"queue/spsc_queue.hpp", "at_consumer_.await_until(deadline, ends_", change::unaware,
                   "nobody does anything in the memory of a producer on the consumer's node"},
    test::harmless{"queue/spsc_queue.hpp", "&consumers_words::popped, popped_", change::postponed,
                   "room is made a little later"},
};

std::string missed(const std::vector<program>& programs, std::size_t least) {
  std::set<mutation> all;
  for (const program& what : programs)
    for (const delivery_mode mode : all_modes)
      for (const mutation& one : mutations_of(what, by(mode), "nearfar/queue/", 50))
        if (!one.where.file.ends_with("combining_add.hpp")) all.insert(one);  // it has tests of its own
  EXPECT_GT(all.size(), least);
  std::string result;
  for (const mutation& one : all)
    if (!test::is_known_harmless(harmless_in_queues, "*", one) && !is_caught(programs, one))
      result += one.text() + "\n";
  return result;
}

TEST(broken_queue, is_caught_in_every_operation_of_linked_queue) {
  EXPECT_EQ(missed(programs<lockfree>(), 10), "");
}
TEST(broken_queue, is_caught_in_every_operation_of_ticket_queue) {
  EXPECT_EQ(missed(programs<ticketed>(), 10), "");
}
TEST(broken_queue, is_caught_in_every_operation_of_spsc_queue) { EXPECT_EQ(missed(streams(), 5), ""); }

}  // namespace
}  // namespace nearfar::checker::testing
