/// \file Stress runs in any world, whose histories are judged.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/recorder.hpp"

namespace nearfar::litmus {

struct recorded_words {
  far<std::uint64_t> word;
};

/// A register in far memory, accessed by swap, compare-and-swap and fetch, which are all atomic.
template <world W>
void expect_linearizable_atomics(W& w, int operations) {
  using reg = checker::register_specification;
  constexpr std::uint64_t object = 7;
  static constexpr std::array<std::uint64_t, 4> values{0, 1, 2, 3};
  typename W::template far_array<recorded_words> there(w, 1);
  checker::recorder<W> recorded(w);
  w.barrier();
  for (int i = 0; i < operations; ++i) {
    std::uint64_t old = 0;
    const std::uint64_t& value = values[static_cast<std::size_t>((i + w.rank()) % 4)];
    switch (i % 3) {
      case 0:
        recorded.call(object, reg::read, {});
        there.fetch(0, &recorded_words::word, old);
        there.flush(0);
        recorded.returned({old});
        break;
      case 1:
        recorded.call(object, reg::write, {value});
        there.accumulate(0, &recorded_words::word, value, far_op::replace);
        there.flush(0);
        recorded.returned({});
        break;
      default:
        recorded.call(object, reg::compare_and_swap, {values[1], value});
        there.compare_and_swap(0, &recorded_words::word, values[1], value, old);
        there.flush(0);
        recorded.returned({old});
    }
  }
  const checker::history all = recorded.gathered();
  if (w.rank() != 0) return;
  EXPECT_EQ(all.size(), static_cast<std::size_t>(operations * w.size()));
  const checker::verdict judged = linearizable(all, reg{});
  EXPECT_EQ(judged.is_linearizable, checker::linearizability::yes) << judged.text;
}

/// Two ranks add by a read and a write. Both writes come after both reads, so one addition is always lost.
template <world W>
void expect_lost_update(W& w) {
  using counter = checker::counter_specification;
  constexpr std::uint64_t object = 0;
  static constexpr std::uint64_t one = 1;
  typename W::template far_array<recorded_words> there(w, 1);
  checker::recorder<W> recorded(w);
  w.barrier();
  recorded.call(object, counter::add, {one});
  std::uint64_t sum = 0;
  there.fetch(0, &recorded_words::word, sum);
  there.flush(0);
  w.barrier();
  sum += one;
  there.accumulate(0, &recorded_words::word, sum, far_op::replace);
  there.flush(0);
  recorded.returned({});
  w.barrier();
  recorded.call(object, counter::read, {});
  there.fetch(0, &recorded_words::word, sum);
  there.flush(0);
  recorded.returned({sum});
  const checker::history all = recorded.gathered();
  if (w.rank() == 0) {
    EXPECT_EQ(linearizable(all, counter{}).is_linearizable, checker::linearizability::no);
  }
}

}  // namespace nearfar::litmus
