/// \file Small programs with known outcomes: a few ranks on a few words, and all values that they may
/// observe.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {

using engine::world;
using word = std::uint64_t;

/// Origins of operations: buffers that outlive every flush.
inline constexpr std::array<word, 6> constants{0, 1, 2, 3, 4, 5};
inline constexpr const word& zero = constants[0];
inline constexpr const word& one = constants[1];
inline constexpr const word& two = constants[2];
inline constexpr const word& three = constants[3];

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

inline constexpr auto eager = delivery_mode::eager;
inline constexpr auto lazy = delivery_mode::lazy;
inline constexpr auto progress = delivery_mode::progress;

/// Replaces the value of a wait whose time was over.
inline constexpr word too_late = 9;

[[nodiscard]] inline bool is_set(word value) { return value != 0; }

/// Schedules name a word after the class around its struct.
struct board {
  struct alignas(cache_line) cells {
    world::near<word> x{};
    world::near<word> y{};
    world::near<word> z{};
    world::near<std::uint32_t> narrow{};
    world::near<std::uint8_t> byte{};
  };
  struct alignas(slot_bytes) words {
    far<word> a;
    far<word> b;
    far<word> c;
  };
};
using words = board::words;

using outcome = std::vector<word>;
using outcomes = std::set<outcome>;

/// One rank's view of a program's words.
class scene {
 public:
  scene(world& in, monitor& by, outcome& observed)
      : w(in), watch(by), cells_(in), far(in), signals(in), cells(cells_.at(0)), r(observed) {}

  [[nodiscard]] int rank() const { return w.rank(); }
  /// Reads a near cell without a change of what the rank knows of others.
  [[nodiscard]] word at_end(const world::near<word>& cell) {
    w.barrier();
    return rank() == w.size() - 1 ? cell.load(relaxed) : 0;
  }
  [[nodiscard]] word at_end(int target, nearfar::far<word> words::*field) {
    w.barrier();
    return rank() == w.size() - 1 ? far.read_direct(target, field) : 0;
  }
  /// Operations that are complete when they return.
  void put(int target, nearfar::far<word> words::*field, const word& value) {
    far.put(target, field, value);
    far.flush(target);
  }
  void replace(int target, nearfar::far<word> words::*field, const word& value) {
    far.accumulate(target, field, value, far_op::replace);
    far.flush(target);
  }
  [[nodiscard]] word swap(int target, nearfar::far<word> words::*field, const word& value) {
    word old = 0;
    far.swap(target, field, value, old);
    far.flush(target);
    return old;
  }

  world& w;
  monitor& watch;

 private:
  world::near_segment<board::cells> cells_;

 public:
  world::far_segment<words> far;
  world::signal_channel signals;
  board::cells& cells;  ///< of rank 0
  outcome& r;           ///< the values that ranks have observed; 0 where none
};

using body = std::function<void(scene&)>;

[[nodiscard]] inline locality one_node(int ranks) { return locality::single_node(ranks); }

/// Ranks that do not observe.
[[nodiscard]] inline program program_of(int ranks, const body& of, bypass_bound bypass = bypass_bound::none) {
  auto observed = std::make_shared<outcome>(8);
  return {.where = one_node(ranks),
          .body =
              [of, observed](world& w, monitor& watch) {
                scene here(w, watch, *observed);
                of(here);
              },
          .bypass = bypass};
}

[[nodiscard]] inline options by(near_model near, delivery_mode mode = delivery_mode::lazy,
                                search tier = search::exhaustive) {
  options how;
  how.near = near;
  how.mode = mode;
  how.by = tier;
  return how;
}

/// The values that the ranks of a program have observed at its end, over all executions that one search
/// visits.
[[nodiscard]] inline outcomes outcomes_by(int ranks, std::size_t registers, const options& how,
                                          const body& of) {
  outcomes seen;
  outcome observed;
  program what{.where = one_node(ranks), .body = [&](world& w, monitor& watch) {
                 if (w.rank() == 0) observed.assign(registers, 0);
                 scene here(w, watch, observed);
                 of(here);
                 // The last rank goes on from a barrier last.
                 w.barrier();
                 if (w.rank() == w.size() - 1) seen.insert(observed);
               }};
  const report result = check(what, how);
  EXPECT_TRUE(result.complete) << (result.found ? result.found->text : "incomplete");
  return seen;
}

/// The outcomes by every exhaustive search; all searches must agree.
[[nodiscard]] inline outcomes outcomes_of(int ranks, std::size_t registers, options how, const body& of) {
  how.by = search::exhaustive;
  const outcomes seen = outcomes_by(ranks, registers, how, of);
  how.reduce = reduction::sleep_sets_only;
  EXPECT_EQ(seen, outcomes_by(ranks, registers, how, of)) << "by sleep sets only";
  if (how.near == near_model::sequential) {
    how.by = search::hash;
    EXPECT_EQ(seen, outcomes_by(ranks, registers, how, of)) << "by hashes of states";
  }
  return seen;
}

/// For programs without near cells, whose model makes no difference.
[[nodiscard]] inline outcomes far_outcomes(delivery_mode mode, int ranks, std::size_t registers,
                                           const body& of) {
  const outcomes seen = outcomes_of(ranks, registers, by(near_model::sequential, mode), of);
  EXPECT_EQ(seen, outcomes_of(ranks, registers, by(near_model::release_acquire, mode), of));
  return seen;
}

/// Whether every exhaustive search finds this fault with this text in its report; the search by traces is
/// first.
[[nodiscard]] inline ::testing::AssertionResult finds(const program& what, const options& how, fault expected,
                                                      const std::string& text) {
  options tier = how;
  for (int i = 0; i < 3; ++i) {
    if (i == 1) tier.reduce = reduction::sleep_sets_only;
    if (i == 2) tier.by = search::hash;
    if (i == 2 && (tier.near != near_model::sequential || what.judge)) break;
    const report result = check(what, tier);
    if (!result.found) return ::testing::AssertionFailure() << "nothing found by search " << i;
    if (result.complete) return ::testing::AssertionFailure() << "complete although a fault was found";
    if (result.found->what != expected || result.found->text.find(text) == std::string::npos)
      return ::testing::AssertionFailure()
             << "search " << i << " found " << name(result.found->what) << ": " << result.found->text;
  }
  return ::testing::AssertionSuccess();
}

[[nodiscard]] inline ::testing::AssertionResult is_right(const program& what, const options& how) {
  const report result = check(what, how);
  if (result.complete) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << (result.found ? result.found->text : "incomplete");
}

}  // namespace nearfar::checker::testing
