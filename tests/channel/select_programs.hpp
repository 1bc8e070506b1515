/// \file Programs by which the model checker checks selections: ranks that wait for the first of two
/// channels.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "nearfar/channel/select.hpp"
#include "tests/channel/channel_programs.hpp"

namespace nearfar::checker::testing {

using model_memory = node_memory<world>;

/// The result of a selection: how much more was sent than received, as the sum of the messages' values, and
/// the status.
struct outcome {
  std::int64_t balance = 0;
  queue_status status = queue_status::timed_out;
};

/// The fault in how a rank waits at one of its channels.
enum class flaw_of_case : std::uint8_t {
  none,
  stays_watched,  ///< hears of events there for ever
  looks_once,     ///< does not look again once it hears of an event there
  sees_nobody,    ///< misses ranks that wait there already
  is_not_listed   ///< no rank finds it there
};

/// A case with a flaw.
class flawed_case final : public nearfar::detail::basic_case<model_memory> {
  using base = nearfar::detail::basic_case<model_memory>;

 public:
  flawed_case(base& of, flaw_of_case wrong) : of_(&of), wrong_(wrong) {}

  [[nodiscard]] bool is_spent() const noexcept override { return of_->is_spent(); }
  [[nodiscard]] bool attempt() override {
    const bool looks = wrong_ != flaw_of_case::looks_once || !is_just_watched_;
    is_just_watched_ = false;
    return looks && of_->attempt();
  }
  void watch(nearfar::detail::waiter<model_memory>& whom, std::uint32_t number) override {
    is_just_watched_ = true;
    of_->watch(whom, number);
  }
  void unwatch() override {
    if (wrong_ != flaw_of_case::stays_watched) of_->unwatch();
  }
  [[nodiscard]] const void* meeting_place() const noexcept override { return of_->meeting_place(); }
  void acquire() override { of_->acquire(); }
  void release() override { of_->release(); }
  [[nodiscard]] bool is_ready() override { return wrong_ != flaw_of_case::sees_nobody && of_->is_ready(); }
  void enlist() override {
    if (wrong_ != flaw_of_case::is_not_listed) of_->enlist();
  }
  void complete() override { of_->complete(); }
  void report() override { of_->report(); }

 private:
  base* of_;
  flaw_of_case wrong_;
  bool is_just_watched_ = false;
};

/// One rank's two channels, and the words by which it waits at them.
template <typename First, typename Second>
class chooser {
  template <typename Channel>
  using words_of = typename nearfar::detail::case_entry<model_memory, typename Channel::buffer_type>;

  struct words {
    nearfar::detail::waiter<model_memory> me{};
    words_of<First> first{};
    words_of<Second> second{};
  };

 public:
  chooser(world& w, First& first, Second& second, flaw_of_case wrong = flaw_of_case::none)
      : memory_(w),
        words_(w, 1),
        mine_(&words_.at({w.rank(), 0})),
        first_(&first),
        second_(&second),
        wrong_(wrong) {}

  /// Sends to, or receives from, the first and the second channel: a message other than 0 is sent.
  [[nodiscard]] outcome operator()(word to_first, word to_second,
                                   const channel_deadline& deadline = std::nullopt) {
    outcome result;
    with_case(*first_, mine_->first, to_first, result, [&](auto& one) {
      with_case(*second_, mine_->second, to_second, result, [&](auto& other) {
        using all = nearfar::detail::selection<model_memory>;
        flawed_case flawed_one(one, wrong_);
        flawed_case flawed_other(other, wrong_);
        std::array<all::numbered, 2> cases{all::numbered{&one, 0}, all::numbered{&other, 1}};
        if (wrong_ != flaw_of_case::none)
          cases = {all::numbered{&flawed_one, 0}, all::numbered{&flawed_other, 1}};
        static_cast<void>(
            nearfar::detail::select_among<model_memory>(memory_, mine_->me, cases, deadline, random_));
      });
    });
    return result;
  }

 private:
  template <typename Channel, typename Words, typename Then>
  static void with_case(Channel& channel, Words& words, word message, outcome& result, const Then& then) {
    if (message == get) {
      const auto note = [&result](received<word> got) {
        result.status = got.status();
        if (got) result.balance = -static_cast<std::int64_t>(*got);
      };
      nearfar::detail::channel_case<Channel, false, decltype(note)> one(channel, note, &words);
      then(one);
    } else {
      const auto note = [&result, message](queue_status status) {
        result.status = status;
        if (status == queue_status::success) result.balance = static_cast<std::int64_t>(message);
      };
      nearfar::detail::channel_case<Channel, true, decltype(note)> one(channel, message, note, &words);
      then(one);
    }
  }

  model_memory memory_;
  world::near_array<words> words_;
  words* mine_;
  First* first_;
  Second* second_;
  flaw_of_case wrong_;
  std::minstd_rand random_;
};

/// The selections of a rank, one after the other: messages to the first and the second channel, or `get`.
using selections = std::vector<std::pair<word, word>>;

/// The messages received, with those left in the channels, are the messages sent. Collective.
template <typename First, typename Second>
void expect_balanced(world& w, First& first, Second& second, std::int64_t balance) {
  w.barrier();
  if (w.rank() == 0) {
    if (const auto rest = first.try_receive()) balance -= static_cast<std::int64_t>(*rest);
    if (const auto rest = second.try_receive()) balance -= static_cast<std::int64_t>(*rest);
  }
  if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost, doubled or changed");
  w.barrier();
}

/// All ranks select, or with `soon` select until a deadline. Afterwards the messages received are those sent.
template <typename First, typename Second>
[[nodiscard]] program choices(const std::vector<selections>& of_ranks, bool soon = false,
                              flaw_of_case wrong = flaw_of_case::none) {
  return on_a_node(static_cast<int>(of_ranks.size()), [=](world& w, monitor&) {
    First first(w, 1);
    Second second(w, 1);
    chooser<First, Second> choose(w, first, second, wrong);
    channel_deadline deadline;
    if (soon) deadline = w.now() + std::chrono::nanoseconds(1);
    std::int64_t balance = 0;
    for (const auto& [to_first, to_second] : of_ranks[static_cast<std::size_t>(w.rank())]) {
      const outcome result = choose(to_first, to_second, deadline);
      if (!soon && result.status != queue_status::success) throw nearfar::error("nobody closes");
      balance += result.balance;
    }
    expect_balanced(w, first, second, balance);
  });
}

/// One rank selects, others send as usual, and a third closes a channel.
template <typename First, typename Second>
[[nodiscard]] program choice_among_closed() {
  return on_a_node(3, [](world& w, monitor&) {
    First first(w, 1);
    Second second(w, 1);
    chooser<First, Second> choose(w, first, second);
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (;;) {
        const outcome result = choose(get, get);
        if (result.status == queue_status::closed) break;
        balance += result.balance;
      }
    } else if (w.rank() == 1) {
      if (first.send(5) == queue_status::success) balance += 5;
    } else {
      if (second.send(7) == queue_status::success) balance += 7;
      first.close();
      second.close();
    }
    expect_balanced(w, first, second, balance);
  });
}

/// One rank selects as often as two others send. These send without selecting.
template <typename First, typename Second>
[[nodiscard]] program choice_of_messages(word count, flaw_of_case wrong = flaw_of_case::none) {
  return on_a_node(3, [=](world& w, monitor&) {
    First first(w, 1);
    Second second(w, 1);
    chooser<First, Second> choose(w, first, second, wrong);
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (word i = 0; i < 2 * count; ++i) balance += choose(get, get).balance;
    } else {
      for (word i = 1; i <= count; ++i) {
        const auto status = w.rank() == 1 ? first.send(i) : second.send(i);
        if (status != queue_status::success) throw nearfar::error("nobody closes");
        balance += static_cast<std::int64_t>(i);
      }
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost, doubled or changed");
    w.barrier();
  });
}

/// Two ranks select again and again from what the third sends.
template <typename First, typename Second>
[[nodiscard]] program choices_of_two(word count) {
  return on_a_node(3, [=](world& w, monitor&) {
    First first(w, 1);
    Second second(w, 1);
    chooser<First, Second> choose(w, first, second);
    std::int64_t balance = 0;
    for (word i = 1; i <= count; ++i) {
      if (w.rank() != 2) {
        balance += choose(get, get).balance;
      } else {
        if (first.send(i) != queue_status::success || second.send(10 * i) != queue_status::success)
          throw nearfar::error("nobody closes");
        balance += 11 * static_cast<std::int64_t>(i);
      }
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost, doubled or changed");
    w.barrier();
  });
}

/// One rank selects and another receives from the first channel only, until the third rank, the sender,
/// closes both.
template <typename First, typename Second>
[[nodiscard]] program choice_beside_a_receiver() {
  return on_a_node(3, [](world& w, monitor&) {
    First first(w, 1);
    Second second(w, 1);
    chooser<First, Second> choose(w, first, second);
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (outcome result; (result = choose(get, get)).status != queue_status::closed;)
        balance += result.balance;
    } else if (w.rank() == 1) {
      for (const word message : first) balance -= static_cast<std::int64_t>(message);
    } else {
      for (const word message : {1U, 2U})
        if (first.send(message) == queue_status::success) balance += static_cast<std::int64_t>(message);
      if (second.send(4) == queue_status::success) balance += 4;
      first.close();
      second.close();
    }
    expect_balanced(w, first, second, balance);
  });
}

}  // namespace nearfar::checker::testing
