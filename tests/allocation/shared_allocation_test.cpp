// Maps and queues of a world of threads without free memory: an operation that throws `std::bad_alloc` has no
// effect. The other ranks lose nothing that they can use, and no rank waits for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/concurrency.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/spsc_queue.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "tests/allocation/failing_new.hpp"

namespace nearfar::testing {
namespace {

using threads::world;
using word = std::uint64_t;

// ---- maps
// --------------------------------------------------------------------------------------------------

using map_type = distributed_map<world, word, word>;

/// A map, and its expected content.
class watched_map {
 public:
  static constexpr std::size_t cells = 48;
  /// The map has few buckets, so that chains are long.
  watched_map(world& w, failing_allocations::plan& by)
      : of_(w, {.cells = cells, .buckets = 4, .cells_at_once = 4}), by_(&by) {}

  void insert(word key) {
    std::optional<insert_result> result;
    static_cast<void>(goes_through(*by_, [&] { result = of_.insert(key, key); }));
    if (!result) return expect(key);
    EXPECT_EQ(*result == insert_result::exists, expected_.contains(key));
    if (*result == insert_result::inserted) expected_.emplace(key, key);
  }
  void update(word key, word value) {
    std::optional<update_result> result;
    static_cast<void>(goes_through(*by_, [&] { result = of_.update(key, value); }));
    if (result == update_result::updated) expected_.at(key) = value;
    expect(key);
  }
  void erase(word key) {
    std::optional<word> gone;
    const bool went_through = goes_through(*by_, [&] { gone = of_.erase(key); });
    EXPECT_EQ(gone.has_value(), went_through && expected_.erase(key) != 0);
    expect(key);
  }
  /// A batch may have inserted some of its entries when it throws.
  void insert_several(word first) {
    std::array<word, 6> keys{};
    for (std::size_t i = 0; i < keys.size(); ++i) keys.at(i) = first + i;
    std::array<insert_result, keys.size()> results{};
    const bool went_through = goes_through(*by_, [&] { of_.insert(keys, keys, results); });
    for (const word key : keys) {
      if (!went_through && of_.find(key)) expected_.emplace(key, key);
      if (went_through && results.at(key - first) == insert_result::inserted) expected_.emplace(key, key);
      expect(key);
    }
  }
  /// Exactly the cells of the map can be used.
  void expect_all_cells() {
    for (const auto& [key, value] : std::map(expected_)) {
      EXPECT_EQ(of_.erase(key), value);
      expected_.erase(key);
    }
    for (word key = 0; key < cells; ++key) ASSERT_EQ(of_.insert(key, key), insert_result::inserted) << key;
    EXPECT_EQ(of_.insert(cells, 0), insert_result::full);
    EXPECT_EQ(of_.size(), cells);
  }

 private:
  void expect(word key) {
    const auto there = expected_.find(key);
    const std::optional<word> found = of_.find(key);
    ASSERT_EQ(found.has_value(), there != expected_.end());
    if (found) {
      ASSERT_EQ(*found, there->second);
    }
  }

  map_type of_;
  failing_allocations::plan* by_;
  std::map<word, word> expected_;
};

TEST(map_without_memory, loses_neither_entries_nor_cells) {
  for_failing_allocations([](failing_allocations::plan& by) {
    const std::size_t before = living_allocations();
    threads::run(1, [&](world& w) {
      watched_map map(w, by);
      std::minstd_rand random(1);
      for (int i = 0; i < 200 && !::testing::Test::HasFatalFailure(); ++i) {
        const word key = random() % 40;
        const auto chance = random() % 8;
        if (chance < 3)
          map.insert(key);
        else if (chance < 4)
          map.update(key, random());
        else if (chance < 7)
          map.erase(key);
        else
          map.insert_several(key);
      }
      map.expect_all_cells();
    });
    EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "first " << by.first << ", every " << by.every;
  });
}

// Rank 1 erases an entry in the memory of rank 0 without having taken a cell there. To note that, it
// allocates.
TEST(map_without_memory, keeps_what_a_rank_takes_out_of_anothers_memory) {
  for_failing_allocations([](failing_allocations::plan& by) {
    threads::run(2, [&](world& w) {
      map_type map(w, {.cells = 8, .buckets = 4, .cells_at_once = 1});
      std::vector<word> keys;
      for (word key = 0; keys.size() < 4; ++key)
        if (map.owner(key) == 0) keys.push_back(key);
      for (const word key : keys)
        EXPECT_TRUE(w.rank() != 0 || map.insert(key, key) == insert_result::inserted);
      w.barrier();
      if (w.rank() == 1) {
        for (const word key : keys) {
          std::optional<word> gone;
          const bool went_through = goes_through(by, [&] { gone = map.erase(key); });
          EXPECT_EQ(went_through ? gone : map.find(key), key) << "lost";
        }
      }
      w.barrier();
    });
  });
}

/// Compares equal keys, and throws when told to.
struct throwing_equal {
  static inline int throws_in = 0;
  [[nodiscard]] bool operator()(word one, word other) const {
    if (throws_in != 0 && --throws_in == 0) throw std::bad_alloc();
    return one == other;
  }
};

TEST(map_without_memory, keeps_the_cells_of_a_batch_that_throws) {
  threads::run(1, [](world& w) {
    constexpr std::size_t cells = 16;
    distributed_map<world, word, word, lock_free, hash_of_bytes, throwing_equal> map(
        w, {.cells = cells, .buckets = 1, .cells_at_once = 4});
    const std::array<word, 4> keys{1, 2, 3, 4};
    std::array<insert_result, 4> results{};
    // One chain: the first entry goes in, and the others have a cell already and compare.
    for (const int when : {1, 2, 3, 4}) {
      throwing_equal::throws_in = when;
      try {
        map.insert(keys, keys, results);
      } catch (const std::bad_alloc&) {
      }
      throwing_equal::throws_in = 0;
      for (const word key : keys) static_cast<void>(map.erase(key));
    }
    for (word key = 0; key < cells; ++key) ASSERT_EQ(map.insert(key, key), insert_result::inserted) << key;
  });
}

// ---- queues
// ------------------------------------------------------------------------------------------------

template <typename Queue>
class queue_without_memory : public ::testing::Test {};
using queues =
    ::testing::Types<lockfree_queue<world, word>, ticket_queue<world, word>, spsc_queue<world, word>>;
TYPED_TEST_SUITE(queue_without_memory, queues);

TYPED_TEST(queue_without_memory, loses_no_element) {
  for_failing_allocations([](failing_allocations::plan& by) {
    const std::size_t before = living_allocations();
    threads::run(1, [&](world& w) {
      TypeParam queue(w, {.capacity = 8});
      std::deque<word> expected;
      std::minstd_rand random(1);
      word next = 1;
      for (int i = 0; i < 300; ++i) {
        std::array<word, 5> values{};
        const std::size_t count = 1 + random() % values.size();
        const std::span some(values.data(), count);
        queue_range_result result;
        if (random() % 2 == 0) {
          for (word& value : some) value = next++;
          if (!goes_through(by, [&] { result = queue.try_push_range(some); })) {
            // The elements in the queue are the first ones pushed.
            std::array<word, 32> all{};
            const queue_range_result there = queue.try_pop_range(all);
            ASSERT_GE(there.count, expected.size());
            for (std::size_t at = 0; at < there.count; ++at)
              ASSERT_EQ(all.at(at), at < expected.size() ? expected.at(at) : some[at - expected.size()]);
            expected.clear();
            continue;
          }
          expected.insert(expected.end(), some.begin(),
                          some.begin() + static_cast<std::ptrdiff_t>(result.count));
        } else if (goes_through(by, [&] { result = queue.try_pop_range(some); })) {
          ASSERT_EQ(result.count, std::min(count, expected.size()));
          for (std::size_t at = 0; at < result.count; ++at) {
            ASSERT_EQ(some[at], expected.front());
            expected.pop_front();
          }
        }
      }
      std::array<word, 32> rest{};
      ASSERT_EQ(queue.try_pop_range(rest).count, expected.size()) << "lost";
    });
    EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "first " << by.first << ", every " << by.every;
  });
}

// ---- worlds
// ------------------------------------------------------------------------------------------------

// Memory that is given back with no gap beside it makes a new gap, also in destructors.
TEST(slab_without_memory, takes_everything_back) {
  for_failing_allocations([](failing_allocations::plan& by) {
    slab of(std::size_t{64} * 64);
    std::vector<std::size_t> taken;
    for (int i = 0; i < 64; ++i) {
      std::optional<std::size_t> offset;
      if (!goes_through(by, [&] { offset = of.allocate(64); })) continue;
      taken.push_back(offset.value());
    }
    for (const std::size_t parity : {0U, 1U})
      for (std::size_t i = parity; i < taken.size(); i += 2) {
        const failing_allocations failing(by);
        of.release(taken[i], 64);
      }
    EXPECT_EQ(of.used(), 0U);
    EXPECT_EQ(of.allocate(std::size_t{64} * 64), 0U) << "one gap again";
  });
}

struct alignas(slot_bytes) slot {
  world::near<word> of;
};

/// Makes an object in worlds with little memory, which grow until it fits.
template <typename T, typename... Arguments>
void expect_all_memory_again(const Arguments&... arguments) {
  bool fits = false;
  std::size_t slots = 0;
  while (!fits) {
    ++slots;
    threads::run(1,
                 [&](world& w) {
                   try {
                     const T made(w, arguments...);
                     fits = true;
                   } catch (const out_of_memory&) {
                   }
                   const world::near_array<slot> all(w, slots);
                   EXPECT_EQ(all.count(), slots);
                 },
                 {.bytes = slots * slot_bytes});
  }
}

// An object of several arrays may have memory for some when the next does not fit.
TEST(world_without_memory, has_all_of_it_when_something_did_not_fit) {
  expect_all_memory_again<default_cohort_lock<world>>();
  expect_all_memory_again<map_type>(map_capacity{.cells = 8, .buckets = 4});
  expect_all_memory_again<lockfree_queue<world, word>>(
      lockfree_queue<world, word>::parameters{.capacity = 8});
  expect_all_memory_again<ticket_queue<world, word>>(ticket_queue<world, word>::parameters{.capacity = 8});
}

// Wherever memory ends while a team makes its world and locks, `run` throws and no rank is left waiting.
TEST(team_without_memory, ends) {
  for_failing_allocations(
      [](failing_allocations::plan& by) {
        const std::size_t before = living_allocations();
        static_cast<void>(goes_through(by, [] {
          threads::run(2, [](world& w) {
            default_cohort_lock<world> lock(w);
            world::signal_channel signals(w);
            lock.lock();
            lock.unlock();
          });
        }));
        EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
      },
      failing_allocations::of::all_threads);
}

}  // namespace
}  // namespace nearfar::testing
