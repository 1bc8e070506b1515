// Worlds themselves: communicators, topology, thread levels, errors.
#include "nearfar/memory/mpi/world.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/rendezvous.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/mpi_win_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/lock/guarded.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

mpi::options small() {
  mpi::options chosen;
  chosen.near_bytes = chosen.far_bytes = std::size_t{1} << 14U;
  return chosen;
}

/// A communicator for the length of a test.
class scoped_communicator {
 public:
  scoped_communicator(int colour, int key) { MPI_Comm_split(MPI_COMM_WORLD, colour, key, &handle_); }
  scoped_communicator(const scoped_communicator&) = delete;
  scoped_communicator& operator=(const scoped_communicator&) = delete;
  ~scoped_communicator() { MPI_Comm_free(&handle_); }
  [[nodiscard]] MPI_Comm get() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// Lets all ranks of `w` acquire a few times.
template <typename Lock>
void expect_exclusion(world& w, Lock& lock, guarded<world>& inside) {
  jitter timing(1, w.rank());
  for (int round = 0; round < often(w); ++round) {
    lock.lock();
    inside.visit(timing);
    lock.unlock();
  }
}

/// Checks that nothing from an earlier failure stands in the way of a new world.
void expect_usable() {
  world w(MPI_COMM_WORLD, small());
  dash_lock<world> lock(w);
  guarded<world> inside(w);
  expect_exclusion(w, lock, inside);
  EXPECT_EQ(inside.violations(), "");
}

TEST(world, has_the_ranks_of_its_communicator) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(common_world().rank(), rank);
  EXPECT_EQ(common_world().size(), size);
  EXPECT_EQ(common_world().locality().size(), size);
  const auto all = common_world().gather_to_all(10 + rank);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], 10 + r);
  EXPECT_EQ(common_world().gather_to_first(10 + rank), rank == 0 ? all : std::vector<std::int64_t>());
  EXPECT_EQ(common_world().sum_over_ranks({1, rank}),
            (std::vector<std::int64_t>{size, size * (size - 1) / 2}));
}

TEST(world, knows_which_ranks_share_memory) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int mates = 0;
  MPI_Comm_size(node, &mates);
  MPI_Comm_free(&node);
  const locality& here = common_world().locality();
  const int group = here.group(level::node, common_world().rank());
  EXPECT_EQ(here.members(level::node, group).size(), static_cast<std::size_t>(mates));
  EXPECT_EQ(common_world().one_physical_node(), mates == common_world().size());
  EXPECT_EQ(common_world().one_physical_node(), here.groups(level::node) == 1);
}

TEST(world, leaves_the_callers_communicator_alone) {
  const scoped_communicator mine(0, 0);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(mine.get(), &rank);
  MPI_Comm_size(mine.get(), &size);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Errhandler after = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(mine.get(), &before);
  int letter = -1;
  MPI_Request pending = MPI_REQUEST_NULL;
  MPI_Irecv(&letter, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, mine.get(), &pending);
  {
    world w(mine.get(), small());
    dash_lock<world> lock(w);
    guarded<world> inside(w);
    expect_exclusion(w, lock, inside);
    EXPECT_EQ(inside.violations(), "");
  }
  // The wildcard above has caught no message of nearfar's.
  const int sent = 7 + rank;
  MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 3, mine.get());
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  EXPECT_EQ(letter, 7 + (rank + size - 1) % size);
  MPI_Comm_get_errhandler(mine.get(), &after);
  EXPECT_EQ(before, after);
  if (before != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&before);
  if (after != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&after);
}

TEST(world, of_half_the_ranks_in_reverse_order) {
  world& all = common_world();
  const scoped_communicator half(all.rank() % 2, -all.rank());
  world w(half.get(), small());
  EXPECT_EQ(w.size(), (all.size() + (all.rank() % 2 == 0 ? 1 : 0)) / 2);
  EXPECT_EQ(w.rank(), (all.size() - 1 - all.rank()) / 2);
  default_cohort_lock<world> lock(w, w.size() - 1);
  guarded<world> inside(w);
  expect_exclusion(w, lock, inside);
  EXPECT_EQ(inside.violations(), "");
}

TEST(world, two_at_once) {
  world& all = common_world();
  const scoped_communicator half(all.rank() % 2, 0);
  world w(half.get(), small());
  dash_lock<world> outer(all);
  dash_lock<world> inner(w);
  guarded<world> inside_outer(all);
  guarded<world> inside_inner(w);
  jitter timing(2, all.rank());
  for (int round = 0; round < often(all); ++round) {
    // Ranks that hold the inner lock of their half take the outer one.
    inner.lock();
    inside_inner.visit(timing);
    if (round % 3 != 0) {
      outer.lock();
      inside_outer.visit(timing);
      outer.unlock();
    }
    inner.unlock();
  }
  // A rank that waits in one world's barrier must let the other world's ranks in.
  EXPECT_EQ(inside_inner.violations(), "");
  EXPECT_EQ(inside_outer.violations(), "");
}

TEST(world, again_and_again) {
  for (int time = 0; time < (common_world().one_physical_node() ? 10 : 3); ++time) {
    world w(MPI_COMM_WORLD, small());
    mpi::world::far_segment<detail::far_probe> segment(w);
    std::uint64_t value = 1;
    segment.get((w.rank() + 1) % w.size(), &detail::far_probe::word, value);
    segment.flush((w.rank() + 1) % w.size());
    EXPECT_EQ(value, 0);
  }
}

TEST(world, virtual_topology_replaces_the_machines) {
  world& all = common_world();
  mpi::options chosen = small();
  chosen.topology = topology_spec::parse("node:" + std::to_string(all.size()) + " numa:1");
  world w(MPI_COMM_WORLD, chosen);
  EXPECT_EQ(w.locality(), chosen.topology->place(all.size()));
  EXPECT_EQ(w.locality().groups(level::node), all.size());
  EXPECT_EQ(w.one_physical_node(), all.one_physical_node());
  if (all.size() > 1) {
    EXPECT_THROW(mcs_lock<world>{w}, topology_error);
  }
}

TEST(world, virtual_topology_that_does_not_fit) {
  world& all = common_world();
  mpi::options chosen = small();
  chosen.topology = topology_spec::parse("node:" + std::to_string(all.size() + 1));
  EXPECT_THROW(world(MPI_COMM_WORLD, chosen), topology_error) << "more nodes than ranks";
  chosen.topology = topology_spec::parse("node:1");
  if (all.one_physical_node()) {
    const world w(MPI_COMM_WORLD, chosen);
    EXPECT_EQ(w.locality().groups(level::node), 1);
  } else {
    EXPECT_THROW(world(MPI_COMM_WORLD, chosen), topology_error) << "one node over several machines";
  }
}

/// The text of the error that a world with these options throws on this rank.
std::string refusal_of(const mpi::options& chosen) {
  try {
    const world w(MPI_COMM_WORLD, chosen);
  } catch (const topology_error& refused) {
    return refused.what();
  }
  return "no error";
}

TEST(world, has_the_islands_that_its_ranks_name) {
  world& all = common_world();
  const int nodes = all.locality().groups(level::node);
  mpi::options chosen = small();
  chosen.island = "switch of all";
  {
    const world w(MPI_COMM_WORLD, chosen);
    EXPECT_TRUE(w.locality().known(level::island, w.rank()));
    EXPECT_EQ(w.locality().groups(level::island), 1);
    EXPECT_EQ(w.locality().groups(level::node), nodes);
  }
  // The longest name that there may be; names differ in their last byte.
  chosen.island =
      std::string(62, 'x') + static_cast<char>('a' + all.locality().group(level::node, all.rank()));
  {
    const world w(MPI_COMM_WORLD, chosen);
    EXPECT_EQ(w.locality().groups(level::island), nodes);
    for (int rank = 0; rank < w.size(); ++rank)
      EXPECT_EQ(w.locality().group(level::island, rank), w.locality().group(level::node, rank));
  }
  chosen.topology = topology_spec::parse("node:" + std::to_string(all.size()));
  EXPECT_EQ(world(MPI_COMM_WORLD, chosen).locality(), chosen.topology->place(all.size()));
}

TEST(world, takes_its_island_from_the_environment) {
  ASSERT_EQ(setenv("NEARFAR_ISLAND", "rack 7", 1), 0);
  EXPECT_TRUE(world(MPI_COMM_WORLD, small()).locality().known(level::island, common_world().rank()));
  ASSERT_EQ(setenv("NEARFAR_ISLAND", "", 1), 0);
  EXPECT_FALSE(world(MPI_COMM_WORLD, small()).locality().known(level::island, common_world().rank()));
  ASSERT_EQ(setenv("NEARFAR_ISLAND", std::string(64, 'x').c_str(), 1), 0);
  EXPECT_NE(refusal_of(small()).find("64 bytes: give 1 to 63"), std::string::npos);
  ASSERT_EQ(unsetenv("NEARFAR_ISLAND"), 0);
  expect_usable();
}

TEST(world, islands_that_contradict_each_other) {
  world& all = common_world();
  mpi::options chosen = small();
  const bool is_last = all.rank() == all.size() - 1;
  // One rank alone gives no name that is one; all are told.
  chosen.island = is_last ? "" : "a";
  EXPECT_NE(refusal_of(chosen).find("0 bytes"), std::string::npos);
  if (all.size() > 1) {
    chosen.island.reset();
    if (is_last) chosen.island = "a";
    EXPECT_EQ(refusal_of(chosen), "rank 0 names no island, and rank " + std::to_string(all.size() - 1) +
                                      " is on island 'a': set NEARFAR_ISLAND for all ranks, or for none");
  }
  if (all.size() > 1 && all.locality().same(level::node, 0, all.size() - 1)) {
    chosen.island = is_last ? "b" : "a";
    EXPECT_EQ(refusal_of(chosen),
              "ranks 0 and " + std::to_string(all.size() - 1) +
                  " of one node are on islands 'a' and 'b': set NEARFAR_ISLAND to the same name on all ranks "
                  "of a node");
  }
  expect_usable();
}

TEST(world, windows_of_awkward_sizes) {
  for (const std::size_t bytes : {4096U + 8U, 8192U + 64U, 12345U}) {
    mpi::options chosen;
    chosen.near_bytes = chosen.far_bytes = bytes;
    const world w(MPI_COMM_WORLD, chosen);  // the self-test runs here
    EXPECT_EQ(w.size(), common_world().size());
  }
}

TEST(world, out_of_memory_names_the_option) {
  mpi::options chosen = small();
  chosen.far_bytes = 4 * slot_bytes;
  chosen.near_bytes = std::size_t{1} << 14U;
  world w(MPI_COMM_WORLD, chosen);
  std::vector<std::unique_ptr<dash_lock<world>>> locks;
  try {
    for (int i = 0; i < 5; ++i) locks.push_back(std::make_unique<dash_lock<world>>(w));
    ADD_FAILURE() << "five locks of 128 bytes fit in 256";
  } catch (const out_of_memory& caught) {
    EXPECT_NE(std::string(caught.what()).find("far_bytes"), std::string::npos) << caught.what();
  }
  EXPECT_EQ(locks.size(), 2);
  // The locks made before still work.
  locks.front()->lock();
  locks.front()->unlock();
  w.barrier();
}

TEST(world, more_shared_memory_than_there_is) {
  mpi::options chosen;
  chosen.near_bytes = std::size_t{1} << 50U;
  try {
    const world w(MPI_COMM_WORLD, chosen);
    ADD_FAILURE() << "a petabyte for each rank";
  } catch (const transport_error& caught) {
    EXPECT_NE(std::string(caught.what()).find("/dev/shm"), std::string::npos) << caught.what();
  }
}

TEST(world, sizes_that_cannot_be) {
  const std::size_t huge = std::size_t{1} << 62U;
  for (const auto& [near, far] :
       {std::pair{huge, huge}, {SIZE_MAX, huge}, {huge, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}}) {
    mpi::options chosen;
    chosen.near_bytes = near;
    chosen.far_bytes = far;
    try {
      const world w(MPI_COMM_WORLD, chosen);
      ADD_FAILURE() << "exabytes for each rank";
    } catch (const out_of_memory& caught) {
      EXPECT_NE(std::string(caught.what()).find("_bytes asks for "), std::string::npos) << caught.what();
    } catch (const transport_error& caught) {
      EXPECT_NE(std::string(caught.what()).find("/dev/shm"), std::string::npos) << caught.what();
    }
  }
}

// Communicators are scarce: MPICH has 2,048, and the test takes most of them.
TEST(world, that_is_refused_leaves_nothing_behind) {
  std::vector<MPI_Comm> taken(1980);  // of the 2,048 that MPICH has
  for (MPI_Comm& one : taken) ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &one), MPI_SUCCESS);
  mpi::options chosen = small();
  chosen.topology = topology_spec::parse("node:" + std::to_string(common_world().size() + 1));
  for (int time = 0; time < 24; ++time) ASSERT_THROW(world(MPI_COMM_WORLD, chosen), topology_error);
  expect_usable();
  for (MPI_Comm& one : taken) MPI_Comm_free(&one);
}

TEST(world, of_no_ranks) {
  try {
    const world w(MPI_COMM_NULL);
    ADD_FAILURE() << "a world of MPI_COMM_NULL";
  } catch (const misuse& caught) {
    EXPECT_NE(std::string(caught.what()).find("MPI_COMM_NULL"), std::string::npos) << caught.what();
  }
}

TEST(world, of_an_intercommunicator) {
  world& all = common_world();
  if (all.size() == 1) return;
  const int side = all.rank() % 2;
  const scoped_communicator mine(side, 0);
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_create(mine.get(), 0, MPI_COMM_WORLD, 1 - side, 1, &both);
  try {
    const world w(both);
    ADD_FAILURE() << "a world of an intercommunicator";
  } catch (const misuse& caught) {
    EXPECT_NE(std::string(caught.what()).find("MPI_Intercomm_merge"), std::string::npos) << caught.what();
  }
  MPI_Comm_free(&both);
}

TEST(world, ranks_that_destroyed_different_locks) {
  if (common_world().size() == 1) return;
  auto* const w = new world(MPI_COMM_WORLD, small());
  {
    auto first = std::make_unique<dash_lock<world>>(*w);
    if (w->rank() == 0) first.reset();
    std::optional<dash_lock<world>> second;
    EXPECT_THROW(second.emplace(*w), collective_mismatch);
  }
  EXPECT_NO_THROW(delete w) << "the lock that was not made must not count as one in use";
}

#if NEARFAR_CHECKED
TEST(world, ranks_out_of_range) {
  world& w = common_world();
  world::far_segment<detail::far_probe> segment(w);
  const auto word = &detail::far_probe::word;
  const std::uint64_t value = 1;
  std::uint64_t result = 0;
  for (const int rank : {-1, w.size(), 1 << 30}) {
    EXPECT_THROW(segment.put(rank, word, value), unreachable_rank);
    EXPECT_THROW(segment.get(rank, word, result), unreachable_rank);
    EXPECT_THROW(segment.fetch(rank, word, result), unreachable_rank);
    EXPECT_THROW(segment.swap(rank, word, value, result), unreachable_rank);
    EXPECT_THROW(segment.fetch_add(rank, word, value, result), unreachable_rank);
    EXPECT_THROW(segment.compare_and_swap(rank, word, value, value, result), unreachable_rank);
    EXPECT_THROW(segment.accumulate(rank, word, value, far_op::sum), unreachable_rank);
    EXPECT_THROW(segment.flush(rank), unreachable_rank);
    EXPECT_THROW(static_cast<void>(segment.read_direct(rank, word)), unreachable_rank);
    EXPECT_THROW(segment.write_direct(rank, word, value), unreachable_rank);
  }
}

#endif

// The locks can be destroyed after their world, even if the program made both by hand.
TEST(world, destroyed_before_its_locks) {
  auto w = std::make_unique<world>(MPI_COMM_WORLD, small());
  auto dash = std::make_unique<dash_lock<world>>(*w);
  auto cohort = std::make_unique<default_cohort_lock<world>>(*w);
  world* const raw = w.release();
  EXPECT_THROW(delete raw, destroyed_while_in_use);
  dash.reset();
  cohort.reset();
}

// A lock of MPI's and a signal channel have no words of the world, but a window and tags.
TEST(world, destroyed_before_a_lock_of_mpi_or_a_signal_channel) {
  const auto expect_in_use = [](const auto& make) {
    auto w = std::make_unique<world>(MPI_COMM_WORLD, small());
    auto made = make(*w);
    world* const raw = w.release();
    EXPECT_THROW(delete raw, destroyed_while_in_use);
    made.reset();
  };
  expect_in_use([](world& w) { return std::make_unique<mpi_win_lock<world>>(w); });
  expect_in_use([](world& w) { return std::make_unique<world::signal_channel>(w); });
}

// In release builds such a use is undefined.
TEST(world, destroyed_before_a_lock_is_used) {
  if constexpr (!checked_build) return;
  auto w = std::make_unique<world>(MPI_COMM_WORLD, small());
  auto cohort = std::make_unique<default_cohort_lock<world>>(*w);
  auto channel = std::make_unique<world::signal_channel>(*w);
  world* const raw = w.release();
  EXPECT_THROW(delete raw, destroyed_while_in_use);
  EXPECT_THROW(cohort->lock(), destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(cohort->try_lock()), destroyed_while_in_use);
  EXPECT_THROW(channel->signal(0), destroyed_while_in_use);
}

TEST(world, closed_before_it_is_destroyed) {
  world w(MPI_COMM_WORLD, small());
  {
    const mpi_win_lock<world> lock(w);
    const dash_lock<world> other(w);
  }
  w.close();
}

TEST(error, carries_code_and_text_of_mpi) {
  EXPECT_NO_THROW(mpi::check(MPI_SUCCESS, "MPI_Put"));
  try {
    mpi::check(MPI_ERR_TRUNCATE, "MPI_Recv");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const mpi::mpi_error& caught) {
    EXPECT_EQ(caught.error_class, MPI_ERR_TRUNCATE);
    EXPECT_EQ(caught.code, MPI_ERR_TRUNCATE);
    const std::string text = caught.what();
    EXPECT_TRUE(text.starts_with("MPI_Recv failed: ")) << text;
    EXPECT_NE(text.find("runcate"), std::string::npos) << text;
  }
}

// A message triggers the error: Open MPI checks the rank of a message, but not that of a flush, which would
// wait for ever.
TEST(error, of_a_call_is_thrown_and_the_world_goes_on) {
  world& w = common_world();
  world::signal_channel channel(w);
  MPI_Comm all = MPI_COMM_NULL;
  mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
  mpi::check(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  try {
    mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, w.size(), 0, all), "MPI_Send");
    ADD_FAILURE() << "a message to a rank that does not exist";
  } catch (const mpi::mpi_error& caught) {
    EXPECT_EQ(caught.error_class, MPI_ERR_RANK) << caught.what();
    EXPECT_TRUE(std::string(caught.what()).starts_with("MPI_Send failed: ")) << caught.what();
  }
  mpi::check(MPI_Comm_free(&all), "MPI_Comm_free");
  // Some numbers that are no ranks have a meaning in MPI: a message to "nobody", which arrives at once.
  for (const int nobody : {w.size(), -2, -1}) {
    if constexpr (!checked_build) break;
    EXPECT_THROW(channel.signal(nobody), unreachable_rank) << nobody;
    if (nobody == any_rank) continue;
    EXPECT_THROW(channel.await_signal(nobody), unreachable_rank) << nobody;
    EXPECT_THROW((void)channel.await_signal_until(w.now(), nobody), unreachable_rank) << nobody;
  }
  const int right = (w.rank() + 1) % w.size();
  const int left = (w.rank() + w.size() - 1) % w.size();
  if (w.size() > 1) {
    channel.signal(right);
    channel.await_signal(left);
  }
  w.barrier();
}

mpi::options with_limit() {
  mpi::options chosen = small();
  chosen.self_test = false;
  chosen.stall_limit = std::chrono::milliseconds{2};
  return chosen;
}

/// The text about the wait of `waits`.
template <typename Waits>
std::string what_stalls(const world& w, Waits waits) {
  try {
    waits();
  } catch (const stalled& stall) {
    EXPECT_EQ(stall.rank, w.rank());
    EXPECT_GE(stall.waited, *with_limit().stall_limit);
    const std::string text = stall.what();
    return text.substr(text.find(" for "));
  }
  return "no stall";
}

TEST(stall, of_a_signal_says_from_whom) {
  world w(MPI_COMM_SELF, with_limit());
  world::signal_channel channel(w);
  EXPECT_EQ(what_stalls(w, [&] { channel.await_signal(0); }), " for a signal of rank 0");
  EXPECT_EQ(what_stalls(w, [&] { channel.await_signal(any_rank); }), " for a signal of any rank");
  // This signal is for the one receive that was given up. A rank that waits for any sender only looks until
  // one has sent.
  channel.signal(0);
}

TEST(stall, of_a_word_says_whose) {
  struct alignas(slot_bytes) words {
    far<std::uint64_t> word;
  };
  world w(MPI_COMM_SELF, with_limit());
  world::far_segment<words> segment(w);
  const auto never = [](std::uint64_t) { return false; };
  EXPECT_EQ(what_stalls(w, [&] { w.await_direct(segment, 0, &words::word, never); }),
            " for a far word of rank 0");
  EXPECT_EQ(what_stalls(w, [&] { w.await_fetch(segment, 0, &words::word, never); }),
            " for a far word of rank 0");
}

TEST(stall, of_a_barrier_to_which_ranks_do_not_come) {
  if (common_world().size() == 1) return;  // no other rank can stay away
  const bool waits = common_world().rank() == 0;
  mpi::options chosen = with_limit();
  if (!waits) chosen.stall_limit.reset();
  world w(MPI_COMM_WORLD, chosen);
  if (waits) {
    EXPECT_EQ(what_stalls(w, [&] { w.barrier(); }), " for the other ranks in a barrier");
  }
  common_world().barrier();
  if (!waits) w.barrier();
}

// A rank that waits at a channel sleeps, again and again.
TEST(stall, of_a_channel_to_which_nobody_sends) {
  world w(MPI_COMM_SELF, with_limit());
  node_channel<world, int> ring(w, 1);
  node_channel<world, int, rendezvous> meeting(w);
  node_channel<world, int, rendezvous> other_meeting(w);  // after a stall a channel is good for nothing
  const std::string text = " for another rank at a channel";
  EXPECT_EQ(what_stalls(w, [&] { static_cast<void>(ring.receive()); }), text);
  EXPECT_EQ(what_stalls(w, [&] { static_cast<void>(meeting.receive()); }), text);
  EXPECT_EQ(what_stalls(w, [&] { static_cast<void>(other_meeting.send(1)); }), text);
}

struct own_error {};

// The other ranks do not wait for it in their destructors, nor in those of MPI's own locks, which have
// windows. MPI_Finalize frees these; UCX ends a program for a window that is left.
TEST(rank_that_leaves, by_an_exception_and_goes_on) {
  const int last = common_world().size() - 1;
  try {
    world w(MPI_COMM_WORLD, small());
    const mpi_win_lock<world> first(w);
    const mpi_win_lock<world> second(w);
    if (w.rank() == last) throw own_error();
  } catch (const own_error&) {
    EXPECT_EQ(common_world().rank(), last);
  }
  common_world().barrier();
}

TEST(rank_that_leaves, is_told_of_by_what_is_collective) {
  if (common_world().size() == 1) return;  // no other rank can be told
  const int last = common_world().size() - 1;
  try {
    world w(MPI_COMM_WORLD, small());
    if (w.rank() == last) throw own_error();
    try {
      w.barrier();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const rank_left& left) {
      EXPECT_NE(std::string(left.what()).find("rank " + std::to_string(last)), std::string::npos)
          << left.what();
    }
    EXPECT_THROW(static_cast<void>(w.gather_to_all(1)), rank_left);
  } catch (const own_error&) {
    EXPECT_EQ(common_world().rank(), last);
  }
  common_world().barrier();
}

// The last rank may leave while the others have not yet returned from a call in which it has taken part. A
// test of the call looks for messages of leaving ranks once in 16 times, so a rank meets one there by chance
// only.
TEST(rank_that_leaves, does_not_end_the_calls_before) {
  const int last = common_world().size() - 1;
  constexpr int worlds = 20;
  for (int i = 0; i < worlds; ++i) {
    try {
      world w(MPI_COMM_WORLD, small());
      EXPECT_NO_THROW(w.barrier()) << "in world " << i;
      if (w.rank() == last) throw own_error();
    } catch (const own_error&) {
      EXPECT_EQ(common_world().rank(), last);
    }
    common_world().barrier();
  }
}

// The window of a lock that is gone serves the next one, whose home may differ.
TEST(lock_epochs, follow_each_other) {
  struct alignas(slot_bytes) words {
    far<std::uint64_t> word;
  };
  constexpr std::uint64_t times = 20;
  world w(MPI_COMM_WORLD, small());
  world::far_segment<words> counted(w);
  std::uint64_t count = 0;
  const auto count_under = [&](mpi_win_lock<world>& lock) {
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::lock_guard guard(lock);
      counted.get(0, &words::word, count);
      counted.flush(0);
      ++count;
      counted.put(0, &words::word, count);
      counted.flush(0);
    }
  };
  for (int home = 0; home < w.size(); ++home) {
    mpi_win_lock<world> lock(w, home);
    mpi_win_lock<world> unused(w, w.size() - 1 - home);
    count_under(lock);
  }
  {
    // Ranks may destroy the locks in different orders.
    std::optional<mpi_win_lock<world>> one(std::in_place, w);
    std::optional<mpi_win_lock<world>> other(std::in_place, w);
    if (w.rank() == 0) one.reset();
    other.reset();
    one.reset();
    mpi_win_lock<world> lock(w);
    const mpi_win_lock<world> unused(w);
    count_under(lock);
  }
  w.barrier();
  counted.get(0, &words::word, count);
  counted.flush(0);
  const auto ranks = static_cast<std::uint64_t>(w.size());
  EXPECT_EQ(count, times * ranks * (ranks + 1));
}

// At MPI_THREAD_SERIALIZED and above any thread may use a world; below, only the main thread.
TEST(threads, other_than_main) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      world w(MPI_COMM_WORLD, small());
      default_cohort_lock<world> lock(w);
      guarded<world> inside(w);
      expect_exclusion(w, lock, inside);
      EXPECT_EQ(inside.violations(), "");
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (provided >= MPI_THREAD_SERIALIZED) {
    if (thrown) std::rethrow_exception(thrown);
    return;
  }
  ASSERT_TRUE(thrown) << "at level " << provided;
  try {
    std::rethrow_exception(thrown);
  } catch (const transport_error& caught) {
    EXPECT_NE(std::string(caught.what()).find("MPI_THREAD_SERIALIZED"), std::string::npos) << caught.what();
  }
}

}  // namespace
}  // namespace nearfar::testing
