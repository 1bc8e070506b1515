// The distributed map on threads: compared with the standard's map, at its limits, under contention, and with
// its costs.
#include "nearfar/map/distributed_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/map/any_map.hpp"
#include "tests/map/counting_world.hpp"
#include "tests/map/map_cases.hpp"

namespace nearfar::testing {
namespace {

using threads::world;
using word = std::uint64_t;

threads::options on(const std::string& topology) {
  return {.bytes = std::size_t{64} << 20U, .topology = topology_spec::parse(topology)};
}
const std::string two_nodes = "node:2";

template <typename Policy>
class distributed_map_by : public ::testing::Test {
 protected:
  template <typename K, typename V>
  using map = distributed_map<world, K, V, Policy>;
};
using policies = ::testing::Types<lock_free, lock_per_bucket, lock_per_volume<rma_rw_lock>,
                                  lock_per_volume<cohort_rw_lock>>;
TYPED_TEST_SUITE(distributed_map_by, policies);

template <std::size_t Bytes>
using bytes = std::array<unsigned char, Bytes>;

/// Different numbers below 251 give different values of any size.
template <std::size_t Bytes>
bytes<Bytes> bytes_of(unsigned number) {
  bytes<Bytes> result;
  for (std::size_t i = 0; i < Bytes; ++i) result[i] = static_cast<unsigned char>(number + i);
  return result;
}

/// Random operations of rank 0. The standard's map tells their results.
template <typename K, typename V>
void expect_same_as_the_standards(world& w, any_map<K, V>& table, int operations, unsigned keys,
                                  K (*key_of)(unsigned), V (*value_of)(unsigned)) {
  std::map<K, V> expected;
  std::mt19937 random(5);
  for (int i = 0; i < operations && w.rank() == 0; ++i) {
    const auto key = key_of(static_cast<unsigned>(random() % keys));
    const auto value = value_of(static_cast<unsigned>(random() % 250));
    const auto there = expected.find(key);
    switch (random() % 4) {
      case 0:
        if (const auto found = table.find(key); there == expected.end())
          ASSERT_FALSE(found);
        else
          ASSERT_EQ(found, there->second);
        break;
      case 1:
        ASSERT_EQ(table.insert(key, value),
                  expected.emplace(key, value).second ? insert_result::inserted : insert_result::exists);
        break;
      case 2:
        ASSERT_EQ(table.update(key, value),
                  there != expected.end() ? update_result::updated : update_result::absent);
        if (there != expected.end()) there->second = value;
        break;
      default:
        if (const auto gone = table.erase(key); there == expected.end()) {
          ASSERT_FALSE(gone);
        } else {
          ASSERT_EQ(gone, there->second);
          expected.erase(there);
        }
    }
  }
  w.barrier();
  const std::size_t size = table.size();
  if (w.rank() == 0) {
    EXPECT_EQ(size, expected.size());
    for (const auto& [key, value] : expected) EXPECT_EQ(table.find(key), value);
  }
  // The ranks together visit the whole table.
  std::int64_t visited = 0;
  table.for_each([&](const K& key, const V& value) {
    ++visited;
    EXPECT_EQ(table.owner(key), w.rank());
    EXPECT_EQ(table.find(key), value);
  });
  std::int64_t all = 0;
  for (const std::int64_t of_rank : w.gather_to_all(visited)) all += of_rank;
  EXPECT_EQ(all, static_cast<std::int64_t>(size));
}

word same_word(unsigned number) { return number; }

TYPED_TEST(distributed_map_by, does_what_the_standards_map_does) {
  for (const std::size_t buckets : {std::size_t{1}, std::size_t{7}, std::size_t{0}})
    threads::run(
        3,
        [=](world& w) {
          typename TestFixture::template map<word, word> table(w, {.cells = 100, .buckets = buckets});
          map_by_entries entries(table);
          expect_same_as_the_standards(w, entries, 3000, 120, same_word, same_word);
        },
        on(two_nodes));
}

template <typename Policy, std::size_t Key, std::size_t Value>
void expect_any_size(world& w) {
  distributed_map<world, bytes<Key>, bytes<Value>, Policy> table(w, {.cells = 60, .buckets = 20});
  map_by_entries entries(table);
  expect_same_as_the_standards(w, entries, 300, 50, bytes_of<Key>, bytes_of<Value>);
}
// Sizes below, at and above a piece of an entry, and a word. Each of them is a type of map to compile.
TYPED_TEST(distributed_map_by, holds_keys_and_values_of_any_size) {
  threads::run(
      2,
      [](world& w) {
        expect_any_size<TypeParam, 1, 1>(w);
        expect_any_size<TypeParam, 3, 6>(w);
        expect_any_size<TypeParam, 4, 33>(w);
        expect_any_size<TypeParam, 17, 8>(w);
      },
      on(two_nodes));
}

/// The table has 10 cells at each of 2 ranks, which keep none for themselves.
void expect_places_used_again(world& w, any_map<word, word>& table) {
  std::vector<word> there;
  EXPECT_EQ(table.capacity(), 20U);
  for (word key = 1; w.rank() == 0 && there.size() < table.capacity(); ++key)
    if (const insert_result result = table.insert(key, key); result == insert_result::inserted)
      there.push_back(key);
    else
      ASSERT_EQ(result, insert_result::full);
  w.barrier();
  if (w.rank() == 1) {
    for (word key = 1; key < 40; ++key) {
      const insert_result result = table.insert(key, 0);
      EXPECT_EQ(result, table.find(key) ? insert_result::exists : insert_result::full);
    }
  }
  w.barrier();
  // Ranks take turns: a rank may insert what another has erased.
  for (int round = 0; round < 40; ++round) {
    if (w.rank() == round % 2) {
      word first = 0;
      table.for_each([&](word key, word) { first = key; });
      ASSERT_NE(first, 0U);
      ASSERT_TRUE(table.erase(first));
      word next = 1000 + static_cast<word>(round) * 1000;
      while (table.owner(next) != w.rank()) ++next;
      ASSERT_EQ(table.insert(next, next), insert_result::inserted) << round;
      ASSERT_EQ(table.insert(next + 999, next), insert_result::full);
    }
    w.barrier();
  }
  EXPECT_EQ(table.size(), table.capacity());
}
TYPED_TEST(distributed_map_by, says_when_it_is_full_and_uses_places_again) {
  threads::run(
      2,
      [](world& w) {
        typename TestFixture::template map<word, word> table(w, {.cells = 10, .cells_at_once = 0});
        map_by_entries entries(table);
        expect_places_used_again(w, entries);
      },
      on(two_nodes));
}

void expect_given_to_others(world& w, any_map<word, word>& table) {
  for (int round = 0; round < 10; ++round) {
    std::vector<word> mine;
    if (w.rank() == round % 2) {
      for (word key = 0; key < 96; ++key)
        if (table.insert(key, key) == insert_result::inserted) mine.push_back(key);
      EXPECT_GT(mine.size(), 80U);
    }
    w.barrier();
    for (const word key : mine) EXPECT_EQ(table.erase(key), key);
    w.barrier();
  }
  EXPECT_EQ(table.size(), 0U);
}
TYPED_TEST(distributed_map_by, gives_others_what_one_has_erased) {
  threads::run(
      2,
      [](world& w) {
        typename TestFixture::template map<word, word> table(w, {.cells = 64});
        map_by_entries entries(table);
        expect_given_to_others(w, entries);
      },
      on(two_nodes));
}

void expect_many_at_once(world& w, any_batches<word, bytes<13>>& table) {
  std::vector<word> keys;
  std::vector<bytes<13>> values;
  for (word i = 0; i < 150; ++i) {
    keys.push_back(i * 3 + static_cast<word>(w.rank()));
    values.push_back(bytes_of<13>(static_cast<unsigned>(keys.back() % 250)));
  }
  keys.push_back(keys.front());
  values.push_back(values.front());
  std::vector<insert_result> results(keys.size());
  table.insert(keys, values, results);
  std::size_t inserted = 0;
  for (const insert_result one : results) {
    EXPECT_NE(one, insert_result::full);
    if (one == insert_result::inserted) ++inserted;
  }
  EXPECT_EQ(inserted, 150U) << "one key is there twice";
  table.insert(keys, values, results);
  for (const insert_result one : results) EXPECT_EQ(one, insert_result::exists);
  w.barrier();
  EXPECT_EQ(table.size(), 450U);
  std::vector<word> wanted;
  for (word key = 0; key < 500; ++key) wanted.push_back(key);
  std::vector<std::optional<bytes<13>>> found(wanted.size());
  table.find(wanted, found);
  for (word key = 0; key < 500; ++key) {
    ASSERT_EQ(found[key].has_value(), key < 450) << key;
    if (found[key]) {
      EXPECT_EQ(*found[key], bytes_of<13>(static_cast<unsigned>(key % 250)));
    }
  }
  table.find({}, {});
  EXPECT_THROW(table.find(wanted, std::span(found).first(1)), misuse);
  EXPECT_THROW(table.insert(keys, values, std::span(results).first(1)), misuse);
}
TYPED_TEST(distributed_map_by, does_many_at_once) {
  threads::run(
      3,
      [](world& w) {
        typename TestFixture::template map<word, bytes<13>> table(w, {.cells = 300, .buckets = 100});
        map_by_batches batches(table);
        expect_many_at_once(w, batches);
      },
      on(two_nodes));
}

TYPED_TEST(distributed_map_by, is_linearizable_for_each_key) {
  for (const std::size_t buckets : {1U, 3U, 64U})
    for (const unsigned seed : {1U, 2U, 3U})
      threads::run(
          4, [&](world& w) { expect_linearizable<TypeParam>(w, buckets, seed, 400); }, on(two_nodes));
}

// ---- misuse -----------------------------------------------------------------------------------------------

TEST(distributed_map, refuses_impossible_capacities) {
  using map = distributed_map<world, word, word>;
  threads::run(2, [](world& w) {
    EXPECT_THROW(map(w, {.cells = 0}), misuse);
    EXPECT_THROW(map(w, {.cells = std::size_t{1} << 23U}), misuse);
    EXPECT_THROW(map(w, {.cells = 1, .buckets = std::size_t{1} << 32U}), misuse);
    EXPECT_THROW(map(w, {.cells = 1 + static_cast<std::size_t>(w.rank())}), collective_mismatch);
  });
}

struct point {
  float x;
  float y;
  friend bool operator==(const point&, const point&) = default;
};
struct hash_of_point {
  using is_avalanching = void;
  std::uint64_t operator()(const point& of) const { return of.x == 0 ? 0 : ~std::uint64_t{0}; }
};

TEST(distributed_map, takes_hashes_of_the_callers) {
  threads::run(2, [](world& w) {
    distributed_map<world, point, char, lock_free, hash_of_point> table(w, {.cells = 10});
    EXPECT_EQ(table.owner({0, 7}), 0);
    EXPECT_EQ(table.owner({1, 7}), 1);
    if (w.rank() == 0) {
      EXPECT_EQ(table.insert({0.0F, 1.0F}, 'a'), insert_result::inserted);
      EXPECT_EQ(table.insert({-0.0F, 1.0F}, 'b'), insert_result::exists);
    }
    w.barrier();
  });
}

TEST(distributed_map, spreads_keys_whose_hash_is_the_key) {
  threads::run(4, [](world& w) {
    distributed_map<world, int, int, lock_free, std::hash<int>> table(w, {.cells = 1000});
    for (int key = w.rank(); key < 2000; key += w.size())
      EXPECT_EQ(table.insert(key, key), insert_result::inserted);
    w.barrier();
    int here = 0;
    table.for_each([&](int, int) { ++here; });
    EXPECT_GT(here, 300);
    EXPECT_LT(here, 700);
    w.barrier();
  });
}

// ---- cost -------------------------------------------------------------------------------------------------

/// Rank 0 fills a table to a load of 0.75, reaching half of it by far operations only, and measures costs.
/// The other ranks do nothing.
template <typename Test>
void on_a_table_of_another_node(const map_capacity& capacity, const Test& test) {
  threads::team both(2, on(two_nodes));
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      counting_world w(both, rank);
      {
        distributed_map<counting_world, word, std::array<word, 3>> table(w, capacity);
        if (rank == 0) test(table);
        w.barrier();
      }
      w.barrier();
    });
}

/// The shares of calls by their number of far operations.
struct shares {
  std::map<std::uint64_t, double> of{};
  double average = 0;
  double calls = 0;

  void add(std::uint64_t operations) {
    of[operations] += 1;
    average += static_cast<double>(operations);
    ++calls;
  }
  [[nodiscard]] double up_to(std::uint64_t operations) const {
    double sum = 0;
    for (const auto& [taken, count] : of)
      if (taken <= operations) sum += count;
    return sum / calls;
  }
  [[nodiscard]] double mean() const { return average / calls; }
  [[nodiscard]] std::string text() const {
    std::string result = "mean " + std::to_string(mean());
    for (const auto& [taken, count] : of)
      result += ", " + std::to_string(taken) + ": " + std::to_string(100 * count / calls) + " %";
    return result;
  }
};

TEST(distributed_map_cost, of_finds_and_inserts_up_to_a_load_of_three_quarters) {
  constexpr std::size_t cells = 4000;
  on_a_table_of_another_node({.cells = cells}, [](auto& table) {
    std::vector<word> keys;
    std::vector<word> absent;
    shares inserts;
    shares of_inserts_into_empty_buckets;
    for (word key = 0; keys.size() < cells * 3 / 4; ++key) {
      if (table.owner(key) != 1) continue;
      keys.push_back(key);
      const far_operations cost = cost_of([&] {
        EXPECT_EQ(table.insert(key, {key, key, key}), insert_result::inserted);
      });
      inserts.add(cost.all());
      EXPECT_EQ(cost.in_place, 0U);
      if (cost.reads == 1) of_inserts_into_empty_buckets.add(cost.all());
    }
    for (word key = 1'000'000; absent.size() < cells; ++key)
      if (table.owner(key) == 1) absent.push_back(key);
    shares hits;
    shares misses;
    for (const word key : keys) {
      const far_operations cost = cost_of([&] { EXPECT_TRUE(table.find(key)); });
      EXPECT_EQ(cost.all(), cost.reads);
      hits.add(cost.reads);
    }
    for (const word key : absent) {
      const far_operations cost = cost_of([&] { EXPECT_FALSE(table.find(key)); });
      EXPECT_EQ(cost.all(), cost.reads);
      misses.add(cost.reads);
    }
    RecordProperty("hits", hits.text());
    RecordProperty("misses", misses.text());
    RecordProperty("inserts", inserts.text());
    std::printf("far reads of a find that hits:   %s\n", hits.text().c_str());
    std::printf("far reads of a find that misses: %s\n", misses.text().c_str());
    std::printf("far operations of an insert:     %s\n", inserts.text().c_str());
    EXPECT_GT(hits.up_to(2), 0.94);
    EXPECT_LT(hits.mean(), 2.12);
    EXPECT_GT(misses.up_to(1), 0.89);
    EXPECT_LT(misses.mean(), 1.25);
    // All calls except one in 64, which asks for new cells.
    EXPECT_GT(of_inserts_into_empty_buckets.up_to(3), 0.98);
    EXPECT_EQ(of_inserts_into_empty_buckets.up_to(4), 1);
    EXPECT_LT(of_inserts_into_empty_buckets.mean(), 3.02);
    EXPECT_LT(inserts.mean(), 3.2);
  });
}

TEST(distributed_map_cost, of_the_other_operations) {
  on_a_table_of_another_node({.cells = 100}, [](auto& table) {
    word key = 0;
    while (table.owner(key) != 1) ++key;
    (void)table.insert(key, {1, 2, 3});
    (void)table.erase(key);
    const auto cost = [&](const auto& call) { return cost_of(call).all(); };
    EXPECT_EQ(cost([&] {
                EXPECT_EQ(table.insert(key, {1, 2, 3}), insert_result::inserted);
              }),
              3U)
        << "in a place used again";
    EXPECT_EQ(cost([&] { EXPECT_EQ(table.insert(key, {1, 2, 3}), insert_result::exists); }), 3U);
    EXPECT_EQ(cost([&] { EXPECT_EQ(table.update(key, {4, 5, 6}), update_result::updated); }), 7U);
    EXPECT_EQ(cost([&] { EXPECT_TRUE(table.erase(key)); }), 6U);
    EXPECT_EQ(cost([&] { EXPECT_FALSE(table.erase(key)); }), 1U);
    while (table.owner(key) != 0) ++key;
    (void)table.insert(key, {1, 2, 3});
    EXPECT_EQ(cost([&] { EXPECT_TRUE(table.find(key)); }), 0U) << "in place";
  });
}

TEST(distributed_map_cost, of_batches_is_in_flushes) {
  constexpr std::size_t count = 512;
  on_a_table_of_another_node({.cells = 4000}, [](auto& table) {
    std::vector<word> keys;
    for (word key = 0; keys.size() < count; ++key)
      if (table.owner(key) == 1) keys.push_back(key);
    std::vector<std::array<word, 3>> values(count);
    std::vector<insert_result> inserted(count);
    const far_operations of_inserts = cost_of([&] { table.insert(keys, values, inserted); });
    for (const insert_result one : inserted) EXPECT_EQ(one, insert_result::inserted);
    EXPECT_LT(of_inserts.flushes, count / 2);
    std::vector<std::optional<std::array<word, 3>>> found(count);
    const far_operations of_finds = cost_of([&] { table.find(keys, found); });
    for (const auto& one : found) EXPECT_TRUE(one);
    EXPECT_LT(of_finds.flushes, 10U) << "as often as the longest chain needs";
    EXPECT_LT(of_finds.reads, count * 22 / 10);
  });
}

struct throwing_comparison {
  bool operator()(word one, word other) const {
    if (one == other) throw std::runtime_error("not comparable");
    return false;
  }
};

TEST(distributed_maps, count_what_a_batch_inserted_before_a_comparison_threw) {
  threads::run(1, [](world& w) {
    distributed_map<world, word, word, lock_free, hash_of_bytes, throwing_comparison> table(w, {.cells = 64});
    EXPECT_EQ(table.insert(7, 70), insert_result::inserted);
    const std::vector<word> keys{1, 7, 2, 3};
    std::vector<insert_result> results(keys.size());
    EXPECT_THROW(table.insert(keys, keys, results), std::runtime_error);
    std::size_t there = 0;
    table.for_each([&](word, word) { ++there; });
    EXPECT_EQ(there, 4U);
    EXPECT_EQ(table.size(), there);
  });
}

}  // namespace
}  // namespace nearfar::testing
