// Channels between the ranks of a node, with MPI.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/kinds/channels/channel_rounds.hpp"
#include "bench/tools/disturbance.hpp"
#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/channel/byte_channel_cases.hpp"
#include "tests/channel/channel_cases.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;
using message = bench::traffic_check::message;

/// Takes any world, as a policy has to.
template <typename W>
class near_mcs : public mcs_lock<W> {
 public:
  using mcs_lock<W>::mcs_lock;
};
template <typename W>
class cohort : public default_cohort_lock<W> {
 public:
  using default_cohort_lock<W>::default_cohort_lock;
};

/// A channel of ranks with any strategy. Each function calls the channel's function of the same name.
class any_channel {
 public:
  any_channel() = default;
  any_channel(const any_channel&) = delete;
  any_channel& operator=(const any_channel&) = delete;

  [[nodiscard]] virtual queue_status try_send(const message& of) = 0;
  [[nodiscard]] virtual queue_status send(const message& of) = 0;
  [[nodiscard]] virtual queue_status send_until(const message& of, std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual queue_status send_for(const message& of, std::chrono::nanoseconds span) = 0;
  [[nodiscard]] virtual received<message> try_receive() = 0;
  [[nodiscard]] virtual received<message> receive() = 0;
  [[nodiscard]] virtual received<message> receive_until(std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<message> receive_for(std::chrono::nanoseconds span) = 0;
  virtual void close() = 0;
  virtual void reopen() = 0;
  [[nodiscard]] virtual bool is_closed() const = 0;

 protected:
  ~any_channel() = default;
};

template <template <typename, typename> typename Buffer>
class channel_behind final : public any_channel {
 public:
  using channel = node_channel<mpi::world, message, Buffer>;

  /// Collective.
  channel_behind(mpi::world& w, std::size_t capacity)
    requires(channel::takes_capacity)
      : of_(w, capacity, w.size() - 1) {}
  channel_behind(mpi::world& w, std::size_t /*capacity*/)
    requires(!channel::takes_capacity)
      : of_(w) {}

  queue_status try_send(const message& of) override { return of_.try_send(of); }
  queue_status send(const message& of) override { return of_.send(of); }
  queue_status send_until(const message& of, std::chrono::nanoseconds deadline) override {
    return of_.send_until(of, deadline);
  }
  queue_status send_for(const message& of, std::chrono::nanoseconds span) override {
    return of_.send_for(of, span);
  }
  received<message> try_receive() override { return of_.try_receive(); }
  received<message> receive() override { return of_.receive(); }
  received<message> receive_until(std::chrono::nanoseconds deadline) override {
    return of_.receive_until(deadline);
  }
  received<message> receive_for(std::chrono::nanoseconds span) override { return of_.receive_for(span); }
  void close() override { of_.close(); }
  void reopen() override { of_.reopen(); }
  [[nodiscard]] bool is_closed() const override { return of_.is_closed(); }

 private:
  channel of_;
};

/// A strategy that ranks can use, as a value, so that a test is compiled once instead of once per strategy.
struct channel_strategy {
  std::string_view name;
  bool takes_capacity;
  bool has_one_sender;
  bool has_one_receiver;
  /// Makes a channel and calls `use` with it. Collective.
  void (*with)(mpi::world& w, std::size_t capacity, const std::function<void(any_channel&)>& use);

  friend void PrintTo(const channel_strategy& it, std::ostream* out) { *out << it.name; }
};

template <template <typename, typename> typename Buffer>
[[nodiscard]] constexpr channel_strategy strategy(std::string_view name) {
  using channel = typename channel_behind<Buffer>::channel;
  return {.name = name,
          .takes_capacity = channel::takes_capacity,
          .has_one_sender = channel::has_one_sender,
          .has_one_receiver = channel::has_one_receiver,
          .with = [](mpi::world& w, std::size_t capacity, const std::function<void(any_channel&)>& use) {
            channel_behind<Buffer> made(w, capacity);
            use(made);
          }};
}

constexpr std::array strategies{
    strategy<ring_buffer>("ring_buffer"),
    strategy<spsc_ring>("spsc_ring"),
    strategy<mailbox>("mailbox"),
    strategy<two_flag_mailbox>("two_flag_mailbox"),
    strategy<ring_of<channel_lock::spin>::mailbox>("ring_of_spin_mailbox"),
    strategy<ring_of<channel_lock::spin>::mpmc>("ring_of_spin_mpmc"),
    strategy<ring_of<channel_lock::spin>::mpsc>("ring_of_spin_mpsc"),
    strategy<ring_of<channel_lock::published_spin>::mpmc>("ring_of_published_spin_mpmc"),
    strategy<ring_of<channel_lock::ticket>::mpmc>("ring_of_ticket_mpmc"),
    strategy<ring_of<channel_lock::published_ticket>::mpmc>("ring_of_published_ticket_mpmc"),
    strategy<ring_of<channel_lock::partitioned_ticket>::mpmc>("ring_of_partitioned_ticket_mpmc"),
    strategy<ring_of<channel_lock::parking>::mpmc>("ring_of_parking_mpmc"),
    strategy<ring_of<channel_lock::pthread_mutex>::mpmc>("ring_of_pthread_mutex_mpmc"),
    strategy<ring_of<channel_lock::pthread_spin>::mpsc>("ring_of_pthread_spin_mpsc"),
    strategy<ring_of<channel_lock::of_world<near_mcs>::lock>::mpmc>("ring_of_mcs_mpmc"),
    strategy<ring_of<channel_lock::of_world<cohort>::lock>::mpmc>("ring_of_cohort_mpmc"),
    strategy<ring_of<channel_lock::of_world<near_mcs>::lock>::mailbox>("ring_of_mcs_mailbox"),
    strategy<flagged_by<flags::single>::mpmc>("flagged_by_single_mpmc"),
    strategy<flagged_by<flags::twofold>::mpmc>("flagged_by_twofold_mpmc"),
    strategy<flagged_by<flags::twofold>::mpsc>("flagged_by_twofold_mpsc"),
    strategy<flagged_by<flags::binary>::mpsc>("flagged_by_binary_mpsc"),
    strategy<headless_ring>("headless_ring"),
    strategy<list_of<channel_lock::ticket, list_nodes::fixed>::mpmc>("list_of_ticket_mpmc"),
    strategy<list_of<channel_lock::spin, list_nodes::fixed>::mpsc>("list_of_spin_mpsc"),
    strategy<list_of<channel_lock::of_world<near_mcs>::lock, list_nodes::fixed>::mpmc>("list_of_mcs_mpmc"),
    strategy<spsc_list_of<list_nodes::fixed>::spsc>("spsc_list"),
    strategy<lock_free_list_of<list_nodes::fixed>::mpmc>("lock_free_list"),
    strategy<lock_free_list_of<list_nodes::fixed>::mpsc>("lock_free_list_mpsc"),
    strategy<segments_of<list_nodes::fixed, 2>::mpmc>("segments_of_2_mpmc"),
    strategy<segments_of<list_nodes::fixed, 2>::mpsc>("segments_of_2_mpsc"),
};

[[nodiscard]] bool is_on_one_node() { return common_world().locality().groups(level::node) == 1; }

class mpi_channel : public ::testing::TestWithParam<channel_strategy> {
 protected:
  [[nodiscard]] static std::vector<std::size_t> capacities() {
    if (GetParam().takes_capacity) return {1, 8};
    return {1};
  }
};
INSTANTIATE_TEST_SUITE_P(every, mpi_channel, ::testing::ValuesIn(strategies),
                         [](const auto& of) { return std::string(of.param.name); });

/// Ranks take all roles and forms, and any of them closes the channel in the middle, undisturbed and
/// disturbed.
TEST_P(mpi_channel, loses_nothing) {
  if (!is_on_one_node()) return;
  constexpr int most = bench::most_senders;
  const bench::channel_roles roles{.senders = GetParam().has_one_sender ? 1 : most,
                                   .receivers = GetParam().has_one_receiver ? 1 : most};
  mpi::world& w = common_world();
  std::uint32_t seed = 0;
  for (const std::size_t capacity : capacities())
    for (const bool is_disturbed : {false, true}) {
      std::optional<bench::disturbance> disturbed;
      if (is_disturbed) disturbed.emplace(++seed);
      GetParam().with(w, capacity, [&](any_channel& c) {
        bench::channel_rounds<mpi::world> rounds(w, roles, ++seed);
        for (int round = 0; round < 6; ++round) rounds.run(c, 48, [] {});
        EXPECT_EQ(rounds.faults(), 0);
      });
    }
}

TEST_P(mpi_channel, tells_who_waits) {
  if (!is_on_one_node()) return;
  mpi::world& w = common_world();
  const bool closes = w.rank() == w.size() - 1;
  const bool sends = w.rank() == 0 || !GetParam().has_one_sender;
  const bool receives = w.rank() == 0 || !GetParam().has_one_receiver;
  // One rank closes the channel, and all others that may wait learn of it.
  const auto expect_to_be_told = [&](any_channel& c, bool may_wait, const auto& wait) {
    w.barrier();
    if (closes) {
      c.close();
    } else if (may_wait) {
      EXPECT_EQ(wait(), queue_status::closed);
    }
    w.barrier();
  };
  const message none{};
  const auto use = [&](any_channel& c, std::size_t capacity) {
    if (receives) {
      EXPECT_EQ(c.receive_for(1ms).status(), queue_status::timed_out);
    }
    expect_to_be_told(c, receives, [&] { return c.receive().status(); });
    if (closes) c.reopen();
    w.barrier();
    EXPECT_FALSE(c.is_closed());

    std::uint64_t sent = 0;
    if (w.rank() == 0)
      while (c.try_send(message{sent, 0, 0}) == queue_status::success) ++sent;
    w.barrier();
    if (sends) {
      EXPECT_EQ(c.send_for(none, 1ms), queue_status::timed_out);
    }
    expect_to_be_told(c, sends, [&] { return c.send(none); });
    if (w.rank() == 0) {
      EXPECT_EQ(sent, capacity);
      for (std::uint64_t i = 0; i < sent; ++i) EXPECT_EQ((*c.receive())[0], i);
    }
    w.barrier();
    if (receives) {
      EXPECT_EQ(c.receive_for(1h).status(), queue_status::closed);
    }
    if (sends) {
      EXPECT_EQ(c.try_send(none), queue_status::closed);
    }
    w.barrier();
  };
  for (const std::size_t capacity : capacities())
    GetParam().with(w, capacity, [&](any_channel& c) { use(c, capacity); });
}

TEST(mpi_channels, lose_nothing_to_one_receiver) {
  mpi::world& w = common_world();
  if (!is_on_one_node()) {
    EXPECT_THROW((node_channel<mpi::world, std::uint64_t>(w, 1)), misuse);
    return;
  }
  for (const std::size_t capacity : {1U, 8U}) expect_messages_arrive(w, capacity, w.size() - 1, 1000);
}

TEST(mpi_channels, refuse_ranks_that_do_not_agree) {
  mpi::world& w = common_world();
  if (!is_on_one_node() || w.size() == 1) return;
  const auto own = static_cast<std::size_t>(w.rank());
  EXPECT_THROW((node_channel<mpi::world, int>(w, 4, w.rank())), collective_mismatch);
  EXPECT_THROW((node_channel<mpi::world, int>(w, own)),
               collective_mismatch);  // rank 0's capacity of 0 is invalid
  EXPECT_THROW((node_channel<mpi::world, int, rendezvous>(w, w.rank())), collective_mismatch);
  if (w.rank() == 0)
    EXPECT_THROW((node_channel<mpi::world, int>(w, 4)), collective_mismatch);
  else
    EXPECT_THROW((node_channel<mpi::world, double>(w, 4)), collective_mismatch);
}

// Two kinds of locks have the same size and would share a word.
TEST(mpi_byte_channel, refuses_ranks_with_different_strategies) {
  mpi::world& w = common_world();
  if (!is_on_one_node() || w.size() == 1) return;
  const byte_channel_size size{.item_size = 8, .capacity = 4};
  if (w.rank() == 0)
    EXPECT_THROW((node_byte_channel<mpi::world, ring_of<channel_lock::spin>::mpmc>(w, size)),
                 collective_mismatch);
  else
    EXPECT_THROW((node_byte_channel<mpi::world, ring_of<channel_lock::ticket>::mpmc>(w, size)),
                 collective_mismatch);
}
TEST(mpi_byte_channel, loses_and_tears_nothing_between_the_ranks_of_a_node) {
  mpi::world& w = common_world();
  if (w.locality().groups(level::node) != 1) {
    EXPECT_THROW((node_byte_channel<mpi::world>(w, {.item_size = 1, .capacity = 1})), misuse);
    return;
  }
  for (const std::size_t item_size : {16U, 4096U})
    expect_items_arrive(w, {.item_size = item_size, .capacity = 3}, w.size() - 1, 500);
}

}  // namespace
}  // namespace nearfar::testing
