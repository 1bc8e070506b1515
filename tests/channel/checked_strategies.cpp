#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "tests/channel/channel_programs.hpp"

namespace nearfar::checker::testing {
namespace {

/// Takes any world, as a policy has to.
template <typename W>
class near_mcs : public mcs_lock<W> {
 public:
  using mcs_lock<W>::mcs_lock;
};

template <template <typename, typename> typename Buffer>
class channel_behind : public any_channel {
 public:
  channel_behind(world& w, std::size_t capacity) : of_(w, capacity) {}

  queue_status try_send(word message) override { return of_.try_send(std::move(message)); }
  queue_status send(word message) override { return of_.send(std::move(message)); }
  queue_status send_until(word message, std::chrono::nanoseconds deadline) override {
    return of_.send_until(std::move(message), deadline);
  }
  received<word> try_receive() override { return of_.try_receive(); }
  received<word> receive() override { return of_.receive(); }
  received<word> receive_until(std::chrono::nanoseconds deadline) override {
    return of_.receive_until(deadline);
  }
  queue_range_result send_range(std::span<const word> messages) override { return of_.send_range(messages); }
  queue_range_result receive_range(std::span<word> to) override {
    return of_.receive_range(to.begin(), to.size());
  }
  void close() override { of_.close(); }
  void reopen() override { of_.reopen(); }
  [[nodiscard]] std::size_t peek() const override { return of_.peek(); }

 private:
  tested<Buffer> of_;
};

template <typename Buffer>
class buffer_behind : public any_buffer {
 public:
  buffer_behind(node_memory<world>& memory, std::size_t capacity)
    requires(Buffer::takes_capacity)
      : of_(memory, capacity) {}
  buffer_behind(node_memory<world>& memory, std::size_t /*capacity*/)
    requires(!Buffer::takes_capacity)
      : of_(memory) {}

  queue_status put(word& value) override { return of_.put(value); }
  received<word> take() override { return of_.take(); }
  bool close() override { return of_.close(); }
  bool reopen() override { return of_.reopen(); }
  [[nodiscard]] std::size_t count() const override { return of_.count(); }

 private:
  Buffer of_;
};

/// Stands in for frames of bytes: one word each. A frame that two ranks have at a time is then a data race.
template <typename Memory>
class word_frames {
 public:
  using cell = typename Memory::world_type::template plain<word>;
  using writable = cell&;
  using readable = const cell&;

  word_frames(Memory& memory, const byte_channel_size& size) : places_(memory, size.capacity) {}
  [[nodiscard]] writable to_write(std::size_t number) const { return places_[number].of; }
  [[nodiscard]] readable to_read(std::size_t number, std::size_t /*length*/) const {
    return places_[number].of;
  }

 private:
  struct place {
    cell of{};
  };
  typename Memory::template array<place> places_;
};

/// A channel of frames of a word.
template <template <typename, typename> typename Buffer>
class tested_frames : public basic_byte_channel<node_memory<world>, Buffer, word_frames<node_memory<world>>> {
 public:
  using base = basic_byte_channel<node_memory<world>, Buffer, word_frames<node_memory<world>>>;
  tested_frames(world& w, std::size_t capacity) : base({.item_size = 1, .capacity = capacity}, w, 0) {}
};

template <typename Channel>
[[nodiscard]] program frame_streams(std::size_t capacity, int senders, int receivers, word count,
                                    bool closes) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    Channel channel(w, capacity);
    std::array<word, 4> least{1, 1, 1, 1};
    std::int64_t got = 0;
    const auto note = [&](auto& item) {
      const word message = item.bytes().load();
      item.give_back();
      const auto from = static_cast<std::size_t>(message / 16);
      if (from >= least.size() || message % 16 < least[from]) throw nearfar::error("doubled or out of order");
      least[from] = message % 16 + 1;
      ++got;
    };
    if (w.rank() < senders) {
      channel.reserve()->give_back();
      for (word i = 1; i <= count; ++i) {
        auto frame = channel.reserve();
        frame->bytes().store(static_cast<word>(w.rank()) * 16 + i);
        if (std::move(*frame).commit() != queue_status::success) throw nearfar::error("nobody closes yet");
      }
      if (closes && senders == 1) channel.close();
    } else if (closes) {
      for (auto& item : channel) note(item);
    } else {
      const word all = count * static_cast<word>(senders);
      const auto mine = static_cast<word>(w.rank() - senders);
      const auto shares = static_cast<word>(receivers);
      for (word i = mine; i < all; i += shares) {
        auto item = channel.receive();
        note(*item);
      }
    }
    if (w.sum_over_ranks({got})[0] != static_cast<std::int64_t>(count) * senders)
      throw nearfar::error("lost");
    w.barrier();
  });
}

template <typename Channel>
[[nodiscard]] program frame_closing(std::size_t capacity) {
  return on_a_node(Channel::has_one_sender ? 3 : 4, [=](world& w, monitor&) {
    Channel channel(w, capacity);
    std::int64_t balance = 0;
    const auto commit_one = [&] {
      auto frame = channel.reserve();
      if (!frame) return;
      frame->bytes().store(1);
      balance += std::move(*frame).commit() == queue_status::success ? 1 : 0;
    };
    if (w.rank() == 0) {
      commit_one();
      commit_one();
    } else if (w.rank() == 1) {
      for (auto& item : channel) {
        balance -= static_cast<std::int64_t>(item.bytes().load());
        item.give_back();
      }
    } else if (w.rank() == 2) {
      channel.close();
    } else {
      commit_one();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    w.barrier();
    channel.reopen();
    w.barrier();
    if (w.rank() == 0) {
      std::array<std::optional<typename Channel::frame>, 2> all;
      for (std::size_t i = 0; i < capacity; ++i) {
        auto frame = channel.try_reserve();
        if (!frame) throw nearfar::error("a frame did not come back");
        all[i].emplace(*std::move(frame));
      }
      for (auto& one : all)
        if (one) one->give_back();
    }
    w.barrier();
  });
}

template <template <typename, typename> typename Buffer>
[[nodiscard]] constexpr strategy channels_of(std::string_view name) {
  using channel = tested<Buffer>;
  return {.name = name,
          .tells_full = true,
          .places = 0,
          .has_one_sender = channel::has_one_sender,
          .has_one_receiver = channel::has_one_receiver,
          .is_late = nearfar::detail::tells_late<typename channel::buffer>,
          .make = [](world& w,
                     std::size_t capacity) { return made_channel(new channel_behind<Buffer>(w, capacity)); },
          .make_buffer = nullptr,
          .frame_streams = nullptr,
          .frame_closing = nullptr};
}
/// Properties of a strategy: whether it tells full exactly, and how many places a mailbox has.
template <template <typename, typename> typename Buffer>
[[nodiscard]] constexpr strategy all_of(std::string_view name, bool tells_full = true,
                                        std::size_t places = 0) {
  strategy result = channels_of<Buffer>(name);
  result.tells_full = tells_full;
  result.places = places;
  result.make_buffer = [](node_memory<world>& memory, std::size_t capacity) -> std::unique_ptr<any_buffer> {
    return std::make_unique<buffer_behind<Buffer<node_memory<world>, word>>>(memory, capacity);
  };
  result.frame_streams = &frame_streams<tested_frames<Buffer>>;
  result.frame_closing = &frame_closing<tested_frames<Buffer>>;
  return result;
}

using namespace channel_lock;
using list_nodes::fixed;
constexpr std::array checked_by_all{
    all_of<ring_buffer>("ring_buffer"),
    all_of<ring_of<spin>::mpmc>("ring_of_spin_mpmc"),
    all_of<ring_of<spin>::mpsc>("ring_of_spin_mpsc"),
    all_of<ring_of<published_spin>::mpmc>("ring_of_published_spin_mpmc"),
    all_of<ring_of<ticket>::mpmc>("ring_of_ticket_mpmc"),
    all_of<ring_of<published_ticket>::mpmc>("ring_of_published_ticket_mpmc"),
    all_of<ring_of<partitioned_ticket>::mpmc>("ring_of_partitioned_ticket_mpmc"),
    all_of<ring_of<parking>::mpmc>("ring_of_parking_mpmc"),
    all_of<spsc_ring>("spsc_ring"),
    all_of<mailbox>("mailbox", true, 1),
    all_of<two_flag_mailbox>("two_flag_mailbox", false, 1),
    all_of<ring_of<spin>::mailbox>("ring_of_spin_mailbox", true, 1),
    all_of<flagged_by<flags::single>::mpmc>("flagged_by_single_mpmc"),
    all_of<flagged_by<flags::twofold>::mpmc>("flagged_by_twofold_mpmc"),
    all_of<flagged_by<flags::twofold>::mpsc>("flagged_by_twofold_mpsc"),
    all_of<flagged_by<flags::binary>::mpsc>("flagged_by_binary_mpsc"),
    all_of<headless_ring>("headless_ring"),
    all_of<list_of<ticket, fixed>::mpmc>("list_of_ticket_mpmc", false),
    all_of<list_of<spin, fixed>::mpsc>("list_of_spin_mpsc", false),
    all_of<spsc_list_of<fixed>::spsc>("spsc_list", false),
    all_of<lock_free_list_of<fixed>::mpmc>("lock_free_list", false),
    all_of<lock_free_list_of<fixed>::mpsc>("lock_free_list_mpsc", false),
    all_of<segments_of<fixed, 2>::mpmc>("segments_of_2_mpmc", false),
    all_of<segments_of<fixed, 2>::mpsc>("segments_of_2_mpsc", false),
};
constexpr std::array checked_by_some{
    channels_of<rendezvous>("rendezvous"),
    channels_of<segments_of<fixed, 3>::mpmc>("segments_of_3_mpmc"),
    channels_of<segments_of<fixed, 3>::mpsc>("segments_of_3_mpsc"),
    channels_of<ring_of<of_world<near_mcs>::lock>::mpmc>("ring_of_mcs_mpmc"),
    channels_of<flagged_by<flags::binary>::mpmc>("flagged_by_binary_mpmc"),
};

}  // namespace

std::span<const strategy> strategies() { return checked_by_all; }

const strategy& strategy_named(std::string_view name) {
  for (const std::span<const strategy> some :
       {std::span<const strategy>(checked_by_all), std::span<const strategy>(checked_by_some)}) {
    const auto found =
        std::find_if(some.begin(), some.end(), [&](const strategy& one) { return one.name == name; });
    if (found != some.end()) return *found;
  }
  throw misuse("no strategy is called " + std::string(name));
}

}  // namespace nearfar::checker::testing
