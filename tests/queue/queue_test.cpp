// Distributed queues on threads: at their limits and under contention.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "nearfar/core/error.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/spsc_queue.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/queue/queue_cases.hpp"
#include "tests/queue/ticket_queue_at_home.hpp"

namespace nearfar::testing {
namespace {

using threads::world;
using namespace std::chrono_literals;

threads::options on(const std::string& topology) {
  return {.bytes = std::size_t{64} << 20U, .topology = topology_spec::parse(topology)};
}

struct lockfree {
  template <typename T>
  using queue = lockfree_queue<world, T>;
};
struct ticketed {
  template <typename T>
  using queue = ticket_queue<world, T>;
};

struct ticketed_at_home {
  template <typename T>
  using queue = ticket_queue_at_home<world, T>;
};
/// From rank 0 to itself.
struct own {
  template <typename T>
  using queue = spsc_queue<world, T>;
};

template <typename Kind>
class queue_on_threads : public ::testing::Test {
 protected:
  template <typename T>
  using queue_of = typename Kind::template queue<T>;
};
using kinds = ::testing::Types<lockfree, ticketed, ticketed_at_home, own>;
TYPED_TEST_SUITE(queue_on_threads, kinds);

/// Queues that all ranks push to and pop from.
template <typename Kind>
class common_queue : public queue_on_threads<Kind> {};
using common_kinds = ::testing::Types<lockfree, ticketed, ticketed_at_home>;
TYPED_TEST_SUITE(common_queue, common_kinds);

TYPED_TEST(queue_on_threads, gives_what_it_got_in_order) {
  using queue = typename TestFixture::template queue_of<std::array<char, 11>>;
  threads::run(1, [](world& w) {
    queue q(w, {.capacity = 100});
    EXPECT_EQ(q.try_pop().status(), queue_status::empty);
    for (int round = 0; round < 20; ++round) {
      for (char i = 0; i < 60; ++i) ASSERT_EQ(q.push({i, 'x'}), queue_status::success);
      for (char i = 0; i < 60; ++i) {
        const auto value = q.try_pop();
        ASSERT_TRUE(value);
        EXPECT_EQ(*value, (std::array<char, 11>{i, 'x'}));
        EXPECT_EQ(value->at(1), 'x');
      }
      EXPECT_EQ(q.try_pop().status(), queue_status::empty);
    }
  });
}

TYPED_TEST(queue_on_threads, is_full_when_it_is_and_has_room_again) {
  using queue = typename TestFixture::template queue_of<std::uint64_t>;
  threads::run(1, [](world& w) {
    queue q(w, {.capacity = 3});
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (int round = 0; round < 50; ++round) {
      while (q.try_push(in) == queue_status::success) ++in;
      EXPECT_LE(in - out, q.capacity());
      EXPECT_GE(in - out, 2U);
      EXPECT_EQ(q.push_for(99, 1ns), queue_status::timed_out);
      EXPECT_EQ(q.push_until(99, 0ns), queue_status::timed_out);
      const auto value = q.pop();
      ASSERT_TRUE(value);
      EXPECT_EQ(*value, out++);
    }
    while (const auto value = q.try_pop()) EXPECT_EQ(*value, out++);
    EXPECT_EQ(in, out);
    EXPECT_EQ(q.pop_for(1ns).status(), queue_status::timed_out);
    EXPECT_EQ(q.pop_until(0ns).status(), queue_status::timed_out);
  });
}

TYPED_TEST(queue_on_threads, closes_once_and_gives_the_rest) {
  using queue = typename TestFixture::template queue_of<std::uint64_t>;
  threads::run(1, [](world& w) {
    queue q(w, {.capacity = 4});
    ASSERT_EQ(q.push(1), queue_status::success);
    q.close();
    q.close();
    EXPECT_EQ(q.try_push(2), queue_status::closed);
    EXPECT_EQ(q.push_for(2, 1h), queue_status::closed);
    EXPECT_EQ(*q.pop_for(1h), 1U);
    EXPECT_EQ(q.pop_for(1h).status(), queue_status::closed);
    EXPECT_EQ(q.try_pop().status(), queue_status::closed);
  });
}

TYPED_TEST(queue_on_threads, moves_several_values_in_their_order) {
  using queue = typename TestFixture::template queue_of<std::uint64_t>;
  threads::run(1, [](world& w) {
    queue q(w, {.capacity = 8});
    std::array<std::uint64_t, 100> values{};
    std::iota(values.begin(), values.end(), 1);
    std::array<std::uint64_t, 100> got{};
    EXPECT_EQ(q.try_pop_range(got).status, queue_status::empty);
    EXPECT_EQ(q.try_push_range({}).status, queue_status::success);
    EXPECT_EQ(q.try_pop_range({}).status, queue_status::success);
    for (int round = 0; round < 50; ++round) {
      const queue_range_result in = q.try_push_range(values);
      EXPECT_EQ(in.status, queue_status::full);
      ASSERT_GE(in.count, 7U);
      ASSERT_LE(in.count, q.capacity());
      EXPECT_EQ(q.try_push_range(std::span(values).first(1)).count, 0U);
      const queue_range_result some = q.try_pop_range(std::span(got).first(3));
      EXPECT_EQ(some.status, queue_status::success);
      EXPECT_EQ(some.count, 3U);
      const queue_range_result rest = q.try_pop_range(std::span(got).subspan(3));
      EXPECT_EQ(rest.status, queue_status::success);
      ASSERT_EQ(some.count + rest.count, in.count);
      for (std::size_t i = 0; i < in.count; ++i) EXPECT_EQ(got.at(i), values.at(i));
    }
    EXPECT_EQ(q.push_range(std::span(values).first(2)).count, 2U);
    q.close();
    const queue_range_result late = q.push_range(std::span(values).first(2));
    EXPECT_EQ(late.status, queue_status::closed);
    EXPECT_EQ(late.count, 0U);
    EXPECT_EQ(q.try_push_range(values).status, queue_status::closed);
    const queue_range_result last = q.pop_range(got);
    EXPECT_EQ(last.status, queue_status::success);
    EXPECT_EQ(last.count, 2U);
    EXPECT_EQ(q.pop_range(got).status, queue_status::closed);
    EXPECT_EQ(q.try_pop_range(got).status, queue_status::closed);
  });
}

TYPED_TEST(queue_on_threads, estimates_its_size) {
  using queue = typename TestFixture::template queue_of<std::uint64_t>;
  threads::run(1, [](world& w) {
    queue q(w, {.capacity = 10});
    EXPECT_EQ(q.size_estimate(), 0U);
    for (std::uint64_t i = 1; i <= 5; ++i) {
      ASSERT_EQ(q.push(i), queue_status::success);
      EXPECT_EQ(q.size_estimate(), i);
    }
    for (std::uint64_t i = 5; i > 0; --i) {
      EXPECT_TRUE(q.pop());
      EXPECT_EQ(q.size_estimate(), i - 1);
    }
  });
}

TYPED_TEST(queue_on_threads, refuses_what_it_cannot_be) {
  using queue = typename TestFixture::template queue_of<std::uint64_t>;
  threads::run(2, [](world& w) {
    EXPECT_THROW(queue(w, {.capacity = 0}), misuse);
    EXPECT_THROW(queue(w, {.capacity = std::numeric_limits<std::size_t>::max()}), misuse);
    EXPECT_THROW(queue(w, {.capacity = std::size_t{1} << 40U}), misuse);
    EXPECT_THROW(queue(w, {.capacity = w.rank() == 0 ? 4U : 5U}), collective_mismatch);
  });
}

TEST(lockfree_queues, refuse_what_they_cannot_be) {
  threads::run(1, [](world& w) {
    using queue = lockfree_queue<world, int>;
    EXPECT_THROW(queue(w, {.capacity = 1}), misuse);
    EXPECT_THROW(queue(w, {.capacity = 2, .announce_every = -1}), misuse);
  });
}
TEST(ticket_queues, refuse_what_they_cannot_be) {
  threads::run(2, [](world& w) {
    using queue = ticket_queue<world, int>;
    EXPECT_THROW(queue(w, {.capacity = 1, .home = 2}), unreachable_rank);
    EXPECT_THROW(queue(w, {.capacity = 1, .ring = 2}), misuse);
    EXPECT_THROW(queue(w, {.capacity = 1, .ring = 5}), misuse);
    EXPECT_THROW(queue(w, {.capacity = 1, .ring = std::size_t{1} << 40U}), misuse);
    EXPECT_EQ(queue(w, {.capacity = 1, .home = 1, .ring = 4}).capacity(), 4U);
  });
}

TYPED_TEST(common_queue, is_linearizable) {
  using queue = typename TestFixture::template queue_of<wide>;
  for (const char* topology : {"node:1", "node:2"})
    for (const int ranks : {2, 3, 4})
      for (unsigned seed = 0; seed < 5; ++seed)
        threads::run(
            ranks, [&](world& w) { expect_linearizable<queue>(w, {.capacity = 400}, seed, 100); },
            on(topology));
}

TYPED_TEST(common_queue, loses_nothing_and_keeps_the_order_of_each_producer) {
  using queue = typename TestFixture::template queue_of<wide>;
  for (const char* topology : {"node:1", "node:2"})
    for (const int ranks : {2, 3, 4})
      for (int producers = 1; producers < ranks; ++producers)
        for (const std::size_t capacity : {2U, 64U})
          threads::run(
              ranks,
              [&](world& w) {
                for (const std::size_t at_once : {1U, 3U, 50U})
                  expect_all_arrive<queue>(w, {.capacity = capacity}, producers, 1000, at_once);
              },
              on(topology));
}

TYPED_TEST(common_queue, has_room_for_what_all_push_at_once) {
  using queue = typename TestFixture::template queue_of<wide>;
  threads::run(
      4, [&](world& w) { expect_all_arrive<queue>(w, {.capacity = 501}, 4, 500); }, on("node:2"));
}

TEST(spsc_queues, refuse_what_they_cannot_be) {
  threads::run(2, [](world& w) {
    using queue = spsc_queue<world, int>;
    EXPECT_THROW(queue(w, {.capacity = 1, .producer = 2}), unreachable_rank);
    EXPECT_THROW(queue(w, {.capacity = 1, .consumer = -1}), unreachable_rank);
    EXPECT_THROW(queue(w, {.capacity = 1, .producer = w.rank()}), collective_mismatch);
    queue q(w, {.capacity = 1, .producer = 1, .consumer = 0});
    EXPECT_EQ(q.producer(), 1);
    EXPECT_EQ(q.consumer(), 0);
  });
}
TEST(spsc_queues, lose_nothing_and_keep_the_order) {
  for (const char* topology : {"node:1", "node:2"})
    for (const std::size_t capacity : {1U, 2U, 3U, 64U, 3000U})
      threads::run(
          2,
          [&](world& w) {
            for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}, {0, 0}, {1, 1}})
              if (from != to || capacity == 3000)
                expect_stream(w, {.capacity = capacity, .producer = from, .consumer = to}, 3000);
          },
          on(topology));
}
TEST(spsc_queues, estimate_their_size_at_both_ends) {
  threads::run(2, [](world& w) {
    spsc_queue<world, wide> q(w, {.capacity = 5, .producer = 0, .consumer = 1});
    for (int lap = 0; lap < 3; ++lap) {
      for (std::uint64_t i = 0; i < 4 && w.rank() == 0; ++i)
        ASSERT_EQ(q.push(wide_of(i)), queue_status::success);
      w.barrier();
      EXPECT_EQ(q.size_estimate(), 4U);
      w.barrier();
      for (std::uint64_t i = 0; i < 4 && w.rank() == 1; ++i) EXPECT_EQ(*q.pop(), wide_of(i));
      w.barrier();
    }
  });
}

}  // namespace
}  // namespace nearfar::testing
