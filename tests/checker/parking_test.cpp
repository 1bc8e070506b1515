// Ranks that sleep: a wake-up wakes as many as it says, the checker explores each choice of them, and some
// wake for no reason.
#include "nearfar/memory/parking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nearfar/channel/strategies.hpp"
#include "nearfar/checker/mutation.hpp"
#include "tests/channel/channel_programs.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

struct alignas(cache_line) shared {
  parking_word<world> word{};
  world::near<std::uint32_t> has_first{};
};

/// All ranks except rank 0 do `sleeper` with the word, and rank 0 does `waker`.
template <typename Sleeper, typename Waker>
[[nodiscard]] program of_sleepers(int sleepers, Sleeper sleeper, Waker waker) {
  return on_a_node(sleepers + 1, [=](world& w, monitor& watch) {
    world::near_array<shared> memory(w, 1);
    shared& common = memory.at({0, 0});
    if (w.rank() == 0)
      waker(w, common);
    else
      sleeper(w, common, watch);
    w.barrier();
  });
}

void sleep_once(world& w, shared& common, monitor& /*watch*/) { detail::park(w, common.word, 0); }

[[nodiscard]] program told(int sleepers, int most, int times) {
  return of_sleepers(sleepers, &sleep_once, [=](world& w, shared& common) {
    common.word.value.fetch_add(1, std::memory_order_release);
    for (int i = 0; i < times; ++i) detail::unpark(w, common.word, most);
  });
}

TEST(sleepers, wake_as_many_as_are_told) {
  for (const near_model near : near_models) {
    expect_nothing_found(told(2, INT_MAX, 1), by(near));
    expect_nothing_found(told(2, 2, 1), by(near));
    expect_nothing_found(told(2, 1, 2), by(near));
    for (const program& too_few : {told(2, 1, 1), told(3, 2, 1), told(3, 1, 2)}) {
      const report result = check(too_few, by(near));
      ASSERT_TRUE(result.found);
      EXPECT_EQ(result.found->what, fault::deadlock);
    }
  }
}

TEST(sleepers, are_woken_in_any_order) {
  const auto first = [](int rank) { return "rank " + std::to_string(rank) + " is woken first"; };
  program what = of_sleepers(
      3,
      [=](world& w, shared& common, monitor& watch) {
        detail::park(w, common.word, 0);
        if (common.has_first.exchange(1, std::memory_order_relaxed) == 0) watch.reach(first(w.rank()));
        detail::unpark(w, common.word, 1);
      },
      [](world& w, shared& common) {
        w.await(common.word.sleepers, [](std::uint64_t now) { return now % 16 == 0b1110; });
        common.word.value.store(1, std::memory_order_release);
        detail::unpark(w, common.word, 1);
      });
  for (int rank = 1; rank <= 3; ++rank) what.demands.push_back(first(rank));
  for (const near_model near : near_models) expect_nothing_found(what, by(near));
}

TEST(sleepers, are_not_told_once_their_time_is_over) {
  // Rank 1 gives up before anybody is told, so that rank 2 is.
  const program what = of_sleepers(
      2,
      [](world& w, shared& common, monitor& /*watch*/) {
        if (w.rank() == 1) {
          detail::park(w, common.word, 0, w.now());
          common.has_first.store(1, std::memory_order_release);
        } else {
          detail::park(w, common.word, 0);
        }
      },
      [](world& w, shared& common) {
        w.await(common.has_first, [](std::uint32_t now) { return now == 1; });
        common.word.value.store(1, std::memory_order_release);
        detail::unpark(w, common.word, 1);
      });
  for (const near_model near : near_models) expect_nothing_found(what, by(near));
}

TEST(sleepers, wake_for_no_reason_where_that_is_asked_for) {
  const program what = of_sleepers(
      1,
      [](world& w, shared& common, monitor& /*watch*/) {
        detail::park(w, common.word, 0);
        if (common.word.value.load(std::memory_order_acquire) == 0) throw nearfar::error("nobody told");
      },
      [](world& w, shared& common) {
        common.word.value.store(1, std::memory_order_release);
        detail::unpark(w, common.word, 1);
      });
  options how = by(near_model::release_acquire);
  expect_nothing_found(what, how);
  how.most_early_wakes = 1;
  for (const search tier : {search::exhaustive, search::random}) {
    how.by = tier;
    how.most_executions = 1000;
    const report result = check(what, how);
    ASSERT_TRUE(result.found);
    EXPECT_NE(result.found->text.find("nobody told"), std::string::npos);
  }
}

TEST(sleepers, are_not_ordered_before_those_that_wake_them) {
  // C++ and futex(2) promise no more, though the kernel fences.
  const std::string missed = "who wakes a rank misses what that rank wrote before";
  program what = on_a_node(2, [=](world& w, monitor& watch) {
    world::near_array<shared> memory(w, 1);
    world::near_array<shared> written(w, 1);
    shared& common = memory.at({0, 0});
    auto& before = written.at({0, 0}).has_first;
    if (w.rank() == 0) {
      const bool sleeps = common.word.sleepers.load(std::memory_order_relaxed) % 4 == 0b10;
      detail::unpark(w, common.word, 1);
      if (sleeps && before.load(std::memory_order_relaxed) == 0) watch.reach(missed);
    } else {
      before.store(1, std::memory_order_relaxed);
      detail::park(w, common.word, 0, w.now());
    }
    w.barrier();
  });
  what.demands.push_back(missed);
  expect_nothing_found(what, by(near_model::release_acquire));
}

TEST(sleepers, drive_progress_only_if_they_rest) {
  // Rank 0 wakes the sleeper once its put to the sleeper is complete.
  struct alignas(slot_bytes) target {
    far<std::uint64_t> a;
  };
  const auto woken_after_put = [](bool rests) {
    return on_a_node(2, [=](world& w, monitor&) {
      world::near_array<shared> memory(w, 1);
      world::far_segment<target> far(w);
      shared& common = memory.at({0, 0});
      const std::uint64_t one = 1;
      if (w.rank() == 0) {
        far.put(1, &target::a, one);
        far.flush(1);
        common.word.value.store(1, std::memory_order_release);
        detail::unpark(w, common.word, 1);
      } else {
        while (common.word.value.load(std::memory_order_acquire) == 0) {
          detail::park(w, common.word, 0);
          if (rests) w.rest();
        }
      }
      w.barrier();
    });
  };
  for (const near_model near : near_models) {
    options how = by(near);
    for (const bool rests : {false, true}) expect_nothing_found(woken_after_put(rests), how);
    how.mode = delivery_mode::progress;
    expect_nothing_found(woken_after_put(true), how);
    const report result = check(woken_after_put(false), how);
    ASSERT_TRUE(result.found);
    EXPECT_EQ(result.found->what, fault::deadlock);
    EXPECT_NE(result.found->text.find("rank 1 fell asleep"), std::string::npos);
  }
}

TEST(sleepers, that_nobody_wakes_are_named) {
  // Rank 0 wakes one of two ranks, which have both seen 0.
  const report result = check(told(2, 1, 1), by(near_model::sequential));
  ASSERT_TRUE(result.found);
  const violation shortest = minimised(told(2, 1, 1), by(near_model::sequential), *result.found);
  EXPECT_EQ(shortest.text,
            "no rank can go on:\n"
            "  rank 0 waits in a barrier\n"
            "  rank 1 waits in a barrier\n"
            "  rank 2 fell asleep in step 6 on shared.word of rank 0, which held 0 and holds 1 now. "
            "Rank 0 woke sleepers of this word last, in step 10: rank 1.");
  const report untold = check(told(1, 1, 0), by(near_model::sequential));
  ASSERT_TRUE(untold.found);
  EXPECT_EQ(untold.found->text,
            "no rank can go on:\n"
            "  rank 0 waits in a barrier\n"
            "  rank 1 fell asleep in step 3 on shared.word of rank 0, which held 0 and holds 1 now. "
            "Nobody has woken sleepers of this word.");
}

// ---- a fault that a model which wakes all would miss ------------------------------------------------------

/// Tells one where it is to tell all.
class forgetful_memory : public node_memory<world> {
 public:
  using node_memory<world>::node_memory;

  void park(sleeping_wait& /*of*/, parking_word<forgetful_memory>& word, std::uint32_t seen,
            const channel_deadline& deadline) {
    detail::park(world_of(), word, seen, deadline);
  }
  void unpark_one(parking_word<forgetful_memory>& word) { detail::unpark(world_of(), word, 1); }
  void unpark_all(parking_word<forgetful_memory>& word) { unpark_one(word); }
};

class forgetful_channel : public basic_channel<forgetful_memory, word, ring_buffer> {
 public:
  explicit forgetful_channel(world& w) : basic_channel(2, w, 0) {}
};

/// checked_channel_test.cpp takes thousands of executions of each strategy. These are a few of the two ways
/// in which channels wake, one of them with locks whose waiting ranks sleep.
template <template <typename, typename> typename Buffer>
class small_channel : public node_channel<world, word, Buffer> {
  using base = node_channel<world, word, Buffer>;

 public:
  explicit small_channel(world& w)
    requires(base::takes_capacity)
      : base(w, 1) {}
  explicit small_channel(world& w)
    requires(!base::takes_capacity)
      : base(w) {}
};
using ring = small_channel<ring_buffer>;
using locked = small_channel<ring_of<channel_lock::parking>::mpmc>;
using meeting = small_channel<rendezvous>;

void expect_sent(queue_status found) {
  if (found != queue_status::success) throw nearfar::error("nobody closes");
}
template <typename Channel>
[[nodiscard]] program stream(int senders, int receivers) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    Channel channel(w);
    constexpr word count = 2;
    if (w.rank() < senders)
      for (word i = 0; i < count; ++i) expect_sent(channel.send(i));
    else
      for (word i = 0; i < count * static_cast<word>(senders); i += static_cast<word>(receivers))
        if (!channel.receive()) throw nearfar::error("nobody closes");
    w.barrier();
  });
}
/// Two ranks wait for messages until no sender is left.
template <typename Channel>
[[nodiscard]] program closed_by_sender() {
  return on_a_node(3, [=](world& w, monitor&) {
    Channel channel(w);
    if (w.rank() == 0) {
      expect_sent(channel.send(1));
      channel.close();
    } else {
      while (channel.receive()) {
      }
    }
    w.barrier();
  });
}
template <typename Channel>
[[nodiscard]] std::vector<program> programs_of() {
  return {stream<Channel>(1, 2), stream<Channel>(2, 1), closed_by_sender<Channel>()};
}

TEST(channels, wake_those_that_wait) {
  for (const near_model near : near_models)
    for (const options& how : {at_random(near, 200), waking_early(at_random(near, 200))})
      for (const auto& all : {programs_of<ring>(), programs_of<locked>(), programs_of<meeting>()})
        for (const program& what : all) expect_nothing_found(what, how);
}

[[nodiscard]] bool is_caught(const std::vector<program>& programs, const mutation& broken) {
  return std::any_of(programs.begin(), programs.end(), [&](const program& what) {
    options how = at_random(near_model::release_acquire, 2000);
    how.broken = broken;
    return check(what, how).found.has_value();
  });
}
/// Breaks each call by which a rank sleeps or wakes others. Returns the number of these calls.
template <typename Channel>
int expect_broken_calls_found() {
  const std::vector<program> programs = programs_of<Channel>();
  std::set<mutation> calls;
  for (const program& what : programs)
    for (const mutation& one : mutations_of(what, by(near_model::release_acquire), "nearfar/channel/"))
      if (one.operation == "sleep" || one.operation == "wake") calls.insert(one);
  for (const mutation& one : calls) EXPECT_TRUE(is_caught(programs, one)) << one.text();
  return static_cast<int>(calls.size());
}
TEST(channels, are_found_with_any_call_broken_that_sleeps_or_wakes) {
  // The calls are to sleep, to wake one, to wake all, and to wake one of all. The locks add the first two.
  EXPECT_EQ(expect_broken_calls_found<ring>(), 4);
  EXPECT_EQ(expect_broken_calls_found<locked>(), 6);
  EXPECT_EQ(expect_broken_calls_found<meeting>(), 4);
}

TEST(channels_that_tell_one_of_all, are_found) {
  const program what = on_a_node(3, [](world& w, monitor&) {
    forgetful_channel channel(w);
    if (w.rank() == 0)
      channel.close();
    else if (channel.receive().status() != queue_status::closed)
      throw nearfar::error("nobody sends");
    w.barrier();
  });
  for (const near_model near : near_models) {
    const report result = check(what, by(near));
    ASSERT_TRUE(result.found) << result.executions;
    EXPECT_EQ(result.found->what, fault::deadlock);
  }
}

}  // namespace
}  // namespace nearfar::checker::testing
