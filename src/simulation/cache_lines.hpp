/// \file
/// Where the cache lines of the simulated memory are, and what moving them costs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costs.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/topology/locality.hpp"
#include "random_stream.hpp"
#include "sparse_array.hpp"

namespace nearfar::simulation {

/// Ownership of every 64-byte line, as in an invalidation protocol: one last writer, any number of ranks of
/// its node that have a copy, and the time until which the line is on its way. An untouched line is with the
/// rank whose memory it is in. Once a line has been copied after its last write, further copies come from a
/// cache that several cores share, which serves a number of them at once.
///
/// A line that a network interface has written is in no core. Fetching it costs at least as much as fetching
/// it within a NUMA domain.
class cache_lines {
 public:
  /// `bytes` of memory for each rank must be a multiple of the line's length. Moves vary by numbers from
  /// `random`.
  cache_lines(const locality& where, const costs& of, std::size_t bytes, random_stream& random);

  /// Returns when `rank`, which begins at `at`, has read the line.
  picoseconds read(std::size_t line, int rank, picoseconds at) {
    state& it = touched(line);
    std::uint64_t& copies = copies_of(line, rank);
    if ((copies & bit_of(rank)) != 0) return at + hit_;
    const line_source from = source(it, rank);
    const picoseconds moves = moving(from);
    const picoseconds begins = std::max(at, it.busy_until);
    copies |= bit_of(rank);
    it.busy_until = begins + (it.shared ? (moves + readers_at_once_ - 1) / readers_at_once_ : moves);
    it.shared = true;
    it.farthest_copy = std::max(it.farthest_copy, from);
    return begins + moves;
  }

  /// Whether `rank` reads the line without moving it.
  [[nodiscard]] bool has_copy(std::size_t line, int rank) {
    return (copies_of(line, rank) & bit_of(rank)) != 0;
  }
  /// When the line was written last.
  [[nodiscard]] picoseconds written_at(std::size_t line) { return lines_[line].written_at; }
  /// Until when no polling rank comes to the line, according to `set_unread` since the last write.
  [[nodiscard]] picoseconds unread_until(std::size_t line) { return lines_[line].unread_until; }
  void set_unread(std::size_t line, picoseconds until) { lines_[line].unread_until = until; }

  /// Whether `rank` has the line and no other core has a copy.
  [[nodiscard]] bool is_owned(std::size_t line, int rank) {
    const state& it = touched(line);
    return it.writer == static_cast<std::uint32_t>(rank) + 1 && !it.shared && !it.in_memory;
  }

  /// Returns when `rank`, which begins at `at`, may write the line. No other core has a copy then.
  picoseconds own(std::size_t line, int rank, picoseconds at) {
    if (is_owned(line, rank)) return at + hit_;
    state& it = lines_[line];
    const bool was_mine = it.writer == static_cast<std::uint32_t>(rank) + 1 && !it.in_memory;
    const line_source from = was_mine ? it.farthest_copy : source(it, rank);
    it.busy_until = std::max(at, it.busy_until) + moving(from);
    take(line, it, rank);
    return it.busy_until;
  }

  /// The owner writes the line at `at`. No other core gets the line before.
  void hold(std::size_t line, picoseconds at) {
    state& it = lines_[line];
    it.busy_until = std::max(it.busy_until, at);
    it.written_at = at;
    it.unread_until = 0;
  }

  /// `rank` has written the line at `at` by other means, whose costs are accounted for elsewhere.
  void take(std::size_t line, int rank, picoseconds at) {
    state& it = touched(line);
    take(line, it, rank);
    it.written_at = at;
    it.unread_until = 0;
  }

  /// A network interface has written the line.
  void write_to_memory(std::size_t line, picoseconds at) {
    state& it = touched(line);
    it.written_at = at;
    it.unread_until = 0;
    clear_copies(line);
    it.writer = owner_of(line) + 1;
    it.in_memory = true;
    it.shared = false;
    it.farthest_copy = line_source::same_core;
  }

 private:
  struct state {
    picoseconds busy_until;
    picoseconds written_at;
    picoseconds unread_until;
    std::uint32_t writer;       // rank + 1; 0: untouched
    line_source farthest_copy;  // from the writer
    bool shared;                // others may have copies
    bool in_memory;             // written by no core
  };
  /// Numbers of a rank's groups. Equal numbers mean a shared group only for ranks that are known to share it.
  struct groups {
    int core;
    int cache;
    int numa;
  };

  [[nodiscard]] static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] std::uint64_t bit_of(int rank) const noexcept { return bit_of_[index(rank)]; }
  [[nodiscard]] std::uint64_t& copies_of(std::size_t line, int rank) noexcept {
    return copies_[line * words_per_line_ + word_of_[index(rank)]];
  }
  [[nodiscard]] std::uint32_t owner_of(std::size_t line) const noexcept {
    return static_cast<std::uint32_t>(line / lines_per_rank_);
  }

  [[nodiscard]] state& touched(std::size_t line) {
    state& it = lines_[line];
    if (it.writer == 0) [[unlikely]] {
      it.writer = owner_of(line) + 1;
      const int owner = static_cast<int>(owner_of(line));
      copies_of(line, owner) |= bit_of(owner);
    }
    return it;
  }

  [[nodiscard]] line_source source(const state& it, int rank) const noexcept {
    const groups& here = groups_[index(rank)];
    const groups& there = groups_[it.writer - 1];
    line_source from = line_source::same_node;
    if (here.core == there.core)
      from = line_source::same_core;
    else if (here.cache == there.cache)
      from = line_source::same_cache;
    else if (here.numa == there.numa)
      from = line_source::same_numa;
    return it.in_memory ? std::max(from, line_source::same_numa) : from;
  }

  [[nodiscard]] picoseconds moving(line_source from) noexcept {
    return random_->varied(move_[static_cast<std::size_t>(from)], jitter_);
  }

  void clear_copies(std::size_t line) {
    std::fill_n(&copies_[line * words_per_line_], words_per_line_, std::uint64_t{0});
  }

  void take(std::size_t line, state& it, int rank) {
    clear_copies(line);
    copies_of(line, rank) = bit_of(rank);
    it.writer = static_cast<std::uint32_t>(rank) + 1;
    it.in_memory = false;
    it.shared = false;
    it.farthest_copy = line_source::same_core;
    it.unread_until = 0;
  }

  random_stream* random_;
  double jitter_;
  std::size_t lines_per_rank_;
  picoseconds hit_;
  picoseconds readers_at_once_;
  std::array<picoseconds, line_source_count> move_;
  std::vector<groups> groups_;          // by rank
  std::vector<std::uint32_t> word_of_;  // by rank: which word of the copies
  std::vector<std::uint64_t> bit_of_;   // by rank: and which bit
  std::size_t words_per_line_ = 1;
  sparse_array<state> lines_;
  sparse_array<std::uint64_t> copies_;
};

}  // namespace nearfar::simulation
