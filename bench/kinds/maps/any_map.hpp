/// \file
/// A distributed map whose type is known only at run time, and the timed loop that drives it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/draws.hpp"
#include "bench/results/latency_histogram.hpp"
#include "bench/timed_loop.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/map/distributed_map.hpp"

namespace nearfar::bench {

/// Draws numbers from 0 to n - 1, number k in proportion to 1 / (k + 1)^skew. With a skew of 0 all are
/// equally likely.
///
/// Source: J. Gray, P. Sundaresan, S. Englert, K. Baclawski, P. Weinberger, "Quickly generating
/// billion-record synthetic databases", SIGMOD 1994, doi 10.1145/191839.191886.
class zipf_draws {
 public:
  zipf_draws(std::uint64_t count, double skew) : count_(static_cast<double>(count)), skew_(skew) {
    if (skew_ == 0) return;
    for (std::uint64_t k = 1; k <= count; ++k) sum_ += 1 / std::pow(static_cast<double>(k), skew_);
    const double first_two = 1 + std::pow(0.5, skew_);
    eta_ = (1 - std::pow(2 / count_, 1 - skew_)) / (1 - first_two / sum_);
  }

  [[nodiscard]] std::uint64_t operator()(draws& random) const {
    const double share = random.share();
    if (skew_ == 0) return static_cast<std::uint64_t>(share * count_);
    const double scaled = share * sum_;
    if (scaled < 1) return 0;
    if (scaled < 1 + std::pow(0.5, skew_)) return 1;
    const double which = count_ * std::pow(eta_ * share - eta_ + 1, 1 / (1 - skew_));
    return static_cast<std::uint64_t>(std::min(which, count_ - 1));
  }

 private:
  double count_;
  double skew_;
  double sum_ = 0;
  double eta_ = 0;
};

/// The deeds of each rank from the common start.
struct map_plan {
  run_times times{};
  double writer_share = 0;  ///< 0 to 1, drawn for each operation: erases an entry, or inserts an absent one
  double skew = 0;          ///< of the drawn keys
  std::uint64_t keys = 0;   ///< number of keys, half of which are in the table at the beginning
  std::uint64_t seed = 1;
};

/// Counts of one rank in the measured part.
struct map_counts : loop_counts {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t found = 0;
  std::int64_t wrong = 0;    ///< values that no rank has written for that key, including the warm-up
  std::int64_t refused = 0;  ///< inserts that found no room, including the warm-up
  std::int64_t balance = 0;  ///< entries inserted minus entries erased, from the beginning on
  latency_histogram read_latency{};
  latency_histogram write_latency{};
};

/// A value that names its key.
[[nodiscard]] constexpr std::uint64_t value_of_key(std::uint64_t key, std::uint64_t version) noexcept {
  return key << 20U | (version & 0xfffffU);
}

/// Inserts half of the keys. Then finds, and erases or inserts, until the time is over. Collective.
template <world W, typename Map>
map_counts map_loop(W& w, Map& map, const map_plan& plan) {
  using std::chrono::nanoseconds;
  map_counts counts;
  draws random(plan.seed, w.rank());
  const zipf_draws drawn(plan.keys, plan.skew);
  std::uint64_t version = 0;
  const auto insert = [&](std::uint64_t key) {
    const insert_result result = map.insert(key, value_of_key(key, ++version));
    counts.balance += result == insert_result::inserted ? 1 : 0;
    counts.refused += result == insert_result::full ? 1 : 0;
  };
  for (auto key = static_cast<std::uint64_t>(w.rank()); key < plan.keys / 2;
       key += static_cast<std::uint64_t>(w.size()))
    insert(2 * key);
  const auto check = [&](std::uint64_t key, const std::optional<std::uint64_t>& value) {
    if (value && *value >> 20U != key) ++counts.wrong;
  };
  const auto once = [&](bool is_writer) {
    const std::uint64_t key = drawn(random);
    if (!is_writer) {
      const auto value = map.find(key);
      check(key, value);
      return value.has_value();
    }
    const auto gone = map.erase(key);
    check(key, gone);
    if (gone)
      --counts.balance;
    else
      insert(key);
    return false;
  };

  timed_loop(
      w, plan.times, counts, [&] { once(random.share() < plan.writer_share); },
      [&](nanoseconds before) {
        const bool is_writer = random.share() < plan.writer_share;
        counts.found += once(is_writer) ? 1 : 0;
        const nanoseconds now = w.now();
        (is_writer ? counts.write_latency : counts.read_latency).add(now - before);
        ++(is_writer ? counts.writes : counts.reads);
        return now;
      });
  return counts;
}

/// One rank's object of a map of words to words, type-erased for benchmarks.
template <world W>
class any_map {
 public:
  any_map() = default;
  any_map(const any_map&) = delete;
  any_map& operator=(const any_map&) = delete;
  virtual ~any_map() = default;

  [[nodiscard]] virtual std::optional<std::uint64_t> find(std::uint64_t key) = 0;
  [[nodiscard]] virtual insert_result insert(std::uint64_t key, std::uint64_t value) = 0;
  [[nodiscard]] virtual update_result update(std::uint64_t key, std::uint64_t value) = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> erase(std::uint64_t key) = 0;
  virtual void find(std::span<const std::uint64_t> keys, std::span<std::optional<std::uint64_t>> results) = 0;
  /// Runs the timed loop. The loop is one virtual function, so that the compiler inlines the map into it.
  /// Collective.
  virtual map_counts run(W& w, const map_plan& plan) = 0;
  /// Collective.
  [[nodiscard]] virtual std::size_t size() = 0;
  /// Entries in this rank's memory whose value belongs to another key.
  [[nodiscard]] virtual std::int64_t wrong_here() = 0;
};

/// The timed loop for every map of the engine. An indirect call takes no virtual time, so one loop serves all
/// maps. Defined in bench/kinds/engine_loops.cpp.
[[nodiscard]] map_counts map_loop_in_engine(engine::world& w, any_map<engine::world>& map,
                                            const map_plan& plan);

template <world W, typename Map>
class any_map_of final : public any_map<W> {
 public:
  template <typename... Arguments>
  explicit any_map_of(W& w, Arguments&&... arguments) : map_(w, std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t key) override { return map_.find(key); }
  [[nodiscard]] insert_result insert(std::uint64_t key, std::uint64_t value) override {
    return map_.insert(key, value);
  }
  [[nodiscard]] update_result update(std::uint64_t key, std::uint64_t value) override {
    return map_.update(key, value);
  }
  [[nodiscard]] std::optional<std::uint64_t> erase(std::uint64_t key) override { return map_.erase(key); }
  void find(std::span<const std::uint64_t> keys, std::span<std::optional<std::uint64_t>> results) override {
    map_.find(keys, results);
  }
  map_counts run(W& w, const map_plan& plan) override {
    if constexpr (std::same_as<W, engine::world>)
      return map_loop_in_engine(w, *this, plan);
    else
      return map_loop(w, map_, plan);
  }
  [[nodiscard]] std::size_t size() override { return map_.size(); }
  [[nodiscard]] std::int64_t wrong_here() override {
    std::int64_t wrong = 0;
    map_.for_each([&](std::uint64_t key, std::uint64_t value) { wrong += value >> 20U == key ? 0 : 1; });
    return wrong;
  }

 private:
  Map map_;
};

}  // namespace nearfar::bench
