/// \file
/// A task farm in which idle ranks take the next tree by a counter, and do the whole of it.
#pragma once

#include <cstdint>

#include "bench/kinds/farms/task_tree.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::bench {

/// Collective.
template <world W>
[[nodiscard]] farm_counts farm_by_counter(W& w, const farm_plan& plan) {
  struct alignas(slot_bytes) words {
    far<std::uint64_t> next;
  };
  constexpr int home = 0;
  typename W::template far_segment<words> at_home(w);
  farm_counts mine;
  const farm_worker<W> work(w, plan, mine);
  const std::uint64_t all = plan.trees_per_rank * static_cast<std::uint64_t>(w.size());
  const std::uint64_t one = 1;
  w.barrier();
  const auto start = w.now();
  for (;;) {
    std::uint64_t number = 0;
    at_home.fetch_add(home, &words::next, one, number);
    at_home.flush(home);
    if (number >= all) break;
    work(plan.tree.root(number), keep_all);
  }
  mine.span = w.now() - start;
  w.barrier();
  return mine;
}

}  // namespace nearfar::bench
