// Channels that several threads or ranks use at a time.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "tests/channel/channel_cases.hpp"
#include "tests/channel/channel_strategies.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;

class contended_channel : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(every, contended_channel, ::testing::ValuesIn(channel_strategies()),
                         name_of_strategy);

TEST_P(contended_channel, loses_nothing_and_keeps_the_order_of_each_sender) {
  for (const std::size_t capacity : {1U, 3U, 64U})
    for (const int senders : {1, 4})
      for (const int receivers : {1, 3}) {
        if ((GetParam().has_one_sender && senders > 1) || (GetParam().has_one_receiver && receivers > 1))
          continue;
        constexpr std::uint64_t count = 1000;
        const auto c = GetParam().make<owned>(capacity);
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
                EXPECT_EQ(c->send(owned(static_cast<std::uint64_t>(sender) << 32U | i)),
                          queue_status::success);
            });
          sending.clear();
          c->close();
        }
        traffic sums;
        for (const traffic& mine : all) sums += mine;
        EXPECT_EQ(sums.got, count * static_cast<std::uint64_t>(senders));
        EXPECT_EQ(sums.sum, count * (count - 1) / 2 * static_cast<std::uint64_t>(senders));
        EXPECT_EQ(sums.wrong, 0U);
      }
}

/// The channel is closed and opened again while others send and receive. Every message sent is received in
/// the end.
TEST_P(contended_channel, loses_nothing_when_it_is_closed_in_the_middle) {
  const auto made = GetParam().make<std::uint64_t>(4);
  auto& c = *made;
  std::atomic<int> sent = 0;
  std::atomic<int> got = 0;
  std::atomic<bool> is_over = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < (GetParam().has_one_sender ? 1 : 2); ++i)
      threads.emplace_back([&] {
        while (!is_over)
          if (c.peek() < 64 && c.send_for(1, 1ms) == queue_status::success)
            ++sent;
          else
            std::this_thread::yield();  // receivers have less to do, and need the processor
      });
    for (int i = 0; i < (GetParam().has_one_receiver ? 1 : 2); ++i)
      threads.emplace_back([&] {
        while (!is_over) got += c.receive_for(1ms).has_value() ? 1 : 0;
      });
    for (int i = 0; i < 50; ++i) {
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

/// One thread sends and one receives, while two close and a third opens. Every message sent is received, once
/// and in order, and an unsent message stays with its owner.
template <typename T>
void expect_all_arrive_while_several_close(const channel_strategy& strategy) {
  const auto made = strategy.make<T>(4);
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
    thrower::throws_every = 1000;
    for (std::uint64_t number = 1; number <= count; ++number) {
      T message(number);
      try {
        queue_status status = queue_status::full;
        while (status == queue_status::full) {
          status =
              c.try_send(std::move(message));  // NOLINT(bugprone-use-after-move): moves a sent message only
          if (status == queue_status::full) std::this_thread::yield();
        }
        if (status == queue_status::success)
          sent += number;
        else
          EXPECT_EQ(*message, number);  // NOLINT(bugprone-use-after-move): it is not moved from
      } catch (const thrown&) {
      }
    }
    thrower::throws_every = 0;
    is_over = true;
  }
  while (const auto message = c.try_receive()) got += **message;
  EXPECT_EQ(got, sent);
  EXPECT_EQ(c.peek(), 0U);
}

TEST_P(contended_channel, loses_nothing_when_several_close_and_open_it) {
  expect_all_arrive_while_several_close<owned>(GetParam());
  expect_all_arrive_while_several_close<thrower>(GetParam());
}

/// Stops in its move until the test lets it go.
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

// Segments have 4 places. Receivers that leave their segments late make room for more than one sender when
// they do.
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

/// Store buffering. If neither thread sees the other, a sender goes on without a receiver, or a sleeper
/// sleeps on.
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
