// If ranks disagree on what they make together, every one of them gets an error, and all can go on.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/mpi_win_lock.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/lock/guarded.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

/// The error on this rank when the last rank makes one thing and the others another.
std::string complaint(const std::function<void(world&)>& by_last,
                      const std::function<void(world&)>& by_others) {
  world& w = common_world();
  try {
    (w.rank() == w.size() - 1 ? by_last : by_others)(w);
  } catch (const collective_mismatch& caught) {
    return caught.what();
  } catch (const error& other) {
    return std::string("another error: ") + other.what();
  }
  return "nothing was thrown";
}

/// Makes an object and drops it.
template <typename Made, typename... Arguments>
std::function<void(world&)> making(Arguments... arguments) {
  return [=](world& w) { const Made made(w, arguments...); };
}

void expect_told(const std::string& text, const std::string& of_first, const std::string& of_last) {
  EXPECT_NE(text.find("rank 0 makes " + of_first), std::string::npos) << text;
  EXPECT_NE(text.find("rank " + std::to_string(common_world().size() - 1) + " makes " + of_last),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("the same objects with the same arguments on every rank"), std::string::npos) << text;
}

class agreement : public ::testing::Test {
 protected:
  void SetUp() override {
    if (common_world().size() == 1) GTEST_SKIP() << "one rank always agrees";
  }
  /// The ranks' earlier objects must not stand in the way of later ones.
  void TearDown() override {
    world& w = common_world();
    default_cohort_lock<world> lock(w);
    guarded<world> inside(w);
    jitter timing(1, w.rank());
    for (int round = 0; round < 3; ++round) {
      lock.lock();
      inside.visit(timing);
      lock.unlock();
    }
    EXPECT_EQ(inside.violations(), "");
  }
};

TEST_F(agreement, on_the_home) {
  const auto both = [](auto make) { return complaint(make(1), make(0)); };
  expect_told(both([](int home) { return making<dash_lock<world>>(home); }), "dash_lock<", "dash_lock<");
  expect_told(both([](int home) { return making<d_mcs_lock<world>>(home); }), "d_mcs_lock<", "d_mcs_lock<");
  expect_told(both([](int home) { return making<rma_mcs_lock<world>>(home); }), "rma_mcs_lock<", "rma_mcs");
  expect_told(both([](int home) { return making<tas_lock<world>>(home); }), "tas_lock<", "tas_lock<");
  expect_told(both([](int home) { return making<mpi_win_lock<world>>(home); }), "mpi_win_lock<", "mpi_win");
  const std::string text = both([](int home) { return making<default_cohort_lock<world>>(home); });
  expect_told(text, "cohort_lock<", "cohort_lock<");
  EXPECT_NE(text.find("with home 0, max_local_passes 254"), std::string::npos) << text;
  EXPECT_NE(text.find("with home 1, max_local_passes 254"), std::string::npos) << text;
}

// Only the last rank would refuse this one, before it waits for the others.
TEST_F(agreement, on_arguments_of_which_some_are_invalid) {
  for (const int nobody_has : {-1, common_world().size()}) {
    expect_told(complaint(making<dash_lock<world>>(nobody_has), making<dash_lock<world>>(0)), "dash_lock",
                "dash");
    expect_told(
        complaint(making<default_cohort_lock<world>>(nobody_has), making<default_cohort_lock<world>>(0)),
        "cohort_lock", "cohort_lock");
    expect_told(complaint(making<mpi_win_lock<world>>(nobody_has), making<mpi_win_lock<world>>(0)), "mpi_win",
                "mpi_win");
  }
  expect_told(complaint(making<rma_mcs_lock<world>>(0, 300), making<rma_mcs_lock<world>>(0, 50)), "rma_mcs",
              "rma_mcs");
  expect_told(complaint(making<default_cohort_lock<world>>(0, -1), making<default_cohort_lock<world>>(0, 50)),
              "cohort_lock", "cohort_lock");
}

TEST_F(agreement, on_parameters) {
  expect_told(complaint(making<default_cohort_lock<world>>(0, 49), making<default_cohort_lock<world>>(0, 50)),
              "cohort_lock", "cohort_lock");
  const backoff longer{.longest = std::chrono::microseconds{1}};
  expect_told(complaint(making<tas_lock<world>>(0, longer), making<tas_lock<world>>(0)), "tas_lock",
              "tas_lock");
}

TEST_F(agreement, on_type_and_policy) {
  expect_told(complaint(making<tas_lock<world>>(0), making<dash_lock<world>>(0)), "dash_lock", "tas_lock");
  // A lock that takes the same memory.
  using published = dash_lock<world, dash_policy{.stage = dash_stage::published}>;
  expect_told(complaint(making<published>(0), making<dash_lock<world>>(0)), "dash_lock", "dash_lock");
  expect_told(complaint(making<mpi_win_lock<world>>(0), making<tas_lock<world>>(0)), "tas_lock",
              "mpi_win_lock");
}

TEST_F(agreement, on_parts) {
  const auto signals = making<world::signal_channel>();
  const auto epoch = [](int home) { return making<world::lock_epoch>(home); };
  const auto words = making<world::far_segment<detail::far_probe>>();
  const auto cells = making<world::near_segment<detail::near_probe<world>>>();
  expect_told(complaint(signals, words), "far memory", "a signal channel");
  expect_told(complaint(words, cells), "near memory", "far memory");
  expect_told(complaint(epoch(0), signals), "a signal channel", "a lock epoch");
  expect_told(complaint(epoch(1), epoch(0)), "a lock epoch with home 0", "a lock epoch with home 1");
  expect_told(complaint(epoch(-1), epoch(0)), "a lock epoch", "a lock epoch");
}

TEST_F(agreement, on_what_was_destroyed) {
  world& w = common_world();
  std::optional<world::signal_channel> first(std::in_place, w);
  if (w.rank() == 0) first.reset();
  std::optional<world::signal_channel> second;
  EXPECT_THROW(second.emplace(w), collective_mismatch);
}

TEST_F(agreement, on_the_options_of_a_world) {
  const auto with_bytes = [](std::size_t bytes) {
    return [bytes](world&) { const world another(MPI_COMM_WORLD, {.far_bytes = bytes, .near_bytes = 4096}); };
  };
  expect_told(complaint(with_bytes(4096), with_bytes(8192)), "a world", "a world");
  // Only the last rank would refuse this one.
  expect_told(complaint(with_bytes(SIZE_MAX), with_bytes(8192)), "a world", "a world");
  const auto placed = [](const std::string& topology) {
    return [topology](world&) {
      const world another(MPI_COMM_WORLD, {.far_bytes = 4096, .topology = topology_spec::parse(topology)});
    };
  };
  const std::string ranks = std::to_string(common_world().size());
  expect_told(complaint(placed("node:" + ranks), placed("node:" + ranks + " numa:2")),
              "a world with topology", "a world with topology");
}

}  // namespace
}  // namespace nearfar::testing
