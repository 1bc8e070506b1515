/// \file
/// A channel whose strategy is known only at run time, and the stress test that drives it.
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

#include "bench/results/latency_histogram.hpp"
#include "nearfar/channel/channel.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::bench {

/// A message of `bytes` bytes: its sender, its number, its send time, and marks by which a receiver detects a
/// torn message.
///
/// The last word is a mark. In a longer message another mark moves from word to word with the number. So each
/// word is checked once in a while, at the cost of one word per message.
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
    if constexpr (has_moving_mark) words[moving_mark()] = ~words.front();
  }
  [[nodiscard]] bool is_whole() const noexcept {
    bool result = true;
    if constexpr (bytes > sizeof(std::uint32_t)) result = words.back() == ~words.front();
    if constexpr (has_moving_mark) result = result && words[moving_mark()] == ~words.front();
    return result;
  }
  [[nodiscard]] int sender() const noexcept { return static_cast<int>(words.front() >> number_bits); }
  [[nodiscard]] std::uint32_t number() const noexcept { return words.front() & ((1U << number_bits) - 1); }
  /// 0 means no time.
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

 private:
  static constexpr std::size_t first_free = 3;  ///< after the number and the time
  static constexpr bool has_moving_mark = bytes > (first_free + 1) * sizeof(std::uint32_t);

  [[nodiscard]] std::size_t moving_mark() const noexcept
    requires has_moving_mark
  {
    return first_free + number() % (bytes / sizeof(std::uint32_t) - 1 - first_free);
  }
};

/// Number of senders that a message can distinguish.
inline constexpr int most_senders = 1 << (32 - stamped_message<4>::number_bits);

/// The most ranks that may send, and receive, at a time.
struct channel_roles {
  int senders = most_senders;
  int receivers = most_senders;
  bool meet = false;  ///< sends and receives must meet: attempts alone never find each other
};

/// The deeds of the ranks in a stress test. The first `receivers` ranks receive and the others send; each
/// does its share.
struct channel_plan {
  std::int64_t messages = 0;
  int receivers = 1;
  bool sleeps = true;         ///< waiting ranks sleep; otherwise they try again and again
  bool is_ping_pong = false;  ///< rank 0 sends each message and waits until it comes back from rank 1
  std::function<void()> beat{};
};

/// Counts of one rank.
struct channel_counts {
  std::int64_t sent = 0;
  std::int64_t got = 0;
  std::int64_t in_vain = 0;  ///< failed attempts
  std::int64_t faults = 0;   ///< messages that were torn or received out of their sender's order
  std::uint64_t sum = 0;     ///< of the first words of sent messages, minus those of received messages
  std::chrono::nanoseconds span{};
  latency_histogram latency{};  ///< of one message in 64, from before its send until after its receive
};

/// A type-erased channel of messages of one type. Each call costs one more indirect call. A benchmark
/// compiles its loop for each type of message, but not for each strategy.
template <typename T>
class message_port {
 public:
  using value_type = T;

  message_port() = default;
  message_port(const message_port&) = delete;
  message_port& operator=(const message_port&) = delete;
  virtual ~message_port() = default;

  [[nodiscard]] virtual queue_status try_send(const T& message) = 0;
  [[nodiscard]] virtual queue_status send(const T& message) = 0;
  [[nodiscard]] virtual received<T> try_receive() = 0;
  [[nodiscard]] virtual received<T> receive() = 0;
};

/// The same with the rest of a channel's interface, for messages so wide that they may be torn.
class whole_port : public message_port<std::array<std::uint64_t, 3>> {
 public:
  [[nodiscard]] virtual queue_status send_until(const value_type& message,
                                                std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<value_type> receive_until(std::chrono::nanoseconds deadline) = 0;
  virtual void close() = 0;
  virtual void reopen() = 0;
};

/// Makes a channel with room for `capacity` messages, if its strategy takes a capacity. Collective, except
/// among threads.
template <world W, typename Port>
using port_maker = std::unique_ptr<Port> (*)(W& w, std::size_t capacity);

/// The channel of all ranks. Among threads it is one object, which rank 0 makes and destroys. In other worlds
/// each rank has an object for it.
template <world W, typename Port>
class shared_port {
 public:
  /// Collective.
  shared_port(W& w, std::size_t capacity, port_maker<W, Port> make) {
    constexpr bool is_one_object = std::same_as<W, threads::world>;
    if (!is_one_object || w.rank() == 0) own_ = make(w, capacity);
    all_ = own_.get();
    if constexpr (is_one_object) {
      const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(all_));
      // NOLINTNEXTLINE(performance-no-int-to-ptr): what ranks can tell each other are numbers
      all_ = reinterpret_cast<Port*>(static_cast<std::intptr_t>(w.sum_over_ranks({address})[0]));
    }
  }
  [[nodiscard]] Port& operator*() const noexcept { return *all_; }
  [[nodiscard]] Port* operator->() const noexcept { return all_; }

 private:
  std::unique_ptr<Port> own_;
  Port* all_ = nullptr;
};

/// A strategy with its parameters, type-erased for benchmarks.
template <world W>
class any_channel {
 public:
  any_channel() = default;
  any_channel(const any_channel&) = delete;
  any_channel& operator=(const any_channel&) = delete;
  virtual ~any_channel() = default;

  /// Makes a channel, or one in each direction for ping-pong, and runs the test. Collective.
  virtual channel_counts run(W& w, const channel_plan& plan) = 0;
  /// Makes a channel for other uses. Collective, as is its destruction.
  [[nodiscard]] virtual shared_port<W, whole_port> open(W& w) = 0;
};

namespace detail {

template <typename W, typename T, template <typename, typename> typename Buffer>
struct channel_in {
  using type = node_channel<W, T, Buffer>;
};
template <typename T, template <typename, typename> typename Buffer>
struct channel_in<threads::world, T, Buffer> {
  using type = channel<T, Buffer>;
};

/// Adapts a channel to one of the two ports.
template <typename Channel, typename Port>
class port_of : public Port {
 public:
  using value_type = typename Port::value_type;

  template <typename... Arguments>
  explicit port_of(Arguments&&... arguments) : channel_(std::forward<Arguments>(arguments)...) {}

  queue_status try_send(const value_type& message) final { return channel_.try_send(message); }
  queue_status send(const value_type& message) final { return channel_.send(message); }
  received<value_type> try_receive() final { return channel_.try_receive(); }
  received<value_type> receive() final { return channel_.receive(); }

 protected:
  Channel channel_;  // NOLINT(cppcoreguidelines-non-private-member-variables-in-classes): of the port below
};
template <typename Channel>
class whole_port_of final : public port_of<Channel, whole_port> {
  using base = port_of<Channel, whole_port>;

 public:
  using base::base;
  using typename base::value_type;

  queue_status send_until(const value_type& message, std::chrono::nanoseconds deadline) override {
    return this->channel_.send_until(message, deadline);
  }
  received<value_type> receive_until(std::chrono::nanoseconds deadline) override {
    return this->channel_.receive_until(deadline);
  }
  void close() override { this->channel_.close(); }
  void reopen() override { this->channel_.reopen(); }
};

template <world W, typename Port, template <typename, typename> typename Buffer>
[[nodiscard]] std::unique_ptr<Port> make_port([[maybe_unused]] W& w, [[maybe_unused]] std::size_t capacity) {
  using channel_type = typename channel_in<W, typename Port::value_type, Buffer>::type;
  using made = std::conditional_t<std::same_as<Port, whole_port>, whole_port_of<channel_type>,
                                  port_of<channel_type, Port>>;
  // Without std::make_unique, because its types take longer to compile than the port.
  if constexpr (std::same_as<W, threads::world> && channel_type::takes_capacity)
    return std::unique_ptr<Port>(new made(capacity));
  else if constexpr (std::same_as<W, threads::world>)
    return std::unique_ptr<Port>(new made());
  else if constexpr (channel_type::takes_capacity)
    return std::unique_ptr<Port>(new made(w, capacity));
  else
    return std::unique_ptr<Port>(new made(w));
}

}  // namespace detail

}  // namespace nearfar::bench
