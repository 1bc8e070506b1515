// Channels of threads, and of a team's ranks on one node: at their limits, against a model, and under
// contention.
#include "nearfar/channel/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/channel/channel_cases.hpp"
#include "tests/channel/channel_strategies.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;

template <typename Strategy>
class channel_of : public ::testing::Test {};
TYPED_TEST_SUITE(channel_of, all_strategies);

TYPED_TEST(channel_of, gives_what_was_sent_in_order_and_says_full_and_empty) {
  constexpr std::size_t most = 20;  // where there is room for any number
  for (const std::size_t capacity : {1U, 2U, 3U, 7U, 8U}) {
    const auto c = TypeParam::template make<std::string>(capacity);
    if (std::remove_cvref_t<decltype(*c)>::takes_capacity) {
      EXPECT_EQ(c->capacity(), capacity);
    }
    const std::size_t room = std::min(c->capacity(), most);
    EXPECT_EQ(c->try_receive().status(), queue_status::empty);
    for (int lap = 0; lap < 5; ++lap) {
      for (std::size_t i = 0; i < room; ++i) {
        ASSERT_EQ(c->try_send("message " + std::to_string(i)), queue_status::success);
        EXPECT_EQ(c->peek(), i + 1);
      }
      if (c->capacity() != unbounded) {
        EXPECT_EQ(c->try_send("one too many"), queue_status::full);
      }
      for (std::size_t i = 0; i < room; ++i) {
        const auto got = c->receive();
        ASSERT_TRUE(got);
        EXPECT_EQ(*got, "message " + std::to_string(i));
      }
      EXPECT_EQ(c->peek(), 0U);
      EXPECT_EQ(c->try_receive().status(), queue_status::empty);
    }
    ASSERT_EQ(c->try_send("left, and destroyed"), queue_status::success);
  }
}

TYPED_TEST(channel_of, leaves_what_it_does_not_send_with_its_owner) {
  const auto made = TypeParam::template make<std::unique_ptr<int>>(1);
  auto& c = *made;
  EXPECT_EQ(c.try_send(std::make_unique<int>(1)), queue_status::success);
  auto message = std::make_unique<int>(2);
  if (c.capacity() != unbounded) {
    EXPECT_EQ(c.try_send(std::move(message)), queue_status::full);
    ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move): that it is not moved from is what is tested
    EXPECT_EQ(c.send_for(std::move(message), 1ms), queue_status::timed_out);
    ASSERT_TRUE(message);
    EXPECT_EQ(c.send_until(std::move(message), 0ns), queue_status::timed_out);
    ASSERT_TRUE(message);
  }
  c.close();
  EXPECT_EQ(c.send(std::move(message)), queue_status::closed);
  ASSERT_TRUE(message);
  EXPECT_EQ(**c.receive(), 1);
  EXPECT_EQ(c.receive().status(), queue_status::closed);
}

TEST(channel, waits_until_a_deadline) {
  channel<int> c(2);
  EXPECT_EQ(c.receive_for(1ms).status(), queue_status::timed_out);
  EXPECT_EQ(c.receive_until(0ns).status(), queue_status::timed_out);
  EXPECT_EQ(c.receive_until(std::chrono::nanoseconds::min()).status(), queue_status::timed_out);
  const int copied = 1;
  ASSERT_EQ(c.send_for(copied, 1h), queue_status::success);
  EXPECT_EQ(*c.receive_until(0ns), 1);  // what is there wins over a deadline in the past
  std::jthread later([&] { EXPECT_EQ(c.send_for(2, 1h), queue_status::success); });
  EXPECT_EQ(*c.receive_for(std::chrono::hours::max()), 2);
}

TYPED_TEST(channel_of, closes_gives_the_rest_and_opens_again) {
  const auto made = TypeParam::template make<int>(2);
  auto& c = *made;
  ASSERT_EQ(c.send(1), queue_status::success);
  c.close();
  c.close();
  EXPECT_TRUE(c.is_closed());
  EXPECT_EQ(c.try_send(2), queue_status::closed);
  EXPECT_EQ(*c.receive(), 1);
  EXPECT_EQ(c.receive_for(1h).status(), queue_status::closed);
  c.reopen();
  EXPECT_FALSE(c.is_closed());
  EXPECT_EQ(c.try_receive().status(), queue_status::empty);
  EXPECT_EQ(c.send(3), queue_status::success);
  EXPECT_EQ(*c.receive(), 3);
}

TEST(channel, wakes_all_that_wait_when_it_is_closed) {
  channel<int> full(1);
  channel<int> empty(1);
  ASSERT_EQ(full.send(1), queue_status::success);
  std::vector<std::jthread> waiting;
  std::atomic<int> told = 0;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] { told += full.send(2) == queue_status::closed ? 1 : 0; });
    waiting.emplace_back([&] { told += empty.receive().status() == queue_status::closed ? 1 : 0; });
  }
  full.close();
  empty.close();
  waiting.clear();
  EXPECT_EQ(told, 6);
}

TEST(channel, refuses_what_it_cannot_be) {
  EXPECT_THROW(channel<int>(0), misuse);
  EXPECT_THROW(channel<int>(std::size_t{1} << 32U), misuse);
  threads::options two_nodes;
  two_nodes.topology = topology_spec::parse("node:2");
  threads::run(
      2, [](threads::world& w) { EXPECT_THROW((node_channel<threads::world, int>(w, 1)), misuse); },
      two_nodes);
  threads::run(2, [](threads::world& w) {
    EXPECT_THROW((node_channel<threads::world, int>(w, 1, 2)), unreachable_rank);
  });
}

/// Counts those that live, and throws when it is told to.
class counted {
 public:
  explicit counted(int number) : number_(number) { ++living; }
  counted(counted&& from) : number_(from.number_) {  // NOLINT(performance-noexcept-move-constructor)
    if (throws_in != 0 && --throws_in == 0) throw std::runtime_error("no");
    ++living;
  }
  counted& operator=(counted&& from) {  // NOLINT(performance-noexcept-move-constructor)
    number_ = from.number_;
    return *this;
  }
  ~counted() { --living; }
  [[nodiscard]] int number() const noexcept { return number_; }

  static inline int living = 0;
  static inline int throws_in = 0;  ///< moves; 0: none does

 private:
  int number_;
};

TYPED_TEST(channel_of, goes_on_when_a_message_throws) {
  {
    const auto made = TypeParam::template make<counted>(2);
    auto& c = *made;
    for (int lap = 0; lap < 5; ++lap) {
      // A message that was not made may take up a place until it is passed over.
      const bool is_first = c.capacity() == 1;
      if (!is_first) {
        ASSERT_EQ(c.try_send(counted(1)), queue_status::success);
      }
      counted thrower(2);
      counted::throws_in = 1;
      EXPECT_THROW(static_cast<void>(c.try_send(std::move(thrower))), std::runtime_error);
      if (is_first) {
        ASSERT_EQ(c.try_send(counted(1)), queue_status::success);
      }
      EXPECT_EQ(c.receive()->number(), 1);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
      ASSERT_EQ(c.try_send(counted(3)), queue_status::success);
      counted::throws_in = 1;
      EXPECT_THROW(static_cast<void>(c.receive()), std::runtime_error);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
    }
    ASSERT_EQ(c.try_send(counted(4)), queue_status::success);
    counted::throws_in = 1;  // what is left is not moved
  }
  counted::throws_in = 0;
  EXPECT_EQ(counted::living, 0);
}

/// For who has begun to wait.
void let_sleep() { std::this_thread::sleep_for(5ms); }

/// What a message that throws leaves others wait for, who else sleep for ever.
TYPED_TEST(channel_of, wakes_who_waits_when_a_message_throws) {
  for (int round = 0; round < 3; ++round) {
    const auto made = TypeParam::template make<thrower>(1);
    auto& c = *made;
    std::jthread receiver([&] { EXPECT_EQ(c.receive()->number(), 2U); });
    let_sleep();
    thrower first(1);
    thrower::throws_in = 1;
    EXPECT_THROW(static_cast<void>(c.try_send(std::move(first))), thrown);
    EXPECT_EQ(c.send(thrower(2)), queue_status::success);
    receiver.join();
    if (c.capacity() != 1) continue;
    ASSERT_EQ(c.send(thrower(3)), queue_status::success);
    std::jthread sender([&] { EXPECT_EQ(c.send(thrower(4)), queue_status::success); });
    let_sleep();
    thrower::throws_in = 1;
    EXPECT_THROW(static_cast<void>(c.receive()), thrown);
    sender.join();
    EXPECT_EQ(c.receive()->number(), 4U);
  }
}

/// One thread, and a deque that says what must come of each call.
TYPED_TEST(channel_of, is_as_its_model) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const auto made = TypeParam::template make<std::unique_ptr<int>>(1 + random() % 5);
    auto& c = *made;
    const std::size_t capacity = c.capacity();
    std::deque<int> model;
    bool is_closed = false;
    for (int i = 0; i < 200; ++i) {
      const bool waits = random() % 2 == 0;
      switch (random() % 8) {
        case 0:
          if (random() % 4 == 0) {
            c.close();
            is_closed = true;
          }
          break;
        case 1:
          c.reopen();
          is_closed = false;
          break;
        case 2:
        case 3:
        case 4: {
          auto message = std::make_unique<int>(i);
          const queue_status status =
              waits ? c.send_until(std::move(message), 0ns) : c.try_send(std::move(message));
          if (is_closed) {
            EXPECT_EQ(status, queue_status::closed);
          } else if (model.size() == capacity) {
            EXPECT_EQ(status, waits ? queue_status::timed_out : queue_status::full);
          } else {
            EXPECT_EQ(status, queue_status::success);
            model.push_back(i);
          }
          break;
        }
        default: {
          const auto got = waits ? c.receive_until(0ns) : c.try_receive();
          if (!model.empty()) {
            ASSERT_TRUE(got);
            EXPECT_EQ(**got, model.front());
            model.pop_front();
          } else if (is_closed) {
            EXPECT_EQ(got.status(), queue_status::closed);
          } else {
            EXPECT_EQ(got.status(), waits ? queue_status::timed_out : queue_status::empty);
          }
        }
      }
      EXPECT_EQ(c.peek(), model.size());
      EXPECT_EQ(c.is_closed(), is_closed);
    }
  }
}

TYPED_TEST(channel_of, loses_nothing_and_keeps_the_order_of_each_sender) {
  for (const std::size_t capacity : {1U, 3U, 64U})
    for (const int senders : {1, 4})
      for (const int receivers : {1, 3}) {
        if ((TypeParam::has_one_sender && senders > 1) || (TypeParam::has_one_receiver && receivers > 1))
          continue;
        constexpr std::uint64_t count = 2000;
        const auto c = TypeParam::template make<std::unique_ptr<std::uint64_t>>(capacity);
        std::vector<traffic> all(static_cast<std::size_t>(receivers));
        {
          std::vector<std::jthread> receiving;
          for (traffic& mine : all)
            receiving.emplace_back([&] {
              for (auto& message : *c) mine.note(*message);
            });
          std::vector<std::jthread> sending;
          for (int sender = 0; sender < senders; ++sender)
            sending.emplace_back([&c, sender] {
              for (std::uint64_t i = 0; i < count; ++i)
                EXPECT_EQ(
                    c->send(std::make_unique<std::uint64_t>(static_cast<std::uint64_t>(sender) << 32U | i)),
                    queue_status::success);
            });
          sending.clear();
          c->close();
        }
        traffic sums;
        for (const traffic& mine : all) {
          sums.got += mine.got;
          sums.sum += mine.sum;
          sums.wrong += mine.wrong;
        }
        EXPECT_EQ(sums.got, count * static_cast<std::uint64_t>(senders));
        EXPECT_EQ(sums.sum, count * (count - 1) / 2 * static_cast<std::uint64_t>(senders));
        EXPECT_EQ(sums.wrong, 0U);
      }
}

/// Closed and opened again while others send and receive: what was sent is received in the end.
TYPED_TEST(channel_of, loses_nothing_when_it_is_closed_in_the_middle) {
  const auto made = TypeParam::template make<int>(4);
  auto& c = *made;
  std::atomic<int> sent = 0;
  std::atomic<int> got = 0;
  std::atomic<bool> is_over = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < (TypeParam::has_one_sender ? 1 : 2); ++i)
      threads.emplace_back([&] {
        while (!is_over)
          if (c.peek() < 64 && c.send_for(1, 1ms) == queue_status::success)
            ++sent;
          else
            std::this_thread::yield();  // who receives has less to do, and needs the processor
      });
    for (int i = 0; i < (TypeParam::has_one_receiver ? 1 : 2); ++i)
      threads.emplace_back([&] {
        while (!is_over) got += c.receive_for(1ms).has_value() ? 1 : 0;
      });
    for (int i = 0; i < 100; ++i) {
      c.close();
      while (c.peek() != 0) std::this_thread::yield();
      c.reopen();
      const int before = sent;
      while (sent == before) std::this_thread::yield();
    }
    is_over = true;
  }
  while (c.try_receive()) ++got;
  EXPECT_EQ(got, sent);
}

/// A number that only one has, whose moves throw now and then where the thread says so.
class fickle {
 public:
  explicit fickle(std::uint64_t number) : number_(std::make_unique<std::uint64_t>(number)) {}
  fickle(fickle&& from) : number_(moved(from)) {}  // NOLINT(performance-noexcept-move-constructor)
  fickle& operator=(fickle&& from) {               // NOLINT(performance-noexcept-move-constructor)
    number_ = moved(from);
    return *this;
  }
  ~fickle() = default;
  [[nodiscard]] std::uint64_t operator*() const { return *number_; }

  static inline thread_local int throws_every = 0;  ///< so many moves; 0: never

 private:
  [[nodiscard]] static std::unique_ptr<std::uint64_t> moved(fickle& from) {
    static thread_local int moves = 0;
    if (throws_every != 0 && ++moves % throws_every == 0) throw std::runtime_error("no");
    return std::move(from.number_);
  }
  std::unique_ptr<std::uint64_t> number_;
};

/// One sends and one receives, while two close and a third opens: all that was sent is received, once and in
/// order, and what was not sent is still its owner's.
template <typename Strategy, typename T>
void expect_all_arrive_while_several_close(const std::function<T(std::uint64_t)>& make) {
  const auto made = Strategy::template make<T>(4);
  auto& c = *made;
  constexpr std::uint64_t count = 20'000;
  std::atomic<bool> is_over = false;
  std::uint64_t sent = 0;
  std::uint64_t got = 0;
  {
    std::vector<std::jthread> others;
    for (int i = 0; i < 3; ++i)
      others.emplace_back([&, i] {
        while (!is_over) {
          if (i == 2)
            c.reopen();
          else
            c.close();
          std::this_thread::yield();
        }
      });
    std::jthread receiver([&] {
      std::uint64_t last = 0;
      for (bool is_last = false;;) {
        const auto message = c.try_receive();
        if (message) {
          EXPECT_GT(**message, last);
          last = **message;
          got += last;
        } else if (is_last) {
          return;
        } else {
          is_last = is_over;
          std::this_thread::yield();
        }
      }
    });
    if constexpr (std::is_same_v<T, fickle>) fickle::throws_every = 1000;
    for (std::uint64_t number = 1; number <= count; ++number) {
      T message = make(number);
      try {
        queue_status status = queue_status::full;
        while (status == queue_status::full) {
          status = c.try_send(std::move(message));  // NOLINT(bugprone-use-after-move): only what is sent is
          if (status == queue_status::full) std::this_thread::yield();
        }
        if (status == queue_status::success)
          sent += number;
        else
          EXPECT_EQ(*message, number);  // NOLINT(bugprone-use-after-move): it is not moved from
      } catch (const std::runtime_error&) {
      }
    }
    if constexpr (std::is_same_v<T, fickle>) fickle::throws_every = 0;
    is_over = true;
  }
  while (const auto message = c.try_receive()) got += **message;
  EXPECT_EQ(got, sent);
  EXPECT_EQ(c.peek(), 0U);
}
TYPED_TEST(channel_of, loses_nothing_when_several_close_and_open_it) {
  expect_all_arrive_while_several_close<TypeParam, std::unique_ptr<std::uint64_t>>(
      [](std::uint64_t number) { return std::make_unique<std::uint64_t>(number); });
  expect_all_arrive_while_several_close<TypeParam, fickle>(
      [](std::uint64_t number) { return fickle(number); });
}

TYPED_TEST(channel_of, sends_and_receives_several_at_once) {
  const auto c = TypeParam::template make<std::string>(4);
  const std::size_t room = std::min<std::size_t>(c->capacity(), 4);
  const std::vector<std::string> messages{"a", "b", "c", "d"};
  std::vector<std::string> got;
  EXPECT_EQ(c->try_receive_range(std::back_inserter(got), 4).status, queue_status::empty);
  EXPECT_EQ(c->try_receive_range(std::back_inserter(got), 0).status, queue_status::success);
  EXPECT_EQ(c->receive_range(std::back_inserter(got), 0).status, queue_status::success);
  EXPECT_EQ(c->try_send_range(std::vector<std::string>()).status, queue_status::success);
  for (int lap = 0; lap < 5; ++lap) {
    const auto sent = c->try_send_range(messages);
    EXPECT_EQ(sent.count, room);
    EXPECT_EQ(sent.status, room == 4 ? queue_status::success : queue_status::full);
    EXPECT_EQ(c->peek(), room);
    got.clear();
    const auto first = c->receive_range(std::back_inserter(got), 1);
    EXPECT_EQ(first.count, 1U);
    const auto rest = c->try_receive_range(std::back_inserter(got), 9);
    EXPECT_EQ(rest.count, room - 1);
    EXPECT_EQ(rest.status, room == 1 ? queue_status::empty : queue_status::success);
    EXPECT_EQ(got, std::vector(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(room)));
  }
  ASSERT_EQ(c->send_range(std::vector{messages[0]}).status, queue_status::success);
  c->close();
  const auto none = c->send_range(messages);
  EXPECT_EQ(none.count, 0U);
  EXPECT_EQ(none.status, queue_status::closed);
  EXPECT_EQ(c->receive_range(std::back_inserter(got), 2).count, 1U);
  EXPECT_EQ(c->receive_range(std::back_inserter(got), 2).status, queue_status::closed);
  EXPECT_EQ(c->try_receive_range(std::back_inserter(got), 2).status, queue_status::closed);
}

/// The model wakes all where one would be told, and so does not see this. Those that wait mostly sleep when
/// the range comes; where one of them is not woken this never ends.
TEST(channel, wakes_all_for_whom_there_is_something_in_a_range) {
  constexpr int rounds = 300;
  constexpr int yields = 300;
  channel<int> c(8);
  std::atomic<int> got = 0;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.emplace_back([&] {
      // Who comes too early for the next round waits until all have got one.
      for (int round = 0; round < rounds; ++round) {
        while (got < 3 * round) std::this_thread::yield();
        EXPECT_TRUE(c.receive());
        ++got;
      }
    });
  for (int round = 0; round < rounds; ++round) {
    while (got < 3 * round) std::this_thread::yield();
    for (int i = 0; i < yields; ++i) std::this_thread::yield();
    EXPECT_EQ(c.send_range(std::array{1, 2, 3}).count, 3U);
  }
}

/// Throws when it is moved as often as that.
struct throws_when_sent {
  explicit throws_when_sent(int moves) : left(moves) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor,bugprone-exception-escape): it throws
  throws_when_sent(throws_when_sent&& from) : left(from.left - 1) {
    if (left == 0) throw std::runtime_error("as it is moved");
  }
  throws_when_sent& operator=(throws_when_sent&&) = default;
  int left;
};

/// The same for who makes room for several.
TEST(channel, wakes_all_for_whom_a_range_has_made_room) {
  constexpr int rounds = 300;
  constexpr int yields = 300;
  channel<int> c(3);
  std::atomic<int> sent = 0;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        while (sent < 3 * round) std::this_thread::yield();
        EXPECT_EQ(c.send(round), queue_status::success);
        ++sent;
      }
    });
  std::vector<int> got;
  for (int round = 0; round < rounds; ++round) {
    while (sent < 3 * round) std::this_thread::yield();
    // They have room, and then there is none.
    while (c.peek() < 3) std::this_thread::yield();
    for (int i = 0; i < yields; ++i) std::this_thread::yield();
    while (got.size() < 3 * (static_cast<std::size_t>(round) + 1))
      EXPECT_TRUE(c.receive_range(std::back_inserter(got), 3).count > 0);
  }
}

TEST(channel, tells_who_waits_of_what_was_sent_before_a_range_threw) {
  constexpr int rounds = 300;
  channel<throws_when_sent> c(4);
  std::atomic<int> got = 0;
  std::jthread waiting([&] {
    for (; got < rounds; ++got) EXPECT_TRUE(c.receive());
  });
  for (int round = 0; round < rounds; ++round) {
    while (got < round) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    std::vector<throws_when_sent> messages;
    messages.reserve(2);
    messages.emplace_back(9);
    messages.emplace_back(1);
    EXPECT_THROW(static_cast<void>(c.send_range(std::move(messages))), std::runtime_error);
  }
}

/// Stands still where it is moved, until it is let go.
struct held_up {
  static inline thread_local std::atomic<bool>* stands = nullptr;
  explicit held_up(int /*value*/) {}
  held_up(held_up&& /*from*/) noexcept {
    if (std::atomic<bool>* const mine = std::exchange(stands, nullptr)) {
      *mine = true;
      mine->notify_all();
      mine->wait(true);
    }
  }
};

// Receivers that are late with leaving their segments, of 4 places each, make room for more than one sender
// when they do.
TEST(channel, of_segments_tells_all_for_whom_one_that_comes_back_has_room) {
  channel<held_up, segments_of<list_nodes::fixed, 4>::mpmc> c(8);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(c.try_send(held_up(i)), queue_status::success);
  };
  const auto receive = [&](int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(c.try_receive());
  };
  std::array<std::atomic<bool>, 2> stand{};
  std::vector<std::jthread> receivers;
  send(8);
  for (std::atomic<bool>& each : stand) {
    receivers.emplace_back([&] {
      held_up::stands = &each;
      EXPECT_TRUE(c.receive());
    });
    each.wait(false);
    receive(3);
  }
  send(7);
  receive(3);
  std::vector<std::jthread> senders;
  for (int i = 0; i < 4; ++i)
    senders.emplace_back([&] { EXPECT_EQ(c.send(held_up(0)), queue_status::success); });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  for (std::atomic<bool>& each : stand) {
    each = false;
    each.notify_all();
  }
  receivers.clear();
  senders.clear();
  EXPECT_EQ(c.peek(), 8U);
}

TYPED_TEST(channel_of, moves_from_what_it_sends_of_a_range_and_leaves_the_rest) {
  const auto c = TypeParam::template make<std::unique_ptr<int>>(2);
  const std::size_t room = std::min<std::size_t>(c->capacity(), 3);
  std::vector<std::unique_ptr<int>> messages;
  for (int i = 0; i < 3; ++i) messages.push_back(std::make_unique<int>(i));
  const auto sent = c->try_send_range(std::move(messages));
  EXPECT_EQ(sent.count, room);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(messages[i] == nullptr, i < room);  // NOLINT(bugprone-use-after-move): what is tested
  std::array<std::unique_ptr<int>, 3> got;
  EXPECT_EQ(c->receive_range(got.begin(), got.size()).count, room);
  for (std::size_t i = 0; i < room; ++i) EXPECT_EQ(*got[i], static_cast<int>(i));
  c->close();
  messages.clear();
  messages.push_back(std::make_unique<int>(7));
  EXPECT_EQ(c->send_range(std::move(messages)).status, queue_status::closed);
  EXPECT_EQ(*messages[0], 7);  // NOLINT(bugprone-use-after-move)
}

TYPED_TEST(channel_of, goes_on_when_one_of_several_throws) {
  {
    const auto made = TypeParam::template make<counted>(4);
    auto& c = *made;
    if (c.capacity() < 4) return;
    for (int lap = 0; lap < 5; ++lap) {
      std::vector<counted> messages;
      messages.reserve(3);
      for (int i = 0; i < 3; ++i) messages.emplace_back(i);
      counted::throws_in = 3;
      EXPECT_THROW(static_cast<void>(c.try_send_range(std::move(messages))), std::runtime_error);
      EXPECT_EQ(c.receive()->number(), 0);
      EXPECT_EQ(c.receive()->number(), 1);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
      // NOLINTNEXTLINE(bugprone-use-after-move): those that are not sent are still there
      messages.erase(messages.begin(), messages.begin() + 2);
      ASSERT_EQ(c.send_range(std::move(messages)).count, 1U);
      ASSERT_EQ(c.try_send(counted(3)), queue_status::success);
      std::vector<counted> got;
      got.reserve(4);
      counted::throws_in = 1;
      EXPECT_THROW(static_cast<void>(c.try_receive_range(std::back_inserter(got), 4)), std::runtime_error);
      EXPECT_EQ(c.receive()->number(), 3);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
    }
    std::vector<counted> left;
    left.emplace_back(1);
    ASSERT_EQ(c.send_range(std::move(left)).count, 1U);
  }
  EXPECT_EQ(counted::living, 0);
}

template <typename C, typename R>
concept sends_range = requires(C& c, R&& range) { c.try_send_range(std::forward<R>(range)); };

// What is converted when it is given away would be lost with the attempt that finds no room; and a pointer is
// no owner, nor a number a container.
TEST(channel, refuses_ranges_whose_elements_would_be_lost) {
  using text = std::variant<int, std::string>;
  EXPECT_TRUE((sends_range<channel<text>, std::vector<std::string>&>));
  EXPECT_FALSE((sends_range<channel<text>, std::vector<std::string>>));
  EXPECT_TRUE((sends_range<channel<text>, std::vector<text>>));
  using owner = std::unique_ptr<int>;
  EXPECT_TRUE((sends_range<channel<owner>, std::vector<owner>>));
  EXPECT_FALSE((sends_range<channel<owner>, std::vector<owner>&>));
  EXPECT_FALSE((sends_range<channel<owner>, std::vector<int*>&>));
  EXPECT_FALSE((sends_range<channel<std::vector<int>>, std::vector<int>&>));
  EXPECT_TRUE((sends_range<channel<long>, std::vector<int>&>));
  EXPECT_TRUE((sends_range<channel<int>, std::ranges::iota_view<int, int>>));
}

TEST(channel, has_no_messages_that_are_reasons_or_references) {
  const auto can_send = []<typename T>(std::type_identity<T>) { return sendable<T>; };
  EXPECT_TRUE(can_send(std::type_identity<int>()));
  EXPECT_FALSE(can_send(std::type_identity<const int>()));
  EXPECT_FALSE(can_send(std::type_identity<int&>()));
  EXPECT_FALSE(can_send(std::type_identity<void>()));
  EXPECT_FALSE(can_send(std::type_identity<queue_status>()));
}

TEST(channel, has_its_room_when_a_message_has_thrown) {
  channel<throws_when_sent> c(2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(static_cast<void>(c.try_send(throws_when_sent(1))), std::runtime_error);
    EXPECT_EQ(c.peek(), 0U);
  }
  EXPECT_EQ(c.try_send(throws_when_sent(9)), queue_status::success);
  EXPECT_THROW(static_cast<void>(c.try_send(throws_when_sent(1))), std::runtime_error);
  EXPECT_EQ(c.try_send(throws_when_sent(9)), queue_status::success);
  EXPECT_EQ(c.try_send(throws_when_sent(9)), queue_status::full);
}

TEST(channel, ends_an_iteration_that_has_thrown) {
  channel<throws_when_sent> c(3);
  for (const int moves : {9, 2, 9}) ASSERT_EQ(c.try_send(throws_when_sent(moves)), queue_status::success);
  auto at = c.begin();
  ASSERT_NE(at, c.end());
  EXPECT_THROW(++at, std::runtime_error);
  EXPECT_EQ(at, c.end());
}

TEST(channel, takes_no_number_for_a_time_that_is_over) {
  channel<int> c(1);
  EXPECT_EQ(c.receive_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())).status(),
            queue_status::timed_out);
}

TYPED_TEST(channel_of, of_ranges_is_as_its_model) {
  std::mt19937 random(13);
  for (int round = 0; round < 100; ++round) {
    const auto made = TypeParam::template make<std::unique_ptr<int>>(1 + random() % 7);
    auto& c = *made;
    std::deque<int> model;
    bool is_closed = false;
    int next = 0;
    for (int i = 0; i < 200; ++i) {
      const std::size_t many = random() % 6;
      switch (random() % 8) {
        case 0:
          is_closed = random() % 4 == 0;
          if (is_closed)
            c.close();
          else
            c.reopen();
          break;
        case 1:
        case 2:
        case 3: {
          std::vector<std::unique_ptr<int>> messages;
          for (std::size_t one = 0; one < many; ++one)
            messages.push_back(std::make_unique<int>(next + static_cast<int>(one)));
          const std::size_t wanted = is_closed ? 0 : std::min(many, c.capacity() - model.size());
          const bool may_wait = is_closed || wanted == many;
          const auto sent = may_wait && random() % 2 == 0 ? c.send_range(std::move(messages))
                                                          : c.try_send_range(std::move(messages));
          EXPECT_EQ(sent.count, wanted);
          EXPECT_EQ(sent.status, wanted == many ? queue_status::success
                                 : is_closed    ? queue_status::closed
                                                : queue_status::full);
          for (std::size_t one = 0; one < wanted; ++one) model.push_back(next++);
          break;
        }
        case 4: {
          const auto status = c.try_send(std::make_unique<int>(next));
          if (status == queue_status::success) model.push_back(next++);
          break;
        }
        case 5: {
          const auto got = c.try_receive();
          ASSERT_EQ(got.has_value(), !model.empty());
          if (got) {
            EXPECT_EQ(**got, model.front());
            model.pop_front();
          }
          break;
        }
        default: {
          std::vector<std::unique_ptr<int>> got;
          const bool may_wait = is_closed || !model.empty();
          const auto result = may_wait && random() % 2 == 0
                                  ? c.receive_range(std::back_inserter(got), many)
                                  : c.try_receive_range(std::back_inserter(got), many);
          EXPECT_EQ(result.count, std::min(many, model.size()));
          ASSERT_EQ(got.size(), result.count);
          EXPECT_EQ(result.status, result.count != 0 || many == 0 ? queue_status::success
                                   : is_closed                    ? queue_status::closed
                                                                  : queue_status::empty);
          for (const auto& one : got) {
            EXPECT_EQ(*one, model.front());
            model.pop_front();
          }
        }
      }
      EXPECT_EQ(c.peek(), model.size());
    }
  }
}

TYPED_TEST(channel_of, loses_nothing_of_what_is_sent_in_ranges) {
  for (const std::size_t capacity : {1U, 3U, 64U}) {
    constexpr std::uint64_t count = 2000;
    const std::uint64_t senders = TypeParam::has_one_sender ? 1 : 3;
    const auto c = TypeParam::template make<std::uint64_t>(capacity);
    std::vector<traffic> all(TypeParam::has_one_receiver ? 1 : 3);
    {
      std::vector<std::jthread> receiving;
      for (traffic& mine : all)
        receiving.emplace_back([&] {
          for (std::size_t most = 1;; most = most % 10 + 1) {
            std::vector<std::uint64_t> got;
            const auto result = c->receive_range(std::back_inserter(got), most);
            if (result.status == queue_status::closed) return;
            EXPECT_TRUE(result.count == got.size() && result.count >= 1 && result.count <= most);
            for (const std::uint64_t message : got) mine.note(message);
          }
        });
      std::vector<std::jthread> sending;
      for (std::uint64_t sender = 0; sender < senders; ++sender)
        sending.emplace_back([&c, sender] {
          std::vector<std::uint64_t> messages;
          for (std::uint64_t i = 0; i < count; ++i) {
            messages.push_back(sender << 32U | i);
            if (messages.size() < i % 9 && i + 1 < count) continue;
            const auto sent = c->send_range(messages);
            EXPECT_EQ(sent.count, messages.size());
            messages.clear();
          }
        });
      sending.clear();
      c->close();
    }
    traffic sums;
    for (const traffic& mine : all) {
      sums.got += mine.got;
      sums.sum += mine.sum;
      sums.wrong += mine.wrong;
    }
    EXPECT_EQ(sums.got, count * senders);
    EXPECT_EQ(sums.sum, count * (count - 1) / 2 * senders);
    EXPECT_EQ(sums.wrong, 0U);
  }
}

/// Its capacity is one for which either side gives the other a moment.
TEST(channel, from_one_to_one_tells_full_and_empty_exactly_after_a_moment) {
  constexpr std::uint64_t capacity = 512;
  channel<std::uint64_t, spsc_ring> c(capacity);
  std::uint64_t sent = 0;
  std::uint64_t got = 0;
  const auto send_until_full = [&] {
    const std::uint64_t before = sent;
    while (sent - before <= capacity && c.try_send(sent) == queue_status::success) ++sent;
    return sent - before;
  };
  const auto receive = [&](std::uint64_t most) {
    for (; most != 0; --most, ++got) {
      const auto message = c.try_receive();
      if (!message) return message.status();
      EXPECT_EQ(*message, got);
    }
    return queue_status::success;
  };
  EXPECT_EQ(send_until_full(), capacity);
  for (const std::uint64_t room : {1U, 7U, 8U, 62U, 63U, 64U, 65U, 511U, 512U}) {
    EXPECT_EQ(receive(room), queue_status::success);
    EXPECT_EQ(send_until_full(), room);
    EXPECT_EQ(c.try_send(0), queue_status::full);
  }
  EXPECT_EQ(receive(capacity + 1), queue_status::empty);
  EXPECT_EQ(got, sent);
  for (const std::uint64_t there : {1U, 7U, 8U, 9U, 512U}) {
    for (std::uint64_t i = 0; i < there; ++i) EXPECT_EQ(c.try_send(sent++), queue_status::success);
    EXPECT_EQ(receive(there + 1), queue_status::empty);
    EXPECT_EQ(receive(1), queue_status::empty);
    EXPECT_EQ(got, sent);
  }
  c.close();
  EXPECT_EQ(receive(1), queue_status::closed);
}
/// As many of them as fit share a line with its stamp.
template <typename T, typename Make>
void expect_rounds_of_any_length(const Make& make) {
  for (std::size_t capacity = 1; capacity <= 70; ++capacity) {
    channel<T, spsc_ring> c(capacity);
    std::uint64_t sent = 0;
    std::uint64_t got = 0;
    for (std::size_t at_once = 1; at_once <= capacity; ++at_once) {
      for (std::size_t i = 0; i < at_once; ++i) ASSERT_EQ(c.try_send(make(sent++)), queue_status::success);
      if (at_once == capacity) {
        ASSERT_EQ(c.try_send(make(sent)), queue_status::full);
      }
      ASSERT_EQ(c.peek(), at_once);
      if (at_once % 2 == 0) {
        for (std::size_t i = 0; i < at_once; ++i) ASSERT_EQ(*c.try_receive(), make(got++));
      } else {
        std::vector<T> several;
        while (several.size() < at_once) {
          ASSERT_NE(c.try_receive_range(std::back_inserter(several), 5).count, 0U);
        }
        ASSERT_EQ(several.size(), at_once);
        for (const T& one : several) ASSERT_EQ(one, make(got++));
      }
      ASSERT_EQ(c.try_receive().status(), queue_status::empty);
    }
    // What is left is destroyed with the channel.
    ASSERT_EQ(c.try_send(make(sent)), queue_status::success);
  }
}
TEST(channel, from_one_to_one_holds_messages_of_any_size_in_lines) {
  expect_rounds_of_any_length<std::uint8_t>([](std::uint64_t i) { return static_cast<std::uint8_t>(i); });
  expect_rounds_of_any_length<std::uint64_t>([](std::uint64_t i) { return i; });
  expect_rounds_of_any_length<std::array<char, 5>>([](std::uint64_t i) {
    return std::array{static_cast<char>(i % 100), '1', '2', '3', '4'};
  });
  expect_rounds_of_any_length<std::array<std::uint64_t, 7>>(
      [](std::uint64_t i) { return std::array<std::uint64_t, 7>{i, 1, 2, 3, 4, 5, i}; });
  expect_rounds_of_any_length<std::array<std::uint64_t, 9>>(
      [](std::uint64_t i) { return std::array<std::uint64_t, 9>{i, 1, 2, 3, 4, 5, 6, 7, i}; });
  expect_rounds_of_any_length<std::string>(
      [](std::uint64_t i) { return std::to_string(i) + " is long enough"; });
  struct alignas(16) wide {
    std::uint64_t number;
    bool operator==(const wide&) const = default;
  };
  expect_rounds_of_any_length<wide>([](std::uint64_t i) { return wide{i}; });
  struct alignas(128) apart {
    std::uint64_t number;
    bool operator==(const apart&) const = default;
  };
  expect_rounds_of_any_length<apart>([](std::uint64_t i) { return apart{i}; });
}
TEST(channel, from_one_to_one_loses_nothing_of_a_stream_that_is_closed_and_opened) {
  constexpr std::uint64_t messages = 300'000;
  channel<std::uint64_t, spsc_ring> c(512);
  std::atomic<bool> is_over = false;
  std::jthread closer([&] {
    while (!is_over.load()) {
      c.close();
      c.reopen();
      std::this_thread::yield();
    }
  });
  std::jthread sender([&] {
    for (std::uint64_t i = 0; i < messages;)
      if (c.try_send(i) == queue_status::success)
        ++i;
      else
        std::this_thread::yield();
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < messages;) {
    const auto message = c.try_receive();
    if (message)
      wrong += *message == i++ ? 0U : 1U;
    else
      std::this_thread::yield();
  }
  is_over = true;
  EXPECT_EQ(wrong, 0U);
}

/// Store buffering: where neither sees the other, a sender goes on that is not awaited, or a sleeper sleeps
/// on.
TEST(fences_of_a_process, order_a_light_one_with_a_heavy_one) {
  constexpr int rounds = 100'000;
  struct alignas(cache_line) word {
    std::atomic<int> value = 0;
  };
  word light;
  word heavy;
  std::atomic<int> arrived = 0;
  int seen = 0;
  int neither = 0;
  const auto meet = [&](int number) {
    ++arrived;
    for (int look = 1; arrived < 2 * number; ++look)
      if (look % 1024 == 0) std::this_thread::yield();
  };
  std::jthread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      meet(2 * i - 1);
      light.value.store(i, std::memory_order_relaxed);
      process_memory::light_fence();
      seen = heavy.value.load(std::memory_order_relaxed);
      meet(2 * i);
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    meet(2 * i - 1);
    heavy.value.store(i, std::memory_order_relaxed);
    process_memory::heavy_fence();
    const int seen_here = light.value.load(std::memory_order_relaxed);
    meet(2 * i);
    if (seen != i && seen_here != i) ++neither;
  }
  other.join();
  EXPECT_EQ(neither, 0);
}

TEST(node_channels, lose_nothing_between_ranks) {
  for (const int ranks : {1, 2, 3, 4})
    for (const std::size_t capacity : {1U, 8U})
      threads::run(ranks,
                   [&](threads::world& w) { expect_messages_arrive(w, capacity, w.size() - 1, 2000); });
}

}  // namespace
}  // namespace nearfar::testing
