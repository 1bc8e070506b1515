#include "tests/channel/byte_channel_strategies.hpp"

#include <array>
#include <stdexcept>
#include <type_traits>

#include "nearfar/channel/strategies.hpp"

namespace nearfar::testing {
namespace {

template <typename Byte, typename Held>
class held_behind : public any_held<Byte>::face {
 public:
  explicit held_behind(Held&& of) noexcept : of_(std::move(of)) {}

  [[nodiscard]] std::span<Byte> bytes() const override { return of_.bytes(); }
  queue_status commit() override {
    if constexpr (is_frame) return std::move(of_).commit();
    throw std::logic_error("an item is not committed");
  }
  queue_status commit([[maybe_unused]] std::size_t length) override {
    if constexpr (is_frame) return std::move(of_).commit(length);
    throw std::logic_error("an item is not committed");
  }
  void give_back() override { of_.give_back(); }
  std::unique_ptr<typename any_held<Byte>::face> moved() override {
    return std::make_unique<held_behind>(std::move(of_));
  }
  void assign(typename any_held<Byte>::face& from) override {
    of_ = std::move(static_cast<held_behind&>(from).of_);
  }

 private:
  static constexpr bool is_frame = !std::is_const_v<Byte>;

  Held of_;
};

template <template <typename, typename> typename Buffer>
class byte_channel_behind : public any_byte_channel {
 public:
  explicit byte_channel_behind(const byte_channel_size& size) : of_(size) {}

  received<frame> try_reserve() override { return behind<std::byte>(of_.try_reserve()); }
  received<frame> reserve() override { return behind<std::byte>(of_.reserve()); }
  received<frame> reserve_until(std::chrono::nanoseconds deadline) override {
    return behind<std::byte>(of_.reserve_until(deadline));
  }
  received<frame> reserve_for(std::chrono::nanoseconds span) override {
    return behind<std::byte>(of_.reserve_for(span));
  }
  queue_status try_send(any_byte_channel::bytes of) override { return of_.try_send(of); }
  queue_status send(any_byte_channel::bytes of) override { return of_.send(of); }
  queue_status send_until(any_byte_channel::bytes of, std::chrono::nanoseconds deadline) override {
    return of_.send_until(of, deadline);
  }
  received<item> try_receive() override { return behind<const std::byte>(of_.try_receive()); }
  received<item> receive() override { return behind<const std::byte>(of_.receive()); }
  received<item> receive_until(std::chrono::nanoseconds deadline) override {
    return behind<const std::byte>(of_.receive_until(deadline));
  }
  received<item> receive_for(std::chrono::nanoseconds span) override {
    return behind<const std::byte>(of_.receive_for(span));
  }
  received<std::size_t> try_receive_into(std::span<std::byte> to) override {
    return of_.try_receive_into(to);
  }
  received<std::size_t> receive_into(std::span<std::byte> to) override { return of_.receive_into(to); }
  void close() override { of_.close(); }
  void reopen() override { of_.reopen(); }
  [[nodiscard]] bool is_closed() const override { return of_.is_closed(); }
  [[nodiscard]] std::size_t peek() const override { return of_.peek(); }
  [[nodiscard]] std::size_t capacity() const override { return of_.capacity(); }
  [[nodiscard]] std::size_t item_size() const override { return of_.item_size(); }

 private:
  template <typename Byte, typename Held>
  [[nodiscard]] static received<any_held<Byte>> behind(received<Held> of) {
    if (!of) return of.status();
    return any_held<Byte>(std::make_unique<held_behind<Byte, Held>>(*std::move(of)));
  }

  byte_channel<Buffer> of_;
};

template <template <typename, typename> typename Buffer>
[[nodiscard]] constexpr byte_channel_strategy strategy(std::string_view name, std::size_t places = 0) {
  using channel = byte_channel<Buffer>;
  return {.name = name,
          .places = places,
          .has_one_sender = channel::has_one_sender,
          .has_one_receiver = channel::has_one_receiver,
          .make_of = [](const byte_channel_size& size) -> std::unique_ptr<any_byte_channel> {
            return std::make_unique<byte_channel_behind<Buffer>>(size);
          }};
}

}  // namespace

std::span<const byte_channel_strategy> byte_channel_strategies() {
  using namespace channel_lock;
  using namespace list_nodes;
  static constexpr std::array all{
      strategy<ring_buffer>("ring_buffer"),
      strategy<spsc_ring>("spsc_ring"),
      strategy<mailbox>("mailbox", 1),
      strategy<ring_of<spin>::mpmc>("ring_of_spin_mpmc"),
      strategy<ring_of<ticket>::mpsc>("ring_of_ticket_mpsc"),
      strategy<ring_of<pthread_mutex>::mailbox>("ring_of_pthread_mutex_mailbox", 1),
      strategy<flagged_by<flags::twofold>::mpmc>("flagged_by_twofold_mpmc"),
      strategy<flagged_by<flags::single>::mpsc>("flagged_by_single_mpsc"),
      strategy<list_of<parking, fixed>::mpmc>("list_of_parking_fixed_mpmc"),
      strategy<spsc_list_of<heap>::spsc>("spsc_list_of_heap"),
      strategy<lock_free_list_of<recycled>::mpmc>("lock_free_list_of_recycled"),
      strategy<segments_of<recycled>::mpmc>("segments_of_recycled_mpmc"),
      strategy<segments_of<fixed, 3>::mpmc>("segments_of_3_fixed_mpmc"),
      strategy<segments_of<heap>::mpsc>("segments_of_heap_mpsc"),
  };
  return all;
}

}  // namespace nearfar::testing
