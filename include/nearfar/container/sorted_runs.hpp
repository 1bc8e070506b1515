/// \file
/// Sorted runs, their division among threads, and their merges, for sort.hpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"

namespace nearfar::detail {

/// Elements for which unnecessary moves are cheaper than mispredicted branches. Every second branch is
/// mispredicted if elements are in no order.
template <typename T>
inline constexpr bool moves_cheaply = std::is_trivially_copyable_v<T> && std::copyable<T> && sizeof(T) <= 16;

/// Wraps a comparison that stays where it is. (clang 16 with libstdc++ 12 cannot make a heap with `std::ref`
/// of a `std::function`.)
template <typename Compare>
[[nodiscard]] auto comparing_by(Compare& less) {
  return [&less](auto&& a, auto&& b) -> bool { return less(a, b); };
}

/// Sorted contiguous elements, of which those before `next` are used up.
template <typename T>
struct sorted_run {
  T* next;
  T* end;
  std::size_t rank;  // equal elements: the run with the lower rank comes first

  [[nodiscard]] bool empty() const noexcept { return next == end; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end - next); }
};

/// Runs in the order of their ranks.
template <typename T>
class sorted_runs {
 public:
  using run = sorted_run<T>;

  explicit sorted_runs(std::vector<run> runs) : runs_(std::move(runs)) {}

  /// How many elements of each run have a rank below a given one in the sorted whole. Equal elements rank by
  /// run, then by position, so that the elements between two ranks adjoin those from the second on.
  using division = std::vector<std::size_t>;

  /// As above if `less` is a strict weak order; otherwise not beyond the ends of the runs.
  template <typename Compare>
  [[nodiscard]] division divide(std::size_t rank, Compare& less) const {
    division low(runs_.size(), 0);
    division high(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) high[i] = runs_[i].size();
    division below(runs_.size());
    for (;;) {
      // The middle of the longest candidate range halves that range, and gives bounds in all others.
      std::size_t widest = 0;
      for (std::size_t i = 1; i < runs_.size(); ++i)
        if (high[i] - low[i] > high[widest] - low[widest]) widest = i;
      if (runs_.empty() || low[widest] == high[widest]) return low;
      const std::size_t middle = low[widest] + (high[widest] - low[widest]) / 2;
      const T& pivot = runs_[widest].next[middle];
      std::size_t pivot_rank = 0;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const T* const begin = runs_[i].next;
        const T* const end = runs_[i].end;
        if (i == widest)
          below[i] = middle;
        else if (i < widest)
          below[i] =
              static_cast<std::size_t>(std::upper_bound(begin, end, pivot, comparing_by(less)) - begin);
        else
          below[i] =
              static_cast<std::size_t>(std::lower_bound(begin, end, pivot, comparing_by(less)) - begin);
        pivot_rank += below[i];
      }
      // Without an order, bounds may contradict each other; the halved range is always narrowed.
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const std::size_t bound = std::clamp(below[i], low[i], high[i]);
        if (pivot_rank < rank)
          low[i] = i == widest ? middle + 1 : bound;
        else
          high[i] = bound;
      }
    }
  }
  /// The division after `rank` elements of the runs one after the other; used if there is no order.
  [[nodiscard]] division divide_in_place(std::size_t rank) const {
    division result;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      result.push_back(std::min(rank, runs_[i].size()));
      rank -= result.back();
    }
    return result;
  }
  /// Whether the two divisions enclose a part of `size` elements.
  [[nodiscard]] static bool is_part(const division& first, const division& last, std::size_t size) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i] > last[i]) return false;
      all += last[i] - first[i];
    }
    return all == size;
  }

  /// The parts of all runs between two divisions.
  [[nodiscard]] sorted_runs part(const division& first, const division& last) const {
    std::vector<run> parts;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (first[i] != last[i])
        parts.push_back({runs_[i].next + first[i], runs_[i].next + last[i], runs_[i].rank});
    return sorted_runs(std::move(parts));
  }

  [[nodiscard]] const std::vector<run>& each() const noexcept { return runs_; }

 private:
  std::vector<run> runs_;
};

/// Merges runs by a heap of runs: moves each element once, and makes up to two comparisons for each level of
/// the heap.
template <typename T>
class heap_merge {
  using run = sorted_run<T>;

 public:
  explicit heap_merge(const sorted_runs<T>& runs) : runs_(runs.each()) {}

  /// Number of elements left.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t all = 0;
    for (const run& each : runs_) all += each.size();
    return all;
  }

  /// Must be called before the first merge. If `less` throws, all elements are still here.
  template <typename Compare>
  void begin_merge(Compare& less) {
    for (std::size_t i = runs_.size() / 2; i != 0; --i) sift_down(i - 1, less);
  }

  /// Moves the next n elements of the merged runs to `out` onwards. If `less` throws, those moved so far are
  /// no longer here.
  template <typename Output, typename Compare>
  void merge(std::size_t n, Output out, Compare& less) {
    for (; n != 0 && runs_.size() > 1; --n) {
      run& least = runs_.front();
      *out = std::move(*least.next);
      ++out;
      if (++least.next == least.end) {
        least = runs_.back();
        runs_.pop_back();
      }
      sift_down(0, less);
    }
    drain(n, out);
  }

  /// Moves the next n elements in any order.
  template <typename Output>
  void drain(std::size_t n, Output out) {
    while (n != 0) {
      run& from = runs_.back();
      const std::size_t step = std::min(n, from.size());
      out = std::move(from.next, advanced(from.next, step), out);
      from.next += step;
      n -= step;
      if (from.empty()) runs_.pop_back();
    }
  }

 private:
  // Restores a heap with the least run first, in which only run `at` may be out of order.
  template <typename Compare>
  void sift_down(std::size_t at, Compare& less) {
    for (std::size_t child = 2 * at + 1; child < runs_.size(); child = 2 * at + 1) {
      if (child + 1 < runs_.size() && precedes(runs_[child + 1], runs_[child], less)) ++child;
      if (!precedes(runs_[child], runs_[at], less)) return;
      std::swap(runs_[at], runs_[child]);
      at = child;
    }
  }

  template <typename Compare>
  [[nodiscard]] static bool precedes(const run& a, const run& b, Compare& less) {
    return a.rank < b.rank ? !less(*b.next, *a.next) : static_cast<bool>(less(*a.next, *b.next));
  }

  std::vector<run> runs_;
};

/// Merges runs by a tree of two-way merges, without branches that depend on comparisons. All nodes but the
/// last, which hands its elements out, buffer some elements. Moves and compares each element once for each
/// level.
template <typename T>
class tree_merge {
 public:
  explicit tree_merge(const sorted_runs<T>& runs) {
    const std::size_t count = runs.each().size();
    if (count == 0) return;
    nodes_.reserve(2 * count - 1);
    if (count > 2) rooms_.resize((count - 2) * room_size);
    add(runs.each(), 0, count);
    room* next = rooms_.data();
    for (node& each : nodes_) {
      if (each.is_run() || &each == &nodes_.back()) continue;
      each.ready.next = each.ready.end = each.room = reinterpret_cast<T*>(next);
      next += room_size;
    }
  }

  tree_merge(tree_merge&&) noexcept = default;  // nodes and rooms stay where they are
  tree_merge& operator=(tree_merge&&) noexcept = default;
  tree_merge(const tree_merge&) = delete;
  tree_merge& operator=(const tree_merge&) = delete;
  ~tree_merge() = default;

  /// Number of elements left.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t all = 0;
    for (const node& each : nodes_) all += each.ready.size();
    return all;
  }

  template <typename Compare>
  void begin_merge(Compare&) {}

  /// Moves the next n elements of the merged runs to `out` onwards. If `less` throws, those moved so far are
  /// no longer here.
  template <typename Output, typename Compare>
  void merge(std::size_t n, Output out, Compare& less) {
    if (n == 0) return;
    if (nodes_.back().is_run())
      move(nodes_.back().ready, n, out);
    else
      merge_two(nodes_.back(), n, out, less);
  }

  /// Moves the next n elements in any order.
  template <typename Output>
  void drain(std::size_t n, Output out) {
    for (node& each : nodes_) {
      const std::size_t step = std::min(n, each.ready.size());
      move(each.ready, step, out);
      n -= step;
    }
  }

 private:
  static constexpr std::size_t room_size = 128;

  struct node {
    sorted_run<T> ready;  // a run, or merged elements
    T* room = nullptr;
    node* left = nullptr;  // equal elements from here come first
    node* right = nullptr;

    [[nodiscard]] bool is_run() const noexcept { return left == nullptr; }
  };
  struct alignas(T) room {
    std::byte bytes[sizeof(T)];
  };

  // Adds a node that merges these runs, after the nodes that it merges.
  node* add(const std::vector<sorted_run<T>>& runs, std::size_t first, std::size_t last) {
    node added{.ready = {}};
    if (last - first == 1) {
      added.ready = runs[first];
    } else {
      const std::size_t middle = first + (last - first) / 2;
      added.left = add(runs, first, middle);
      added.right = add(runs, middle, last);
    }
    nodes_.push_back(added);
    return &nodes_.back();
  }

  template <typename Output>
  static void move(sorted_run<T>& from, std::size_t n, Output& out) {
    out = std::move(from.next, from.next + n, out);
    from.next += n;
  }

  template <typename Compare>
  static void make_ready(node& of, Compare& less) {
    if (!of.ready.empty() || of.is_run()) return;
    of.ready.next = of.ready.end = of.room;
    merge_two(of, room_size, of.ready.end, less);
  }

  // Moves n elements from below a node to `out`, or all if there are fewer.
  template <typename Output, typename Compare>
  static void merge_two(node& of, std::size_t n, Output& out, Compare& less) {
    sorted_run<T>& left = of.left->ready;
    sorted_run<T>& right = of.right->ready;
    while (n != 0) {
      make_ready(*of.left, less);
      make_ready(*of.right, less);
      std::size_t step = n;
      if (left.empty() || right.empty()) {
        sorted_run<T>& only = left.empty() ? right : left;
        step = std::min(step, only.size());
        if (step == 0) return;
        move(only, step, out);
      } else {
        // So few that neither side can end before the last of them.
        step = std::min({step, left.size(), right.size()});
        T* from_left = left.next;
        T* from_right = right.next;
        Output to = out;
        for (std::size_t i = 0; i != step; ++i) {
          const bool take_right = less(*from_right, *from_left);
          *to = *(take_right ? from_right : from_left);
          ++to;
          from_right += static_cast<std::ptrdiff_t>(take_right);
          from_left += static_cast<std::ptrdiff_t>(!take_right);
        }
        // Only now, so that if a comparison throws, all of these are still here.
        left.next = from_left;
        right.next = from_right;
        out = to;
      }
      n -= step;
    }
  }

  std::vector<node> nodes_;  // the root is last; each comes after those it merges
  std::vector<room> rooms_;
};

template <typename T>
using merge_of_runs = std::conditional_t<moves_cheaply<T>, tree_merge<T>, heap_merge<T>>;

}  // namespace nearfar::detail
