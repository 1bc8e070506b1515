// Short histories of threads that use a channel, which the checker's judge must find linearizable: messages
// that throw, closing and opening, attempts and waits.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nearfar/checker/history.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/specification.hpp"
#include "tests/channel/channel_strategies.hpp"

namespace nearfar::testing {
namespace {

using checker::history;
using checker::value_list;

/// A channel, one call after the other. `send(message)`, `receive()` and `is_closed()` return a `result`.
/// `receive` also returns the message, or the one that threw and is lost. Where the strategy does not tell
/// full or empty exactly, the model may always say so. Where it hands messages back, a send that finds the
/// channel open may throw without room, as it may get the room after the channel was closed.
class channel_model {
 public:
  enum method : int { send, receive, close, reopen, is_closed };
  enum result : std::uint64_t { done, in_vain, closed, threw };

  channel_model(std::size_t capacity, const channel_strategy& strategy)
      : capacity_(capacity),
        tells_full_(strategy.tells_full),
        tells_empty_(strategy.tells_empty),
        hands_back_(strategy.hands_back) {}

  [[nodiscard]] static std::string_view name(int method) noexcept {
    switch (method) {
      case send:
        return "send";
      case receive:
        return "receive";
      case close:
        return "close";
      case reopen:
        return "reopen";
      default:
        return "is_closed";
    }
  }

  /// For operations that have returned.
  [[nodiscard]] bool apply(const checker::operation& what) {
    const value_list& brought = what.returned->result;
    switch (what.method) {
      case send:
        return apply_send(what.argument(0), brought[0]);
      case receive:
        return apply_receive(brought);
      case is_closed:
        return is_closed_ == (brought[0] == closed);
      default:
        is_closed_ = what.method == close;
        return true;
    }
  }
  /// Sends take place in the order of the receives; messages that are never received come last.
  [[nodiscard]] static checker::foresight foresee(std::span<const checker::operation> all,
                                                  const std::vector<std::size_t>& on_object) {
    std::unordered_map<std::uint64_t, checker::foresight::interval> received_in;
    for (const std::size_t number : on_object) {
      const checker::operation& one = all[number];
      if (one.method == receive && one.returned->result.size() == 2)
        received_in[one.returned->result[1]] = {.first = one.called, .last = one.returned->at};
    }
    checker::foresight result;
    for (const std::size_t number : on_object) {
      const checker::operation& one = all[number];
      if (one.method != send || one.returned->result[0] != done) continue;
      const auto found = received_in.find(one.argument(0));
      constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
      result.order[number] = found != received_in.end()
                                 ? found->second
                                 : checker::foresight::interval{.first = last, .last = last};
    }
    return result;
  }
  [[nodiscard]] std::size_t hash() const { return checker::hash_of(places_, is_closed_ ? 1 : 0); }
  [[nodiscard]] friend bool operator==(const channel_model&, const channel_model&) = default;

 private:
  /// A message that threw during its send may occupy a place until a receiver passes over it.
  static constexpr std::uint64_t void_place = 0;

  [[nodiscard]] bool apply_send(std::uint64_t message, std::uint64_t brought) {
    if (brought == threw && hands_back_) return !is_closed_;
    if (brought == closed || is_closed_) return brought == closed && is_closed_;
    if (brought == in_vain) return !tells_full_ || places_.size() >= capacity_;
    const auto messages =
        places_.size() - static_cast<std::size_t>(std::count(places_.begin(), places_.end(), void_place));
    if (messages >= capacity_) return false;
    places_.push_back(brought == threw ? void_place : message);
    return true;
  }
  [[nodiscard]] bool apply_receive(const value_list& brought) {
    const auto first =
        std::find_if(places_.begin(), places_.end(), [](auto one) { return one != void_place; });
    if (brought[0] == done || brought[0] == threw) {
      if (first == places_.end() || *first != brought[1]) return false;
      places_.erase(places_.begin(), first + 1);
      return true;
    }
    if (is_closed_ != (brought[0] == closed)) return false;
    if (brought[0] == in_vain && !tells_empty_) return true;
    if (first != places_.end()) return false;
    places_.clear();
    return true;
  }

  std::vector<std::uint64_t> places_;
  std::size_t capacity_;
  bool tells_full_;
  bool tells_empty_;
  bool hands_back_;
  bool is_closed_ = false;
};

[[nodiscard]] channel_model::result result_of(queue_status status) {
  switch (status) {
    case queue_status::success:
      return channel_model::done;
    case queue_status::closed:
      return channel_model::closed;
    default:
      return channel_model::in_vain;
  }
}

/// The operations that one thread may use.
struct abilities {
  bool sends;
  bool receives;
};

/// Does `operations` random operations, and returns their history.
[[nodiscard]] history played(any_channel<thrower>& c, int process, const abilities& may, unsigned seed,
                             int operations) {
  using model = channel_model;
  history result;
  std::mt19937 random(seed);
  const auto now = [] {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  };
  // A message throws when it is moved.
  const auto record = [&](model::method method, const value_list& arguments, const auto& call) {
    if (random() % 8 == 0) thrower::throws_in = 1 + static_cast<unsigned>(random() % 2);
    result.call(process, 0, method, arguments, now());
    value_list brought;
    try {
      brought = call();
    } catch (const thrown& what) {
      brought = {model::threw, what.number};
    }
    result.returned(process, brought, now());
    thrower::throws_in = 0;
  };
  for (int i = 1; i <= operations; ++i) {
    const auto deadline = [&] {
      return std::chrono::steady_clock::now().time_since_epoch() +
             std::chrono::nanoseconds(random() % 20'000);
    };
    const bool waits = random() % 4 == 0;
    const auto which = random() % 32;
    if (which == 0) {
      record(model::close, {}, [&] {
        c.close();
        return value_list{};
      });
    } else if (which <= 2) {
      record(model::reopen, {}, [&] {
        c.reopen();
        return value_list{};
      });
    } else if (which == 3) {
      record(model::is_closed, {}, [&] { return value_list{c.is_closed() ? model::closed : model::done}; });
    } else if (may.sends && (which % 2 == 0 || !may.receives)) {
      const auto number = static_cast<std::uint64_t>(process + 1) << 32U | static_cast<std::uint64_t>(i);
      thrower message(number);
      record(model::send, {number}, [&] {
        return value_list{
            result_of(waits ? c.send_until(std::move(message), deadline()) : c.try_send(std::move(message)))};
      });
    } else if (may.receives) {
      record(model::receive, {}, [&] {
        const auto got = waits ? c.receive_until(deadline()) : c.try_receive();
        return got ? value_list{model::done, **got} : value_list{result_of(got.status())};
      });
    }
    if (random() % 16 == 0) sched_yield();
  }
  return result;
}

class channel_history : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(every, channel_history, ::testing::ValuesIn(channel_strategies()), name_of_strategy);

TEST_P(channel_history, is_linearizable) {
  constexpr int threads = 3;
  constexpr int operations = 40;
  unsigned seed = 0;
  for (const std::size_t capacity : {1U, 2U, 3U})
    for (int round = 0; round < 50; ++round) {
      const auto c = GetParam().make<thrower>(capacity);
      std::vector<history> of(threads);
      {
        std::atomic<int> ready = 0;
        std::vector<std::jthread> all;  // ends first
        for (int i = 0; i < threads; ++i)
          all.emplace_back([&, i, mine = ++seed] {
            ++ready;
            while (ready != threads) sched_yield();
            of[static_cast<std::size_t>(i)] = played(*c, i,
                                                     {.sends = !GetParam().has_one_sender || i == 0,
                                                      .receives = !GetParam().has_one_receiver || i == 1},
                                                     mine, operations);
          });
      }
      history together;
      for (const history& each : of) together.append(each);
      const checker::verdict found =
          checker::linearizable(together, channel_model(c->capacity(), GetParam()));
      ASSERT_EQ(found.is_linearizable, checker::linearizability::yes)
          << found.text << together.text(channel_model::name);
    }
}

}  // namespace
}  // namespace nearfar::testing
