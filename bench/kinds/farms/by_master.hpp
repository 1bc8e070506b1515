/// \file
/// A task farm in which one rank has all tasks that are left, and the others ask it for one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/kinds/farms/post.hpp"
#include "bench/kinds/farms/task_tree.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::bench {

namespace detail {

/// Until all have nothing to do. The newest tasks first, so that they do not grow without end.
template <world W>
void be_farm_master(W& w, const farm_plan& plan, farm_post<W>& post) {
  std::vector<farm_task> left;
  for (std::uint64_t i = 0; i < plan.trees_per_rank * static_cast<std::uint64_t>(w.size()); ++i)
    left.push_back(plan.tree.root(i));
  std::vector<int> idle;
  const auto workers = static_cast<std::size_t>(w.size() - 1);
  while (idle.size() < workers) {
    const auto [from, letter] = post.receive();
    for (std::size_t i = 0; i < letter.count; ++i) left.push_back(letter.tasks.at(i));
    if (letter.asks != 0) idle.push_back(from);
    while (!idle.empty() && !left.empty()) {
      post.send_answer(idle.back(), {.is_task = 1, .task = left.back()});
      idle.pop_back();
      left.pop_back();
    }
  }
  for (const int rank : idle) post.send_answer(rank, {});
}

}  // namespace detail

/// Collective. Rank 0 is the master, and does no tasks unless it is alone.
template <world W>
[[nodiscard]] farm_counts farm_by_master(W& w, const farm_plan& plan) {
  farm_post<W> post(w);
  farm_counts mine;
  const farm_worker<W> work(w, plan, mine);
  w.barrier();
  const auto start = w.now();
  if (w.size() == 1) {
    for (std::uint64_t i = 0; i < plan.trees_per_rank; ++i) work(plan.tree.root(i), keep_all);
  } else if (w.rank() == post.master) {
    detail::be_farm_master(w, plan, post);
  } else {
    for (;;) {
      post.send({.count = 0, .asks = 1, .tasks = {}});
      const farm_answer answer = post.receive_answer();
      if (answer.is_task == 0) break;
      work(answer.task, [&](std::span<const farm_task> some) {
        farm_letter letter{.count = some.size(), .asks = 0, .tasks = {}};
        for (std::size_t i = 0; i < some.size(); ++i) letter.tasks.at(i) = some[i];
        post.send(letter);
        return some.size();
      });
    }
  }
  mine.span = w.now() - start;
  w.barrier();
  return mine;
}

}  // namespace nearfar::bench
