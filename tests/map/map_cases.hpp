/// \file Programs for a distributed map in the worlds of threads and of MPI.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "nearfar/checker/history.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/recorder.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "tests/map/any_map.hpp"

namespace nearfar::testing {

/// A wide value, which could be torn; its words are equal if it is not.
using wide_value = std::array<std::uint64_t, 5>;

/// All ranks do random operations on a few keys at once, and these must be linearizable. Collective. Both
/// arguments are of one table.
template <world W>
void expect_linearizable(W& w, any_map<std::uint64_t, wide_value>& table,
                         any_batches<std::uint64_t, wide_value>& batches, unsigned seed, int operations) {
  using specification = checker::map_specification;
  checker::recorder<W> recording(w);
  std::mt19937 random(seed * 100 + static_cast<unsigned>(w.rank()));
  const auto done = [](bool was) {
    return checker::value_list{was ? specification::done : specification::refused};
  };
  for (int i = 0; i < operations; ++i) {
    const std::uint64_t key = random() % 6;
    const auto number = static_cast<std::uint64_t>(i * w.size() + w.rank());
    const wide_value value{number, number, number, number, number};
    const auto method = static_cast<int>(random() % 4);
    const bool has_value = method == specification::insert || method == specification::update;
    const bool as_batch = random() % 2 == 0;
    recording.call(0, method, has_value ? checker::value_list{key, number} : checker::value_list{key});
    if (method == specification::find) {
      std::optional<wide_value> found;
      if (as_batch)
        batches.find(std::span(&key, 1), std::span(&found, 1));
      else
        found = table.find(key);
      recording.returned(found ? checker::value_list{found->front()} : checker::value_list{});
      if (found) {
        EXPECT_EQ(std::set<std::uint64_t>(found->begin(), found->end()).size(), 1U) << "torn";
      }
    } else if (method == specification::insert) {
      insert_result result{};
      if (as_batch)
        batches.insert(std::span(&key, 1), std::span(&value, 1), std::span(&result, 1));
      else
        result = table.insert(key, value);
      recording.returned(done(result == insert_result::inserted));
      EXPECT_NE(result, insert_result::full);
    } else if (method == specification::update) {
      const update_result result = table.update(key, value);
      recording.returned(done(result == update_result::updated));
      EXPECT_NE(result, update_result::full);
    } else {
      recording.returned(done(table.erase(key).has_value()));
    }
  }
  w.barrier();
  std::int64_t here = 0;
  table.for_each([&](std::uint64_t, const wide_value&) { ++here; });
  std::int64_t everywhere = 0;
  for (const std::int64_t of_rank : w.gather_to_all(here)) everywhere += of_rank;
  EXPECT_EQ(table.size(), static_cast<std::size_t>(everywhere));
  const checker::history all = recording.gathered();
  const checker::verdict verdict = checker::linearizable(all, specification());
  EXPECT_EQ(verdict.is_linearizable, checker::linearizability::yes) << verdict.text;
}

/// The same with a table of its own.
template <typename Policy, world W>
void expect_linearizable(W& w, std::size_t buckets, unsigned seed, int operations) {
  distributed_map<W, std::uint64_t, wide_value, Policy> table(
      w, {.cells = 8 + 4 * static_cast<std::size_t>(w.size()), .buckets = buckets, .cells_at_once = 1});
  map_by_entries entries(table);
  map_by_batches batches(table);
  expect_linearizable(w, entries, batches, seed, operations);
}

}  // namespace nearfar::testing
