// The engine's world and its substrate: what they allow, and the errors for misuse. The model checker runs
// the ranks.
#include "nearfar/engine/world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::engine {
namespace {

struct holder {
  struct alignas(slot_bytes) words {
    far<std::uint64_t> tail;
    far<std::uint64_t> next;
  };
};
using words = holder::words;

/// Runs one execution of each trace. A fault is in the report, and no exception leaves the call.
checker::report run_all(const std::string& spec, int ranks, const std::function<void(world&)>& body,
                        std::size_t bytes = 8192) {
  const checker::program what{.where = topology_spec::parse(spec).place(ranks),
                              .body = [&](world& w, checker::monitor&) { body(w); },
                              .bytes = bytes};
  return checker::check(what, {});
}

std::string complaint(const checker::report& of) { return of.found ? of.found->text : std::string("none"); }

TEST(world, knows_its_ranks_and_where_they_are) {
  std::set<int> ranks;
  const auto result = run_all("node:2 core:2", 4, [&](world& w) {
    ranks.insert(w.rank());
    EXPECT_EQ(w.size(), 4);
    EXPECT_EQ(w.locality().group(level::node, w.rank()), w.rank() / 2);
  });
  EXPECT_TRUE(result.complete) << complaint(result);
  EXPECT_EQ(ranks, (std::set{0, 1, 2, 3}));
}

TEST(world, collects_values_of_all_ranks) {
  const auto result = run_all("node:1", 3, [](world& w) {
    for (std::int64_t round = 0; round < 3; ++round) {
      EXPECT_EQ(w.gather_to_all(10 * round + w.rank()),
                (std::vector<std::int64_t>{10 * round, 10 * round + 1, 10 * round + 2}));
      EXPECT_EQ(w.gather_to_first(10 * round + w.rank()),
                w.rank() == 0 ? (std::vector<std::int64_t>{10 * round, 10 * round + 1, 10 * round + 2})
                              : std::vector<std::int64_t>());
      EXPECT_EQ(w.sum_over_ranks({round, w.rank()}), (std::vector<std::int64_t>{3 * round, 3}));
    }
  });
  EXPECT_TRUE(result.complete) << complaint(result);
}

TEST(world, barrier_waits_for_all) {
  int arrived = 0;
  const auto result = run_all("node:1", 3, [&](world& w) {
    if (w.rank() == 0) arrived = 0;
    w.barrier();
    ++arrived;
    w.barrier();
    EXPECT_EQ(arrived, 3);
    w.barrier();
  });
  EXPECT_TRUE(result.complete) << complaint(result);
}

TEST(world, segments_start_at_zero_and_have_memory_of_their_own) {
  const auto result = run_all("node:1", 2, [](world& w) {
    for (int round = 0; round < 3; ++round) {
      world::far_segment<words> first(w);
      world::far_segment<words> second(w);
      for (const auto* segment : {&first, &second})
        for (const auto field : {&words::tail, &words::next})
          EXPECT_EQ(segment->read_direct(w.rank(), field), 0U);
      first.write_direct(w.rank(), &words::tail, std::uint64_t{5});
      EXPECT_EQ(second.read_direct(w.rank(), &words::tail), 0U);
      EXPECT_EQ(first.read_direct(w.rank(), &words::next), 0U);
      w.barrier();
    }
  });
  EXPECT_TRUE(result.complete) << complaint(result);
}

struct alignas(slot_bytes) byte_and_word {
  far_byte given;
  far<std::uint64_t> word;
};

/// Rank 0 puts a byte to rank 1, and changes the byte of its buffer with this index before the flush.
checker::report run_with_changed_buffer(std::size_t changed) {
  return run_all("node:2", 2, [changed](world& w) {
    world::far_segment<byte_and_word> segment(w);
    if (w.rank() == 0) {
      std::array<std::uint8_t, 3> buffer{1, 2, 3};
      segment.put(1, &byte_and_word::given, buffer[1]);
      buffer[changed] = 9;
      segment.flush(1);
    } else {
      const auto is_there = [](std::uint8_t value) { return value != 0; };
      EXPECT_EQ(w.await_direct(segment, 1, &byte_and_word::given, is_there), 2);
      EXPECT_EQ(segment.read_direct(1, &byte_and_word::given), 2);
    }
  });
}

TEST(world, puts_a_byte_from_a_buffer_of_one_byte) {
  for (const std::size_t beside : {0U, 2U}) {
    const auto result = run_with_changed_buffer(beside);
    EXPECT_TRUE(result.complete) << complaint(result);
  }
  const auto result = run_with_changed_buffer(1);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, checker::fault::origin);
}

TEST(world, takes_a_byte_that_was_seen_for_incomplete) {
  const auto resets = [](bool after_flush) {
    return run_all("node:2", 2, [after_flush](world& w) {
      world::far_segment<byte_and_word> segment(w);
      const std::uint8_t one = 1;
      if (w.rank() == 0) {
        segment.put(1, &byte_and_word::given, one);
        segment.flush(1);
        if (after_flush) w.barrier();
      } else {
        w.await_direct(segment, 1, &byte_and_word::given, [](std::uint8_t value) { return value != 0; });
        if (after_flush) w.barrier();
        segment.write_direct(1, &byte_and_word::given, std::uint8_t{0});
        EXPECT_EQ(segment.read_direct(1, &byte_and_word::given), 0);
      }
    });
  };
  const auto early = resets(false);
  ASSERT_TRUE(early.found);
  EXPECT_EQ(early.found->what, checker::fault::conflict);
  const auto late = resets(true);
  EXPECT_TRUE(late.complete) << complaint(late);
}

TEST(world, different_segments_on_different_ranks_are_refused) {
  const auto result = run_all("node:1", 2, [](world& w) {
    struct alignas(slot_bytes) larger {
      far<std::uint64_t> a;
      alignas(slot_bytes) far<std::uint64_t> b;
    };
    if (w.rank() == 0)
      world::far_segment<words>{w};
    else
      world::far_segment<larger>{w};
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, checker::fault::exception);
  EXPECT_NE(complaint(result).find(
                "rank 0 makes far memory with bytes 64, offset 0, rank 1 makes far memory with bytes 128"),
            std::string::npos)
      << complaint(result);
}

TEST(world, destroying_on_some_ranks_only_is_refused_at_the_next_construction) {
  std::optional<std::string> text;
  const auto result = run_all("node:1", 2, [&](world& w) {
    std::optional<world::far_segment<words>> kept(std::in_place, w);
    if (w.rank() == 0) kept.reset();
    try {
      world::far_segment<words> another(w);
    } catch (const collective_mismatch& thrown) {
      text = thrown.what();
    }
  });
  EXPECT_TRUE(result.complete) << complaint(result);
  EXPECT_TRUE(text);
}

TEST(world, that_is_full_says_what_to_do) {
  const auto result = run_all(
      "node:1", 2,
      [](world& w) {
        std::vector<std::unique_ptr<world::far_segment<words>>> all;
        for (int i = 0; i < 5; ++i) all.push_back(std::make_unique<world::far_segment<words>>(w));
      },
      4 * sizeof(words));
  ASSERT_TRUE(result.found);
  EXPECT_NE(complaint(result).find("no room for far memory of 64 bytes on each rank: raise `bytes`"),
            std::string::npos)
      << complaint(result);
  const auto fits = run_all(
      "node:1", 2,
      [](world& w) {
        // Each segment takes the place of the one before.
        for (int i = 0; i < 20; ++i) world::far_segment<words>{w};
      },
      sizeof(words));
  EXPECT_TRUE(fits.complete) << complaint(fits);
}

TEST(world, destroyed_before_what_is_in_it_says_so) {
  std::optional<world::far_segment<words>> kept;
  const auto result = run_all("node:1", 1, [&](world& w) { kept.emplace(w); });
  ASSERT_EQ(result.found.has_value(), checked_build);
  if constexpr (!checked_build) return;
  EXPECT_NE(complaint(result).find("a world was destroyed before the locks in it: destroy the locks first"),
            std::string::npos)
      << complaint(result);
}

TEST(world, ranks_that_cannot_be_reached_are_refused) {
  const auto says = [](const std::function<void(world&, world::far_segment<words>&)>& use,
                       const std::string& text) {
    const auto result = run_all("node:2 core:2", 4, [&](world& w) {
      world::far_segment<words> far(w);
      if (w.rank() == 1) use(w, far);
    });
    return result.found && result.found->what == checker::fault::exception &&
           complaint(result).find(text) != std::string::npos;
  };
  static constexpr std::uint64_t value = 1;
  EXPECT_TRUE(says([](world&, auto& far) { far.put(4, &words::tail, value); },
                   "there is no rank 4 among the 4 ranks of the world"));
  EXPECT_TRUE(says([](world&, auto& far) { far.put(-1, &words::tail, value); }, "there is no rank -1 among"));
  EXPECT_TRUE(says([](world&, auto& far) { far.flush(4); }, "there is no rank 4 among"));
  EXPECT_TRUE(says([](world&, auto& far) { (void)far.read_direct(2, &words::tail); },
                   "rank 2 shares no memory with rank 1"));
  EXPECT_TRUE(says([](world&, auto& far) { far.write_direct(4, &words::tail, value); },
                   "rank 4 shares no memory with rank 1"));
  EXPECT_TRUE(says([](world& w, auto&) { (void)w.near_memory(3); }, "rank 3 shares no memory with rank 1"));
  EXPECT_FALSE(says([](world& w, auto&) { (void)w.near_memory(0); }, ""));
}

TEST(world, channels_of_the_same_ranks_are_apart) {
  const auto result = run_all("node:1", 2, [](world& w) {
    world::signal_channel first(w);
    world::signal_channel second(w);
    if (w.rank() == 0) {
      first.signal(1);
    } else {
      second.await_signal(0);
    }
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, checker::fault::deadlock);
}

// ---- names of words ---------------------------------------------------------------------------------------

TEST(names_of_words, tell_segments_fields_and_ranks) {
  const auto result = run_all("node:1", 2, [](world& w) {
    world::far_segment<words> first(w);
    world::far_segment<words> second(w);
    w.barrier();
    const substrate& of = w.substrate();
    const auto name = [&](int rank, std::size_t offset) {
      const word_name known = of.name_of(of.memory(rank) + offset);
      return known.text + " of " + std::to_string(known.rank);
    };
    EXPECT_EQ(name(0, 0), "words.tail of 0");
    EXPECT_EQ(name(1, 8), "words.next of 1");
    EXPECT_EQ(name(1, sizeof(words)), "words#2.tail of 1");
    EXPECT_EQ(name(0, sizeof(words) + 8), "words#2.next of 0");
    EXPECT_EQ(name(0, sizeof(words) + 16), "word 80 of 0") << "between the fields";
  });
  EXPECT_TRUE(result.complete) << complaint(result);
}

TEST(names_of_words, follow_what_is_in_their_place) {
  struct other {
    struct alignas(cache_line) cells {
      world::near<std::uint64_t> flag{};
    };
  };
  const auto result = run_all("node:1", 1, [](world& w) {
    const substrate& of = w.substrate();
    EXPECT_EQ(of.name_of(of.memory(0)).text, "word 0") << "nothing has been there";
    { world::far_segment<words> first(w); }
    world::near_segment<other::cells> near(w);
    EXPECT_EQ(of.name_of(of.memory(0)).text, "cells.flag");
    EXPECT_EQ(of.name_of(&near.at(0)).text, "cells.flag");
  });
  EXPECT_TRUE(result.complete) << complaint(result);
}

TEST(substrate, is_current_only_while_it_runs) {
  substrate* inside = nullptr;
  const auto result = run_all("node:1", 1, [&](world& w) {
    inside = &substrate::current();
    EXPECT_EQ(inside, &w.substrate());
    EXPECT_EQ(inside->running(), 0);
  });
  EXPECT_TRUE(result.complete) << complaint(result);
  EXPECT_NE(inside, nullptr);
}

}  // namespace
}  // namespace nearfar::engine
