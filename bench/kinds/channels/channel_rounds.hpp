/// \file
/// Tests whether a channel loses, duplicates, tears or reorders messages. In each round ranks send, receive,
/// close and reopen the channel at random, and count what they sent and received.
///
/// Each round draws anew which ranks send and which receive; a rank may do both or neither. They do so by
/// attempts, by waits, or by a mixture of these and timed waits. In the first kind of round each sender and
/// each receiver has its share of a number of messages, while any rank, also one that does neither, closes
/// and reopens the channel now and then. In the second kind all go on until one of them closes the channel. A
/// waiting rank must be woken, so a lost wake-up mostly shows as a round that does not end.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/kinds/channels/any_channel.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::bench {

/// A rank's record of the messages that it has sent and received. Messages have three words.
class traffic_check {
 public:
  using message = std::array<std::uint64_t, 3>;

  traffic_check(int rank, int ranks)
      : mine_(static_cast<std::uint64_t>(rank)), of_(static_cast<std::size_t>(ranks)) {}

  /// This rank's next message: its sender, its number, and a mark that detects a torn message.
  [[nodiscard]] message next() const noexcept {
    return {mine_, of_[mine_].next, mark_of(mine_, of_[mine_].next)};
  }
  void sent() noexcept {
    sender& me = of_[mine_];
    ++me.balance;
    me.marks += mark_of(mine_, me.next++);
  }
  /// Checks that the messages of each rank come in the order in which it sent them.
  void got(const message& what) noexcept {
    const auto [from, number, mark] = what;
    if (from >= of_.size() || mark != mark_of(from, number)) return fault();
    sender& other = of_[from];
    if (number < other.least) fault();
    other.least = number + 1;
    --other.balance;
    other.marks -= mark;
  }
  void fault() noexcept { ++faults_; }

  /// Counts for `faults_in`, which adds them up over all ranks while no rank sends and the channel is empty.
  [[nodiscard]] std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> result{faults_};
    for (const sender& each : of_) {
      result.push_back(each.balance);
      result.push_back(static_cast<std::int64_t>(each.marks));
    }
    return result;
  }
  /// Number of messages that were torn, lost, came twice or came out of order, and of calls with an
  /// impossible result.
  [[nodiscard]] static std::int64_t faults_in(const std::vector<std::int64_t>& sums) {
    std::int64_t result = sums[0];
    for (std::size_t i = 1; i + 1 < sums.size(); i += 2) {
      const std::int64_t missing = sums[i] < 0 ? -sums[i] : sums[i];
      result += missing != 0 || sums[i + 1] == 0 ? missing : 1;
    }
    return result;
  }

 private:
  /// This rank's knowledge of one sender's messages: numbers and marks of those sent here, minus those
  /// received here.
  struct sender {
    std::uint64_t next = 0;
    std::uint64_t least = 0;
    std::int64_t balance = 0;
    std::uint64_t marks = 0;
  };
  /// Spreads the marks, so that a few wrong messages do not cancel out (the finaliser of splitmix64).
  [[nodiscard]] static std::uint64_t mark_of(std::uint64_t from, std::uint64_t number) noexcept {
    std::uint64_t x = from << 48U ^ number;
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    return x ^ x >> 31U;
  }

  std::uint64_t mine_;
  std::vector<sender> of_;
  std::int64_t faults_ = 0;
};

/// Rounds between all ranks of a world, on channels of three-word messages.
template <world W>
class channel_rounds {
 public:
  using message = traffic_check::message;

  channel_rounds(W& w, const channel_roles& most, std::uint32_t seed)
      : world_(&w),
        ranks_(w.size()),
        most_(most),
        all_(seed * 7919U + 1U),
        random_(seed * 7919U + static_cast<std::uint32_t>(w.rank()) + 2U),
        check_(w.rank(), w.size()) {}

  /// Draws a number, the same on all ranks.
  [[nodiscard]] std::uint32_t draw_alike(std::uint32_t bound) {
    return static_cast<std::uint32_t>(all_()) % bound;
  }

  /// One round of at most `at_once` messages, which leaves the channel open and empty. `moved()` is called
  /// for each message that this rank sent or received. Returns how many it received. Collective.
  template <typename Channel, typename Moved>
  std::uint64_t run(Channel& channel, std::uint64_t at_once, const Moved& moved) {
    W& w = *world_;
    const round now = drawn(at_once);
    const std::uint64_t got =
        now.until_closed ? run_until_closed(channel, now, moved) : run_by_shares(channel, now, moved);
    w.barrier();
    if (now.receives())
      expect(channel.try_receive().status() ==
             (now.until_closed ? queue_status::closed : queue_status::empty));
    w.barrier();
    if (now.until_closed && w.rank() == now.opener) channel.reopen();
    w.barrier();
    return got;
  }

  /// Faults of all rounds so far. Collective.
  [[nodiscard]] std::int64_t faults() {
    return traffic_check::faults_in(world_->sum_over_ranks(check_.counts()));
  }

 private:
  /// How messages are sent and received in a round.
  enum class manner : std::uint8_t {
    mixed,     ///< each call draws its own form
    attempts,  ///< repeated attempts
    waits,     ///< by attempts where a rank would wait for itself
  };
  struct round {
    [[nodiscard]] bool sends() const { return index < senders; }
    [[nodiscard]] bool receives() const { return index >= ranks - receivers; }

    int ranks;
    int index;  ///< this rank's position, counted from the first rank of the round
    int senders;
    int receivers;
    int opener;
    int closer;
    bool until_closed;
    manner by;
    std::uint64_t messages;
  };

  [[nodiscard]] round drawn(std::uint64_t at_once) {
    const auto number_to = [&](int most) {
      return 1 + static_cast<int>(draw_alike(static_cast<std::uint32_t>(most)));
    };
    round result{};
    result.ranks = ranks_;
    result.index = (world_->rank() + number_to(ranks_)) % ranks_;
    result.senders = number_to(std::min(ranks_, most_.senders));
    result.receivers = number_to(std::min(ranks_, most_.receivers));
    result.opener = number_to(ranks_) - 1;
    result.closer = number_to(ranks_) - 1;
    result.until_closed = draw_alike(4) == 0;
    constexpr std::array<manner, 4> manners{manner::mixed, manner::mixed, manner::attempts, manner::waits};
    result.by = manners[draw_alike(manners.size())];
    // A timed wait sleeps often, and each sleep takes as long as hundreds of messages.
    constexpr std::uint64_t most_mixed = 4096;
    if (result.by == manner::mixed) at_once = std::min(at_once, most_mixed);
    // Rounds often have few messages, because no later message wakes a rank that sleeps at the end of a
    // round.
    std::uint64_t most = 1;
    for (auto doublings = draw_alike(static_cast<std::uint32_t>(std::bit_width(at_once))); doublings != 0;
         --doublings)
      most *= 2;
    result.messages = std::min(most + draw_alike(static_cast<std::uint32_t>(most)), at_once);
    if (most_.meet) {
      // With attempts alone no rank ever waits for another, so none would meet. And no rank meets itself.
      if (result.by == manner::attempts) result.by = manner::waits;
      result.senders = std::min(result.senders, std::max(ranks_ - 1, 1));
      result.receivers = std::min(result.receivers, ranks_ - result.senders);
      if (result.receivers == 0) {
        result.messages = 0;
        result.until_closed = false;
      }
    }
    return result;
  }

  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_()) % bound;
  }
  void expect(bool holds) {
    if (!holds) check_.fault();
  }
  /// Pauses for up to a few microseconds.
  void pause() {
    for (auto turns = below(4) == 0 ? below(4096) : below(64); turns != 0; --turns)
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  template <typename Channel>
  void close_and_reopen(Channel& channel) {
    channel.close();
    pause();
    channel.reopen();
  }
  [[nodiscard]] static std::uint64_t share_of(std::uint64_t all, int index, int count) {
    const auto of = static_cast<std::uint64_t>(count);
    return all / of + (static_cast<std::uint64_t>(index) < all % of ? 1 : 0);
  }

  enum class form : std::uint8_t { attempt, for_a_time, wait };
  /// A rank that may not wait makes attempts or timed waits.
  [[nodiscard]] form some_form(manner by, bool may_wait) {
    constexpr std::array<form, 4> forms{form::attempt, form::for_a_time, form::wait, form::wait};
    switch (by) {
      case manner::attempts:
        return form::attempt;
      case manner::waits:
        return may_wait ? form::wait : form::attempt;
      default:
        return forms[below(may_wait ? 4 : 2)];
    }
  }

  template <typename Channel>
  [[nodiscard]] queue_status send(Channel& channel, form by) {
    const message what = check_.next();
    queue_status status = queue_status::success;
    switch (by) {
      case form::attempt:
        status = channel.try_send(what);
        expect(status != queue_status::timed_out && status != queue_status::empty);
        break;
      case form::for_a_time: {
        const std::chrono::nanoseconds deadline = some_deadline();
        status = channel.send_until(what, deadline);
        expect(status != queue_status::full && status != queue_status::empty);
        expect(status != queue_status::timed_out || world_->now() >= deadline);
        break;
      }
      default:
        status = channel.send(what);
        expect(status == queue_status::success || status == queue_status::closed);
    }
    if (status == queue_status::success) check_.sent();
    return status;
  }
  template <typename Channel>
  [[nodiscard]] queue_status receive(Channel& channel, form by) {
    const auto note = [&](const received<message>& what, queue_status in_vain) {
      if (what)
        check_.got(*what);
      else
        expect(what.status() == in_vain || what.status() == queue_status::closed);
      return what ? queue_status::success : what.status();
    };
    switch (by) {
      case form::attempt:
        return note(channel.try_receive(), queue_status::empty);
      case form::for_a_time: {
        const std::chrono::nanoseconds deadline = some_deadline();
        const queue_status status = note(channel.receive_until(deadline), queue_status::timed_out);
        expect(status != queue_status::timed_out || world_->now() >= deadline);
        return status;
      }
      default:
        return note(channel.receive(), queue_status::closed);
    }
  }
  /// A deadline up to 30 us ahead. Some deadlines have passed already.
  [[nodiscard]] std::chrono::nanoseconds some_deadline() {
    return world_->now() + std::chrono::nanoseconds(below(8) == 0 ? 0 : below(30'000));
  }

  template <typename Channel, typename Moved>
  std::uint64_t run_by_shares(Channel& channel, const round& now, const Moved& moved) {
    std::uint64_t to_send = now.sends() ? share_of(now.messages, now.index, now.senders) : 0;
    const std::uint64_t mine =
        now.receives() ? share_of(now.messages, now.index - (now.ranks - now.receivers), now.receivers) : 0;
    // A rank that both sends and receives must not wait for what it would do itself.
    const bool may_wait = !(now.sends() && now.receives());
    constexpr std::uint32_t closes_every = 1024;
    if (!now.sends() && !now.receives())
      for (auto times = below(8); times != 0; --times) close_and_reopen(channel);
    std::uint64_t to_receive = mine;
    while (to_send + to_receive != 0) {
      if (below(closes_every) == 0) close_and_reopen(channel);
      const bool sends = to_receive == 0 || (to_send != 0 && below(2) == 0);
      const form by = some_form(now.by, may_wait);
      const queue_status status = sends ? send(channel, by) : receive(channel, by);
      if (status == queue_status::success) {
        --(sends ? to_send : to_receive);
        moved();
      } else if (status == queue_status::closed || by == form::attempt || !may_wait) {
        world_->rest();
      }
    }
    return mine;
  }

  template <typename Channel, typename Moved>
  std::uint64_t run_until_closed(Channel& channel, const round& now, const Moved& moved) {
    bool sends = now.sends();
    bool receives = now.receives();
    std::uint64_t until_close = world_->rank() == now.closer ? now.messages : 0;
    // An unbounded channel whose receivers are slow, because they need the same lock, would fill all memory
    // from one sender, and its receivers would take minutes to empty it.
    constexpr std::chrono::milliseconds longest(20);
    const std::chrono::nanoseconds end = world_->now() + longest;
    const bool may_wait = !(sends && receives);
    if (until_close != 0 && !sends && !receives) {
      pause();
      channel.close();
    }
    std::uint64_t got = 0;
    while (sends || receives) {
      const bool sends_now = sends && (!receives || below(2) == 0);
      const form by = some_form(now.by, may_wait);
      const queue_status status = sends_now ? send(channel, by) : receive(channel, by);
      if (status == queue_status::closed) {
        (sends_now ? sends : receives) = false;
      } else if (status == queue_status::success) {
        got += sends_now ? 0 : 1;
        moved();
      } else if (by == form::attempt || !may_wait) {
        world_->rest();
      }
      if (until_close != 0 && (--until_close == 0 || world_->now() >= end)) {
        until_close = 0;
        channel.close();
      }
    }
    return got;
  }

  W* world_;
  int ranks_;
  channel_roles most_;
  std::minstd_rand all_;     ///< draws the same on every rank
  std::minstd_rand random_;  ///< of this rank
  traffic_check check_;
};

}  // namespace nearfar::bench
