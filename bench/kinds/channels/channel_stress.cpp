// The loops of the channel benchmark, for each world and size of messages.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::bench {

namespace {

/// The share of rank `index` of `count` ranks in all messages.
std::int64_t share_of(std::int64_t all, int index, int count) noexcept {
  return all / count + (index < all % count ? 1 : 0);
}

template <typename W, typename T>
void send_one(W& w, message_port<T>& to, const T& message, bool sleeps, channel_counts& counts) {
  if (sleeps) {
    if (to.send(message) != queue_status::success) ++counts.faults;
    return;
  }
  while (to.try_send(message) != queue_status::success) {
    ++counts.in_vain;
    w.rest();
  }
}
template <typename W, typename T>
received<T> receive_one(W& w, message_port<T>& from, bool sleeps, channel_counts& counts) {
  if (sleeps) return from.receive();
  for (;;) {
    auto message = from.try_receive();
    if (message) return message;
    ++counts.in_vain;
    w.rest();
  }
}

/// The stress test. Collective.
template <world W, typename T>
channel_counts channel_stress(W& w, message_port<T>& channel, const channel_plan& plan) {
  channel_counts counts;
  const int senders = w.size() - plan.receivers;
  constexpr std::int64_t timed_every = 64;
  constexpr std::int64_t beat_every = 1 << 14;
  T message{};
  w.barrier();
  const std::chrono::nanoseconds start = w.now();
  if (w.rank() < plan.receivers) {
    std::vector<std::optional<std::uint32_t>> last(static_cast<std::size_t>(senders));
    const std::int64_t mine = share_of(plan.messages, w.rank(), plan.receivers);
    for (std::int64_t i = 0; i < mine; ++i) {
      const auto got = receive_one(w, channel, plan.sleeps, counts);
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
    const std::int64_t mine = share_of(plan.messages, index, senders);
    for (std::int64_t i = 0; i < mine; ++i) {
      message.stamp(index, i);
      if constexpr (T::has_time)
        message.set_time(i % timed_every == 0 ? w.now() : std::chrono::nanoseconds(0));
      send_one(w, channel, message, plan.sleeps, counts);
      counts.sum += message.words.front();
      ++counts.sent;
    }
  }
  counts.span = w.now() - start;
  w.barrier();
  if (w.rank() == 0 && channel.try_receive().has_value()) ++counts.faults;
  w.barrier();
  return counts;
}

/// Round trips between ranks 0 and 1. Collective.
template <world W, typename T>
channel_counts channel_ping_pong(W& w, message_port<T>& there, message_port<T>& back,
                                 const channel_plan& plan) {
  channel_counts counts;
  constexpr std::int64_t beat_every = 1 << 12;
  T message{};
  w.barrier();
  const std::chrono::nanoseconds start = w.now();
  for (std::int64_t i = 0; i < plan.messages && w.rank() < 2; ++i) {
    if (w.rank() == 0) {
      const std::chrono::nanoseconds before = w.now();
      message.stamp(0, i);
      send_one(w, there, message, plan.sleeps, counts);
      counts.sum += message.words.front();
      const auto got = receive_one(w, back, plan.sleeps, counts);
      counts.sum -= got->words.front();
      if (!got->is_whole() || got->words.front() != message.words.front()) ++counts.faults;
      counts.latency.add(w.now() - before);
      ++counts.sent;
      if (i % beat_every == 0 && plan.beat) plan.beat();
    } else {
      const T got = *receive_one(w, there, plan.sleeps, counts);
      ++counts.got;
      send_one(w, back, got, plan.sleeps, counts);
    }
  }
  counts.span = w.now() - start;
  w.barrier();
  return counts;
}

template <world W, typename T>
class stressed_channel final : public any_channel<W> {
 public:
  stressed_channel(std::size_t capacity, port_maker<W, message_port<T>> make, port_maker<W, whole_port> whole)
      : capacity_(capacity), make_(make), make_whole_(whole) {}

  channel_counts run(W& w, const channel_plan& plan) override {
    const shared_port<W, message_port<T>> there(w, capacity_, make_);
    if (!plan.is_ping_pong) return channel_stress<W, T>(w, *there, plan);
    const shared_port<W, message_port<T>> back(w, capacity_, make_);
    return channel_ping_pong<W, T>(w, *there, *back, plan);
  }
  shared_port<W, whole_port> open(W& w) override { return {w, capacity_, make_whole_}; }

 private:
  std::size_t capacity_;
  port_maker<W, message_port<T>> make_;
  port_maker<W, whole_port> make_whole_;
};

}  // namespace

template <world W>
std::unique_ptr<any_channel<W>> make_any_channel(const channel_makers<W>& makers,
                                                 const channel_parameters& of) {
  std::unique_ptr<any_channel<W>> result;
  const auto try_size = [&]<typename T>(port_maker<W, message_port<T>> make) {
    if (of.bytes == sizeof(T))
      result = std::make_unique<stressed_channel<W, T>>(of.capacity, make, makers.whole);
  };
  std::apply([&](auto... each) { (try_size(each), ...); }, makers.stressed);
  if (result == nullptr) throw misuse("there are no messages of " + std::to_string(of.bytes) + " bytes");
  return result;
}

template std::unique_ptr<any_channel<mpi::world>> make_any_channel(const channel_makers<mpi::world>&,
                                                                   const channel_parameters&);
template std::unique_ptr<any_channel<threads::world>> make_any_channel(const channel_makers<threads::world>&,
                                                                       const channel_parameters&);

}  // namespace nearfar::bench
