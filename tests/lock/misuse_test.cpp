// The exceptions for wrong use of locks and worlds, in checked builds and in every build.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/clof_lock.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/hmcs_lock.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/spsc_queue.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "nearfar/topology/spec.hpp"

namespace {

using nearfar::far;
using nearfar::threads::world;
namespace threads = nearfar::threads;

threads::options shaped(const std::string& topology) {
  threads::options chosen;
  chosen.topology = nearfar::topology_spec::parse(topology);
  return chosen;
}

/// Expects that `body`, run by every rank, ends with an `Error` whose text is one line and has these words.
template <typename Error>
void expect_error(int ranks, const std::function<void(world&)>& body, const std::vector<std::string>& words,
                  const threads::options& chosen = {}) {
  try {
    threads::run(ranks, body, chosen);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& caught) {
    const std::string text = caught.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "another error: " << other.what();
  }
}

struct alignas(nearfar::cache_line) cells {
  world::near<std::uint64_t> cell;
};
struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

// ---- every lock ----

template <typename Lock>
class misused_lock : public ::testing::Test {};

using all_locks = ::testing::Types<nearfar::tas_lock<world>, nearfar::mcs_lock<world>,
                                   nearfar::d_mcs_lock<world>, nearfar::dash_lock<world>,
                                   nearfar::rma_mcs_lock<world>, nearfar::default_cohort_lock<world>>;
TYPED_TEST_SUITE(misused_lock, all_locks);

#if NEARFAR_CHECKED

TYPED_TEST(misused_lock, unlocked_twice) {
  expect_error<nearfar::not_held>(2,
                                  [](world& w) {
                                    TypeParam lock(w);
                                    if (w.rank() != 0) return;
                                    lock.lock();
                                    lock.unlock();
                                    lock.unlock();
                                  },
                                  {"unlock()", "twice"});
}

TYPED_TEST(misused_lock, unlocked_by_a_rank_that_never_locked) {
  expect_error<nearfar::not_held>(2,
                                  [](world& w) {
                                    TypeParam lock(w);
                                    if (w.rank() == 0) lock.lock();
                                    w.barrier();
                                    if (w.rank() == 1) lock.unlock();  // the lock is rank 0's
                                    w.barrier();
                                    if (w.rank() == 0) lock.unlock();
                                  },
                                  {"unlock()", "never locked"});
}

TYPED_TEST(misused_lock, locked_again_by_its_holder) {
  expect_error<nearfar::already_held>(2,
                                      [](world& w) {
                                        TypeParam lock(w);
                                        if (w.rank() != 1) return;
                                        lock.lock();
                                        lock.lock();
                                      },
                                      {"lock()", "not recursive"});
}

TYPED_TEST(misused_lock, tried_again_by_its_holder) {
  if constexpr (requires(TypeParam& lock) { lock.try_lock(); }) {
    expect_error<nearfar::already_held>(1,
                                        [](world& w) {
                                          TypeParam lock(w);
                                          EXPECT_TRUE(lock.try_lock());
                                          static_cast<void>(lock.try_lock());
                                        },
                                        {"try_lock()", "not recursive"});
  } else {
    static_assert(std::is_same_v<TypeParam, nearfar::rma_mcs_lock<world>>, "only this one cannot try");
  }
}

TYPED_TEST(misused_lock, destroyed_by_its_holder) {
  expect_error<nearfar::destroyed_while_held>(2,
                                              [](world& w) {
                                                TypeParam lock(w);
                                                if (w.rank() == 1) lock.lock();
                                              },
                                              {"destroyed", "unlock it first"});
}

TYPED_TEST(misused_lock, is_usable_after_misuse_was_caught) {
  threads::run(2, [](world& w) {
    TypeParam lock(w);
    for (int turn = 0; turn < 2; ++turn) {
      if (w.rank() == turn) {
        EXPECT_THROW(lock.unlock(), nearfar::not_held);
        lock.lock();
        EXPECT_THROW(lock.lock(), nearfar::already_held);
        lock.unlock();
      }
      w.barrier();
    }
  });
}

// ---- memory ----

TEST(misused_memory, near_cell_of_another_node) {
  const auto reach = [](int rank) {
    return [rank](world& w) {
      const world::near_segment<cells> segment(w);
      EXPECT_NO_THROW(static_cast<void>(segment.at(w.rank())));
      static_cast<void>(segment.at(rank));
    };
  };
  expect_error<nearfar::unreachable_rank>(2, reach(0), {"rank 0", "rank 1"}, shaped("node:2"));
  for (const int rank : {-1, 2})
    expect_error<nearfar::unreachable_rank>(2, reach(rank), {"shares no memory"});
}

TEST(misused_memory, direct_access_to_a_far_word_of_another_node) {
  expect_error<nearfar::unreachable_rank>(
      4,
      [](world& w) {
        world::far_segment<words> segment(w);
        const int other = (w.rank() + 2) % 4;
        std::uint64_t value = 1;
        segment.get(other, &words::word, value);  // a far access works
        EXPECT_EQ(value, 0);
        static_cast<void>(segment.read_direct(other, &words::word));
      },
      {"shares no memory"}, shaped("node:2"));
}

TEST(misused_memory, far_word_of_a_rank_out_of_range) {
  for (const int rank : {-1, 2, 1 << 30})
    expect_error<nearfar::unreachable_rank>(2,
                                            [rank](world& w) {
                                              world::far_segment<words> segment(w);
                                              const std::uint64_t value = 1;
                                              segment.put(rank, &words::word, value);
                                            },
                                            {"no rank"});
}

TEST(misused_memory, signals_of_a_rank_out_of_range) {
  for (const int rank : {-2, 2})
    expect_error<nearfar::unreachable_rank>(2,
                                            [rank](world& w) {
                                              world::signal_channel channel(w);
                                              channel.await_signal(rank);
                                            },
                                            {"no rank"});
  expect_error<nearfar::unreachable_rank>(2, [](world& w) { world::signal_channel(w).signal(2); },
                                          {"no rank 2"});
}

TEST(misused_memory, home_of_a_near_lock_out_of_range) {
  expect_error<nearfar::unreachable_rank>(2, [](world& w) { nearfar::mcs_lock<world> lock(w, 2); },
                                          {"rank 2"});
}

#endif  // NEARFAR_CHECKED

// ---- checks that every build has ----

// An object that outlives its world can still be destroyed after the world has reported it.
template <typename T, typename... Arguments>
void expect_to_outlive_its_world(const Arguments&... arguments) {
  std::vector<std::unique_ptr<T>> kept(2);
  expect_error<nearfar::destroyed_while_in_use>(
      2, [&](world& w) { kept[static_cast<std::size_t>(w.rank())] = std::make_unique<T>(w, arguments...); },
      {"before the locks in it"});
  kept.clear();
  // The world does not report such an object if an exception destroys the world.
  struct own_error {};
  kept.resize(2);
  EXPECT_THROW(threads::run(2,
                            [&](world& w) {
                              kept[static_cast<std::size_t>(w.rank())] = std::make_unique<T>(w, arguments...);
                              throw own_error();
                            }),
               own_error);
}

TYPED_TEST(misused_lock, outlives_its_world) { expect_to_outlive_its_world<TypeParam>(); }

TEST(misused_memory, outlives_its_world) {
  expect_to_outlive_its_world<world::near_segment<cells>>();
  expect_to_outlive_its_world<world::far_segment<words>>();
  expect_to_outlive_its_world<world::near_array<cells>>(std::size_t{3});
  expect_to_outlive_its_world<world::signal_channel>();
}

TEST(misused_containers, outlive_their_world) {
  expect_to_outlive_its_world<nearfar::lockfree_queue<world, std::uint64_t>>(
      nearfar::lockfree_queue<world, std::uint64_t>::parameters{.capacity = 8});
  expect_to_outlive_its_world<nearfar::ticket_queue<world, std::uint64_t>>(
      nearfar::ticket_queue<world, std::uint64_t>::parameters{.capacity = 8});
  expect_to_outlive_its_world<nearfar::spsc_queue<world, std::uint64_t>>(
      nearfar::spsc_queue<world, std::uint64_t>::parameters{.capacity = 8});
  expect_to_outlive_its_world<nearfar::distributed_map<world, std::uint64_t, std::uint64_t>>(
      nearfar::map_capacity{.cells = 8});
  expect_to_outlive_its_world<nearfar::node_channel<world, std::uint64_t>>(std::size_t{8});
}

#if NEARFAR_CHECKED

TYPED_TEST(misused_lock, is_used_after_its_world) {
  threads::team alone(1, {});
  auto w = std::make_unique<world>(alone, 0);
  TypeParam held(*w);
  TypeParam other(*w);
  held.lock();
  EXPECT_THROW(delete w.release(), nearfar::destroyed_while_in_use);
  EXPECT_THROW(other.lock(), nearfar::destroyed_while_in_use);
  EXPECT_THROW(held.unlock(), nearfar::destroyed_while_in_use);
}

TEST(misused_memory, is_used_after_its_world) {
  threads::team alone(1, {});
  auto w = std::make_unique<world>(alone, 0);
  const world::near_segment<cells> near(*w);
  world::far_segment<words> far(*w);
  // The test deletes by hand, as a unique_ptr lets no exception out.
  EXPECT_THROW(delete w.release(), nearfar::destroyed_while_in_use);
  std::uint64_t value = 0;
  EXPECT_THROW(static_cast<void>(near.at(0)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(far.get(0, &words::word, value), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(far.read_direct(0, &words::word)), nearfar::destroyed_while_in_use);
}

TEST(misused_memory, signals_after_its_world) {
  threads::team alone(1, {});
  auto w = std::make_unique<world>(alone, 0);
  world::signal_channel signals(*w);
  EXPECT_THROW(delete w.release(), nearfar::destroyed_while_in_use);
  EXPECT_THROW(signals.signal(0), nearfar::destroyed_while_in_use);
  EXPECT_THROW(signals.await_signal(0), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(signals.await_signal_until(std::chrono::nanoseconds(0), 0)),
               nearfar::destroyed_while_in_use);
}

TEST(misused_containers, map_is_used_after_its_world) {
  threads::team alone(1, {});
  auto w = std::make_unique<world>(alone, 0);
  nearfar::distributed_map<world, std::uint64_t, std::uint64_t> map(*w, {.cells = 8});
  ASSERT_EQ(map.insert(1, 10), nearfar::insert_result::inserted);
  EXPECT_THROW(delete w.release(), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(map.find(1)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(map.insert(2, 20)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(map.erase(1)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(map.owner(1)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(map.size()), nearfar::destroyed_while_in_use);
  EXPECT_THROW(map.for_each([](std::uint64_t, std::uint64_t) {}), nearfar::destroyed_while_in_use);
  EXPECT_EQ(map.capacity(), 8U);
}

template <typename Queue>
void expect_queue_to_tell_its_worlds_end() {
  threads::team alone(1, {});
  auto w = std::make_unique<world>(alone, 0);
  Queue queue(*w, typename Queue::parameters{.capacity = 8});
  ASSERT_EQ(queue.try_push(1), nearfar::queue_status::success);
  EXPECT_THROW(delete w.release(), nearfar::destroyed_while_in_use);
  const std::array<std::uint64_t, 1> two{2};
  std::array<std::uint64_t, 1> got{};
  EXPECT_THROW(static_cast<void>(queue.try_push(2)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(queue.push(2)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(queue.try_pop()), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(queue.pop()), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(queue.pop_for(std::chrono::nanoseconds(1))),
               nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(queue.push_range(two)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(static_cast<void>(queue.pop_range(got)), nearfar::destroyed_while_in_use);
  EXPECT_THROW(queue.close(), nearfar::destroyed_while_in_use);
}

TEST(misused_containers, queues_are_used_after_their_world) {
  expect_queue_to_tell_its_worlds_end<nearfar::ticket_queue<world, std::uint64_t>>();
  expect_queue_to_tell_its_worlds_end<nearfar::lockfree_queue<world, std::uint64_t>>();
}

#endif  // NEARFAR_CHECKED

/// Expects an error on all ranks when rank 1 makes one thing and the others another.
template <typename OfOne, typename OfOthers>
void expect_disagreement(OfOne of_one, OfOthers of_others, const std::vector<std::string>& words) {
  threads::run(3, [&](world& w) {
    try {
      if (w.rank() == 1)
        of_one(w);
      else
        of_others(w);
      ADD_FAILURE() << "nothing was thrown on rank " << w.rank();
    } catch (const nearfar::collective_mismatch& caught) {
      const std::string text = caught.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    // All ranks can go on.
    nearfar::default_cohort_lock<world> lock(w);
    lock.lock();
    lock.unlock();
  });
}

TYPED_TEST(misused_lock, of_different_homes) {
  const auto at = [](int home) { return [home](world& w) { const TypeParam lock(w, home); }; };
  expect_disagreement(at(1), at(0), {"rank 0 makes", "with home 0", "rank 1 makes", "with home 1"});
  expect_disagreement(at(-1), at(0), {"with home -1", "every rank"});
  expect_disagreement(at(3), at(0), {"with home 3", "every rank"});
}

TYPED_TEST(misused_lock, of_different_types) {
  expect_disagreement(
      [](world& w) { const TypeParam lock(w); },
      [](world& w) {
        const nearfar::d_mcs_lock<world, nearfar::d_mcs_policy{.by = nearfar::handover_by::accumulate}> lock(
            w);
      },
      {"rank 0 makes d_mcs_lock<threads::world", "rank 1 makes "});
}

TEST(misused_locks, of_different_limits) {
  const auto of_limit = [](int limit) {
    return [limit](world& w) { const nearfar::default_cohort_lock<world> lock(w, 0, limit); };
  };
  expect_disagreement(of_limit(49), of_limit(50), {"max_local_passes 50", "max_local_passes 49"});
  expect_disagreement(of_limit(300), of_limit(50), {"max_local_passes 50", "max_local_passes 300"});
}

TEST(misused_locks, levels_inside_a_node_that_cannot_be) {
  using nearfar::level;
  const auto with = [](const nearfar::lock_tree& inside) {
    return [inside](world& w) { const nearfar::hmcs_lock<world> lock(w, 0, 50, inside); };
  };
  const threads::options domains = shaped("node:1 numa:2");
  expect_error<nearfar::topology_error>(4, with({{.at = level::cache}}), {"'cache'", "rank 0"}, domains);
  expect_error<nearfar::topology_error>(4, with({{.at = level::numa}, {.at = level::core}}), {"'core'"},
                                        domains);
  expect_error<nearfar::misuse>(4, with({{.at = level::node}}), {"'node'", "inside nodes"}, domains);
  for (const int passes : {0, 255, 1000})
    expect_error<nearfar::misuse>(4, with({{.at = level::numa, .max_passes = passes}}),
                                  {"level numa", "1 to 254", std::to_string(passes)}, domains);
  expect_error<nearfar::misuse>(
      4,
      [](world& w) {
        const nearfar::hmcs_lock<world> lock(w, 0, 50,
                                             nearfar::lock_tree({{.at = level::numa, .max_passes = -1}}));
      },
      {"level numa", "not -1"}, domains);
  for (const int passes : {1, 254})
    EXPECT_NO_THROW(threads::run(4, with({{.at = level::numa, .max_passes = passes}}), domains)) << passes;
}

TEST(misused_locks, levels_that_a_composition_cannot_have) {
  using nearfar::level;
  using composed =
      nearfar::clof_lock<nearfar::biased_queue<world>, nearfar::mcs_lock<world>, nearfar::mcs_lock<world>>;
  const auto with = [](int passes, const nearfar::lock_tree& inside) {
    return [=](world& w) { const composed lock(w, 0, passes, inside); };
  };
  const threads::options domains = shaped("node:1 numa:2 core:2");
  expect_error<nearfar::misuse>(4, with(50, {{.at = level::numa}, {.at = level::core}}),
                                {"2 near locks", "level core", "fewer"}, domains);
  expect_error<nearfar::misuse>(4, with(50, {{.at = level::node}}), {"'node'", "inside nodes"}, domains);
  expect_error<nearfar::misuse>(4, with(50, {{.at = level::numa, .max_passes = 255}}),
                                {"level numa", "1 to 254"}, domains);
  expect_error<nearfar::topology_error>(4, with(50, {{.at = level::core}}), {"'core'", "rank 0"},
                                        shaped("node:1 numa:2"));
  for (const int passes : {0, 255}) {
    expect_error<nearfar::misuse>(4, with(passes, {{.at = level::numa}}), {"max_local_passes"}, domains);
    expect_error<nearfar::misuse>(
        4, [passes](world& w) { const composed lock(w, 0, passes); }, {"max_local_passes"}, domains);
  }
  expect_disagreement(with(50, {{.at = level::numa}}), [](world& w) { const composed lock(w, 0, 50); },
                      {"numa -1", "numa 50"});
  EXPECT_NO_THROW(threads::run(4, with(254, {{.at = level::numa, .max_passes = 254}}), domains));
}

TEST(misused_locks, levels_inside_a_node_as_text) {
  using nearfar::level;
  using nearfar::lock_tree;
  EXPECT_EQ(lock_tree::parse_inside_nodes("package=254/numa/core=1", 7),
            lock_tree({{level::package, 254}, {level::numa, 7}, {level::core, 1}}));
  EXPECT_EQ(lock_tree::parse_inside_nodes("").levels().size(), 0U);
  const auto expect_refused = [](const std::string& text, const std::vector<std::string>& words,
                                 int max_passes = 50) {
    try {
      static_cast<void>(lock_tree::parse_inside_nodes(text, max_passes));
      ADD_FAILURE() << "nothing was thrown for " << text;
    } catch (const nearfar::misuse& caught) {
      for (const std::string& word : words)
        EXPECT_NE(std::string(caught.what()).find(word), std::string::npos) << caught.what();
    }
  };
  for (const char* passes : {"0", "-1", "255", "1048577"})
    expect_refused("package=3/core=" + std::string(passes), {"level core", "1 to 254", passes});
  for (const char* passes : {"", "x", "1e2", "99999999999"})
    expect_refused("core=" + std::string(passes), {"level core", "'" + std::string(passes) + "'"});
  expect_refused("node=3/core=3", {"'node'", "inside nodes"});
  expect_refused("package/numa/cache/core/core", {"each once", "core after core"});
  expect_refused("core/numa", {"numa after core"});
  expect_refused("numa/rack", {"'rack'"});
  expect_refused("numa/", {"''"});
  for (const int passes : {0, 255}) expect_refused("numa=3/core", {"max_local_passes"}, passes);
}

TEST(misused_locks, levels_around_nodes_as_text) {
  using nearfar::level;
  using nearfar::lock_tree;
  using nearfar::tree_level;
  const auto both = lock_tree::parse_around_nodes("island=254/package/core=1", 7);
  EXPECT_EQ(both.island, (tree_level{level::island, 254}));
  EXPECT_EQ(both.inside, lock_tree({{level::package, 7}, {level::core, 1}}));
  EXPECT_EQ(lock_tree::parse_around_nodes("island", 7).island, (tree_level{level::island, 7}));
  EXPECT_EQ(lock_tree::parse_around_nodes("island").inside.levels().size(), 0U);
  EXPECT_FALSE(lock_tree::parse_around_nodes("").island);
  const auto expect_refused = [](const std::string& text, const std::string& word) {
    try {
      static_cast<void>(lock_tree::parse_around_nodes(text));
      ADD_FAILURE() << "nothing was thrown for " << text;
    } catch (const nearfar::misuse& caught) {
      EXPECT_NE(std::string(caught.what()).find(word), std::string::npos) << caught.what();
    }
  };
  expect_refused("island=0/numa", "level island must be 1 to 254, not 0");
  expect_refused("island=255", "level island must be 1 to 254, not 255");
  expect_refused("island/numa=0", "level numa must be 1 to 254, not 0");
  expect_refused("island/node/numa", "leave out 'node'");
  expect_refused("numa/island", "put 'island' first");
  expect_refused("island/island", "put 'island' first");
  expect_refused("island/core/numa", "numa after core");
}

TEST(misused_locks, islands_that_cannot_be) {
  using nearfar::level;
  const auto with = [](const nearfar::tree_level& of) {
    return [of](world& w) {
      const nearfar::island_hmcs_lock<world> lock(w, 0, 50, of,
                                                  nearfar::lock_tree(std::vector<nearfar::tree_level>{}));
    };
  };
  expect_error<nearfar::topology_error>(4, with({.at = level::island}), {"form an island", "rank 0"},
                                        shaped("node:4"));
  const threads::options islands = shaped("island:2 node:2");
  expect_error<nearfar::misuse>(4, with({.at = level::numa}), {"queues of islands", "'numa'"}, islands);
  for (const int passes : {0, 255})
    expect_error<nearfar::misuse>(4, with({.at = level::island, .max_passes = passes}),
                                  {"level island", "1 to 254", std::to_string(passes)}, islands);
  EXPECT_NO_THROW(threads::run(4, with({.at = level::island}), islands));
}

TEST(misused_locks, of_different_levels) {
  const auto with = [](const nearfar::lock_tree& inside) {
    return [inside](world& w) {
      const nearfar::near_hmcs_lock<world> lock(w, 0, nearfar::near_scope::world, inside);
    };
  };
  const nearfar::lock_tree none(std::vector<nearfar::tree_level>{});
  expect_disagreement(with({{.at = nearfar::level::numa}}), with(none), {"numa -1", "numa 50"});
}

TEST(misused_world, signals_where_others_make_memory) {
  expect_disagreement([](world& w) { const world::signal_channel channel(w); },
                      [](world& w) { const world::far_segment<words> segment(w); },
                      {"rank 0 makes far memory", "rank 1 makes a signal channel"});
}

TEST(misused_world, near_lock_over_two_nodes) {
  expect_error<nearfar::topology_error>(
      4, [](world& w) { nearfar::mcs_lock<world> lock(w); }, {"one node", "2 nodes", "cohort_lock"},
      shaped("node:2"));
}

TEST(misused_world, ranks_that_destroyed_different_locks) {
  expect_error<nearfar::collective_mismatch>(2,
                                             [](world& w) {
                                               auto first = std::make_unique<nearfar::dash_lock<world>>(w);
                                               if (w.rank() == 0) first.reset();
                                               const nearfar::dash_lock<world> second(w);
                                             },
                                             {"every rank", "same order"});
}

TEST(misused_world, ranks_that_made_different_locks) {
  expect_error<nearfar::collective_mismatch>(2,
                                             [](world& w) {
                                               // Segments of 64 and 128 bytes: the next one cannot lie at one
                                               // offset.
                                               std::optional<world::far_segment<words>> small;
                                               std::optional<nearfar::far_queue<world>> large;
                                               if (w.rank() == 0)
                                                 small.emplace(w);
                                               else
                                                 large.emplace(w, 0, w.rank());
                                               const nearfar::dash_lock<world> next(w);
                                             },
                                             {"every rank", "same order"});
}

TEST(misused_world, more_locks_than_fit) {
  threads::options tiny;
  tiny.bytes = 8 * nearfar::slot_bytes;
  expect_error<nearfar::out_of_memory>(
      2,
      [](world& w) {
        std::vector<std::unique_ptr<nearfar::tas_lock<world>>> locks;
        for (int i = 0; i < 8; ++i) locks.push_back(std::make_unique<nearfar::tas_lock<world>>(w));
        locks.back()->lock();
        locks.back()->unlock();
        w.barrier();
        locks.push_back(std::make_unique<nearfar::tas_lock<world>>(w));
      },
      {"no room", "nearfar::threads::options::bytes"}, tiny);
}

TEST(misused_world, room_that_was_given_back_is_room) {
  threads::options tiny;
  tiny.bytes = 8 * nearfar::slot_bytes;
  threads::run(
      2,
      [](world& w) {
        for (int i = 0; i < 20; ++i) {
          nearfar::default_cohort_lock<world> lock(w);
          lock.lock();
          lock.unlock();
        }
      },
      tiny);
}

TEST(misused_world, sizes_that_are_no_multiple_of_a_line) {
  for (const std::size_t bytes : {0U, 1U, 4096U + 8U, 12345U}) {
    threads::options awkward;
    awkward.bytes = bytes;
    threads::run(
        3,
        [bytes](world& w) {
          if (bytes > 4096) {
            nearfar::default_cohort_lock<world> lock(w);
            lock.lock();
            lock.unlock();
          }
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.far_memory(w.rank())) % nearfar::cache_line, 0);
        },
        awkward);
  }
}

TEST(misused_world, sizes_that_cannot_be) {
  for (const unsigned shift : {61U, 62U, 63U}) {
    threads::options huge;
    huge.bytes = std::size_t{1} << shift;
    EXPECT_THROW(threads::run(
                     4, [](world&) {}, huge),
                 nearfar::out_of_memory)
        << "2^" << shift;
  }
  threads::options huge;
  huge.bytes = SIZE_MAX;
  EXPECT_THROW(threads::run(
                   1, [](world&) {}, huge),
               nearfar::out_of_memory);
  huge.bytes = std::size_t{1} << 50U;  // countable, but more than the address space has
  EXPECT_THROW(threads::run(
                   1, [](world&) {}, huge),
               nearfar::out_of_memory);
}

TEST(misused_world, teams_without_threads) {
  for (const int ranks : {0, -1})
    EXPECT_THROW(threads::run(ranks, [](world&) {}), nearfar::topology_error) << ranks;
}

TEST(misused_world, more_nodes_than_threads) {
  expect_error<nearfar::topology_error>(
      2, [](world&) {}, {}, shaped("node:3"));
}

// Guards unlock in their destructors, which must not throw. A release that has begun is therefore finished,
// whatever has become of the other ranks.
TYPED_TEST(misused_lock, is_released_although_another_rank_failed) {
  struct own_error {};
  for (int round = 0; round < 40; ++round) {
    EXPECT_THROW(threads::run(8,
                              [round](world& w) {
                                TypeParam lock(w);
                                for (int turn = 0;; ++turn) {
                                  const std::lock_guard hold(lock);
                                  if (w.rank() == round % 8 && turn == round) throw own_error{};
                                  if (turn % 4 == 3) w.rest();
                                }
                              }),
                 own_error);
  }
}

// The same, in the one order that matters: the team stops, and only then another rank does what the release
// waits for.
TEST(release_scope, outlasts_the_team) {
  struct own_error {};
  bool released = false;
  EXPECT_THROW(threads::run(3,
                            [&released](world& w) {
                              const world::near_segment<cells> segment(w);
                              auto& cell = segment.at(2).cell;
                              if (w.rank() == 0) throw own_error{};
                              const world::release_scope scope(w);
                              if (w.rank() == 2) {
                                w.delay(std::chrono::milliseconds{5});
                                cell.store(1, std::memory_order_release);
                              } else {
                                w.await(cell, [](std::uint64_t value) { return value == 1; });
                                released = true;
                              }
                            }),
               own_error);
  EXPECT_TRUE(released);
}

// A wait for a failed rank ends wherever it is, and the first error is the one reported.
TEST(misused_world, a_failing_rank_ends_the_others) {
  struct own_error {
    int rank;
  };
  for (const int failing : {0, 2}) {
    try {
      threads::run(3, [failing](world& w) {
        nearfar::dash_lock<world> lock(w);
        if (w.rank() == failing) {
          lock.lock();
          throw own_error{failing};
        }
        lock.lock();  // waits for ever, or comes before the other rank
        lock.unlock();
        w.barrier();
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const own_error& caught) {
      EXPECT_EQ(caught.rank, failing);
    }
  }
}

}  // namespace
