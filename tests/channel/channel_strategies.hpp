/// \file The strategies of channels for tests of threads, and messages that throw. A strategy is a value with
/// its channels behind an interface, so that a test is compiled once instead of once per strategy.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "nearfar/channel/received.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::testing {

/// A channel of threads with any strategy. Each function calls the channel's function of the same name.
template <typename T>
class any_channel {
 public:
  any_channel() = default;
  any_channel(const any_channel&) = delete;
  any_channel& operator=(const any_channel&) = delete;
  virtual ~any_channel() = default;

  [[nodiscard]] virtual queue_status try_send(T&& message) = 0;
  [[nodiscard]] virtual queue_status send(T&& message) = 0;
  [[nodiscard]] virtual queue_status send_until(T&& message, std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual queue_status send_for(T&& message, std::chrono::nanoseconds span) = 0;
  [[nodiscard]] virtual received<T> try_receive() = 0;
  [[nodiscard]] virtual received<T> receive() = 0;
  [[nodiscard]] virtual received<T> receive_until(std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<T> receive_for(std::chrono::nanoseconds span) = 0;

  /// Gives the messages away, or copies them; `thrower` has no copies.
  virtual queue_range_result try_send_range(std::vector<T>&& messages) = 0;
  virtual queue_range_result try_send_range(const std::vector<T>& messages) = 0;
  virtual queue_range_result send_range(std::vector<T>&& messages) = 0;
  virtual queue_range_result send_range(const std::vector<T>& messages) = 0;
  /// Appends to the vector.
  virtual queue_range_result try_receive_range(std::vector<T>& to, std::size_t most) = 0;
  virtual queue_range_result receive_range(std::vector<T>& to, std::size_t most) = 0;

  virtual void close() = 0;
  virtual void reopen() = 0;
  [[nodiscard]] virtual bool is_closed() const = 0;
  [[nodiscard]] virtual std::size_t peek() const = 0;
  [[nodiscard]] virtual std::size_t capacity() const = 0;

  [[nodiscard]] message_iterator<any_channel, T> begin() { return message_iterator<any_channel, T>(*this); }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
};

/// Thrown by the message of that number.
struct thrown {
  std::uint64_t number;
};

/// A number in memory of its own. A copy has its own number; a moved-from object has none.
class owned {
 public:
  explicit owned(std::uint64_t number) : number_(std::make_unique<std::uint64_t>(number)) {}
  owned(const owned& from) : owned(*from) {}
  owned(owned&&) noexcept = default;
  owned& operator=(const owned& from) { return *this = owned(from); }
  owned& operator=(owned&&) noexcept = default;
  ~owned() = default;
  [[nodiscard]] explicit operator bool() const noexcept { return number_ != nullptr; }
  [[nodiscard]] std::uint64_t operator*() const { return *number_; }
  [[nodiscard]] friend bool operator==(const owned& one, const owned& other) { return *one == *other; }

 private:
  std::unique_ptr<std::uint64_t> number_;
};

/// A number without copies. Its move throws, or closes a channel, in a thread that was told so.
class thrower {
 public:
  explicit thrower(std::uint64_t number) : number_(number) { ++living; }
  thrower(thrower&& from) : number_(moved(from)) {  // NOLINT(performance-noexcept-move-constructor)
    ++living;
  }
  thrower& operator=(thrower&& from) {  // NOLINT(performance-noexcept-move-constructor)
    number_ = moved(from);
    return *this;
  }
  ~thrower() { --living; }
  [[nodiscard]] std::uint64_t operator*() const { return *number_; }

  static inline thread_local unsigned throws_in = 0;     ///< number of moves until one throws; 0: none does
  static inline thread_local unsigned throws_every = 0;  ///< every move of this number throws; 0: never
  static inline thread_local any_channel<thrower>* closed_by_move = nullptr;  ///< by the next move
  static inline thread_local int living = 0;  ///< objects made by the thread, less those it destroyed

 private:
  [[nodiscard]] static owned moved(thrower& from) {
    static thread_local unsigned moves = 0;
    if (closed_by_move != nullptr) std::exchange(closed_by_move, nullptr)->close();
    if ((throws_in != 0 && --throws_in == 0) || (throws_every != 0 && ++moves % throws_every == 0))
      throw thrown{*from.number_};
    return std::move(from.number_);
  }
  owned number_;
};

/// A strategy of channels.
struct channel_strategy {
  template <typename T>
  using maker = std::unique_ptr<any_channel<T>> (*)(std::size_t capacity);

  std::string_view name;
  bool takes_capacity;
  bool has_one_sender;
  bool has_one_receiver;
  /// Whether a send moves a message that throws before it knows that the channel is open.
  bool hands_back;
  /// Whether full and empty are linearizable, as the headers say.
  bool tells_full;
  bool tells_empty;
  /// For all messages that tests send.
  std::tuple<maker<std::uint64_t>, maker<owned>, maker<thrower>> makers;

  /// With that capacity if it takes one.
  template <typename T>
  [[nodiscard]] std::unique_ptr<any_channel<T>> make(std::size_t capacity) const {
    return std::get<maker<T>>(makers)(capacity);
  }
  friend void PrintTo(const channel_strategy& it, std::ostream* out) { *out << it.name; }
};

[[nodiscard]] std::span<const channel_strategy> channel_strategies();
[[nodiscard]] std::vector<channel_strategy> channel_strategies_where(auto&& predicate) {
  std::vector<channel_strategy> result;
  std::ranges::copy_if(channel_strategies(), std::back_inserter(result), predicate);
  return result;
}

/// How Googletest calls the tests of one.
inline constexpr auto name_of_strategy = [](const auto& of) { return std::string(of.param.name); };

}  // namespace nearfar::testing
