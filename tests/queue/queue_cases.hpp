/// \file Programs for a distributed queue in the worlds of threads and of MPI.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "nearfar/checker/history.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/recorder.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/queue/queue_operations.hpp"
#include "nearfar/queue/spsc_queue.hpp"

namespace nearfar::testing {

/// A wide value, which could be torn.
using wide = std::array<std::uint64_t, 5>;

[[nodiscard]] inline wide wide_of(std::uint64_t number) { return {number, number, number, number, number}; }
[[nodiscard]] inline bool is_whole(const wide& value) { return value == wide_of(value.front()); }

/// A value names the rank that pushed it, and its number there.
[[nodiscard]] inline std::uint64_t number_of(int rank, std::uint64_t count) {
  return static_cast<std::uint64_t>(rank + 1) << 32U | count;
}

/// All ranks push and pop at random, and the history must be linearizable. Collective.
template <typename Queue, world W>
void expect_linearizable(W& w, const typename Queue::parameters& of, unsigned seed, int operations) {
  using specification = checker::queue_specification;
  Queue queue(w, of);
  checker::recorder<W> recording(w);
  std::mt19937 random(seed * 100 + static_cast<unsigned>(w.rank()));
  for (int i = 0; i < operations; ++i) {
    if (random() % 2 == 0) {
      const std::uint64_t number = number_of(w.rank(), static_cast<std::uint64_t>(i));
      recording.call(0, specification::push, {number});
      const queue_status status = queue.try_push(wide_of(number));
      recording.returned({status == queue_status::success ? specification::done : specification::full});
      EXPECT_EQ(status, queue_status::success) << "there is room for all";
    } else {
      recording.call(0, specification::pop, {});
      const auto value = queue.try_pop();
      recording.returned(value ? checker::value_list{value->front()} : checker::value_list{});
      EXPECT_TRUE(!value || is_whole(*value)) << "torn";
    }
  }
  w.barrier();
  const checker::verdict verdict = checker::linearizable(recording.gathered(), specification());
  EXPECT_EQ(verdict.is_linearizable, checker::linearizability::yes) << verdict.text;
}

/// The first `producers` ranks push `count` values each, `at_once` by one operation. All others pop as many
/// by one operation; without others the producers pop. Every value arrives once, and the values of one
/// producer arrive in order at each consumer. Collective.
template <typename Queue, world W>
void expect_all_arrive(W& w, const typename Queue::parameters& of, int producers, std::uint64_t count,
                       std::size_t at_once = 1) {
  Queue queue(w, of);
  const bool pushes = w.rank() < producers;
  const auto push_from = [&](std::uint64_t first) {
    if (at_once == 1) return queue.push(wide_of(number_of(w.rank(), first)));
    std::vector<wide> values;
    for (std::uint64_t i = first; i < std::min(first + at_once, count); ++i)
      values.push_back(wide_of(number_of(w.rank(), i)));
    const queue_range_result result = queue.push_range(values);
    return result.count == values.size() ? result.status : queue_status::full;
  };
  if (pushes) {
    for (std::uint64_t i = 0; i < count; i += at_once) ASSERT_EQ(push_from(i), queue_status::success);
  }
  std::int64_t got = 0;
  std::int64_t sum = 0;
  std::int64_t wrong = 0;
  std::map<std::uint64_t, std::uint64_t> next;
  const auto note = [&](const wide& value) {
    const std::uint64_t number = value.front();
    ++got;
    sum += static_cast<std::int64_t>(number & 0xffffffffU);
    std::uint64_t& expected = next[number >> 32U];
    wrong += is_whole(value) && (number & 0xffffffffU) >= expected ? 0 : 1;
    expected = (number & 0xffffffffU) + 1;
  };
  const auto pop = [&](std::uint64_t share) {
    std::vector<wide> values(at_once);
    for (std::uint64_t left = share; left > 0;) {
      if (at_once == 1) {
        const auto value = queue.pop();
        ASSERT_TRUE(value.has_value());
        note(*value);
        --left;
      } else {
        const std::span<wide> into = std::span(values).first(std::min<std::size_t>(at_once, left));
        const queue_range_result result = queue.pop_range(into);
        ASSERT_EQ(result.status, queue_status::success);
        ASSERT_GT(result.count, 0U);
        for (const wide& value : into.first(result.count)) note(value);
        left -= result.count;
      }
    }
  };
  // Each rank pops its share, so that no rank waits without reason.
  if (producers == w.size()) {
    pop(count);
  } else if (!pushes) {
    const auto consumers = static_cast<std::uint64_t>(w.size() - producers);
    const std::uint64_t all = count * static_cast<std::uint64_t>(producers);
    const auto mine = static_cast<std::uint64_t>(w.rank() - producers);
    pop(all / consumers + (mine < all % consumers ? 1 : 0));
  }
  w.barrier();
  EXPECT_EQ(queue.try_pop().status(), queue_status::empty);
  w.barrier();
  if (w.rank() == 0) queue.close();
  EXPECT_EQ(queue.pop().status(), queue_status::closed);
  w.barrier();
  EXPECT_EQ(queue.push(wide_of(1)), queue_status::closed);
  EXPECT_EQ(queue.try_pop().status(), queue_status::closed);
  EXPECT_EQ(wrong, 0) << "torn, or out of order";
  std::int64_t all_got = 0;
  std::int64_t all_sum = 0;
  for (const std::int64_t of_rank : w.gather_to_all(got)) all_got += of_rank;
  for (const std::int64_t of_rank : w.gather_to_all(sum)) all_sum += of_rank;
  const auto values = static_cast<std::int64_t>(count);
  EXPECT_EQ(all_got, values * producers);
  EXPECT_EQ(all_sum, values * (values - 1) / 2 * producers);
}

/// The producer pushes `count` values, some of them together, and closes. The consumer gets each, in order.
/// Both may be one rank, if the queue has room for all. Collective.
template <world W>
void expect_stream(W& w, const spsc_queue_parameters& of, std::uint64_t count) {
  spsc_queue<W, wide> queue(w, of);
  if (w.rank() == of.producer) {
    for (std::uint64_t i = 0; i < count;) {
      std::vector<wide> values;
      for (std::uint64_t j = i; j < std::min(count, i + i % 4 + 1); ++j) values.push_back(wide_of(j));
      if (values.size() == 1) {
        ASSERT_EQ(queue.push(values.front()), queue_status::success);
      } else {
        ASSERT_EQ(queue.push_range(values).count, values.size());
      }
      i += values.size();
    }
    queue.close();
    queue.close();
    EXPECT_EQ(queue.push(wide_of(0)), queue_status::closed);
  } else {
    EXPECT_THROW(static_cast<void>(queue.try_push(wide_of(0))), misuse);
    EXPECT_THROW(queue.close(), misuse);
  }
  if (w.rank() == of.consumer) {
    std::uint64_t next = 0;
    int wrong = 0;
    auto value = queue.pop();
    for (; value; value = queue.pop()) wrong += *value == wide_of(next++) ? 0 : 1;
    EXPECT_EQ(value.status(), queue_status::closed);
    EXPECT_EQ(queue.try_pop().status(), queue_status::closed);
    EXPECT_EQ(next, count);
    EXPECT_EQ(wrong, 0);
  } else {
    EXPECT_THROW(static_cast<void>(queue.try_pop()), misuse);
  }
  w.barrier();
}

}  // namespace nearfar::testing
