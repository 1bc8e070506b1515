// Channels without free memory: an operation that throws `std::bad_alloc` has no effect, and one on a range
// has handled only the first messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/strategies.hpp"
#include "tests/allocation/failing_new.hpp"
#include "tests/channel/channel_strategies.hpp"

namespace nearfar::testing {
namespace {

[[nodiscard]] std::uint64_t number_in(const std::uint64_t& message) { return message; }
[[nodiscard]] std::uint64_t number_in(const owned& message) { return *message; }

/// One channel, and its expected content.
template <typename T>
class watched_channel {
 public:
  watched_channel(const channel_strategy& how, failing_allocations::plan& by)
      : of_(how.make<T>(capacity)), by_(&by) {}

  void send() {
    T message(next_);
    queue_status status = queue_status::closed;
    if (!goes_through(*by_, [&] { status = of_->try_send(std::move(message)); })) status = queue_status::full;
    if (status == queue_status::success) {
      expected_.push_back(next_++);
    } else if constexpr (std::is_same_v<T, owned>) {
      ASSERT_TRUE(message) << "moved from and not sent";
      ASSERT_EQ(*message, next_);
    }
  }
  void receive() {
    received<T> message(queue_status::full);
    if (!goes_through(*by_, [&] { message = of_->try_receive(); })) return;
    if (message) {
      ASSERT_FALSE(expected_.empty()) << "received twice";
      ASSERT_EQ(number_in(*message), expected_.front()) << "lost";
      expected_.pop_front();
    } else {
      ASSERT_TRUE(expected_.empty()) << "there are " << expected_.size();
    }
  }
  void send_several(std::size_t count) {
    if constexpr (std::is_same_v<T, owned>) {
      std::vector<T> messages;
      for (std::size_t i = 0; i < count; ++i) messages.emplace_back(next_ + i);
      static_cast<void>(
          goes_through(*by_, [&] { static_cast<void>(of_->try_send_range(std::move(messages))); }));
      const auto first_left =
          std::find_if(messages.begin(), messages.end(), [](const T& one) { return static_cast<bool>(one); });
      ASSERT_TRUE(
          std::all_of(first_left, messages.end(), [](const T& one) { return static_cast<bool>(one); }));
      for (auto each = messages.begin(); each != first_left; ++each) expected_.push_back(next_++);
    }
  }
  void receive_several(std::size_t most) {
    std::vector<T> messages;
    messages.reserve(most);
    static_cast<void>(goes_through(*by_, [&] { static_cast<void>(of_->try_receive_range(messages, most)); }));
    for (const T& each : messages) {
      ASSERT_FALSE(expected_.empty());
      ASSERT_EQ(number_in(each), expected_.front());
      expected_.pop_front();
    }
  }
  void close_and_reopen() {
    if (!goes_through(*by_, [&] { of_->close(); })) of_->close();
    EXPECT_TRUE(of_->is_closed());
    if (!goes_through(*by_, [&] { of_->reopen(); })) of_->reopen();
    EXPECT_FALSE(of_->is_closed());
  }
  void expect_the_rest() {
    for (; !expected_.empty(); expected_.pop_front()) {
      const received<T> message = of_->try_receive();
      ASSERT_TRUE(message) << "lost";
      ASSERT_EQ(number_in(*message), expected_.front());
    }
    EXPECT_EQ(of_->try_receive().status(), queue_status::empty);
  }

 private:
  static constexpr std::size_t capacity = 150;
  std::unique_ptr<any_channel<T>> of_;
  failing_allocations::plan* by_;
  std::uint64_t next_ = 1;
  std::deque<std::uint64_t> expected_;
};

/// The run is long enough that lists grow and scan the nodes given back to them.
template <typename T>
void run_program(const channel_strategy& how, failing_allocations::plan& by) {
  std::minstd_rand random(1);
  watched_channel<T> channel(how, by);
  const auto several = [&] { return std::size_t{1} + random() % 9; };
  for (int phase = 0; phase < 3 && !::testing::Test::HasFatalFailure(); ++phase) {
    for (int i = 0; i < 140 && !::testing::Test::HasFatalFailure(); ++i) {
      const auto chance = random() % 20;
      if (chance < 14)
        channel.send();
      else if (chance < 17)
        channel.receive();
      else if (chance < 18)
        channel.send_several(several());
      else
        channel.receive_several(several());
    }
    channel.close_and_reopen();
    for (int i = 0; i < 140 && !::testing::Test::HasFatalFailure(); ++i) channel.receive();
  }
  if (!::testing::Test::HasFatalFailure()) channel.expect_the_rest();
}

class channel_without_memory : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(all, channel_without_memory, ::testing::ValuesIn(channel_strategies()),
                         name_of_strategy);

template <typename T>
void expect_nothing_lost(const channel_strategy& how) {
  for_failing_allocations([&](failing_allocations::plan& by) {
    const std::size_t before = living_allocations();
    run_program<T>(how, by);
    if (::testing::Test::HasFatalFailure()) FAIL() << "first " << by.first << ", every " << by.every;
    EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
  });
}

TEST_P(channel_without_memory, loses_no_message) { expect_nothing_lost<std::uint64_t>(GetParam()); }

TEST_P(channel_without_memory, moves_from_no_message_that_it_does_not_send) {
  expect_nothing_lost<owned>(GetParam());
}

TEST_P(channel_without_memory, loses_no_message_between_threads) {
  constexpr std::uint64_t messages = 2000;
  const auto channel = GetParam().make<std::uint64_t>(64);
  std::vector<std::uint64_t> times(messages, 0);
  {
    const std::jthread sender([&] {
      failing_allocations::plan by(3, 3);
      for (std::uint64_t i = 0; i < messages;) {
        queue_status status = queue_status::full;
        static_cast<void>(goes_through(by, [&] { status = channel->try_send(std::uint64_t{i}); }));
        if (status == queue_status::success)
          ++i;
        else
          std::this_thread::yield();
      }
    });
    failing_allocations::plan by(3, 3);
    for (std::uint64_t got = 0; got < messages;) {
      bool has_come = false;
      static_cast<void>(goes_through(by, [&] {
        const received<std::uint64_t> message = channel->try_receive();
        has_come = message.has_value();
        if (has_come) ++times.at(*message);
      }));
      if (has_come)
        ++got;
      else
        std::this_thread::yield();
    }
  }
  EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(messages));
  EXPECT_EQ(channel->try_receive().status(), queue_status::empty);
}

// Many guards at once hold more nodes than are kept before a scan, so a large number of nodes comes back at
// once.
TEST(hazards_without_memory, give_back_what_many_hold) {
  using nodes_type = list_nodes::hazard<process_memory, std::uint64_t>;
  process_memory memory;
  const std::size_t before = living_allocations();
  for_failing_allocations([&](failing_allocations::plan& by) {
    nodes_type nodes(memory);
    std::deque<nodes_type::guard> guards;
    std::vector<std::uint64_t> held;
    for (int i = 0; i < 100; ++i) {
      guards.emplace_back(nodes);
      for (const std::size_t which : {0U, 1U}) guards.back().hold(which, held.emplace_back(nodes.obtain()));
    }
    std::size_t given_back = 0;
    while (given_back < held.size()) {
      const std::uint64_t node = held[given_back];
      bool is_begun = false;
      const bool went_through = goes_through(by, [&] {
        nodes_type::guard mine(nodes);
        is_begun = true;
        mine.give_back(node);
        ++given_back;
      });
      ASSERT_TRUE(went_through || !is_begun) << "a node is lost";
      // A guard makes two allocations, one of which may fail each time.
      if (by.every != 0 && !went_through) break;
    }
    for (; given_back < held.size(); ++given_back) nodes.give_back(held[given_back]);
  });
  EXPECT_EQ(living_allocations(), before);
}

}  // namespace
}  // namespace nearfar::testing
