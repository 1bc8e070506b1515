// Channels in the model checker: a few messages of two to four ranks of a node, in every order.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/mutants.hpp"

namespace nearfar::checker::testing {
namespace {

namespace test = nearfar::test;
using engine::world;
using word = std::uint64_t;
using specification = queue_specification;
using tested = node_channel<world, word>;

constexpr std::array near_models{near_model::sequential, near_model::release_acquire};
/// Nothing is far.
[[nodiscard]] options by(near_model near) { return {.mode = delivery_mode::eager, .near = near}; }
[[nodiscard]] options at_random(near_model near, std::uint64_t executions) {
  options how = by(near);
  how.by = search::random;
  how.most_executions = executions;
  return how;
}
[[nodiscard]] program on_a_node(int ranks, std::function<void(world&, monitor&)> body) {
  return {.where = topology_spec::parse("node:1").place(ranks), .body = std::move(body)};
}

/// One operation: a message that is not 0, sent, or `get`.
constexpr word get = 0;

/// Attempts of each rank, judged by the specification.
[[nodiscard]] program attempts(std::size_t capacity, const std::vector<std::vector<word>>& of_ranks) {
  program result = on_a_node(static_cast<int>(of_ranks.size()), [=](world& w, monitor& watch) {
    tested channel(w, capacity);
    for (const word one : of_ranks[static_cast<std::size_t>(w.rank())]) {
      if (one == get) {
        watch.call(0, specification::pop, {});
        const auto value = channel.try_receive();
        watch.returned(value ? value_list{*value} : value_list{});
      } else {
        watch.call(0, specification::push, {one});
        const queue_status status = channel.try_send(one);
        watch.returned({status == queue_status::success ? specification::done : specification::full});
      }
    }
    w.barrier();
  });
  result.judge = linearizable_by(specification(capacity));
  return result;
}

/// The first ranks send so many messages each and wait for room, the others receive them all, and wait.
/// With `closes` rank 0 closes when all have sent, and who receives does so until it is told.
[[nodiscard]] program streams(std::size_t capacity, int senders, int receivers, word count, bool closes) {
  program result = on_a_node(senders + receivers, [=](world& w, monitor&) {
    tested channel(w, capacity);
    std::vector<word> least(static_cast<std::size_t>(senders), 1);
    std::int64_t got = 0;
    const auto note = [&](word message) {
      const auto from = static_cast<std::size_t>(message / 16);
      if (from >= least.size() || message % 16 < least[from]) throw nearfar::error("doubled or out of order");
      least[from] = message % 16 + 1;
      ++got;
    };
    if (w.rank() < senders) {
      for (word i = 1; i <= count; ++i)
        if (channel.send(static_cast<word>(w.rank()) * 16 + i) != queue_status::success)
          throw nearfar::error("nobody closes yet");
      if (closes && senders == 1) channel.close();
    } else if (closes) {
      for (const word message : channel) note(message);
    } else {
      const word all = count * static_cast<word>(senders);
      const auto mine = static_cast<word>(w.rank() - senders);
      const auto shares = static_cast<word>(receivers);
      for (word i = mine; i < all; i += shares) note(*channel.receive());
    }
    if (w.sum_over_ranks({got})[0] != static_cast<std::int64_t>(count) * senders)
      throw nearfar::error("lost");
    if (channel.try_receive().has_value()) throw nearfar::error("doubled");
    w.barrier();
  });
  return result;
}

/// One closes while another sends: what was sent is received, and nothing else.
[[nodiscard]] program closing() {
  return on_a_node(3, [](world& w, monitor&) {
    tested channel(w, 1);
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (word i = 1; i <= 2; ++i) balance += channel.send(i) == queue_status::success ? 1 : 0;
    } else if (w.rank() == 1) {
      for ([[maybe_unused]] const word message : channel) --balance;
    } else {
      channel.close();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    if (channel.try_receive().status() != queue_status::closed)
      throw nearfar::error("it is closed and empty");
    w.barrier();
  });
}

TEST(checked_channel, is_linearizable) {
  for (const near_model near : near_models) {
    for (const std::size_t capacity : {1U, 2U})
      for (const std::vector<std::vector<word>>& of_ranks : {std::vector<std::vector<word>>{{1}, {get}},
                                                             {{1, 2}, {get, get}},
                                                             {{1, get}, {2, get}},
                                                             {{1}, {2}, {get}},
                                                             {{1}, {get}, {get}}})
        expect_nothing_found(attempts(capacity, of_ranks), by(near));
    for (const std::size_t capacity : {1U, 2U, 3U})
      for (const std::vector<std::vector<word>>& of_ranks :
           {std::vector<std::vector<word>>{{1, 2, 3}, {4, 5, 6}, {get, get, get}, {get, get, get}},
            {{1, get, 2, get}, {3, get, 4, get}, {5, get, 6, get}}})
        expect_nothing_found(attempts(capacity, of_ranks), at_random(near, 3000));
  }
}
TEST(checked_channel, wakes_whoever_waits) {
  for (const near_model near : near_models) {
    expect_nothing_found(streams(1, 1, 1, 2, false), by(near));
    expect_nothing_found(streams(1, 1, 1, 1, true), by(near));
    for (const bool closes : {false, true})
      for (const std::size_t capacity : {1U, 2U})
        expect_nothing_found(streams(capacity, 1, 2, 3, closes), at_random(near, 2000));
    for (const std::size_t capacity : {1U, 2U})
      for (const int receivers : {1, 2})
        expect_nothing_found(streams(capacity, 2, receivers, 2, false), at_random(near, 2000));
  }
}
TEST(checked_channel, loses_nothing_when_it_is_closed) {
  for (const near_model near : near_models) expect_nothing_found(closing(), at_random(near, 5000));
}

/// Changes after which a channel is as right as before.
constexpr std::array harmless_in_channels{
    test::harmless{"channel/channel_memory.hpp", "world_->await(", change::relaxed, "who waited looks again"},
    test::harmless{"channel/channel_memory.hpp", "world_->await(", change::unaware, "nothing is far"},
    test::harmless{"channel/event_count.hpp", "event.count.load", change::relaxed,
                   "a ring fences before it says empty or full; other buffers may not"},
    test::harmless{"channel/event_count.hpp", "event.count.fetch_add", change::split,
                   "who registers after another has read the count finds what that made"},
    test::harmless{"channel/ring_buffer.hpp", "cells_[i].stamp.store", change::postponed,
                   "who comes before waits for the stamp"},
    test::harmless{"channel/ring_buffer.hpp", "stamp.store(of.next_lap", change::postponed, "the same"},
    test::harmless{"channel/ring_buffer.hpp", "stamp.store(position + 1", change::postponed, "the same"},
};

TEST(broken_channel, is_caught_in_every_operation) {
  const std::vector<program> programs{attempts(2, {{1}, {get}, {get}}),  attempts(2, {{1, 2, 3}, {get}, {4}}),
                                      attempts(1, {{1, 2}, {get, get}}), attempts(2, {{1, get}, {2, get}}),
                                      streams(1, 1, 1, 3, false),        streams(1, 1, 2, 2, true),
                                      streams(2, 2, 2, 2, false),        closing()};
  const auto is_caught = [&](const mutation& one) {
    for (const program& what : programs)
      for (const near_model near : near_models)
        for (const search by_what : {search::exhaustive, search::random}) {
          options how = by(near);
          how.by = by_what;
          how.broken = one;
          how.most_executions = 10'000;
          how.most_steps = 3000;
          if (check(what, how).found) return true;
        }
    return false;
  };
  std::set<mutation> all;
  for (const program& what : programs)
    for (const near_model near : near_models)
      for (const mutation& one : mutations_of(what, by(near), "nearfar/channel/", 50)) all.insert(one);
  EXPECT_GT(all.size(), 20U);
  std::string missed;
  for (const mutation& one : all)
    if (!test::is_known_harmless(harmless_in_channels, "*", one) && !is_caught(one))
      missed += one.text() + "\n";
  EXPECT_EQ(missed, "");
}

}  // namespace
}  // namespace nearfar::checker::testing
