/// \file
/// A distributed queue whose type is known only at run time, and the timed loop that drives it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/draws.hpp"
#include "bench/results/latency_histogram.hpp"
#include "bench/timed_loop.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::bench {

/// The deeds of each rank from the common start.
struct queue_plan {
  run_times times{};
  std::int64_t operations = 0;  ///< of each rank, in place of a time; 0: for that time
  double push_share = 0.5;      ///< 0 to 1, drawn for each operation
  std::size_t batch = 1;        ///< most values that one operation moves
  bool counts_vain = true;      ///< an operation that moves no value counts as one
  std::uint64_t seed = 1;
};

/// A rank's record of the values that it has pushed and popped.
class queue_check {
 public:
  explicit queue_check(int rank) : mine_(static_cast<std::uint64_t>(rank)) {}

  /// A value that names its rank and its number among that rank's values: the next one if `earlier` is 0, or
  /// one of those after it.
  [[nodiscard]] std::uint64_t value_after(std::size_t earlier) const noexcept {
    return mine_ << number_bits | (next_ + earlier);
  }
  /// Counts `count` values as pushed.
  void pushed(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      sum_ += value_after(0);
      ++next_;
      ++balance_;
    }
  }
  /// Checks that the values of each rank come in the order in which it pushed them.
  void popped(std::uint64_t value) {
    const std::uint64_t number = value & ((std::uint64_t{1} << number_bits) - 1);
    std::uint64_t& least = least_[value >> number_bits];
    out_of_order_ += number < least ? 1 : 0;
    least = number + 1;
    sum_ -= value;
    --balance_;
  }

  /// Number of values, over all ranks and after the queue is empty, that were lost, came twice or came out of
  /// order. One more if the number of values is right but their sum is not. Collective; ranks other than 0
  /// get 0.
  template <world W>
  [[nodiscard]] std::int64_t faults(W& w) const {
    const auto sums = w.sum_over_ranks({balance_, static_cast<std::int64_t>(sum_), out_of_order_});
    if (w.rank() != 0) return 0;
    return (sums[0] < 0 ? -sums[0] : sums[0]) + (sums[1] != 0 && sums[0] == 0 ? 1 : 0) + sums[2];
  }

 private:
  static constexpr unsigned number_bits = 40;

  std::uint64_t mine_;
  std::uint64_t next_ = 0;
  std::uint64_t sum_ = 0;
  std::int64_t balance_ = 0;
  std::int64_t out_of_order_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> least_;
};

/// Counts of one rank in the measured part.
struct queue_counts : loop_counts {
  std::int64_t pushes = 0;  ///< values that were pushed
  std::int64_t pops = 0;    ///< values that were popped
  std::int64_t empty = 0;   ///< pops that brought no value
  std::int64_t full = 0;    ///< pushes that found no room
  std::int64_t faults = 0;  ///< including the warm-up; rank 0 has the count of all ranks
  std::optional<linked_queue_phases> phases{};
  latency_histogram pop_latency{};
  latency_histogram push_latency{};
};

/// The operations that a rank may use on a queue, which may be for one producer or one consumer.
struct queue_role {
  bool pushes = true;
  bool pops = true;
};
template <typename Queue>
[[nodiscard]] queue_role role_in(const Queue& queue, int rank) {
  queue_role result;
  if constexpr (requires { queue.producer(); }) result.pushes = queue.producer() == rank;
  if constexpr (requires { queue.consumer(); }) result.pops = queue.consumer() == rank;
  return result;
}

/// Calls `begin()` once and then `round(now)` until it has reported `count` operations. `round` returns
/// what it does in a `timed_loop`. Without a warm-up; each rank's time ends with its last operation.
/// Collective.
template <world W, typename Begin, typename Round>
void counted_loop(W& w, std::int64_t count, loop_counts& counts, Begin&& begin, Round&& round) {
  using std::chrono::nanoseconds;
  w.barrier();
  const nanoseconds start = w.now();
  nanoseconds now = start;
  begin();
  for (std::int64_t left = count; left > 0;) {
    const counted_round done = round(now);
    now = done.now;
    left -= done.operations;
  }
  counts.measured = now - start;
  w.barrier();  // as in a timed loop
}

/// Pushes and pops until the time is over, or the operations are done, then empties the queue. A rank that
/// may do neither rests. Collective.
template <world W, typename Queue>
queue_counts queue_loop(W& w, Queue& queue, const queue_plan& plan) {
  using std::chrono::nanoseconds;
  queue_counts counts;
  queue_check check(w.rank());
  draws random(plan.seed, w.rank());
  std::vector<std::uint64_t> values(plan.batch);
  const queue_role role = role_in(queue, w.rank());
  const auto draws_push = [&] {
    const bool drawn = random.share() < plan.push_share;
    return role.pushes && (drawn || !role.pops);
  };
  // Return how many values they moved.
  const auto push = [&]() -> std::int64_t {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = check.value_after(i);
    const std::size_t count = queue.try_push_range(values).count;
    check.pushed(count);
    return static_cast<std::int64_t>(count);
  };
  const auto pop = [&]() -> std::int64_t {
    const std::size_t count = queue.try_pop_range(values).count;
    for (std::size_t i = 0; i < count; ++i) check.popped(values[i]);
    return static_cast<std::int64_t>(count);
  };

  const auto warm_up = [&] {
    if (!role.pushes && !role.pops) return w.rest();
    static_cast<void>(draws_push() ? push() : pop());
  };
  const auto begin = [&] {
    if constexpr (requires { queue.measure(nullptr); }) queue.measure(&counts.phases.emplace());
  };
  const auto round = [&](nanoseconds before) -> counted_round {
    if (!role.pushes && !role.pops) {
      w.rest();
      return {w.now(), 0};
    }
    const bool pushes = draws_push();
    const std::int64_t moved = pushes ? push() : pop();
    (pushes ? counts.pushes : counts.pops) += moved;
    if (moved == 0) ++(pushes ? counts.full : counts.empty);
    const nanoseconds now = w.now();
    (pushes ? counts.push_latency : counts.pop_latency).add(now - before);
    const std::int64_t vain = plan.counts_vain ? 1 : 0;
    return {now, moved == 0 ? vain : moved};
  };
  if (plan.operations == 0)
    timed_loop(w, plan.times, counts, warm_up, begin, round);
  else
    counted_loop(w, role.pushes || role.pops ? plan.operations : 0, counts, begin, round);
  if constexpr (requires { queue.measure(nullptr); }) queue.measure(nullptr);
  // All pushes are complete from here on.
  w.barrier();
  while (role.pops && pop() != 0) continue;
  w.barrier();
  counts.faults = check.faults(w);
  return counts;
}

/// One rank's object of a queue of words, type-erased for benchmarks.
template <world W>
class any_queue {
 public:
  any_queue() = default;
  any_queue(const any_queue&) = delete;
  any_queue& operator=(const any_queue&) = delete;
  virtual ~any_queue() = default;

  [[nodiscard]] virtual queue_role role_of(int rank) const = 0;
  [[nodiscard]] virtual queue_status try_push(std::uint64_t value) = 0;
  [[nodiscard]] virtual queue_status push(std::uint64_t value) = 0;
  [[nodiscard]] virtual popped<std::uint64_t> try_pop() = 0;
  [[nodiscard]] virtual popped<std::uint64_t> pop() = 0;
  virtual void close() = 0;
  virtual queue_range_result try_push_range(std::span<const std::uint64_t> values) = 0;
  virtual queue_range_result try_pop_range(std::span<std::uint64_t> into) = 0;
  /// Runs the timed loop. The loop is one virtual function, so that the compiler inlines the queue into it.
  /// Collective.
  virtual queue_counts run(W& w, const queue_plan& plan) = 0;
};

template <world W, typename Queue>
class any_queue_of final : public any_queue<W> {
 public:
  any_queue_of(W& w, const typename Queue::parameters& of) : queue_(w, of) {}

  [[nodiscard]] queue_role role_of(int rank) const override { return role_in(queue_, rank); }
  queue_status try_push(std::uint64_t value) override { return queue_.try_push(value); }
  queue_status push(std::uint64_t value) override { return queue_.push(value); }
  popped<std::uint64_t> try_pop() override { return queue_.try_pop(); }
  popped<std::uint64_t> pop() override { return queue_.pop(); }
  void close() override { queue_.close(); }
  queue_range_result try_push_range(std::span<const std::uint64_t> values) override {
    return queue_.try_push_range(values);
  }
  queue_range_result try_pop_range(std::span<std::uint64_t> into) override {
    return queue_.try_pop_range(into);
  }
  queue_counts run(W& w, const queue_plan& plan) override { return queue_loop(w, queue_, plan); }

 private:
  Queue queue_;
};

}  // namespace nearfar::bench
