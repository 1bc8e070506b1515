// Channels between the ranks of a node, with MPI.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "bench/channel_rounds.hpp"
#include "bench/disturbance.hpp"
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

/// Take any world, as a policy asks.
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

/// A strategy that ranks can use.
template <template <typename, typename> typename Buffer>
struct strategy {
  using channel = node_channel<mpi::world, message, Buffer>;

  /// Collective.
  [[nodiscard]] static channel made(mpi::world& w, [[maybe_unused]] std::size_t capacity) {
    if constexpr (channel::takes_capacity)
      return channel(w, capacity, w.size() - 1);
    else
      return channel(w);
  }
};

using strategies = ::testing::Types<
    strategy<ring_buffer>, strategy<spsc_ring>, strategy<mailbox>,
    strategy<ring_of<channel_lock::spin>::mailbox>, strategy<ring_of<channel_lock::spin>::mpmc>,
    strategy<ring_of<channel_lock::spin>::mpsc>, strategy<ring_of<channel_lock::ticket>::mpmc>,
    strategy<ring_of<channel_lock::partitioned_ticket>::mpmc>, strategy<ring_of<channel_lock::parking>::mpmc>,
    strategy<ring_of<channel_lock::pthread_mutex>::mpmc>, strategy<ring_of<channel_lock::pthread_spin>::mpsc>,
    strategy<ring_of<channel_lock::of_world<near_mcs>::lock>::mpmc>,
    strategy<ring_of<channel_lock::of_world<cohort>::lock>::mpmc>,
    strategy<ring_of<channel_lock::of_world<near_mcs>::lock>::mailbox>,
    strategy<flagged_by<flags::single>::mpmc>, strategy<flagged_by<flags::twofold>::mpmc>,
    strategy<flagged_by<flags::twofold>::mpsc>,
    strategy<list_of<channel_lock::ticket, list_nodes::fixed>::mpmc>,
    strategy<list_of<channel_lock::spin, list_nodes::fixed>::mpsc>,
    strategy<list_of<channel_lock::of_world<near_mcs>::lock, list_nodes::fixed>::mpmc>,
    strategy<spsc_list_of<list_nodes::fixed>::spsc>, strategy<lock_free_list_of<list_nodes::fixed>::mpmc>,
    strategy<segments_of<list_nodes::fixed, 2>::mpmc>, strategy<segments_of<list_nodes::fixed, 2>::mpsc>>;

[[nodiscard]] bool is_on_one_node() { return common_world().locality().groups(level::node) == 1; }

template <typename Strategy>
class mpi_channel : public ::testing::Test {
 protected:
  [[nodiscard]] static std::vector<std::size_t> capacities() {
    if (Strategy::channel::takes_capacity) return {1, 8};
    return {1};
  }
};
TYPED_TEST_SUITE(mpi_channel, strategies);

/// In all roles and forms, closed by any of the ranks in the middle, undisturbed and disturbed.
TYPED_TEST(mpi_channel, loses_nothing) {
  if (!is_on_one_node()) return;
  using channel = typename TypeParam::channel;
  constexpr int most = bench::most_senders;
  constexpr bench::channel_roles roles{.senders = channel::has_one_sender ? 1 : most,
                                       .receivers = channel::has_one_receiver ? 1 : most};
  mpi::world& w = common_world();
  std::uint32_t seed = 0;
  for (const std::size_t capacity : TestFixture::capacities())
    for (const bool is_disturbed : {false, true}) {
      std::optional<bench::disturbance> disturbed;
      if (is_disturbed) disturbed.emplace(++seed);
      auto c = TypeParam::made(w, capacity);
      bench::channel_rounds<mpi::world> rounds(w, roles, ++seed);
      for (int round = 0; round < 6; ++round) rounds.run(c, 48, [] {});
      EXPECT_EQ(rounds.faults(), 0);
    }
}

TYPED_TEST(mpi_channel, tells_who_waits) {
  if (!is_on_one_node()) return;
  using channel = typename TypeParam::channel;
  mpi::world& w = common_world();
  const bool closes = w.rank() == w.size() - 1;
  const bool sends = w.rank() == 0 || !channel::has_one_sender;
  const bool receives = w.rank() == 0 || !channel::has_one_receiver;
  // One closes, and all others that may wait for the same.
  const auto expect_to_be_told = [&](channel& c, bool may_wait, const auto& wait) {
    w.barrier();
    if (closes) {
      c.close();
    } else if (may_wait) {
      EXPECT_EQ(wait(), queue_status::closed);
    }
    w.barrier();
  };
  const message none{};
  for (const std::size_t capacity : TestFixture::capacities()) {
    auto c = TypeParam::made(w, capacity);
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
  }
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
  EXPECT_THROW((node_channel<mpi::world, int>(w, own)), collective_mismatch);  // 0 is none
  EXPECT_THROW((node_channel<mpi::world, int, rendezvous>(w, w.rank())), collective_mismatch);
  if (w.rank() == 0)
    EXPECT_THROW((node_channel<mpi::world, int>(w, 4)), collective_mismatch);
  else
    EXPECT_THROW((node_channel<mpi::world, double>(w, 4)), collective_mismatch);
}

// Two kinds of locks have the same size, and would share a word.
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
