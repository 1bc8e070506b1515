/// \file
/// The far memory of `distributed_map`: links, entries, and free cells.
///
/// A rank keeps up to `lease` spare cells in the memory of each rank that it inserts into. It gets as many
/// new ones at a time by one fetch-and-add, and keeps as many of those that it takes out of chains. The
/// others go to a stack at the rank whose memory they are in, linked by their own links. Other ranks do not
/// find the cells that a rank keeps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nearfar/core/world.hpp"
#include "nearfar/map/cell_link.hpp"
#include "nearfar/memory/nearest_access.hpp"
#include "nearfar/memory/stamped_entry.hpp"

namespace nearfar::detail {

/// Steps that tests leave out, to show that they are needed.
struct chain_faults {
  bool no_flush_of_entries = false;
  bool no_stamps = false;
  bool no_generations = false;
};

/// Links and free cells. They are the same for entries of all types, so this is compiled once for all. A link
/// is identified by its place: a rank's buckets come first, then its cells.
template <world W>
class far_links {
 public:
  /// A cell that belongs to this rank.
  struct own_cell {
    std::size_t index = 0;
    std::uint64_t generation = 0;
    cell_link holds{};  ///< the content of its link
  };

  /// Collective.
  far_links(W& w, std::size_t buckets, std::size_t cells, std::size_t lease)
      : world_(&w),
        links_(w, buckets + cells),
        heap_(w),
        buckets_(buckets),
        cells_(cells),
        lease_(lease),
        is_noted_(static_cast<std::size_t>(w.size())) {
    noted_.reserve(is_noted_.size());
  }

  /// Place of the link of the cell to which another link refers.
  [[nodiscard]] std::size_t link_of(cell_link to) const noexcept { return buckets_ + to.cell(); }

  /// Reads the link in place, or starts a get that `flush` completes.
  void start_link(element where, std::uint64_t& result) {
    const access there = access_to(where.rank);
    there.start_read(links_, where, &link_element::word, result);
    if (!there.is_in_place()) note(where.rank);
  }
  /// Starts to make the link of a cell that belongs to this rank refer to what `next` refers to. The buffer
  /// must live until `flush`.
  void start_to_hold(int rank, own_cell& mine, cell_link next, std::uint64_t& holds) {
    const cell_link wanted = cell_link::to_nothing(mine.generation).redirected(next);
    if (wanted == mine.holds) return;
    mine.holds = wanted;
    holds = wanted.bits();
    links_.accumulate({rank, buckets_ + mine.index}, &link_element::word, holds, far_op::replace);
    note(rank);
  }
  /// Starts to change a link from `from` to `to`; `before` receives what it was. The buffers must live until
  /// `flush`.
  void start_change(element where, const std::uint64_t& from, const std::uint64_t& to,
                    std::uint64_t& before) {
    links_.compare_and_swap(where, &link_element::word, from, to, before);
    note(where.rank);
  }
  /// Returns whether the link was `from`, and so is `to` now.
  [[nodiscard]] bool change(element where, cell_link from, cell_link to) {
    const std::uint64_t expected = from.bits();
    const std::uint64_t desired = to.bits();
    std::uint64_t before = 0;
    links_.compare_and_swap(where, &link_element::word, expected, desired, before);
    links_.flush(where.rank);
    return before == expected;
  }
  /// Completes everything started.
  void flush() {
    for (const int rank : noted_) {
      links_.flush(rank);
      is_noted_[static_cast<std::size_t>(rank)] = 0;
    }
    noted_.clear();
  }

  // Cells that are in no chain.

  /// Called before a cell of that rank is obtained or taken out of a chain, so that nothing done with the
  /// cell after that allocates. Throws `std::bad_alloc`.
  void make_room(int rank) { spare_[rank].spare.reserve(std::max<std::size_t>(lease_, 1)); }

  /// Takes over a cell that this rank has taken out of a chain.
  void recycle(int rank, cell_link out) {
    own_cell mine{.index = out.cell(), .generation = cell_link::next_generation(out.generation())};
    if (spare_[rank].spare.size() >= lease_) return push(rank, mine);
    hold(rank, mine, cell_link::to_nothing(mine.generation));
    spare_[rank].spare.push_back(mine);
  }
  /// Takes back a cell that was obtained and not used.
  void keep(int rank, own_cell& mine) {
    if (spare_[rank].spare.size() >= lease_) return push(rank, mine);
    spare_[rank].spare.push_back(mine);
  }
  /// The same while an exception propagates: then no far operation may be started, since MPI may be stuck.
  /// The cell is lost if there is no memory to note it.
  void keep_here(int rank, own_cell& mine) noexcept {
    try {
      spare_[rank].spare.push_back(mine);
    } catch (...) {
      return;
    }
  }
  /// Obtains a free cell in the memory of `rank`, if there is one that no rank keeps.
  [[nodiscard]] std::optional<own_cell> take(int rank) {
    make_room(rank);
    own_cells& here = spare_[rank];
    if (here.spare.empty() && !here.no_fresh) take_fresh(rank, here);
    if (here.spare.empty()) return pop(rank);
    const own_cell result = here.spare.back();
    here.spare.pop_back();
    return result;
  }

 protected:
  using access = nearest_access<W, far_read::get>;

  [[nodiscard]] access access_to(int rank) const { return access(*world_, rank); }
  /// Notes that something started at `rank` is to be completed.
  void note(int rank) {
    if (std::exchange(is_noted_[static_cast<std::size_t>(rank)], char{1}) == 0) noted_.push_back(rank);
  }

 private:
  struct link_element {
    far<std::uint64_t> word;
  };
  struct alignas(slot_bytes) heap_words {
    far<std::uint64_t> fresh;  // number of cells taken for the first time; changed only by sums
    far<std::uint64_t> top;    // of the stack of free cells; its own generation counts changes
  };
  struct own_cells {
    std::vector<own_cell> spare{};
    bool no_fresh = false;
  };

  void hold(int rank, own_cell& mine, cell_link what) {
    mine.holds = what;
    const std::uint64_t word = what.bits();
    links_.accumulate({rank, buckets_ + mine.index}, &link_element::word, word, far_op::replace);
    links_.flush(rank);
  }

  void take_fresh(int rank, own_cells& here) {
    const std::uint64_t wanted = lease_ == 0 ? 1 : lease_;
    std::uint64_t first = 0;
    heap_.fetch_add(rank, &heap_words::fresh, wanted, first);
    heap_.flush(rank);
    here.no_fresh = first + wanted >= cells_;
    for (std::uint64_t index = std::min<std::uint64_t>(first + wanted, cells_); index > first; --index)
      here.spare.push_back({.index = index - 1});
  }

  // The stack of free cells. The top's own generation grows with each change, so that a cell that is the top
  // again makes a different word.

  void push(int rank, own_cell& mine) {
    for (;;) {
      const cell_link top = top_of(rank);
      hold(rank, mine, cell_link::to_nothing(mine.generation).redirected(top));
      if (change_top(rank, top, cell_link(next_change(top), mine.index, mine.generation))) return;
    }
  }
  [[nodiscard]] std::optional<own_cell> pop(int rank) {
    for (;;) {
      const cell_link top = top_of(rank);
      if (!top.has_cell()) return std::nullopt;
      start_link({rank, buckets_ + top.cell()}, buffer_);
      flush();
      const cell_link holds(buffer_);
      if (change_top(rank, top, cell_link::to_nothing(next_change(top)).redirected(holds)))
        return own_cell{.index = top.cell(), .generation = top.generation(), .holds = holds};
    }
  }
  [[nodiscard]] static std::uint64_t next_change(cell_link top) noexcept {
    return cell_link::next_generation(top.own());
  }
  [[nodiscard]] cell_link top_of(int rank) {
    const access there = access_to(rank);
    there.start_read(heap_, rank, &heap_words::top, buffer_);
    there.flush(heap_);
    return cell_link(buffer_);
  }
  [[nodiscard]] bool change_top(int rank, cell_link from, cell_link to) {
    const std::uint64_t expected = from.bits();
    const std::uint64_t desired = to.bits();
    std::uint64_t before = 0;
    heap_.compare_and_swap(rank, &heap_words::top, expected, desired, before);
    heap_.flush(rank);
    return before == expected;
  }

  W* world_;
  typename W::template far_array<link_element> links_;  ///< of the buckets, then of the cells
  typename W::template far_segment<heap_words> heap_;
  std::size_t buckets_;
  std::size_t cells_;
  std::size_t lease_;
  std::unordered_map<int, own_cells> spare_;
  std::uint64_t buffer_ = 0;
  std::vector<int> noted_;
  std::vector<char> is_noted_;  ///< for each rank, whether it is in `noted_`
};

/// The steps of `far_chains`.
template <world W, far_object_value Entry, chain_faults Faults>
class far_cells : public far_links<W> {
  using base = far_links<W>;

 public:
  using copy = typename W::template maybe_torn<stamped_entry<Entry>>;
  using typename base::own_cell;

  /// Collective.
  far_cells(W& w, std::size_t buckets, std::size_t cells, std::size_t lease)
      : base(w, buckets, cells, lease), entries_(w, cells) {}

  [[nodiscard]] static bool is_of(cell_link word, std::uint64_t generation) noexcept {
    return Faults.no_generations || word.own() == generation;
  }
  [[nodiscard]] static bool is_whole(const copy& entry, std::uint64_t generation) noexcept {
    return Faults.no_stamps || entry.unconfirmed().is_whole(static_cast<std::uint32_t>(generation));
  }

  /// As `start_link`, for an entry.
  void start_entry(element where, copy& result) {
    const auto there = this->access_to(where.rank);
    there.start_read(entries_, where, &entry_element::stamped, result);
    if (!there.is_in_place()) this->note(where.rank);
  }
  /// Starts to write a cell that belongs to this rank, to be linked before what `next` refers to. The buffers
  /// must live until `flush`.
  void start_write(int rank, own_cell& mine, const Entry& entry, cell_link next,
                   stamped_entry<Entry>& stamped, std::uint64_t& holds) {
    stamped = stamped_entry<Entry>(entry, static_cast<std::uint32_t>(mine.generation));
    const auto there = this->access_to(rank);
    there.start_write(entries_, {rank, mine.index}, &entry_element::stamped, stamped);
    if (!there.is_in_place() && !Faults.no_flush_of_entries) this->note(rank);
    this->start_to_hold(rank, mine, next, holds);
  }
  void write(int rank, own_cell& mine, const Entry& entry, cell_link next) {
    stamped_entry<Entry> stamped;
    std::uint64_t holds = 0;
    start_write(rank, mine, entry, next, stamped, holds);
    this->flush();
  }

 private:
  struct entry_element {
    far_object<stamped_entry<Entry>> stamped;
  };

  typename W::template far_array<entry_element> entries_;
};

}  // namespace nearfar::detail
