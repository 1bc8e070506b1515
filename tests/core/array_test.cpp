// Arrays, objects, plain cells and pools of the world of threads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/core/array_cases.hpp"

namespace nearfar::testing {
namespace {

using threads::world;

constexpr int ranks = 3;

TEST(threads_array, operations_reach_the_element) {
  for (const std::size_t count : {1U, 2U, 17U})
    threads::run(ranks, [&](world& w) { expect_operations_reach_the_element(w, count); });
}

TEST(threads_array, near_elements_are_apart) {
  threads::options chosen;
  chosen.topology = topology_spec::parse("node:2 core:2");
  threads::run(
      4, [](world& w) { expect_near_elements_are_apart(w, 17); }, chosen);
}

TEST(threads_array, has_no_element_beyond_the_last) {
  threads::run(ranks, [](world& w) { expect_no_element_beyond_the_last(w); });
}

TEST(threads_array, of_a_bad_count_is_refused) {
  const std::string option = "nearfar::threads::options::bytes";
  threads::run(ranks, [&](world& w) { expect_bad_counts_are_refused(w, option, option); });
}

TEST(threads_array, gives_its_memory_back) {
  threads::options chosen;
  chosen.bytes = std::size_t{1} << 16U;
  threads::run(
      ranks, [&](world& w) { expect_memory_of_arrays_is_used_again(w, chosen.bytes); }, chosen);
}

TEST(threads_objects, of_all_sizes_arrive_whole) {
  for (const char* topology : {"node:1", "node:2"}) {
    threads::options chosen;
    chosen.topology = topology_spec::parse(topology);
    threads::run(
        ranks, [](world& w) { expect_objects_of_all_sizes_arrive_whole(w); }, chosen);
  }
}

TEST(threads_bytes, arrive_alone) {
  for (const char* topology : {"node:1", "node:2"}) {
    threads::options chosen;
    chosen.topology = topology_spec::parse(topology);
    threads::run(
        ranks, [](world& w) { expect_bytes_arrive_alone(w); }, chosen);
  }
}

TEST(threads_objects, are_read_while_they_are_written) {
  threads::run(ranks, [](world& w) { expect_sequence_lock_holds(w, 5000); });
}

struct object_and_word {
  far_object<std::uint64_t> object;
  far<std::uint64_t> word;
};
using array_of_both = world::far_array<object_and_word>;

/// The way in which a rank writes its own object, and in which the other rank reads it.
struct way {
  void (*write)(array_of_both& array, int rank, const std::uint64_t& value);
  std::uint64_t (*read)(array_of_both& array, int rank);
};
constexpr way by_put{[](array_of_both& array, int rank, const std::uint64_t& value) {
                       array.put(rank, &object_and_word::object, value);
                     },
                     [](array_of_both& array, int rank) {
                       std::uint64_t seen = 0;
                       array.get(rank, &object_and_word::object, seen);
                       return seen;
                     }};
constexpr way in_place{
    [](array_of_both& array, int rank, const std::uint64_t& value) {
      array.write_direct(rank, &object_and_word::object, value);
    },
    [](array_of_both& array, int rank) { return array.read_direct(rank, &object_and_word::object); }};
constexpr way as_word{
    [](array_of_both& array, int rank, const std::uint64_t& value) {
      array.put(rank, &object_and_word::word, value);
    },
    [](array_of_both& array, int rank) { return array.read_direct(rank, &object_and_word::word); }};

/// Rounds in which two ranks write, then each reads the other's object, and both miss the write.
std::int64_t rounds_missed_by_both(const way& of_first, const way& of_second) {
  constexpr std::uint64_t rounds = 20'000;
  std::array<std::vector<bool>, 2> missed;
  threads::options chosen;
  chosen.oversubscribed = true;  // other programs run on the machine
  const auto body = [&](world& w) {
    array_of_both array(w, 1);
    const world::near_array<letter_and_flag<world>> start(w, 1);
    std::vector<bool>& mine = missed.at(static_cast<std::size_t>(w.rank()));
    auto& arrived = start.at(0).arrived;
    const bool is_first = w.rank() == 0;
    jitter timing(31, w.rank());
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      arrived.fetch_add(1, std::memory_order_acq_rel);
      w.await(arrived, [round](std::uint64_t count) { return count >= 2 * round; });
      // The last rank to come learns it sooner.
      for (std::uint32_t turns = timing.below(200); turns != 0; --turns)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      (is_first ? of_first : of_second).write(array, w.rank(), round);
      mine.push_back((is_first ? of_second : of_first).read(array, 1 - w.rank()) != round);
    }
  };
  threads::run(2, body, chosen);
  std::int64_t both = 0;
  for (std::size_t round = 0; round < rounds; ++round)
    both += static_cast<std::int64_t>(missed[0][round] && missed[1][round]);
  return both;
}

// Without the fences both ranks miss the write in some rounds, if the machine has two processors: without any
// fence in the first two cases, without the fence after a write in the last two.
TEST(threads_objects, are_not_missed_by_both) {
  EXPECT_EQ(rounds_missed_by_both(by_put, by_put), 0);
  EXPECT_EQ(rounds_missed_by_both(in_place, in_place), 0);
  EXPECT_EQ(rounds_missed_by_both(by_put, as_word), 0);
  EXPECT_EQ(rounds_missed_by_both(in_place, as_word), 0);
}

TEST(threads_plain_cells, are_handed_over_by_an_atomic) {
  threads::run(ranks, [](world& w) { expect_plain_cells_are_handed_over(w, 2000); });
}

}  // namespace
}  // namespace nearfar::testing
