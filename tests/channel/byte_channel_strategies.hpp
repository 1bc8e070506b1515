/// \file The strategies of byte channels for tests of threads. A strategy is a value with its channels behind
/// an interface, so that a test is compiled once instead of once per strategy.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::testing {

/// A frame of any byte channel, or an item if its bytes are constant. It moves like the frame or item.
template <typename Byte>
class any_held {
 public:
  class face {
   public:
    face() = default;
    face(const face&) = delete;
    face& operator=(const face&) = delete;
    virtual ~face() = default;

    [[nodiscard]] virtual std::span<Byte> bytes() const = 0;
    /// For frames only.
    [[nodiscard]] virtual queue_status commit() = 0;
    [[nodiscard]] virtual queue_status commit(std::size_t length) = 0;
    virtual void give_back() = 0;
    [[nodiscard]] virtual std::unique_ptr<face> moved() = 0;
    /// `from` has to come from the same channel.
    virtual void assign(face& from) = 0;
  };

  explicit any_held(std::unique_ptr<face> of) : of_(std::move(of)) {}
  any_held(any_held&& from) noexcept : of_(from.of_->moved()) {}
  any_held& operator=(any_held&& from) noexcept {
    of_->assign(*from.of_);
    return *this;
  }
  ~any_held() = default;

  [[nodiscard]] std::span<Byte> bytes() const { return of_->bytes(); }
  [[nodiscard]] queue_status commit() && { return of_->commit(); }
  [[nodiscard]] queue_status commit(std::size_t length) && { return of_->commit(length); }
  void give_back() { of_->give_back(); }

 private:
  std::unique_ptr<face> of_;
};

/// A byte channel of threads with any strategy. Each function calls the channel's function of the same name.
class any_byte_channel {
 public:
  using bytes = std::span<const std::byte>;
  using frame = any_held<std::byte>;
  using item = any_held<const std::byte>;

  any_byte_channel() = default;
  any_byte_channel(const any_byte_channel&) = delete;
  any_byte_channel& operator=(const any_byte_channel&) = delete;
  virtual ~any_byte_channel() = default;

  [[nodiscard]] virtual received<frame> try_reserve() = 0;
  [[nodiscard]] virtual received<frame> reserve() = 0;
  [[nodiscard]] virtual received<frame> reserve_until(std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<frame> reserve_for(std::chrono::nanoseconds span) = 0;
  [[nodiscard]] virtual queue_status try_send(bytes of) = 0;
  [[nodiscard]] virtual queue_status send(bytes of) = 0;
  [[nodiscard]] virtual queue_status send_until(bytes of, std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<item> try_receive() = 0;
  [[nodiscard]] virtual received<item> receive() = 0;
  [[nodiscard]] virtual received<item> receive_until(std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<item> receive_for(std::chrono::nanoseconds span) = 0;
  [[nodiscard]] virtual received<std::size_t> try_receive_into(std::span<std::byte> to) = 0;
  [[nodiscard]] virtual received<std::size_t> receive_into(std::span<std::byte> to) = 0;
  virtual void close() = 0;
  virtual void reopen() = 0;
  [[nodiscard]] virtual bool is_closed() const = 0;
  [[nodiscard]] virtual std::size_t peek() const = 0;
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  [[nodiscard]] virtual std::size_t item_size() const = 0;

  [[nodiscard]] message_iterator<any_byte_channel, item> begin() {
    return message_iterator<any_byte_channel, item>(*this);
  }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
};

/// A strategy of byte channels.
struct byte_channel_strategy {
  std::string_view name;
  std::size_t places;  ///< the capacity if that is fixed; else 0
  bool has_one_sender;
  bool has_one_receiver;
  std::unique_ptr<any_byte_channel> (*make_of)(const byte_channel_size& size);

  [[nodiscard]] std::size_t capacity(std::size_t wanted) const { return places != 0 ? places : wanted; }
  [[nodiscard]] std::unique_ptr<any_byte_channel> make(std::size_t item_size, std::size_t wanted) const {
    return make_of({.item_size = item_size, .capacity = capacity(wanted)});
  }
  friend void PrintTo(const byte_channel_strategy& it, std::ostream* out) { *out << it.name; }
};

[[nodiscard]] std::span<const byte_channel_strategy> byte_channel_strategies();

}  // namespace nearfar::testing
