// Access to far memory by the nearest way: which operations it takes, and of which line they are.
#include "nearfar/memory/nearest_access.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/map/counting_world.hpp"

namespace nearfar::testing {

void PrintTo(const far_operations& of, std::ostream* out) {
  *out << of.reads << " reads, " << of.writes << " writes, " << of.atomics << " atomics, " << of.flushes
       << " flushes, " << of.in_place << " in place";
}

namespace {

using word = std::uint64_t;
using triple = std::array<word, 3>;

constexpr int mine = 0;
constexpr int other = 1;

struct alignas(slot_bytes) words {
  far<word> first;
  far<word> second;
  far_object<triple> object;
};
struct piece {
  far<word> value;
};

/// Runs `test` at a rank that shares its node with the owner of the memory (`node:1`), or does not
/// (`node:2`).
template <far_read By, typename Test>
void at_owner(const std::string& topology, const Test& test) {
  threads::team both(2, {.topology = topology_spec::parse(topology)});
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      counting_world w(both, rank);
      {
        counting_segment<words> segment(w);
        counting_array<piece> array(w, 3);
        if (rank == other) {
          segment.write_direct(other, &words::first, word{7});
          segment.write_direct(other, &words::object, triple{1, 2, 3});
          for (std::size_t i = 0; i < 3; ++i) array.write_direct({other, i}, &piece::value, word{10 + i});
        }
        w.barrier();
        if (rank == mine) test(nearest_access<counting_world, By>(w, other), segment, array);
        w.barrier();
      }
      w.barrier();
    });
}

/// The costs of all functions: a read, a write, in place or elsewhere, and waits that look several times.
template <far_read By>
void expect_costs(const std::string& topology, const far_operations& of_read,
                  const far_operations& of_write) {
  const bool in_place = topology == "node:1";
  const far_operations of_flush{.flushes = in_place ? 0U : 1U};
  const auto sum = [](const far_operations& a, const far_operations& b) {
    return far_operations{a.reads + b.reads, a.writes + b.writes, a.atomics + b.atomics,
                          a.flushes + b.flushes, a.in_place + b.in_place};
  };
  const auto times = [](std::uint64_t n, const far_operations& of) {
    return far_operations{n * of.reads, n * of.writes, n * of.atomics, n * of.flushes, n * of.in_place};
  };
  at_owner<By>(topology, [&](const auto& there, auto& segment, auto& array) {
    EXPECT_EQ(there.is_in_place(), in_place);
    word found = 0;
    EXPECT_EQ(cost_of([&] { there.start_read(segment, other, &words::first, found); }), of_read);
    EXPECT_EQ(cost_of([&] { there.flush(segment); }), of_flush);
    EXPECT_EQ(found, 7U);
    EXPECT_EQ(cost_of([&] { found = there.read(array, {other, 2}, &piece::value); }), sum(of_read, of_flush));
    EXPECT_EQ(found, 12U);
    if constexpr (By == far_read::get) {
      counting_world::maybe_torn<triple> object;
      EXPECT_EQ(cost_of([&] { there.start_read(segment, other, &words::object, object); }), of_read);
      there.flush(segment);
      EXPECT_EQ(object.confirmed(), (triple{1, 2, 3}));
      triple all{};
      // One far operation, or an access in place for each word.
      EXPECT_EQ(cost_of([&] { there.start_read_range(array, other, &piece::value, std::span<word>(all)); }),
                in_place ? times(3, of_read) : of_read);
      there.flush(array);
      EXPECT_EQ(all, (triple{10, 11, 12}));
    }

    const triple written{4, 5, 6};
    EXPECT_EQ(cost_of([&] { there.start_write(segment, other, &words::object, written); }), of_write);
    EXPECT_EQ(
        cost_of([&] {
          there.start_write_range(array, {other, 1}, &piece::value, std::span<const word>(written).first(2));
        }),
        in_place ? times(2, of_write) : of_write);
    there.flush(array);
    EXPECT_EQ(there.read(array, {other, 1}, &piece::value), 4U);
    EXPECT_EQ(there.read(array, {other, 2}, &piece::value), 5U);
    const word last = 9;
    EXPECT_EQ(cost_of([&] { there.write(array, {other, 0}, &piece::value, last); }), sum(of_write, of_flush));
    EXPECT_EQ(there.read(array, {other, 0}, &piece::value), 9U);

    const auto after = [](int& looks) { return [&looks](word) { return --looks < 0; }; };
    const far_operations of_look = sum(of_read, of_flush);
    for (const int looks : {0, 2}) {
      int left = looks;
      EXPECT_EQ(cost_of([&] { EXPECT_EQ(there.await(segment, other, &words::first, after(left)), 7U); }),
                times(static_cast<std::uint64_t>(looks) + 1, of_look));
      left = looks;
      EXPECT_EQ(cost_of([&] {
                  EXPECT_EQ(there.await_until(std::nullopt, segment, other, &words::first, after(left)), 7U);
                }),
                times(static_cast<std::uint64_t>(looks) + 1, of_look));
      left = looks;
      EXPECT_EQ(cost_of([&] {
                  EXPECT_EQ(there.look_and_await(segment, other, &words::first, found, after(left)),
                            looks != 0);
                }),
                times(static_cast<std::uint64_t>(looks) + 1, of_look));
    }
    const far_operations in_vain = cost_of([&] {
      EXPECT_EQ(there.await_until(std::chrono::nanoseconds(0), segment, other, &words::first,
                                  [](word) { return false; }),
                std::nullopt);
    });
    EXPECT_EQ(in_vain.all() == 0, in_place);
    EXPECT_EQ(in_vain.in_place != 0, in_place);
  });
}

TEST(nearest_access, is_in_place_on_the_owners_node) {
  expect_costs<far_read::get>("node:1", {.in_place = 1}, {.in_place = 1});
  expect_costs<far_read::fetch>("node:1", {.in_place = 1}, {.in_place = 1});
}
TEST(nearest_access, is_by_rma_elsewhere) {
  expect_costs<far_read::get>("node:2", {.reads = 1}, {.writes = 1});
  expect_costs<far_read::fetch>("node:2", {.atomics = 1}, {.writes = 1});
}

/// A rank waits for the word that the other rank sets, and reads it once more.
checker::program handing_over(const std::string& topology) {
  const auto run = [](engine::world& w, checker::monitor&) {
    constexpr word set = 1;
    engine::far_segment<words> segment(w);
    if (w.rank() == other) {
      segment.write_direct(other, &words::first, set);
    } else {
      word seen = 0;
      const nearest_access<engine::world, far_read::fetch> there(w, other);
      static_cast<void>(
          there.look_and_await(segment, other, &words::first, seen, [](word now) { return now == set; }));
      if (there.read(segment, other, &words::first) != set) throw misuse("the rank has not waited");
    }
    w.barrier();
  };
  return {.where = topology_spec::parse(topology).place(2), .body = run};
}

/// The mutants of the waiting rank's operations, line by line.
std::vector<checker::mutation> mutants_of_access(const checker::program& what) {
  std::vector<checker::mutation> result;
  for (const checker::mutation& one : mutations_of(what, {}, "nearest_access_test"))
    if (one.operation != "write_direct") result.push_back(one);
  return result;
}

TEST(nearest_access, has_operations_of_the_line_that_asks) {
  const auto texts = [](const std::string& topology) {
    std::vector<std::string> result;
    for (const checker::mutation& one : mutants_of_access(handing_over(topology)))
      result.push_back(one.operation + " " + std::string(name(one.how)));
    return result;
  };
  EXPECT_EQ(texts("node:1"),
            (std::vector<std::string>{"await read_direct dropped", "await read_direct without progress"}));
  EXPECT_EQ(texts("node:2"),
            (std::vector<std::string>{"await fetch dropped", "flush dropped", "flush dropped"}));
}

/// One line asks for a look, its flush, and a wait; a mutant changes one of them.
TEST(nearest_access, has_mutants_of_single_operations) {
  const checker::program what = handing_over("node:2");
  std::vector<std::string_view> faults;
  for (const checker::mutation& one : mutants_of_access(what)) {
    const auto found = check(what, {.broken = one}).found;
    faults.push_back(found ? name(found->what) : "none");
  }
  // Without the wait the rank goes on too early; without the flush of the look it uses a result too early.
  EXPECT_EQ(faults,
            (std::vector<std::string_view>{name(checker::fault::exception), name(checker::fault::poison),
                                           name(checker::fault::exception)}));
}

}  // namespace
}  // namespace nearfar::testing
