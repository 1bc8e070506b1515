/// \file
/// The tasks of the farm benchmark: uneven, and each may beget others.
///
/// Source: after S. Olivier et al., "UTS: an unbalanced tree search benchmark", LCPC 2006, doi
/// 10.1007/978-3-540-72521-3_18: binomial trees, in which what a task is follows from its number alone.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nearfar/core/world.hpp"

namespace nearfar::bench {

/// A task is a number.
using farm_task = std::uint64_t;

/// The tasks of one tree. A task begets two others, or none.
class task_tree {
 public:
  /// `begets`: how many in 1000 have children, below 500, so that every tree comes to an end. The nearer, the
  /// larger the largest.
  task_tree(std::uint64_t seed, std::chrono::nanoseconds mean_work, std::uint64_t begets)
      : seed_(seed), mean_work_(mean_work), begets_(begets) {}

  static constexpr std::size_t children = 2;

  /// The first task of each tree.
  [[nodiscard]] farm_task root(std::uint64_t number) const noexcept { return mixed(seed_ ^ mixed(number)); }
  [[nodiscard]] bool has_children(farm_task of) const noexcept {
    constexpr std::uint64_t all = 1000;
    return mixed(of) % all < begets_;
  }
  [[nodiscard]] farm_task child(farm_task of, std::size_t which) const noexcept {
    return mixed(of ^ (0xd1b5'4a32'd192'ed03U + which));
  }
  /// A half to one and a half of the mean.
  [[nodiscard]] std::chrono::nanoseconds work(farm_task of) const noexcept {
    const double share = 0.5 + static_cast<double>(mixed(of + 1) >> 11U) * 0x1p-53;
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(share * static_cast<double>(mean_work_.count())));
  }

 private:
  /// SplitMix64 (S. Vigna).
  [[nodiscard]] static constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
    z += 0x9e37'79b9'7f4a'7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebU;
    return z ^ (z >> 31U);
  }

  std::uint64_t seed_;
  std::chrono::nanoseconds mean_work_;
  std::uint64_t begets_;
};

/// Tasks that one rank has done, or has yet to do.
struct farm_counts {
  std::int64_t tasks = 0;
  std::uint64_t sum = 0;  ///< of the tasks' numbers: the same whoever does which
  std::chrono::nanoseconds work{};
  std::chrono::nanoseconds span{};  ///< from the common start until this rank had nothing left to do

  void add(const task_tree& of, farm_task one) {
    ++tasks;
    sum += one;
    work += of.work(one);
  }
};

/// The work of all ranks: the trees with numbers from 0 on.
struct farm_plan {
  task_tree tree;
  std::uint64_t trees_per_rank = 1;
  std::function<void()> beat{};  ///< called after each task, if there is one
};

/// A rank that has more tasks waiting than this gives some away.
inline constexpr std::size_t most_kept = 8;
inline constexpr std::size_t given_at_once = 4;

/// Does a task and all that come of it, the newest first, but for what is given away: `give(oldest)` says how
/// many of the first of them it took.
template <typename Do, typename Give>
void work_off(const task_tree& tree, farm_task first, const Do& do_it, const Give& give) {
  std::vector<farm_task> left{first};
  while (!left.empty()) {
    const farm_task one = left.back();
    left.pop_back();
    do_it(one);
    if (tree.has_children(one))
      for (std::size_t i = 0; i < task_tree::children; ++i) left.push_back(tree.child(one, i));
    if (left.size() > most_kept) {
      const std::size_t given = give(std::span<const farm_task>(left).first(given_at_once));
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(given));
    }
  }
}
inline constexpr auto keep_all = [](std::span<const farm_task>) { return std::size_t{0}; };

/// The tasks of the trees with `rank`'s numbers, each in turn.
[[nodiscard]] inline farm_counts expected_of(const farm_plan& plan, int rank, int ranks) {
  farm_counts result;
  for (std::uint64_t i = 0; i < plan.trees_per_rank; ++i)
    work_off(
        plan.tree, plan.tree.root(i * static_cast<std::uint64_t>(ranks) + static_cast<std::uint64_t>(rank)),
        [&](farm_task one) { result.add(plan.tree, one); }, keep_all);
  return result;
}

/// Does tasks in a world, and counts them.
template <world W>
class farm_worker {
 public:
  farm_worker(W& w, const farm_plan& plan, farm_counts& counts)
      : world_(&w), plan_(&plan), counts_(&counts) {}

  template <typename Give>
  void operator()(farm_task first, const Give& give) const {
    work_off(
        plan_->tree, first,
        [this](farm_task one) {
          world_->delay(plan_->tree.work(one));
          counts_->add(plan_->tree, one);
          if (plan_->beat) plan_->beat();
        },
        give);
  }

 private:
  W* world_;
  const farm_plan* plan_;
  farm_counts* counts_;
};

}  // namespace nearfar::bench
