/// \file
/// UPB, the uncontested performance benchmark: many free locks, each acquired and released once by a rank at
/// a known distance from the locks' home and from their last holder.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.1, table 4.1 and figure 4.1.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/locks/exclusion_check.hpp"
#include "bench/kinds/locks/lock_benchmark.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/latencies.hpp"
#include "bench/results/latency_histogram.hpp"
#include "bench/results/results.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

/// The roles of ranks in the UPB. With fewer than two nodes of two ranks some roles are vacant.
enum class upb_role : std::uint8_t { home, home_node, other_node, other_node_second };

/// The digit gives the last holder relative to the acquiring rank: 1 the same rank, 2 the same node, 3
/// another node. The letter gives the place of the acquiring rank: a at home, b on the home's node, c on
/// another node.
struct upb_scenario {
  const char* name;
  upb_role acquirer;
  upb_role predecessor;
};

/// In the order of the thesis: each scenario leaves the locks as the next one needs them.
inline constexpr std::array<upb_scenario, 9> upb_scenarios{{
    {"3a", upb_role::home, upb_role::other_node_second},
    {"1a", upb_role::home, upb_role::home},
    {"2b", upb_role::home_node, upb_role::home},
    {"1b", upb_role::home_node, upb_role::home_node},
    {"2a", upb_role::home, upb_role::home_node},
    {"3c", upb_role::other_node, upb_role::home},
    {"1c", upb_role::other_node, upb_role::other_node},
    {"2c", upb_role::other_node_second, upb_role::other_node},
    {"3b", upb_role::home_node, upb_role::other_node_second},
}};

/// Whether the acquiring rank is beside the home rank, on its node.
[[nodiscard]] constexpr bool is_beside_home(std::string_view scenario) {
  return std::ranges::any_of(upb_scenarios, [&](const upb_scenario& one) {
    return one.name == scenario && one.acquirer == upb_role::home_node;
  });
}

/// Which rank plays which role in a world. The home is rank 0.
class upb_cast {
 public:
  explicit upb_cast(const locality& where) {
    const auto of_home = where.members(level::node, where.group(level::node, 0));
    set(upb_role::home, 0);
    if (of_home.size() > 1) set(upb_role::home_node, of_home[1]);
    for (int node = 0; node < where.groups(level::node); ++node) {
      const auto members = where.members(level::node, node);
      if (members.front() == of_home.front()) continue;
      if (!rank(upb_role::other_node)) set(upb_role::other_node, members[0]);
      if (members.size() < 2) continue;
      set(upb_role::other_node, members[0]);
      set(upb_role::other_node_second, members[1]);
      break;
    }
  }

  [[nodiscard]] std::optional<int> rank(upb_role role) const {
    return ranks_[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] bool can_play(const upb_scenario& scenario) const {
    return rank(scenario.acquirer).has_value() && rank(scenario.predecessor).has_value();
  }
  /// The scenarios for which this world has the ranks.
  [[nodiscard]] std::vector<upb_scenario> scenarios() const {
    std::vector<upb_scenario> result;
    for (const upb_scenario& scenario : upb_scenarios)
      if (can_play(scenario)) result.push_back(scenario);
    return result;
  }

 private:
  void set(upb_role role, int rank) { ranks_[static_cast<std::size_t>(role)] = rank; }

  std::array<std::optional<int>, 4> ranks_;
};

/// The locks of one kind, all with home rank 0. Runs one repetition after another.
template <world W>
class upb_locks {
 public:
  /// Makes `count` locks, which are timed together, and `latency_count` locks that are timed one by one. So
  /// the clock is no part of the time of the former. Calls `beat`, outside the timed part, whenever all ranks
  /// have made progress. Collective.
  upb_locks(
      W& w, const lock_entry& entry, const lock_parameters& parameters, int count, int latency_count = 0,
      std::function<void()> beat = [] {})
      : world_(&w),
        entry_(&entry),
        cast_(w.locality()),
        count_(static_cast<std::size_t>(count)),
        beat_(std::move(beat)) {
    const int all = count + latency_count;
    locks_.reserve(static_cast<std::size_t>(all));
    for (int i = 0; i < all; ++i) {
      locks_.push_back(entry.factory<W>()(w, 0, parameters));
      beat_();
    }
  }

  /// One sample for each scenario that this world can play. Collective; rank 0 gets all samples.
  [[nodiscard]] std::vector<sample> run() {
    for (int rank = 0; rank < world_->size(); ++rank) acquire_all(rank);
    std::vector<sample> samples;
    std::optional<int> last;
    for (const upb_scenario& scenario : cast_.scenarios()) {
      const int predecessor = *cast_.rank(scenario.predecessor);
      if (last != predecessor) acquire_all(predecessor);
      const int acquirer = *cast_.rank(scenario.acquirer);
      const std::chrono::nanoseconds span = acquire_all(acquirer);
      last = acquirer;
      samples.push_back(make_sample(scenario, acquirer, span));
    }
    return samples;
  }

 private:
  /// `rank` acquires and releases every lock once; the other ranks wait and drive progress. Returns on `rank`
  /// the time of the locks that are timed together.
  std::chrono::nanoseconds acquire_all(int rank) {
    std::chrono::nanoseconds span{};
    uncontended_ = 0;
    latency_ = {};
    if (world_->rank() == rank) {
      const std::chrono::nanoseconds start = world_->now();
      for (std::size_t i = 0; i < count_; ++i) locks_[i]->lock_and_unlock();
      span = world_->now() - start;
      for (std::size_t i = count_; i < locks_.size(); ++i) {
        const std::chrono::nanoseconds begun = world_->now();
        locks_[i]->lock();
        latency_.add(world_->now() - begun);
        locks_[i]->unlock();
      }
      for (const auto& lock : locks_) {
        const handover how = lock->last_handover();
        uncontended_ += static_cast<std::int64_t>(how == handover::uncontended || how == handover::unknown);
      }
    }
    world_->barrier();
    beat_();
    return span;
  }

  [[nodiscard]] sample make_sample(const upb_scenario& scenario, int acquirer,
                                   std::chrono::nanoseconds span) {
    sample result;
    result.benchmark = "upb";
    result.object = entry_->name;
    result.scenario = scenario.name;
    const auto count = static_cast<std::int64_t>(count_);
    const auto all = static_cast<std::int64_t>(locks_.size());
    const auto sums = world_->sum_over_ranks({span.count(), uncontended_});
    result.duration = std::chrono::nanoseconds(sums[0]);
    result.iterations = count;
    if (world_->rank() == 0) {
      result.iterations_per_rank.assign(static_cast<std::size_t>(world_->size()), 0);
      result.iterations_per_rank[static_cast<std::size_t>(acquirer)] = count;
    }
    result.counts = {{"contended", all - sums[1]}, {"local_handovers", 0}};
    note_latencies(*world_, result, "acquire", latency_);
    // Every lock was free, as the scenario says: no acquisition had to wait.
    result.verified = sums[1] == all;
    return result;
  }

  W* world_;
  const lock_entry* entry_;
  upb_cast cast_;
  std::size_t count_;
  std::function<void()> beat_;
  std::vector<std::unique_ptr<any_lock<W>>> locks_;
  std::int64_t uncontended_ = 0;
  latency_histogram latency_;  ///< of the last pass, on the rank that acquired
};

/// The benchmark's description.
struct upb {
  static benchmark statement() {
    constexpr double many = 1e6;
    return {.name = "upb",
            .title = "Uncontested performance (UPB)",
            .summary = "uncontended locks, by distance from the home rank and from the last holder",
            .source = "Uffmann 2022, 4.2.1",
            .kind = &locks(),
            .axes = {{.name = "lock_count",
                      .meaning = "Number of locks, acquired one after the other",
                      .standard = std::int64_t{1000},
                      .least = 1,
                      .most = many,
                      .simulated = std::int64_t{50},  // in virtual time every lock costs the same
                      .is_effort = true},
                     {.name = "latency_count",
                      .meaning = "Further locks whose acquisitions are timed one by one, for percentiles",
                      .standard = std::int64_t{100},
                      .most = many,
                      .simulated = std::int64_t{10},
                      .is_effort = true}},
            .columns = with_acquisitions({time_per_acquisition, throughput}),
            .figure = {time_per_acquisition.name, throughput.name},
            .notes = {"One rank at a time acquires and releases many free locks once each; the value of a "
                      "repetition is the mean over these locks."},
            .scenarios =
                scenario_set{
                    .meaning = "last holder: 1 the same rank, 2 the same node, 3 another node; home of the "
                               "lock: a this rank, b this node, c another node",
                    .names = names_of({upb_scenarios.begin(), upb_scenarios.end()}),
                    .needs = "two nodes of two ranks",
                    .playable = [](const locality& where) { return names_of(upb_cast(where).scenarios()); },
                    .part = "last holder",
                    .column = "home of the lock",
                    .parts = {{"1", "the same rank"},
                              {"2", "another rank of its node"},
                              {"3", "a rank of another node"}},
                    .columns = {{"a", "the acquiring rank"},
                                {"b", "another rank of its node"},
                                {"c", "a rank of another node"}}},
            .objects = [](const point& at) { return at.whole("lock_count") + at.whole("latency_count"); }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at,
                                               const heartbeat& beat) {
    return upb_locks<W>(w, *catalogue::instance().find(of.name), lock_parameters::at(at),
                        static_cast<int>(at.whole("lock_count")), static_cast<int>(at.whole("latency_count")),
                        beat)
        .run();
  }

 private:
  static std::vector<std::string> names_of(const std::vector<upb_scenario>& scenarios) {
    std::vector<std::string> names;
    for (const upb_scenario& each : scenarios) names.emplace_back(each.name);
    return names;
  }
};

}  // namespace nearfar::bench
