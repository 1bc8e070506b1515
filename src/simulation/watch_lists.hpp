/// \file
/// Which ranks wait for a word of which cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearfar/engine/operation.hpp"
#include "sparse_array.hpp"

namespace nearfar::simulation {

/// A list of watchers for each line, the latest first. A rank that watches several words is in several
/// places. Leaving them takes one step for each, however many others wait there. Each rank has an entry for
/// its first word, because most ranks wait for one word.
class watch_lists {
 public:
  /// The number of an entry; `none` is no entry.
  using handle = std::uint32_t;
  static constexpr handle none = 0;

  struct watcher {
    const engine::wait* wait;
    std::size_t line;
    handle previous;  // of the line
    handle next;      // of the line
    handle also;      // of the rank
    std::uint32_t rank;
  };

  watch_lists(std::size_t lines, int ranks) : first_(lines), watchers_(first_of(ranks)) {
    for (int rank = 0; rank < ranks; ++rank)
      watchers_[first_of(rank)].rank = static_cast<std::uint32_t>(rank);
  }

  [[nodiscard]] bool is_watched(std::size_t line) const noexcept { return first_[line] != none; }
  [[nodiscard]] handle first(std::size_t line) const noexcept { return first_[line]; }
  [[nodiscard]] const watcher& operator[](handle which) const noexcept { return watchers_[which]; }
  /// The next watcher in the line's list after `which` that belongs to another rank, and so stays when the
  /// rank of `which` leaves.
  [[nodiscard]] handle next_rank(handle which) const noexcept {
    handle next = watchers_[which].next;
    while (next != none && watchers_[next].rank == watchers_[which].rank) next = watchers_[next].next;
    return next;
  }

  /// `rank`, which waits for nothing else, waits for a word of `line` from now on.
  void add(std::size_t line, int rank, const engine::wait& wait) noexcept {
    link(first_of(rank), line, wait);
  }
  /// `rank` also waits for a word of another line.
  void add_also(std::size_t line, int rank, const engine::wait& wait) {
    const handle added = new_entry();
    handle& also = watchers_[first_of(rank)].also;
    watchers_[added].rank = static_cast<std::uint32_t>(rank);
    watchers_[added].also = also;
    also = added;
    link(added, line, wait);
  }

  /// `rank` no longer waits.
  void remove(int rank) {
    watcher& own = watchers_[first_of(rank)];
    unlink(own);
    for (; own.also != none; own.also = watchers_[free_.back()].also) {
      unlink(watchers_[own.also]);
      free_.push_back(own.also);
    }
  }

 private:
  [[nodiscard]] static handle first_of(int rank) noexcept { return static_cast<handle>(rank) + 1; }

  [[nodiscard]] handle new_entry() {
    if (free_.empty()) {
      watchers_.emplace_back();
      return static_cast<handle>(watchers_.size() - 1);
    }
    const handle entry = free_.back();
    free_.pop_back();
    return entry;
  }

  void link(handle which, std::size_t line, const engine::wait& wait) noexcept {
    watcher& it = watchers_[which];
    it.wait = &wait;
    it.line = line;
    it.previous = none;
    it.next = first_[line];
    if (it.next != none) watchers_[it.next].previous = which;
    first_[line] = which;
  }

  void unlink(const watcher& it) noexcept {
    if (it.previous == none)
      first_[it.line] = it.next;
    else
      watchers_[it.previous].next = it.next;
    if (it.next != none) watchers_[it.next].previous = it.previous;
  }

  sparse_array<handle> first_;  // by line
  std::vector<watcher> watchers_;
  std::vector<handle> free_;
};

}  // namespace nearfar::simulation
