// Channels for coroutines.
#include "nearfar/channel/coroutine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar::testing {
namespace {

// Coroutines take all they need as arguments, which their frames keep. Their frames would not keep a lambda's
// captures.

task produce(channel<int>& to, int first, int count, std::atomic<int>& running) {
  for (int i = first; i < first + count; ++i)
    if (co_await async_send(to, i) != queue_status::success) co_return;
  if (--running == 0) to.close();
}
template <typename To>
task pass_on(channel<int>& from, To& to, std::atomic<int>& running) {
  while (const auto number = co_await async_receive(from))
    EXPECT_EQ(co_await async_send(to, std::make_unique<int>(*number)), queue_status::success);
  if (--running == 0) to.close();
}
template <typename From>
task add_up(From& from, std::atomic<std::int64_t>& sum) {
  while (const auto number = co_await async_receive(from)) sum += **number;
}

template <template <typename, typename> typename Buffer, typename... Capacity>
void expect_pipeline(std::size_t threads, int each, Capacity... capacity) {
  constexpr int count = 2000;
  channel<int> numbers(2);
  channel<std::unique_ptr<int>, Buffer> passed(capacity...);
  std::atomic<std::int64_t> sum = 0;
  std::atomic<int> producers = each;
  std::atomic<int> workers = each;
  {
    executor all(threads);
    for (int i = 0; i < each; ++i) {
      all.spawn(produce(numbers, i * count, count, producers));
      all.spawn(pass_on(numbers, passed, workers));
      all.spawn(add_up(passed, sum));
    }
    all.wait();
  }
  const std::int64_t last = std::int64_t{each} * count - 1;
  EXPECT_EQ(sum, last * (last + 1) / 2);
}

TEST(coroutines, lose_nothing_however_many_threads_there_are) {
  for (const std::size_t threads : {1U, 3U})
    for (const int each : {1, 10}) {
      expect_pipeline<ring_buffer>(threads, each, std::size_t{1});
      expect_pipeline<rendezvous>(threads, each);
      expect_pipeline<segments_of<list_nodes::recycled>::mpmc>(threads, each);
    }
}

task serve(channel<int, rendezvous>& requests, channel<int>& replies, channel<int>& stop) {
  for (bool is_open = true; is_open;) {
    int request = 0;
    const std::size_t which =
        co_await async_select(on_receive(requests, [&](received<int> got) { request = *got; }),
                              on_receive(stop, [&](const received<int>& got) { is_open = got.has_value(); }));
    if (which == 0) {
      EXPECT_EQ(co_await async_send(replies, 2 * request), queue_status::success);
    }
  }
}

TEST(coroutines, meet_threads_and_select) {
  channel<int, rendezvous> requests;
  channel<int> replies(1);
  channel<int> stop(1);
  executor all;
  all.spawn(serve(requests, replies, stop));
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(requests.send(i), queue_status::success);
    ASSERT_EQ(*replies.receive(), 2 * i);
  }
  stop.close();
  all.wait();
}

TEST(coroutines, wait_for_what_comes_late_and_are_told_of_closing) {
  channel<std::unique_ptr<int>> c(1);
  channel<std::unique_ptr<int>, rendezvous> other;
  std::atomic<std::int64_t> sum = 0;
  executor all(2);
  for (int i = 0; i < 3; ++i) {
    all.spawn(add_up(c, sum));
    all.spawn(add_up(other, sum));
  }
  for (int i = 1; i <= 100; ++i) {
    ASSERT_EQ(c.send(std::make_unique<int>(i)), queue_status::success);
    ASSERT_EQ(other.send(std::make_unique<int>(i)), queue_status::success);
  }
  c.close();
  other.close();
  all.wait();
  EXPECT_EQ(sum, 10'100);
}

task give(channel<std::unique_ptr<int>>& to, std::atomic<bool>& kept) {
  auto message = std::make_unique<int>(1);
  EXPECT_EQ(co_await async_send(to, std::move(message)), queue_status::closed);
  kept = message != nullptr;  // NOLINT(bugprone-use-after-move): an unsent message is not moved from
}
TEST(coroutines, keep_what_is_not_sent) {
  channel<std::unique_ptr<int>> full(1);
  ASSERT_EQ(full.send(nullptr), queue_status::success);
  std::atomic<bool> kept = false;
  executor all;
  all.spawn(give(full, kept));
  full.close();
  all.wait();
  EXPECT_TRUE(kept);
}

task fail(channel<int>& after) {
  static_cast<void>(co_await async_receive(after));
  throw std::runtime_error("no");
}
TEST(coroutines, pass_on_what_they_throw) {
  channel<int> c(1);
  executor all;
  all.spawn(fail(c));
  all.spawn(fail(c));
  c.close();
  EXPECT_THROW(all.wait(), std::runtime_error);
  all.wait();
}

TEST(coroutines, are_refused_what_cannot_be) {
  EXPECT_THROW(executor(0), misuse);
  channel<int> c(1);
  task never_spawned = fail(c);
  task moved = std::move(never_spawned);
  executor all;
  // NOLINTNEXTLINE(bugprone-use-after-move): the test is about the refusal
  EXPECT_THROW(all.spawn(std::move(never_spawned)), misuse);
  all.wait();
}

struct alignas(cache_line) of_a_line {
  int value = 0;
};
/// Tells where the objects in a coroutine's frame are.
template <typename Channel>
task note_place(Channel& from, std::vector<std::uintptr_t>& places) {
  auto receiving = async_receive(from).operator co_await();
  places.push_back(reinterpret_cast<std::uintptr_t>(&receiving) % alignof(decltype(receiving)));
  const auto got = co_await receiving;
  if (got) places.push_back(reinterpret_cast<std::uintptr_t>(&*got) % alignof(of_a_line));
}

TEST(coroutines, have_what_they_wait_by_in_line) {
  std::vector<std::uintptr_t> places;
  {
    channel<of_a_line> buffered(1);
    channel<of_a_line, rendezvous> meeting;
    executor one(1);
    for (int i = 0; i < 20; ++i) {
      one.spawn(note_place(buffered, places));
      ASSERT_EQ(buffered.send({i}), queue_status::success);
      one.spawn(note_place(meeting, places));
      ASSERT_EQ(meeting.send({i}), queue_status::success);
    }
    one.wait();
  }
  EXPECT_EQ(places, std::vector<std::uintptr_t>(80, 0));
}

struct throws_when_received {
  explicit throws_when_received(int moves) : left(moves) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor,bugprone-exception-escape): it throws
  throws_when_received(throws_when_received&& from) : left(from.left - 1) {
    if (left == 0) throw std::runtime_error("as it is received");
  }
  int left;
};
task receive_one(channel<throws_when_received, rendezvous>& from) {
  const auto got = co_await async_receive(from);
  EXPECT_FALSE(got);
}

TEST(coroutines, are_told_what_a_message_threw_after_they_waited) {
  channel<throws_when_received, rendezvous> meeting;
  executor one(1);
  one.spawn(receive_one(meeting));
  // The attempt succeeds only once the coroutine waits.
  while (meeting.try_send(throws_when_received(2)) == queue_status::full) std::this_thread::yield();
  EXPECT_THROW(one.wait(), std::runtime_error);
}

}  // namespace
}  // namespace nearfar::testing
