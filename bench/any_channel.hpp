/// \file
/// A channel whose strategy is known at run time only, and the stress test that drives it.
///
/// Source: Laubert 2021, chapter 4.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/latency_histogram.hpp"
#include "nearfar/channel/channel.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::bench {

/// A message of so many bytes: who sent it and as which, a mark by which a torn one is told, and when.
template <std::size_t bytes>
struct stamped_message {
  static_assert(bytes >= sizeof(std::uint32_t) && bytes % sizeof(std::uint32_t) == 0);
  static constexpr bool has_time = bytes >= 4 * sizeof(std::uint32_t);
  static constexpr unsigned number_bits = 24;

  std::array<std::uint32_t, bytes / sizeof(std::uint32_t)> words;

  void stamp(int sender, std::int64_t number) noexcept {
    words.front() = static_cast<std::uint32_t>(sender) << number_bits |
                    (static_cast<std::uint32_t>(number) & ((1U << number_bits) - 1));
    if constexpr (bytes > sizeof(std::uint32_t)) words.back() = ~words.front();
  }
  [[nodiscard]] bool is_whole() const noexcept {
    if constexpr (bytes > sizeof(std::uint32_t))
      return words.back() == ~words.front();
    else
      return true;
  }
  [[nodiscard]] int sender() const noexcept { return static_cast<int>(words.front() >> number_bits); }
  [[nodiscard]] std::uint32_t number() const noexcept { return words.front() & ((1U << number_bits) - 1); }
  /// 0: not noted.
  void set_time(std::chrono::nanoseconds time) noexcept {
    if constexpr (has_time) {
      words[1] = static_cast<std::uint32_t>(time.count() >> 32U);
      words[2] = static_cast<std::uint32_t>(time.count());
    }
  }
  [[nodiscard]] std::chrono::nanoseconds time() const noexcept {
    if constexpr (has_time)
      return std::chrono::nanoseconds(static_cast<std::int64_t>(std::uint64_t{words[1]} << 32U | words[2]));
    else
      return std::chrono::nanoseconds(0);
  }
};

/// Sender numbers that a message has room for.
inline constexpr int most_senders = 1 << (32 - stamped_message<4>::number_bits);

/// How many at most send, and receive, at a time.
struct channel_roles {
  int senders = most_senders;
  int receivers = most_senders;
  bool meet = false;  ///< attempts alone never find each other
};

/// What the ranks of a stress test do. The first `receivers` receive, the others send; each its share.
struct channel_plan {
  std::int64_t messages = 0;
  int receivers = 1;
  bool sleeps = true;         ///< who waits; otherwise it tries again and again
  bool is_ping_pong = false;  ///< rank 0 sends each message and waits until it comes back from rank 1
  std::function<void()> beat{};
};

/// What one rank counted.
struct channel_counts {
  std::int64_t sent = 0;
  std::int64_t got = 0;
  std::int64_t in_vain = 0;  ///< attempts
  std::int64_t faults = 0;   ///< messages that were torn, or that a rank got out of their sender's order
  std::uint64_t sum = 0;     ///< of the first words of what was sent, less those of what was received
  std::chrono::nanoseconds span{};
  latency_histogram latency{};  ///< of one message in 64, from before it is sent until it has been received
};

namespace detail {

/// Threads share one channel; ranks have an object each, in near memory.
template <typename W, typename T, template <typename, typename> typename Buffer>
class channel_between {
 public:
  using type =
      std::conditional_t<std::same_as<W, threads::world>, channel<T, Buffer>, node_channel<W, T, Buffer>>;
  static constexpr bool is_shared = std::same_as<W, threads::world>;

  /// Collective.
  channel_between(W& w, [[maybe_unused]] std::size_t capacity) {
    if constexpr (is_shared) {
      if (w.rank() == 0) {
        if constexpr (type::takes_capacity)
          own_ = std::make_unique<type>(capacity);
        else
          own_ = std::make_unique<type>();
      }
      const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(own_.get()));
      // NOLINTNEXTLINE(performance-no-int-to-ptr): what ranks can tell each other are numbers
      all_ = reinterpret_cast<type*>(static_cast<std::intptr_t>(w.sum_over_ranks({address})[0]));
    } else {
      if constexpr (type::takes_capacity)
        own_ = std::make_unique<type>(w, capacity);
      else
        own_ = std::make_unique<type>(w);
      all_ = own_.get();
    }
  }
  [[nodiscard]] type& operator*() const noexcept { return *all_; }
  [[nodiscard]] type* operator->() const noexcept { return all_; }

 private:
  std::unique_ptr<type> own_;
  type* all_ = nullptr;
};

/// What part of a number of messages is that of the given one of so many.
[[nodiscard]] inline std::int64_t share_of(std::int64_t all, int index, int count) noexcept {
  return all / count + (index < all % count ? 1 : 0);
}

template <typename W, typename Channel, typename T>
void send_one(W& w, Channel& to, T& message, bool sleeps, channel_counts& counts) {
  if (sleeps) {
    if (to.send(message) != queue_status::success) ++counts.faults;
    return;
  }
  while (to.try_send(message) != queue_status::success) {
    ++counts.in_vain;
    w.rest();
  }
}
template <typename W, typename Channel>
[[nodiscard]] auto receive_one(W& w, Channel& from, bool sleeps, channel_counts& counts) {
  if (sleeps) return from.receive();
  for (;;) {
    auto message = from.try_receive();
    if (message) return message;
    ++counts.in_vain;
    w.rest();
  }
}

}  // namespace detail

/// The stress test. Collective.
template <world W, typename T, template <typename, typename> typename Buffer>
channel_counts channel_stress(W& w, std::size_t capacity, const channel_plan& plan) {
  detail::channel_between<W, T, Buffer> channel(w, capacity);
  channel_counts counts;
  const int senders = w.size() - plan.receivers;
  constexpr std::int64_t timed_every = 64;
  constexpr std::int64_t beat_every = 1 << 14;
  T message{};
  w.barrier();
  const std::chrono::nanoseconds start = w.now();
  if (w.rank() < plan.receivers) {
    std::vector<std::optional<std::uint32_t>> last(static_cast<std::size_t>(senders));
    const std::int64_t mine = detail::share_of(plan.messages, w.rank(), plan.receivers);
    for (std::int64_t i = 0; i < mine; ++i) {
      const auto got = detail::receive_one(w, *channel, plan.sleeps, counts);
      if (got->time().count() != 0) counts.latency.add(w.now() - got->time());
      auto& before = last[static_cast<std::size_t>(got->sender() % senders)];
      // Numbers wrap around; what came is after what was before by less than half of them.
      constexpr std::uint32_t numbers = 1U << T::number_bits;
      const std::uint32_t ahead = before ? (got->number() - *before) % numbers : 1;
      if (!got->is_whole() || got->sender() >= senders || ahead == 0 || ahead >= numbers / 2) ++counts.faults;
      before = got->number();
      counts.sum -= got->words.front();
      ++counts.got;
      if (i % beat_every == 0 && plan.beat) plan.beat();
    }
  } else {
    const int index = w.rank() - plan.receivers;
    const std::int64_t mine = detail::share_of(plan.messages, index, senders);
    for (std::int64_t i = 0; i < mine; ++i) {
      message.stamp(index, i);
      if constexpr (T::has_time)
        message.set_time(i % timed_every == 0 ? w.now() : std::chrono::nanoseconds(0));
      detail::send_one(w, *channel, message, plan.sleeps, counts);
      counts.sum += message.words.front();
      ++counts.sent;
    }
  }
  counts.span = w.now() - start;
  w.barrier();
  if (w.rank() == 0 && channel->try_receive().has_value()) ++counts.faults;
  w.barrier();
  return counts;
}

/// Round trips between ranks 0 and 1. Collective.
template <world W, typename T, template <typename, typename> typename Buffer>
channel_counts channel_ping_pong(W& w, std::size_t capacity, const channel_plan& plan) {
  detail::channel_between<W, T, Buffer> there(w, capacity);
  detail::channel_between<W, T, Buffer> back(w, capacity);
  channel_counts counts;
  constexpr std::int64_t beat_every = 1 << 12;
  T message{};
  w.barrier();
  const std::chrono::nanoseconds start = w.now();
  for (std::int64_t i = 0; i < plan.messages && w.rank() < 2; ++i) {
    if (w.rank() == 0) {
      const std::chrono::nanoseconds before = w.now();
      message.stamp(0, i);
      detail::send_one(w, *there, message, plan.sleeps, counts);
      counts.sum += message.words.front();
      const auto got = detail::receive_one(w, *back, plan.sleeps, counts);
      counts.sum -= got->words.front();
      if (!got->is_whole() || got->words.front() != message.words.front()) ++counts.faults;
      counts.latency.add(w.now() - before);
      ++counts.sent;
      if (i % beat_every == 0 && plan.beat) plan.beat();
    } else {
      T got = *detail::receive_one(w, *there, plan.sleeps, counts);
      ++counts.got;
      detail::send_one(w, *back, got, plan.sleeps, counts);
    }
  }
  counts.span = w.now() - start;
  w.barrier();
  return counts;
}

/// A channel of wide messages that is there, type-erased: what it has of a channel's face is called one by
/// one.
template <world W>
class open_channel {
 public:
  /// Wide, so that it may be torn.
  using value_type = std::array<std::uint64_t, 3>;

  open_channel() = default;
  open_channel(const open_channel&) = delete;
  open_channel& operator=(const open_channel&) = delete;
  virtual ~open_channel() = default;

  [[nodiscard]] virtual queue_status try_send(const value_type& message) = 0;
  [[nodiscard]] virtual queue_status send(const value_type& message) = 0;
  [[nodiscard]] virtual queue_status send_until(const value_type& message,
                                                std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<value_type> try_receive() = 0;
  [[nodiscard]] virtual received<value_type> receive() = 0;
  [[nodiscard]] virtual received<value_type> receive_until(std::chrono::nanoseconds deadline) = 0;
  virtual void close() = 0;
  virtual void reopen() = 0;
};

template <world W, template <typename, typename> typename Buffer>
class open_channel_of final : public open_channel<W> {
 public:
  using value_type = typename open_channel<W>::value_type;

  /// Collective, as is the end of it.
  open_channel_of(W& w, std::size_t capacity) : channel_(w, capacity) {}

  queue_status try_send(const value_type& message) override { return channel_->try_send(message); }
  queue_status send(const value_type& message) override { return channel_->send(message); }
  queue_status send_until(const value_type& message, std::chrono::nanoseconds deadline) override {
    return channel_->send_until(message, deadline);
  }
  received<value_type> try_receive() override { return channel_->try_receive(); }
  received<value_type> receive() override { return channel_->receive(); }
  received<value_type> receive_until(std::chrono::nanoseconds deadline) override {
    return channel_->receive_until(deadline);
  }
  void close() override { channel_->close(); }
  void reopen() override { channel_->reopen(); }

 private:
  detail::channel_between<W, value_type, Buffer> channel_;
};

/// A strategy with its parameters, type-erased for benchmarks.
template <world W>
class any_channel {
 public:
  any_channel() = default;
  any_channel(const any_channel&) = delete;
  any_channel& operator=(const any_channel&) = delete;
  virtual ~any_channel() = default;

  /// Makes a channel and runs the test, virtual as a whole, so that the channel is inlined in it. Collective.
  virtual channel_counts run(W& w, const channel_plan& plan) = 0;
  /// Makes one for whatever else, of wide messages. Collective.
  [[nodiscard]] virtual std::unique_ptr<open_channel<W>> open(W& w) = 0;
};

template <world W, typename T, template <typename, typename> typename Buffer>
class any_channel_of final : public any_channel<W> {
 public:
  explicit any_channel_of(std::size_t capacity) : capacity_(capacity) {}

  channel_counts run(W& w, const channel_plan& plan) override {
    return plan.is_ping_pong ? channel_ping_pong<W, T, Buffer>(w, capacity_, plan)
                             : channel_stress<W, T, Buffer>(w, capacity_, plan);
  }
  std::unique_ptr<open_channel<W>> open(W& w) override {
    return std::make_unique<open_channel_of<W, Buffer>>(w, capacity_);
  }

 private:
  std::size_t capacity_;
};

}  // namespace nearfar::bench
