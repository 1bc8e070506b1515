// Every cost of a machine by itself: the clock must show the time that one computes by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

struct near_spans {
  std::int64_t first_load, second_load, store, atomic_after_store, owned_atomic;
};

/// The spans that rank 1 measures of a cell of rank 0.
near_spans of_near_cell(const machine& on, const std::vector<place>& places) {
  near_spans result{};
  run(on, locality(places), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() != 1) return;
    auto& cell = cells.at(0).first;
    result.first_load = span_of(w, [&] { (void)cell.load(relaxed); });
    result.second_load = span_of(w, [&] { (void)cell.load(relaxed); });
    result.store = span_of(w, [&] { cell.store(1, relaxed); });
    result.atomic_after_store = span_of(w, [&] { cell.fetch_add(1, relaxed); });
    result.owned_atomic = span_of(w, [&] { cell.fetch_add(1, relaxed); });
  });
  return result;
}

TEST(near_costs, by_distance) {
  machine on = free_machine();
  on.near = {.hit = 2, .atomic = 7, .same_core = 11, .same_cache = 30, .same_numa = 50, .same_node = 100};
  const std::vector<std::pair<std::vector<place>, std::int64_t>> cases{
      {{{-1, 0, 0, 0, 0, 0}, {-1, 0, 0, 0, 0, 0}}, 11},
      {{{-1, 0, 0, 0, 0, 0}, {-1, 0, 0, 0, 0, 1}}, 30},
      {{{-1, 0, 0, 0, 0, 0}, {-1, 0, 0, 0, 1, 0}}, 50},
      {{{-1, 0, 0, 0, 0, 0}, {-1, 0, 0, 1, 0, 0}}, 100},
      {{{-1, 0, 0, 0, 0, 0}, {-1, 0, 1, 0, 0, 0}}, 100},
      // Ranks do not share unknown cores, caches and domains.
      {{{-1, 0, 0, 0, 0, -1}, {-1, 0, 0, 0, 0, -1}}, 30},
      {{{-1, 0, 0, -1, -1, -1}, {-1, 0, 0, -1, -1, -1}}, 50},
      {{{-1, 0, -1, -1, -1, -1}, {-1, 0, -1, -1, -1, -1}}, 100},
  };
  for (const auto& [places, move] : cases) {
    SCOPED_TRACE(move);
    const near_spans spans = of_near_cell(on, places);
    EXPECT_EQ(spans.first_load, move);
    EXPECT_EQ(spans.second_load, 2);
    // A store costs a hit and is visible once the other copy is gone. An atomic operation waits for that.
    EXPECT_EQ(spans.store, 2);
    EXPECT_EQ(spans.atomic_after_store, move - 2 + 2 + 7);
    EXPECT_EQ(spans.owned_atomic, 2 + 7);
  }
}

TEST(near_costs, a_contended_line_serves_one_after_the_other) {
  machine on = free_machine();
  on.near.same_cache = 30;
  std::array<std::int64_t, 4> spans{};
  run(on, placed("node:1 core:4", 4), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() == 0) return;
    spans[static_cast<std::size_t>(w.rank())] = span_of(w, [&] { cells.at(0).first.fetch_add(1, relaxed); });
  });
  EXPECT_EQ(spans, (std::array<std::int64_t, 4>{0, 30, 60, 90}));
}

TEST(near_costs, a_shared_line_is_copied_to_several_at_once) {
  machine on = free_machine();
  on.near.same_cache = 30;
  for (const unsigned at_once : {1U, 3U}) {
    on.near.readers_at_once = at_once;
    std::array<std::int64_t, 5> spans{};
    run(on, placed("node:1 core:5", 5), [&](world& w) {
      world::near_segment<two_cells> cells(w);
      if (w.rank() == 0) return;
      spans[static_cast<std::size_t>(w.rank())] = span_of(w, [&] { (void)cells.at(0).first.load(relaxed); });
    });
    // The first reader takes the line from the core that wrote it, alone.
    const std::int64_t apart = 30 / at_once;
    EXPECT_EQ(spans, (std::array<std::int64_t, 5>{0, 30, 60, 60 + apart, 60 + 2 * apart}));
  }
}

TEST(near_costs, who_polls_copies_the_line_when_it_polls) {
  machine on = free_machine();
  on.library.progress = 1000;
  on.near.same_cache = 30;
  std::array<std::int64_t, 4> noticed{};
  run(on, placed("node:1 core:4", 4), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    auto& cell = cells.at(0).first;
    const auto rank = static_cast<std::size_t>(w.rank());
    if (rank > 0) {
      (void)w.await(cell, [](std::uint64_t now) { return now == 2; });
      noticed[rank] = w.now().count();
      return;
    }
    w.delay(nanoseconds(10000));
    EXPECT_EQ(span_of(w, [&] { cell.fetch_add(1, relaxed); }), 30);
    // No rank has polled yet; one period later every rank has.
    EXPECT_EQ(span_of(w, [&] { (void)cell.exchange(1, relaxed); }), 0);
    w.delay(nanoseconds(1000 - 60));
    EXPECT_EQ(span_of(w, [&] { (void)cell.exchange(1, relaxed); }), 30);
    w.delay(nanoseconds(10000));
    cell.fetch_add(1, relaxed);
  });
  // Each rank notices at its own time within a period, and not in the order in which they began to wait.
  std::ranges::sort(noticed);
  EXPECT_LT(noticed[3] - noticed[1], 1000);
  EXPECT_GT(noticed[3] - noticed[1], 2 * 30);
}

TEST(near_costs, lines_are_apart_and_words_of_one_are_not) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 30, .same_numa = 0, .same_node = 0};
  struct alignas(cache_line) neighbours {
    world::near<std::uint64_t> left{};
    world::near<std::uint64_t> right{};
  };
  run(on, placed("node:1 core:2", 2), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    world::near_segment<neighbours> shared(w);
    if (w.rank() != 1) return;
    (void)cells.at(0).first.load(relaxed);
    (void)shared.at(0).left.load(relaxed);
    EXPECT_EQ(span_of(w, [&] { (void)cells.at(0).second.load(relaxed); }), 30);
    EXPECT_EQ(span_of(w, [&] { (void)shared.at(0).right.load(relaxed); }), 1);
  });
}

TEST(near_costs, taking_a_line_back_costs_as_much_as_its_farthest_copy) {
  machine on = free_machine();
  on.near = {.hit = 0, .atomic = 0, .same_core = 0, .same_cache = 30, .same_numa = 0, .same_node = 100};
  run(on, placed("node:1 numa:2 core:2", 4), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    if (w.rank() != 0) (void)cells.at(0).first.load(relaxed);
    if (w.rank() == 1) (void)cells.at(0).second.load(relaxed);
    w.barrier();
    if (w.rank() != 0) return;
    EXPECT_EQ(span_of(w, [&] { cells.at(0).first.fetch_add(1, relaxed); }), 100);
    EXPECT_EQ(span_of(w, [&] { cells.at(0).second.fetch_add(1, relaxed); }), 30);
  });
}

TEST(near_costs, a_full_store_buffer_makes_the_writer_wait) {
  machine on = free_machine();
  on.near.same_cache = 30;
  struct alignas(cache_line) many_cells {
    std::array<two_cells, 64> all{};
  };
  run(on, placed("node:1 core:2", 2), [&](world& w) {
    world::near_segment<many_cells> cells(w);
    if (w.rank() != 1) return;
    auto& all = cells.at(0).all;
    EXPECT_EQ(span_of(w,
                      [&] {
                        for (std::size_t i = 0; i < 32; ++i) all[i].first.store(1, relaxed);
                      }),
              0);
    // Their lines move side by side, so one place is free as soon as the first has moved.
    EXPECT_EQ(span_of(w, [&] { all[32].first.store(1, relaxed); }), 30);
  });
}

TEST(near_costs, an_atomic_asks_for_its_line_when_earlier_stores_are_visible) {
  machine on = free_machine();
  on.near.same_cache = 1000;
  std::array<std::uint64_t, 2> seen{};
  run(on, placed("node:1 core:2", 2), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    auto& contended = cells.at(0).second;
    if (w.rank() == 0)
      cells.at(1).first.store(1, relaxed);  // the line arrives after 1000 ns
    else
      w.compute(nanoseconds(500));
    seen[static_cast<std::size_t>(w.rank())] =
        contended.exchange(static_cast<std::uint64_t>(w.rank()) + 1, relaxed);
  });
  EXPECT_EQ(seen, (std::array<std::uint64_t, 2>{2, 0}));
}

TEST(near_costs, moves_vary_around_their_mean) {
  machine on = free_machine();
  on.near.same_cache = 1000;
  on.near.jitter = 0.3;
  std::vector<std::int64_t> spans;
  run(on, placed("node:1 core:2", 2), [&](world& w) {
    world::near_segment<two_cells> cells(w);
    for (int turn = 0; turn < 1000; ++turn) {
      w.barrier();
      if (turn % 2 != w.rank()) continue;
      spans.push_back(span_of(w, [&] { cells.at(0).first.fetch_add(1, relaxed); }));
    }
  });
  // The first is in the rank's own memory.
  spans.erase(spans.begin());
  std::int64_t sum = 0;
  for (const std::int64_t span : spans) sum += span;
  EXPECT_NEAR(static_cast<double>(sum) / static_cast<double>(spans.size()), 1000, 50);
  const auto [least, most] = std::ranges::minmax(spans);
  EXPECT_GT(least, 400);
  EXPECT_LT(least, 550);
  EXPECT_GT(most, 1450);
  EXPECT_LT(most, 1600);
}

TEST(near_costs, a_turn_of_a_loop_costs_time_and_the_clock_does_not) {
  machine on = free_machine();
  on.near.clock = 30;
  run(on, placed("node:1 core:1", 1), [&](world& w) {
    const nanoseconds begun = w.now();
    EXPECT_EQ(w.now(), begun);
    const nanoseconds next = w.after_turn(begun);
    EXPECT_EQ(next, begun + nanoseconds(30));
    EXPECT_EQ(w.now(), next);
  });
}

constexpr transfer_cost sample_cost{.overhead = 10, .latency = 200, .service = 3000, .completion = 40000};

/// Issues one operation of a kind from rank 0 to rank `to`.
void issue(world::far_segment<two_words>& words, transfer kind, int to, std::uint64_t& result) {
  switch (kind) {
    case transfer::put:
      return words.put(to, &two_words::first, one);
    case transfer::get:
      return words.get(to, &two_words::first, result);
    case transfer::atomic:
      return words.swap(to, &two_words::first, one, result);
    default:
      return words.accumulate(to, &two_words::first, one, far_op::sum);
  }
}

struct far_case {
  distance how_far;
  transfer kind;
  executor by;
};

class far_costs : public ::testing::TestWithParam<far_case> {};

TEST_P(far_costs, of_each_field) {
  const auto [how_far, kind, by] = GetParam();
  machine on = free_machine();
  on.library.flush = 500000;
  // In place an atomic and an accumulate have the same executor.
  if (how_far != distance::remote)
    for (const transfer other : all_transfers) on.cost(how_far, other).by = by;
  on.cost(how_far, kind) = sample_cost;
  on.cost(how_far, kind).by = by;
  const int to = how_far == distance::self ? 0 : how_far == distance::node ? 1 : 2;
  run(on, placed("node:2 core:2", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() == 0) {
      std::uint64_t result = 0;
      const std::int64_t issued = span_of(w, [&] { issue(words, kind, to, result); });
      const std::int64_t flushed = span_of(w, [&] { words.flush(to); });
      // In place the origin itself does all the work before the call returns.
      EXPECT_EQ(issued, by == executor::origin ? 10 + 200 + 3000 : 10);
      EXPECT_EQ(issued + flushed, 10 + 200 + 3000 + 40000 + 500000);
    }
    w.barrier();
  });
}

std::vector<far_case> far_cases() {
  std::vector<far_case> cases;
  for (const distance how_far : {distance::self, distance::node, distance::remote})
    for (const transfer kind : {transfer::put, transfer::get, transfer::atomic, transfer::accumulate})
      for (const executor by : {executor::origin, executor::nic, executor::target})
        if (how_far != distance::remote || by != executor::origin) cases.push_back({how_far, kind, by});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(all, far_costs, ::testing::ValuesIn(far_cases()));

TEST(transfer_costs, of_a_signal) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::message) = {10, 200, 3000, 0, executor::nic};
  on.cost(distance::node, transfer::message) = {1, 20, 300, 0, executor::nic};
  std::array<std::int64_t, 3> start{};
  std::array<std::int64_t, 3> span{};
  run(on, placed("node:2 core:2", 3), [&](world& w) {
    world::signal_channel channel(w);
    const auto rank = static_cast<std::size_t>(w.rank());
    start[rank] = w.now().count();
    span[rank] = span_of(w, [&] {
      if (w.rank() != 0) return channel.await_signal(0);
      channel.signal(1);
      channel.signal(2);
    });
  });
  EXPECT_EQ(start[0], start[1]);
  EXPECT_EQ(span, (std::array<std::int64_t, 3>{1 + 10, 1 + 20 + 300, 1 + 10 + 200 + 3000}));
}

TEST(transfer_costs, of_a_lock_epoch) {
  machine on = free_machine();
  on.library.exclusive = 7;
  for (const executor by : {executor::nic, executor::target}) {
    on.cost(distance::remote, transfer::atomic) = {10, 200, 3000, 40000, by};
    std::array<std::int64_t, 2> span{};
    run(on, placed("node:3 core:1", 3), [&](world& w) {
      world::lock_epoch epoch(w, 0);
      if (w.rank() > 0)
        span[static_cast<std::size_t>(w.rank()) - 1] = span_of(w, [&] {
          epoch.begin();
          epoch.end();
        });
      w.barrier();
    });
    constexpr std::int64_t request = 10 + 200 + 7 + 40000;
    EXPECT_EQ(span[0], request + request);
    // The second rank gets the grant once the first one's release has been carried out.
    EXPECT_EQ(span[1], request + (10 + 200 + 7) + 40000 + request);
  }
}

TEST(transfer_costs, of_a_lock_epoch_that_is_shared) {
  machine on = free_machine();
  on.library.exclusive = 7;
  for (const executor by : {executor::nic, executor::target}) {
    on.cost(distance::remote, transfer::atomic) = {10, 200, 3000, 40000, by};
    std::array<std::int64_t, 3> begun{};
    run(on, placed("node:4 core:1", 4), [&](world& w) {
      world::lock_epoch epoch(w, 0);
      if (w.rank() > 0) {
        begun[static_cast<std::size_t>(w.rank()) - 1] = span_of(w, [&] { epoch.begin_shared(); });
        w.delay(nanoseconds(1000000));
        epoch.end();
      }
      w.barrier();
    });
    // No rank waits for another, but home serves one request after the other.
    constexpr std::int64_t request = 10 + 200 + 7 + 40000;
    EXPECT_EQ(begun, (std::array<std::int64_t, 3>{request, request + 7, request + 7 + 7}));
  }
}

TEST(transfer_costs, of_a_lock_epoch_at_a_home_in_the_node) {
  machine on = free_machine();
  on.library.exclusive = 7;
  on.cost(distance::node, transfer::message).overhead = 10;
  for (const std::int64_t one_way : {0, 200}) {
    on.library.request = static_cast<double>(one_way);
    std::array<std::int64_t, 2> spans{};
    run(on, placed("node:1 core:2", 2), [&](world& w) {
      world::lock_epoch epoch(w, 0);
      if (w.rank() == 1) {
        spans[0] = span_of(w, [&] {
          epoch.begin();
          epoch.end();
        });
        w.barrier();
        w.delay(nanoseconds(100));
        spans[1] = span_of(w, [&] { epoch.begin(); });
        epoch.end();
        return;
      }
      w.barrier();
      // Outside the library home grants no request.
      w.compute(nanoseconds(5000));
      w.delay(nanoseconds(5000));
    });
    // In place the origin's processor does the work, whatever home does.
    EXPECT_EQ(spans[0], one_way == 0 ? 7 + 7 : 2 * (10 + 200 + 7 + 200));
    EXPECT_EQ(spans[1], one_way == 0 ? 7 : 5000 - 100 + 7 + 200);
  }
}

TEST(transfer_costs, atomics_in_a_node_take_turns_under_its_lock) {
  machine on = free_machine();
  for (const transfer kind : {transfer::atomic, transfer::accumulate}) {
    on.cost(distance::node, kind) = {.overhead = 10, .service = 100};
    on.cost(distance::self, kind) = {.overhead = 10, .service = 100};
  }
  on.cost(distance::node, transfer::put) = {.overhead = 10, .service = 100};
  for (const std::int64_t handover : {0, 300}) {
    on.library.lock_handover = static_cast<double>(handover);
    std::array<std::int64_t, 4> spans{};
    run(on, placed("node:1 core:4", 4), [&](world& w) {
      world::far_segment<two_words> words(w);
      const int rank = w.rank();
      std::uint64_t old = 0;
      spans[static_cast<std::size_t>(rank)] = span_of(w, [&] {
        // The words have nothing in common, and one operation is a put, which needs no lock.
        if (rank == 0) words.fetch_add(0, &two_words::first, one, old);
        if (rank == 1) words.accumulate(2, &two_words::first, one, far_op::sum);
        if (rank == 2) words.fetch_add(3, &two_words::first, one, old);
        if (rank == 3) words.put(1, &two_words::second, one);
      });
      if (rank == 3) return;
      // The ranks do not meet any more, so each finds the word free.
      w.delay(nanoseconds(10000));
      EXPECT_EQ(span_of(w, [&] { words.fetch_add(rank, &two_words::second, one, old); }), 110);
    });
    const std::int64_t turn = handover == 0 ? 0 : 100 + handover;
    EXPECT_EQ(spans, (std::array<std::int64_t, 4>{110, 110 + turn, 110 + 2 * turn, 110}));
  }
}

TEST(transfer_costs, a_rank_fetches_a_word_of_its_own_without_the_lock_of_the_node) {
  machine on = free_machine();
  on.library.lock_handover = 300;
  on.cost(distance::node, transfer::atomic) = {.overhead = 10, .service = 100};
  on.cost(distance::self, transfer::atomic) = {.overhead = 10, .service = 100};
  std::array<std::int64_t, 4> spans{};
  run(on, placed("node:1 core:4", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    const int rank = w.rank();
    std::uint64_t value = 0;
    spans[static_cast<std::size_t>(rank)] = span_of(w, [&] {
      if (rank == 0) words.fetch_add(0, &two_words::first, one, value);
      if (rank == 1) words.fetch(1, &two_words::first, value);
      if (rank == 2) words.fetch(3, &two_words::first, value);
      if (rank == 3) words.fetch_add(3, &two_words::second, one, value);
    });
  });
  // Rank 1 alone needs no turn.
  EXPECT_EQ(spans, (std::array<std::int64_t, 4>{110, 110, 110 + 400, 110 + 800}));
}

TEST(transfer_costs, one_call_serves_so_many_requests) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::atomic) = {0, 100, 0, 0, executor::target};
  on.library.progress = 1000;
  for (const unsigned at_once : {1U, 2U, 65536U}) {
    on.library.served_per_call = at_once;
    std::array<std::int64_t, 4> known{};
    run(on, placed("node:5 core:1", 5), [&](world& w) {
      world::far_segment<two_words> words(w);
      std::uint64_t old = 0;
      if (w.rank() == 0) {
        w.compute(nanoseconds(5000));
        // Two calls that need no wait, and then one that does.
        words.put(0, &two_words::second, one);
        w.compute(nanoseconds(1000));
        words.flush(0);
        w.compute(nanoseconds(1000));
        w.delay(nanoseconds(1000));
        return;
      }
      known[static_cast<std::size_t>(w.rank()) - 1] = span_of(w, [&] {
        words.fetch_add(0, &two_words::first, one, old);
        words.flush(0);
      });
    });
    std::ranges::sort(known);
    const std::array<std::int64_t, 4> all{5000, 5000, 5000, 5000};
    EXPECT_EQ(known, at_once == 1   ? (std::array<std::int64_t, 4>{5000, 6000, 7000, 7000})
                     : at_once == 2 ? (std::array<std::int64_t, 4>{5000, 5000, 6000, 6000})
                                    : all);
  }
}

TEST(transfer_costs, one_poll_serves_so_many_requests) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::atomic) = {0, 100, 0, 0, executor::target};
  on.library.progress = 1000;
  on.library.served_per_call = 1;
  std::array<std::int64_t, 3> known{};
  run(on, placed("node:4 core:1", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    std::uint64_t old = 0;
    if (w.rank() == 0) {
      (void)w.await_direct(words, 0, &two_words::first, [](std::uint64_t now) { return now == 3; });
      return;
    }
    known[static_cast<std::size_t>(w.rank()) - 1] = span_of(w, [&] {
      words.fetch_add(0, &two_words::first, one, old);
      words.flush(0);
    });
  });
  std::ranges::sort(known);
  EXPECT_EQ(known[1] - known[0], 1000);
  EXPECT_EQ(known[2] - known[1], 1000);
}

TEST(transfer_costs, of_a_barrier_and_a_delay) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::message).latency = 1000;
  on.cost(distance::node, transfer::message).latency = 10;
  const auto barrier_span = [&](const std::string& spec, int ranks) {
    std::int64_t span = 0;
    run(on, placed(spec, ranks), [&](world& w) {
      const std::int64_t mine = span_of(w, [&] {
        w.delay(nanoseconds(w.rank()));
        w.barrier();
      });
      if (w.rank() == 0) span = mine - (ranks - 1);
      EXPECT_EQ(mine, span + ranks - 1);
    });
    return span;
  };
  EXPECT_EQ(barrier_span("node:1 core:1", 1), 0);
  EXPECT_EQ(barrier_span("node:1 core:4", 4), 2 * 10);
  EXPECT_EQ(barrier_span("node:1 core:5", 5), 3 * 10);
  EXPECT_EQ(barrier_span("node:2 core:4", 8), 3 * 1000);
}

TEST(transfer_costs, between_islands) {
  machine on = free_machine();
  on.network.nodes_per_island = 2;
  on.network.island_latency = 5000;
  for (const transfer kind : all_transfers)
    on.cost(distance::remote, kind) = {10, 200, 3000, kind == transfer::message ? 0.0 : 40000.0,
                                       executor::nic};
  std::array<std::int64_t, 4> received{};
  run(on, placed("node:4 core:1", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    world::signal_channel channel(w);
    for (const transfer kind : {transfer::put, transfer::get, transfer::atomic, transfer::accumulate})
      for (int to = 1; to < w.size(); ++to) {
        w.barrier();
        if (w.rank() != 0) continue;
        std::uint64_t result = 0;
        const std::int64_t span = span_of(w, [&] {
          issue(words, kind, to, result);
          words.flush(to);
        });
        // Nodes 0 and 1 are one island. The way to the others and back is longer.
        EXPECT_EQ(span, 10 + 200 + 3000 + 40000 + (to == 1 ? 0 : 2 * 5000)) << to;
      }
    w.barrier();
    received[static_cast<std::size_t>(w.rank())] = span_of(w, [&] {
      if (w.rank() != 0) return channel.await_signal(0);
      for (int to = 1; to < w.size(); ++to) channel.signal(to);
    });
    const std::int64_t met = span_of(w, [&] { w.barrier(); });
    if (w.rank() == 3) {
      EXPECT_EQ(met, 2 * (200 + 5000));
    }
  });
  EXPECT_EQ(received, (std::array<std::int64_t, 4>{30, 10 + 200 + 3000, 20 + 5200 + 3000, 30 + 5200 + 3000}));
}

TEST(transfer_costs, between_islands_of_the_locality) {
  machine on = free_machine();
  on.network.nodes_per_island = 1;
  on.network.island_latency = 5000;
  on.cost(distance::remote, transfer::put).latency = 200;
  // Nodes 0 and 1 are one island, whatever the machine has.
  run(on, placed("island:2 node:2 core:1", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    for (int to = 1; to < w.size() && w.rank() == 0; ++to) {
      std::uint64_t result = 0;
      const std::int64_t span = span_of(w, [&] {
        issue(words, transfer::put, to, result);
        words.flush(to);
      });
      EXPECT_EQ(span, 200 + (to == 1 ? 0 : 2 * 5000)) << to;
    }
    w.barrier();
  });
}

TEST(transfer_costs, messages_leave_a_node_one_after_the_other) {
  machine on = free_machine();
  on.network.injection_gap = 100;
  on.cost(distance::remote, transfer::put).latency = 1000;
  run(on, placed("node:2 core:2", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() < 2) {
      const std::int64_t span = span_of(w, [&] {
        words.put(2, &two_words::first, one);
        words.put(3, &two_words::second, one);
        words.flush(2);
        words.flush(3);
      });
      // Four operations in all, in turns.
      EXPECT_EQ(span, 1000 + (2 + w.rank()) * 100);
    }
    w.barrier();
  });
}

TEST(transfer_costs, an_interface_does_one_operation_on_a_word_at_a_time) {
  machine on = free_machine();
  on.cost(distance::remote, transfer::atomic) = {0, 1000, 50, 0, executor::nic};
  std::array<std::int64_t, 4> spans{};
  run(on, placed("node:4 core:1", 4), [&](world& w) {
    world::far_segment<two_words> words(w);
    std::uint64_t old = 0;
    if (w.rank() > 0)
      spans[static_cast<std::size_t>(w.rank())] = span_of(w, [&] {
        // Ranks 1 and 2 meet at one word; rank 3 has one to itself.
        words.fetch_add(0, w.rank() < 3 ? &two_words::first : &two_words::second, one, old);
        words.flush(0);
      });
    w.barrier();
  });
  EXPECT_EQ(spans, (std::array<std::int64_t, 4>{0, 1050, 1100, 1050}));
}

TEST(transfer_costs, what_an_interface_has_written_is_in_no_core) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 5, .same_cache = 30, .same_numa = 50, .same_node = 100};
  run(on, placed("node:2 core:1", 2), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() == 1) {
      words.put(0, &two_words::first, one);
      words.flush(0);
    }
    w.barrier();
    if (w.rank() != 0) return;
    EXPECT_EQ(span_of(w, [&] { (void)words.read_direct(0, &two_words::first); }), 50);
    EXPECT_EQ(span_of(w, [&] { (void)words.read_direct(0, &two_words::second); }), 1);
  });
}

TEST(transfer_costs, jitter_is_around_the_latency_and_never_below_half) {
  machine on = free_machine();
  on.network.jitter = 0.4;
  on.cost(distance::remote, transfer::put).latency = 1000;
  constexpr int count = 2000;
  double sum = 0;
  std::int64_t least = 1 << 30;
  std::int64_t most = 0;
  run(on, placed("node:2 core:1", 2), [&](world& w) {
    world::far_segment<two_words> words(w);
    if (w.rank() != 0) return;
    for (int i = 0; i < count; ++i) {
      const std::int64_t span = span_of(w, [&] {
        words.put(1, &two_words::first, one);
        words.flush(1);
      });
      sum += static_cast<double>(span);
      least = std::min(least, span);
      most = std::max(most, span);
    }
  });
  // Cutting at half, 1.25 deviations below, moves the mean up by 0.4 x 0.05 of it.
  EXPECT_NEAR(sum / count, 1020, 40);
  EXPECT_GE(least, 500);
  EXPECT_LT(least, 510);
  EXPECT_GT(most, 1800);
}

TEST(machines, that_cannot_be_are_refused_by_the_name_of_the_field) {
  const auto refusal = [](const std::function<void(machine&)>& spoil) -> std::string {
    machine on = free_machine();
    spoil(on);
    try {
      run(on, placed("node:1", 1), [](world&) {});
    } catch (const error& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](machine&) {}), "");
  EXPECT_NE(refusal([](machine& m) { m.near.hit = -1; }).find("near.hit"), std::string::npos);
  EXPECT_NE(refusal([](machine& m) { m.near.jitter = 0.6; }).find("near.jitter"), std::string::npos);
  EXPECT_NE(refusal([](machine& m) { m.library.polls_per_progress = 0; }).find("polls_per_progress"),
            std::string::npos);
  EXPECT_NE(
      refusal([](machine& m) { m.network.jitter = std::numeric_limits<double>::quiet_NaN(); }).find("jitter"),
      std::string::npos);
  EXPECT_NE(refusal([](machine& m) {
              m.cost(distance::remote, transfer::get).by = executor::origin;
            }).find("transfers.remote.get.by"),
            std::string::npos);
  EXPECT_NE(refusal([](machine& m) {
              m.cost(distance::node, transfer::atomic).by = executor::nic;
            }).find("transfers.node"),
            std::string::npos);
}

}  // namespace
}  // namespace nearfar::simulation::testing
