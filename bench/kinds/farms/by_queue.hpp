/// \file
/// A task farm in which idle ranks take tasks from a queue, and busy ones push what they have too many of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/kinds/farms/task_tree.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/queue/combining_add.hpp"
#include "nearfar/queue/ticket_queue.hpp"

namespace nearfar::bench {

/// Collective. Comes to an end by itself: a word at the last rank has how many tasks are in the queue or were
/// taken from it and are not done; who brings it to zero closes the queue.
template <world W>
[[nodiscard]] farm_counts farm_by_queue(W& w, const farm_plan& plan) {
  struct alignas(slot_bytes) words {
    far<std::uint64_t> open;
  };
  // The queue's counts are at rank 0: what answers for one does not answer for the other.
  const int home = w.size() - 1;
  constexpr std::size_t room = 128;  // a rank does a task itself if the task does not fit in
  typename W::template far_segment<words> at_home(w);
  combining_add<W> together(w);
  ticket_queue<W, farm_task> tasks(w, {.capacity = room, .home = 0});
  const auto add_open = [&](std::int64_t signed_sum) {
    const auto sum = static_cast<std::uint64_t>(signed_sum);
    return sum + together(sum, [&](const std::uint64_t& all) {
             std::uint64_t before = 0;
             at_home.fetch_add(home, &words::open, all, before);
             at_home.flush(home);
             return before;
           });
  };
  const auto ranks = static_cast<std::uint64_t>(w.size());
  if (w.rank() == home) at_home.write_direct(home, &words::open, plan.trees_per_rank * ranks);
  farm_counts mine;
  const farm_worker<W> work(w, plan, mine);
  w.barrier();
  const auto start = w.now();

  std::vector<farm_task> roots;
  for (std::uint64_t i = 0; i < plan.trees_per_rank; ++i)
    roots.push_back(plan.tree.root(i * ranks + static_cast<std::uint64_t>(w.rank())));
  const auto do_one = [&](farm_task task) {
    work(task, [&](std::span<const farm_task> some) {
      // Counted before anybody can have done one of them.
      add_open(static_cast<std::int64_t>(some.size()));
      const std::size_t given = tasks.try_push_range(some).count;
      if (given < some.size())
        add_open(static_cast<std::int64_t>(given) - static_cast<std::int64_t>(some.size()));
      return given;
    });
    if (add_open(-1) == 0) tasks.close();
  };
  for (std::size_t i = tasks.try_push_range(roots).count; i < roots.size(); ++i) do_one(roots[i]);
  while (const auto task = tasks.pop()) do_one(*task);
  mine.span = w.now() - start;
  w.barrier();  // others may still use this rank's part of the queue
  return mine;
}

}  // namespace nearfar::bench
