// The rendezvous between threads and between ranks: its own properties, beside those of all channels.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "tests/channel/channel_cases.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;

template <typename T>
using meeting = channel<T, rendezvous>;

TEST(meetings, need_another) {
  meeting<std::unique_ptr<int>> c;
  EXPECT_EQ(c.capacity(), 0U);
  auto message = std::make_unique<int>(1);
  EXPECT_EQ(c.try_send(std::move(message)), queue_status::full);
  EXPECT_EQ(c.send_for(std::move(message), 1ms), queue_status::timed_out);
  EXPECT_EQ(c.send_until(std::move(message), 0ns), queue_status::timed_out);
  ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move): the test is that it is not moved from
  EXPECT_EQ(c.try_receive().status(), queue_status::empty);
  EXPECT_EQ(c.receive_for(1ms).status(), queue_status::timed_out);
  EXPECT_EQ(c.peek(), 0U);
  c.close();
  EXPECT_EQ(c.send(std::move(message)), queue_status::closed);
  ASSERT_TRUE(message);
  EXPECT_EQ(c.receive().status(), queue_status::closed);
  c.reopen();
  EXPECT_EQ(c.try_receive().status(), queue_status::empty);
}

TEST(meetings, are_made_by_attempts_when_another_waits) {
  meeting<int> c;
  {
    const std::jthread receiver([&] { EXPECT_EQ(*c.receive(), 1); });
    while (c.try_send(1) != queue_status::success) std::this_thread::yield();
  }
  const std::jthread sender([&] { EXPECT_EQ(c.send(2), queue_status::success); });
  for (;;)
    if (const auto got = c.try_receive()) {
      EXPECT_EQ(*got, 2);
      break;
    } else {
      std::this_thread::yield();
    }
}

TEST(meetings, let_nobody_go_on_alone) {
  constexpr int count = 20'000;
  meeting<int> c;
  std::atomic<int> arrived = 0;
  const std::jthread sender([&] {
    for (int i = 1; i <= count; ++i) {
      ASSERT_EQ(c.send(i), queue_status::success);
      ASSERT_GE(arrived.load(std::memory_order_relaxed), i);
    }
  });
  for (int i = 1; i <= count; ++i) {
    arrived.store(i, std::memory_order_relaxed);
    ASSERT_EQ(*c.receive(), i);
  }
}

TEST(meetings, lose_nothing_when_somebody_gives_up) {
  for (const int threads : {1, 3}) {
    meeting<std::unique_ptr<int>> c;
    std::atomic<int> sent = 0;
    std::atomic<int> got = 0;
    std::atomic<bool> is_over = false;
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        for (int number = 0; number < 5000; ++number) {
          auto message = std::make_unique<int>(number);
          const auto status = number % 3 == 0 ? c.try_send(std::move(message))
                                              : c.send_for(std::move(message), 1us * (number % 50));
          EXPECT_EQ(message == nullptr, status == queue_status::success);  // NOLINT(bugprone-use-after-move)
          if (status == queue_status::success) ++sent;
        }
      });
      all.emplace_back([&] {
        for (int number = 0; !is_over; ++number)
          if (number % 3 == 0 ? c.try_receive().has_value() : c.receive_for(1us * (number % 50)).has_value())
            ++got;
      });
    }
    for (std::size_t i = 0; i < all.size(); i += 2) all[i].join();
    is_over = true;
    all.clear();
    EXPECT_EQ(sent, got);
    EXPECT_GT(got, 0);
  }
}

/// Can be moved `moves` times. The next move throws.
class throwing {
 public:
  explicit throwing(int moves) : moves_(moves) {}
  throwing(throwing&& from) : moves_(from.moves_ - 1) {  // NOLINT(performance-noexcept-move-constructor)
    if (moves_ < 0) throw std::runtime_error("no");
  }
  throwing& operator=(throwing&&) = delete;
  ~throwing() = default;

 private:
  int moves_;
};

TEST(meetings, go_on_when_a_message_throws) {
  meeting<throwing> c;
  {
    const std::jthread receiver(
        [&] { EXPECT_TRUE(c.receive()); });  // one message throws before this one arrives
    const auto send_when_one_waits = [&] {
      queue_status status = queue_status::full;
      while (status == queue_status::full) status = c.try_send(throwing(0));
    };
    EXPECT_THROW(send_when_one_waits(), std::runtime_error);
    EXPECT_EQ(c.send(throwing(10)), queue_status::success);
  }
  const std::jthread sender([&] {
    EXPECT_EQ(c.send(throwing(0)), queue_status::success);  // and lost
    EXPECT_EQ(c.send(throwing(10)), queue_status::success);
  });
  // The later of sender and receiver moves the message: that has to be this thread.
  const auto receive_when_one_waits = [&] {
    while (c.try_receive().status() == queue_status::empty) std::this_thread::yield();
  };
  EXPECT_THROW(receive_when_one_waits(), std::runtime_error);
  EXPECT_TRUE(c.receive());
}

TEST(meetings, of_ranks_lose_nothing) {
  for (const int ranks : {2, 3, 4})
    threads::run(ranks, [](threads::world& w) {
      node_channel<threads::world, std::uint64_t, rendezvous> c(w, w.size() - 1);
      constexpr std::uint64_t count = 1000;
      if (w.rank() == 0) {
        traffic mine;
        for (std::uint64_t i = 0; i < count * static_cast<std::uint64_t>(w.size() - 1); ++i)
          mine.note(*c.receive());
        EXPECT_EQ(mine.wrong, 0U);
        EXPECT_EQ(mine.sum, count * (count - 1) / 2 * static_cast<std::uint64_t>(w.size() - 1));
        EXPECT_EQ(c.receive_for(1ms).status(), queue_status::timed_out);
      } else {
        for (std::uint64_t i = 0; i < count; ++i)
          ASSERT_EQ(c.send(message_of(w.rank(), i)), queue_status::success);
      }
      w.barrier();
      if (w.rank() == 0)
        c.close();
      else
        EXPECT_EQ(c.receive().status(), queue_status::closed);
      w.barrier();
    });
}

}  // namespace
}  // namespace nearfar::testing
