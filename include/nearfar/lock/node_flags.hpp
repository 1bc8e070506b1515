/// \file
/// The gates of the readers of `cohort_rw_lock`: a flag for each rank and a gate for each node, which the
/// ranks of the node read and write in place.
///
/// Source: a flag of its own for each reader is from W. Hsieh, W. Weihl, "Scalable reader-writer locks for
/// parallel systems", 1992, doi 10.1109/IPPS.1992.222989. One set of readers for each node under a cohort
/// lock is from I. Calciu, D. Dice, Y. Lev, V. Luchangco, V. Marathe, N. Shavit, "NUMA-aware reader-writer
/// locks", PPoPP 2013, doi 10.1145/2442516.2442532. Flags in far memory, and phases in place of a flag at the
/// gate, are nearfar's.
///
/// A writer cannot read near memory of another node, and host atomics and far ones cannot share a word. But a
/// far word that only one rank writes, and only in place, needs neither. A reader raises its flag, then looks
/// at its node's gate. The holder of the writers' lock shuts all gates, then gets the flags of each node in
/// one piece. At least one of the two sees the other; (1) and (2) pair.
///
/// Gates count phases; odd ones belong to a writer. A reader that finds such a phase writes into its flag
/// which phase's end it waits for. It is in when that phase has ended, whether it has noticed by then or not;
/// writers of later phases wait for it. A readers' phase that begins while writers wait is limited: each rank
/// enters at most `max_readers` times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"

namespace nearfar {

/// Readers of one lock, among all ranks of a world. See the file's comment.
///
/// Cost:
///  - enter and leave: no far operation; 1 write and 1 read in place, and 1 write when the reader leaves;
///  - shut: 1 accumulate at each node, then 1 get of a word for each of its ranks, and at least 1 get more
///    for each reader that is in, each at all nodes at once;
///  - open: 1 accumulate at each node, at all nodes at once.
/// Memory: 64 bytes of far memory for each rank, and 8 for each rank of the largest node.
template <world W>
class node_flags {
 public:
  using world_type = W;

  /// Collective.
  node_flags(W& w, int max_readers)
      : world_(&w),
        max_readers_(max_readers),
        leader_(w.locality().leader(level::node, w.rank())),
        gates_(w),
        flags_(w, most_on_a_node(w.locality())) {
    const locality& where = w.locality();
    seen_.resize(static_cast<std::size_t>(where.size()));
    for (int node = 0, first = 0; node < where.groups(level::node); ++node) {
      const std::span<const int> ranks = where.members(level::node, node);
      const auto here = std::find(ranks.begin(), ranks.end(), w.rank());
      if (here != ranks.end()) {
        own_ = {leader_, static_cast<std::size_t>(here - ranks.begin())};
        own_seen_ = static_cast<std::size_t>(first) + own_.index;
      }
      nodes_.push_back({ranks.front(), static_cast<std::size_t>(first), ranks.size()});
      first += static_cast<int>(ranks.size());
    }
  }

  // Called by readers.

  [[nodiscard]] handover enter() {
    const std::optional<std::uint64_t> shut = knock();
    if (!shut) return handover::uncontended;
    raise(waits_for(*shut));
    note_entry(count_of(world_->await_direct(gates_, leader_, &gate::state, is_let_in_after(*shut))));
    return handover::waited;
  }

  [[nodiscard]] bool try_enter() {
    if (!knock()) return true;
    raise(out);
    return false;
  }

  [[nodiscard]] std::optional<handover> try_enter_until(std::chrono::nanoseconds deadline) {
    const std::optional<std::uint64_t> shut = knock();
    if (!shut) return handover::uncontended;
    raise(waits_for(*shut));
    const auto open =
        world_->await_direct_until(deadline, gates_, leader_, &gate::state, is_let_in_after(*shut));
    if (open) {
      note_entry(count_of(*open));
      return handover::waited;
    }
    raise(out);
    return std::nullopt;
  }

  void leave() { raise(out); }

  // Called by the holder of the writers' lock.

  void shut(readers_turn before) {
    if (before == readers_turn::until_idle || (before == readers_turn::limited && is_limited(here())))
      await_all([](std::uint64_t state) { return state != in; });
    end_phase();
    await_all(has_left_by(count_of(here())));
  }

  /// A turn that goes on needs nothing from the rank that began it.
  void take_over() noexcept {}

  /// Ends the readers' phase if no reader is in, or only this rank (if `is_in`). Otherwise begins a new
  /// readers' phase.
  [[nodiscard]] bool try_shut(bool is_in) {
    end_phase();
    get_all();
    const auto has_left = has_left_by(count_of(here()));
    bool all_left = true;
    for (std::size_t i = 0; i < seen_.size(); ++i)
      all_left = all_left && (has_left(seen_[i]) || (is_in && i == own_seen_));
    if (!all_left) open(false);
    return all_left;
  }

  /// Begins a readers' phase. `limited`: writers are already waiting.
  void open(bool limited) { change_all(one_phase + (limited ? limited_bit : 0) - (here() & limited_bit)); }

  /// Makes this writing rank a reader that is in when its phase ends.
  void enter_next_phase() {
    const std::uint64_t now = count_of(here());
    raise(waits_for(now));
    note_entry(now + 1);
  }

 private:
  // Values of a flag: out, in, or the phase whose end its rank waits for, plus `first_phase`.
  static constexpr std::uint64_t out = 0;
  static constexpr std::uint64_t in = 1;
  static constexpr std::uint64_t first_phase = 2;
  [[nodiscard]] static constexpr std::uint64_t waits_for(std::uint64_t phase) noexcept {
    return phase + first_phase;
  }
  // Values of a gate: whether the phase is limited, and its number.
  static constexpr std::uint64_t limited_bit = 1;
  static constexpr std::uint64_t one_phase = 2;
  [[nodiscard]] static constexpr std::uint64_t count_of(std::uint64_t bits) noexcept {
    return bits / one_phase;
  }
  [[nodiscard]] static constexpr bool is_limited(std::uint64_t bits) noexcept {
    return (bits & limited_bit) != 0;
  }
  [[nodiscard]] static constexpr bool is_of_readers(std::uint64_t phase) noexcept { return phase % 2 == 0; }
  /// The readers' phase in which a reader is in that waited for the end of phase `waited_for`.
  [[nodiscard]] static constexpr std::uint64_t let_in(std::uint64_t waited_for) noexcept {
    return waited_for + (is_of_readers(waited_for) ? 2 : 1);
  }

  struct alignas(slot_bytes) gate {
    far<std::uint64_t> state;
  };
  struct flag {
    far<std::uint64_t> state;
  };
  struct node_place {
    int leader;
    std::size_t first;  ///< index of its first rank in `seen_`
    std::size_t ranks;
  };

  [[nodiscard]] static std::size_t most_on_a_node(const locality& where) {
    std::size_t most = 0;
    for (int i = 0; i < where.groups(level::node); ++i)
      most = std::max(most, where.members(level::node, i).size());
    return most;
  }

  void raise(std::uint64_t state) { flags_.write_direct(own_, &flag::state, state); }
  [[nodiscard]] std::uint64_t here() const { return gates_.read_direct(leader_, &gate::state); }

  /// Enters if the gate is open. Otherwise returns the phase in which it was not.
  [[nodiscard]] std::optional<std::uint64_t> knock() {
    raise(in);  // (1) before the gate is read
    const std::uint64_t state = here();
    const std::uint64_t phase = count_of(state);
    if (!is_of_readers(phase) || (is_limited(state) && phase == entered_phase_ && entries_ >= max_readers_))
      return phase;
    note_entry(phase);
    return std::nullopt;
  }
  void note_entry(std::uint64_t phase) noexcept {
    // A reader that is let in may notice only when the next writer already waits for it.
    phase -= phase % 2;
    entries_ = phase == entered_phase_ ? entries_ + 1 : 1;
    entered_phase_ = phase;
  }
  [[nodiscard]] static auto is_let_in_after(std::uint64_t waited_for) noexcept {
    return [from = let_in(waited_for)](std::uint64_t state) { return count_of(state) >= from; };
  }
  /// Whether a flag belongs to a rank that is not in when phase `writing` has begun.
  [[nodiscard]] static auto has_left_by(std::uint64_t writing) noexcept {
    return [writing](std::uint64_t state) {
      return state == out || (state != in && let_in(state - first_phase) > writing);
    };
  }

  void end_phase() { change_all(one_phase); }
  void change_all(const std::uint64_t& addend) {
    for (const node_place& each : nodes_) gates_.accumulate(each.leader, &gate::state, addend, far_op::sum);
    for (const node_place& each : nodes_) gates_.flush(each.leader);  // (2) before the flags are read
  }
  void get_all() {
    for (const node_place& each : nodes_)
      flags_.get_range(each.leader, &flag::state, std::span(seen_).subspan(each.first, each.ranks));
    for (const node_place& each : nodes_) flags_.flush(each.leader);
  }
  template <typename Predicate>
  void await_all(Predicate predicate) {
    get_all();
    for (const node_place& each : nodes_)
      for (std::size_t i = 0; i < each.ranks; ++i)
        if (!predicate(seen_[each.first + i]))
          world_->await_get(flags_, element{each.leader, i}, &flag::state, predicate);
  }

  W* world_;
  int max_readers_;
  int leader_;
  typename W::template far_segment<gate> gates_;
  typename W::template far_array<flag> flags_;
  element own_{0};
  std::size_t own_seen_ = 0;
  std::vector<node_place> nodes_;
  std::vector<std::uint64_t> seen_;  ///< flags of all ranks, grouped by node
  std::uint64_t entered_phase_ = ~std::uint64_t{0};
  int entries_ = 0;  ///< in that phase
};

}  // namespace nearfar
