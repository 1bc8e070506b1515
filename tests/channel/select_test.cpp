// Selections among channels of threads.
#include "nearfar/channel/select.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto ignore = [](const auto&) {};

template <template <typename, typename> typename Buffer>
struct strategy {
  template <typename T>
  using of = channel<T, Buffer>;
  template <typename T>
  [[nodiscard]] static std::unique_ptr<of<T>> make() {
    if constexpr (of<T>::takes_capacity)
      return std::make_unique<of<T>>(2);
    else
      return std::make_unique<of<T>>();
  }
};

/// One strategy for each way in which a sender or receiver tells others.
template <typename Strategy>
class selection_among : public ::testing::Test {};
using strategies = ::testing::Types<strategy<ring_buffer>, strategy<spsc_ring>, strategy<mailbox>,
                                    strategy<rendezvous>, strategy<ring_of<channel_lock::parking>::mpmc>,
                                    strategy<lock_free_list_of<list_nodes::recycled>::mpmc>,
                                    strategy<segments_of<list_nodes::recycled>::mpsc>>;
TYPED_TEST_SUITE(selection_among, strategies);

TYPED_TEST(selection_among, nothing_does_nothing) {
  const auto a = TypeParam::template make<int>();
  const auto b = TypeParam::template make<int>();
  const auto never = [](const auto&) { ADD_FAILURE() << "nothing was sent"; };
  EXPECT_EQ(try_select(on_receive(*a, never), on_receive(*b, never)), std::nullopt);
  EXPECT_EQ(select_for(1ms, on_receive(*a, never), on_receive(*b, never)), std::nullopt);
  EXPECT_EQ(select_until(0ns, on_receive(*a, never)), std::nullopt);
  EXPECT_EQ(try_select(), std::nullopt);
}

TYPED_TEST(selection_among, closed_ones_says_so) {
  const auto a = TypeParam::template make<std::unique_ptr<int>>();
  const auto b = TypeParam::template make<int>();
  a->close();
  queue_status status{};
  EXPECT_EQ(select(on_receive(*b, ignore), on_receive(*a, [&](auto got) { status = got.status(); })), 1U);
  EXPECT_EQ(status, queue_status::closed);
  auto message = std::make_unique<int>(1);
  EXPECT_EQ(
      select(on_send(*a, std::move(message), [&](queue_status of) { status = of; }), on_receive(*b, ignore)),
      0U);
  EXPECT_EQ(status, queue_status::closed);
  EXPECT_TRUE(message);  // NOLINT(bugprone-use-after-move): the test is that it is not moved from
}

TYPED_TEST(selection_among, channels_is_told_when_one_is_closed) {
  const auto a = TypeParam::template make<int>();
  const auto b = TypeParam::template make<int>();
  queue_status status{};
  std::jthread waiting(
      [&] { select(on_receive(*a, [&](auto got) { status = got.status(); }), on_receive(*b, ignore)); });
  std::this_thread::yield();
  a->close();
  waiting.join();
  EXPECT_EQ(status, queue_status::closed);
}

/// Two threads select among sends and receives in two channels each, and two others only send or receive.
TYPED_TEST(selection_among, channels_loses_nothing) {
  constexpr int count = 3000;
  const auto numbers = TypeParam::template make<std::unique_ptr<int>>();
  const auto words = TypeParam::template make<std::string>();
  const auto results = TypeParam::template make<int>();
  std::int64_t sum = 0;
  std::int64_t letters = 0;
  std::int64_t returned = 0;
  {
    const std::jthread sends_numbers([&] {
      for (int i = 1; i <= count; ++i)
        ASSERT_EQ(numbers->send(std::make_unique<int>(i)), queue_status::success);
    });
    const std::jthread sends_words([&] {
      for (int i = 1; i <= count; ++i)
        select(on_send(*words, std::string(static_cast<std::size_t>(i % 40), 'x'),
                       [](queue_status status) { EXPECT_EQ(status, queue_status::success); }));
      words->close();
    });
    const std::jthread receives([&] {
      for (auto& result : *results) returned += result;
    });
    int to_return = 0;
    int got = 0;
    bool is_open = true;
    while (got < count || is_open || to_return != 0) {
      const auto take_number = [&](auto number) {
        sum += **number;
        to_return += **number;
        ++got;
      };
      const auto take_word = [&](auto word) {
        is_open = word.has_value();
        if (word) letters += static_cast<std::int64_t>(word->size());
      };
      const auto give = [&](queue_status status) {
        EXPECT_EQ(status, queue_status::success);
        to_return = 0;
      };
      auto from_numbers = on_receive(*numbers, take_number);
      auto from_words = on_receive(*words, take_word);
      auto to_results = on_send(*results, to_return, give);
      std::vector<select_case*> cases;
      if (got < count) cases.push_back(&from_numbers);
      if (is_open) cases.push_back(&from_words);
      if (to_return != 0) cases.push_back(&to_results);
      select(cases);
    }
    results->close();
  }
  EXPECT_EQ(sum, std::int64_t{count} * (count + 1) / 2);
  EXPECT_EQ(returned, sum);
  std::int64_t all_letters = 0;
  for (int i = 1; i <= count; ++i) all_letters += i % 40;
  EXPECT_EQ(letters, all_letters);
}

TEST(selection, of_two_that_could_meet_makes_them) {
  constexpr int count = 3000;
  channel<int, rendezvous> there;
  channel<int, rendezvous> back;
  std::int64_t balance = 0;
  std::atomic<std::int64_t> others = 0;
  // Each side sends or receives, the opposite of the other side.
  const auto side = [&](auto& out, auto& in) {
    std::int64_t mine = 0;
    for (int i = 1; i <= count; ++i)
      select(on_send(out, i, [&](queue_status) { mine += i; }),
             on_receive(in, [&](auto got) { mine -= *got; }));
    return mine;
  };
  std::jthread other([&] { others = side(back, there); });
  balance = side(there, back);
  other.join();
  EXPECT_EQ(balance + others, 0);
}

TEST(selection, of_one_channel_twice_does_not_meet_itself) {
  channel<int, rendezvous> c;
  EXPECT_EQ(select_for(1ms, on_send(c, 1, ignore), on_receive(c, ignore)), std::nullopt);
  const std::jthread other([&] { EXPECT_EQ(c.send(2), queue_status::success); });
  EXPECT_EQ(select(on_send(c, 1, ignore), on_receive(c, [](auto got) { EXPECT_EQ(*got, 2); })), 1U);
}

TEST(selection, takes_each_that_is_ready_as_often) {
  channel<int> a(1000);
  channel<int> b(1000);
  channel<int> c(1000);
  for (int i = 0; i < 1000; ++i)
    for (auto* each : {&a, &b, &c}) ASSERT_EQ(each->send(i), queue_status::success);
  std::array<int, 3> counts{};
  for (int i = 0; i < 900; ++i)
    ++counts.at(select(on_receive(a, ignore), on_receive(b, ignore), on_receive(c, ignore)));
  // 300 each with a standard deviation of 14.
  for (const int count : counts) EXPECT_NEAR(count, 300, 100);
}

TEST(selection, of_nothing_at_all_is_refused) {
  EXPECT_THROW(select(std::span<select_case* const>()), misuse);
  EXPECT_EQ(select_until(0ns, std::span<select_case* const>()), std::nullopt);
  EXPECT_EQ(select_for(0ns, std::span<select_case* const>()), std::nullopt);
}

/// Throws in its move, when told to.
struct thrower {
  explicit thrower(bool may) : throws(may) {}
  thrower(thrower&& from) : throws(from.throws) {  // NOLINT(performance-noexcept-move-constructor)
    if (throws) throw std::runtime_error("no");
  }
  thrower& operator=(thrower&&) = default;
  ~thrower() = default;
  bool throws;
};

TEST(selection, goes_on_when_a_message_or_a_handler_throws) {
  channel<thrower> c(2);
  channel<thrower, rendezvous> other;
  EXPECT_THROW(select(on_send(c, thrower(true), ignore), on_receive(other, ignore)), std::runtime_error);
  // Receivers pass over its place.
  EXPECT_EQ(try_select(on_receive(c, ignore), on_receive(other, ignore)), std::nullopt);
  EXPECT_EQ(select(on_send(c, thrower(false), ignore), on_receive(other, ignore)), 0U);
  EXPECT_THROW(select(on_receive(c, [](const auto&) { throw std::runtime_error("handled badly"); })),
               std::runtime_error);
  EXPECT_EQ(c.peek(), 0U);
  EXPECT_EQ(other.try_receive().status(), queue_status::empty);
}

// The case would be twice in the list of waiting cases, and a thread that goes through the list would never
// end.
TEST(selection, refuses_a_case_that_is_there_twice) {
  channel<int> numbers(1);
  auto one = on_receive(numbers, [](const received<int>&) {});
  const std::array<select_case*, 2> twice{&one, &one};
  EXPECT_THROW(select(std::span<select_case* const>(twice)), misuse);
  EXPECT_THROW(try_select(one, one), misuse);
  EXPECT_EQ(try_select(one), std::nullopt);
}
TEST(selection, refuses_a_null_pointer) {
  channel<int> numbers(1);
  auto one = on_receive(numbers, ignore);
  const std::array<select_case*, 2> cases{&one, nullptr};
  EXPECT_THROW(try_select(std::span<select_case* const>(cases)), misuse);
}
// The case would send a message that was moved from.
TEST(selection, refuses_a_case_that_has_sent_its_message) {
  channel<std::string> c(3);
  const std::string text(40, 'x');
  auto copied = on_send(c, text, ignore);
  EXPECT_EQ(select(copied), 0U);
  ASSERT_THROW(try_select(copied), misuse);
  EXPECT_EQ(c.peek(), 1U);
  c.close();
  std::string moved(40, 'y');
  auto kept = on_send(c, std::move(moved), ignore);
  EXPECT_EQ(select(kept), 0U);  // closed, and still there
  c.reopen();
  EXPECT_EQ(select(kept), 0U);
  EXPECT_THROW(try_select(kept), misuse);
  EXPECT_EQ(*c.receive(), text);
  EXPECT_EQ(*c.receive(), std::string(40, 'y'));
  EXPECT_EQ(c.peek(), 0U);
  // In a rendezvous another thread completes the case.
  channel<std::string, rendezvous> met;
  std::string given(40, 'z');
  auto once = on_send(met, std::move(given), ignore);
  {
    const std::jthread other([&] { EXPECT_EQ(*met.receive(), std::string(40, 'z')); });
    EXPECT_EQ(select(once), 0U);
  }
  EXPECT_THROW(try_select(once), misuse);
}

TEST(selection, of_many_threads_favours_no_case) {
  channel<int> here(1);
  channel<int> there(1);
  here.close();
  there.close();
  std::array<int, 2> chosen{};
  for (int i = 0; i < 200; ++i)
    std::jthread([&] {
      const auto nothing = [](const received<int>&) {};
      ++chosen[select(on_receive(here, nothing), on_receive(there, nothing))];
    }).join();
  EXPECT_GT(chosen[0], 50);
  EXPECT_GT(chosen[1], 50);
}

}  // namespace
}  // namespace nearfar::testing
