/// \file
/// The chains of `distributed_map`: lists of cells in far memory that any rank changes by compare-and-swap,
/// without locks.
///
/// Source: M. Michael, "High performance dynamic lock-free hash tables and list-based sets", SPAA 2002, doi
/// 10.1145/564870.564881, with T. Harris' marks ("A pragmatic implementation of non-blocking linked-lists",
/// DISC 2001, doi 10.1007/3-540-45414-4_21). Nearfar's: new cells come first in their chain, entries are
/// stamped, and links carry generations, so that what was read once can be trusted without reading it again.
///
/// Data. Each rank has buckets, which are links, and cells, each of which is an entry and a link. A link
/// refers to a cell *of one generation*: the number of times that the cell has been taken out of a chain. A
/// cell's own link also carries the cell's own generation, and a mark (`cell_link.hpp`). The words of an
/// entry are stamped with the generation (`stamped_entry.hpp`).
///
/// The invariant. Within one generation:
///  (1) The cell belongs to one rank alone, which writes its entry and its link and flushes.
///  (2) The cell then enters one chain by one compare-and-swap, and keeps its entry.
///  (3) The cell is then marked. From then on its link does not change.
///  (4) The cell then leaves the chain by the compare-and-swap of the link before it, which is not marked.
///      The rank that carried it out owns the cell from then on, and begins the next generation in the link.
/// Hence:
///  - A rank that follows a link, and finds all words of the entry stamped with the link's generation, has
///    what was written in (1), in whatever order the words arrived. A rank that finds anything else has
///    followed a link that was changed since, and begins again.
///  - A compare-and-swap meant for a link of an earlier generation fails, as the word differs. No link has
///    the same value twice, since no cell enters twice in one generation. The exception is a bucket whose
///    first cells have come and gone: it is harmless, since every key behind a first cell was there when that
///    cell came.
///  - A chain has a key once. A cell comes in as the first, if the chain still begins as it did when it was
///    seen to be without the key, or in the place of a marked one with the same key (`update`).
///  - An entry is put only in (1). The put of the previous generation was flushed before that generation's
///    (2), and so before its (4). Links are written only by accumulates. So no write meets an earlier one
///    that may still be under way (core/world.hpp, "seen is not complete").
/// A link that a cell's owner sets may meet a late compare-and-swap, which fails. That these two are atomic
/// to each other is more than MPI promises by default (accumulate_ops); the doctor tests it.
///
/// When operations take effect:
///  - insert: in (2);
///  - erase and update: when the marked cell leaves the chain (4). Any rank that wants to change something
///    there completes this first;
///  - a find that returns an entry: while that entry was in the chain, either when the find began or since;
///  - a find that returns nothing: when it read the bucket or, if the key was there then, when the key left.
///
/// Progress: lock-free; an attempt fails only because another has succeeded. If a cell is used again 2^20
/// times while a rank is between two of its steps, that rank may take one generation for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nearfar/core/world.hpp"
#include "nearfar/map/cell_link.hpp"
#include "nearfar/map/far_cells.hpp"
#include "nearfar/memory/stamped_entry.hpp"

namespace nearfar {

/// Result of an insert.
enum class insert_result : std::uint8_t {
  inserted,
  exists,  ///< an entry with this key is there, and stays as it is
  full,    ///< the rank to which the key belongs has no free cell
};

/// Result of an update.
enum class update_result : std::uint8_t {
  updated,
  absent,  ///< there is no entry with this key
  full,    ///< a new value needs a second cell (`lock_free`), and none is free
};

namespace detail {

/// A bucket and the cells behind it, identified by the bucket's rank and number.
using chain = element;

/// See the file's comment.
template <world W, far_object_value Entry, chain_faults Faults = chain_faults{}>
class far_chains {
  using cells = far_cells<W, Entry, Faults>;
  using own_cell = typename cells::own_cell;
  using copy = typename cells::copy;

 public:
  /// Collective.
  far_chains(W& w, std::size_t buckets, std::size_t of_cells, std::size_t lease)
      : cells_(w, buckets, of_cells, lease) {}

  /// One of several searches that run at once.
  struct search {
    chain in{0};
    bool is_over = false;
    bool has_entry = false;
    std::size_t at = 0;      ///< where the next link is read
    std::uint64_t own = 0;   ///< the generation that the link must carry
    std::uint64_t word = 0;  ///< the link's value
    copy entry{};
  };

  /// Runs all searches at once: reads of one are in flight together with those of the others.
  /// `matches(number, entry)` returns whether the search with this number is for this entry. `report(number,
  /// entry)` receives the entry, or nothing.
  template <typename Matches, typename Report>
  void find(std::span<search> searches, const Matches& matches, const Report& report) {
    const auto each = [&searches](const auto& step) {
      bool is_over = true;
      for (std::size_t i = 0; i < searches.size(); ++i) {
        if (searches[i].is_over) continue;
        step(i, searches[i]);
        is_over = is_over && searches[i].is_over;
      }
      return is_over;
    };
    static_cast<void>(each([](std::size_t, search& one) { one.at = one.in.index; }));
    for (bool is_over = searches.empty(); !is_over;) {
      static_cast<void>(each([&](std::size_t, search& one) {
        cells_.start_link({one.in.rank, one.at}, one.word);
      }));
      cells_.flush();
      is_over = each([&](std::size_t number, search& one) {
        const cell_link to(one.word);
        const bool is_current = cells_.is_of(to, one.own);
        one.has_entry = is_current && to.has_cell();
        if (one.has_entry) cells_.start_entry({one.in.rank, to.cell()}, one.entry);
        if (!is_current || to.has_cell()) return;
        one.is_over = true;
        report(number, std::optional<Entry>());
      });
      cells_.flush();
      if (is_over) return;
      is_over = each([&](std::size_t number, search& one) {
        const cell_link to(one.word);
        if (!one.has_entry || !cells_.is_whole(one.entry, to.generation())) {
          one.at = one.in.index;
          one.own = 0;
          return;
        }
        const Entry found = one.entry.confirmed().value();
        if (matches(number, found)) {
          one.is_over = true;
          report(number, std::optional<Entry>(found));
        } else {
          one.at = cells_.link_of(to);
          one.own = to.generation();
        }
      });
    }
  }

  template <typename Matches>
  [[nodiscard]] std::optional<Entry> find(chain in, const Matches& matches) {
    search one{.in = in};
    std::optional<Entry> result;
    find(
        std::span(&one, 1), [&](std::size_t, const Entry& entry) { return matches(entry); },
        [&](std::size_t, const std::optional<Entry>& entry) { result = entry; });
    return result;
  }

  /// Appends all entries of a chain.
  void add_entries(chain in, std::vector<Entry>& to) {
    const std::size_t before = to.size();
    search one{.in = in};
    // If the chain was changed meanwhile, it is read again from its beginning.
    const auto note_beginning = [&] {
      if (one.at == in.index) to.resize(before);
    };
    find(
        std::span(&one, 1),
        [&](std::size_t, const Entry& entry) {
          note_beginning();
          to.push_back(entry);
          return false;
        },
        [&](std::size_t, const std::optional<Entry>&) { note_beginning(); });
  }

  template <typename Matches>
  [[nodiscard]] insert_result insert(chain in, const Entry& entry, const Matches& matches) {
    return insert(in, entry, matches, std::nullopt);
  }

  /// An insert that runs together with others.
  struct insertion {
    chain in{0};
    std::uint64_t first = 0;  ///< the bucket's link, expected to be unchanged
    std::uint64_t entered = 0;
    std::uint64_t before = 0;
    std::optional<own_cell> mine{};
    stamped_entry<Entry> stamped{};
    std::uint64_t holds = 0;
  };

  /// Inserts at once all entries whose chains are empty, and the others one after another; `entry(number)`
  /// returns what to insert.
  template <typename EntryOf, typename Matches, typename Report>
  void insert(std::span<insertion> all, const EntryOf& entry, const Matches& matches, const Report& report) {
    for (insertion& one : all) {
      cells_.make_room(one.in.rank);
      cells_.start_link({one.in.rank, one.in.index}, one.first);
    }
    cells_.flush();
    for (std::size_t i = 0; i < all.size(); ++i) {
      insertion& one = all[i];
      if (cell_link(one.first).has_cell()) continue;
      one.mine = cells_.take(one.in.rank);
      if (one.mine) cells_.start_write(one.in.rank, *one.mine, entry(i), cell_link(), one.stamped, one.holds);
    }
    cells_.flush();
    for (insertion& one : all) {
      if (!one.mine) continue;
      one.entered = cell_link(0, one.mine->index, one.mine->generation).bits();
      cells_.start_change({one.in.rank, one.in.index}, one.first, one.entered, one.before);
    }
    cells_.flush();
    const auto has_entered = [](const insertion& one) { return one.mine && one.before == one.first; };
    // Before any keys are compared, which may throw.
    for (std::size_t i = 0; i < all.size(); ++i)
      if (has_entered(all[i])) report(i, insert_result::inserted);
    std::size_t next = 0;
    try {
      while (next < all.size()) {
        const std::size_t i = next++;
        insertion& one = all[i];
        if (has_entered(one)) continue;
        const auto is_what = [&](const Entry& other) { return matches(i, other); };
        report(i, insert(one.in, entry(i), is_what, one.mine));
      }
    } catch (...) {
      for (; next < all.size(); ++next)
        if (all[next].mine && !has_entered(all[next])) cells_.keep_here(all[next].in.rank, *all[next].mine);
      throw;
    }
  }

  /// `in_place`: no other rank reads or writes the chain meanwhile.
  template <typename Matches>
  [[nodiscard]] update_result update(chain in, const Entry& entry, const Matches& matches, bool in_place) {
    std::optional<own_cell> mine;
    for (;;) {
      const position at = locate_with(in, matches, mine);
      if (!at.entry) {
        if (mine) cells_.keep(in.rank, *mine);
        return update_result::absent;
      }
      if (in_place) {
        own_cell same{.index = at.to.cell(), .generation = at.to.generation(), .holds = at.next};
        cells_.write(in.rank, same, entry, at.next);
        return update_result::updated;
      }
      if (!mine) mine = cells_.take(in.rank);
      if (!mine) return update_result::full;
      cells_.write(in.rank, *mine, entry, at.next);
      const cell_link to_mine = at.to.redirected(cell_link(0, mine->index, mine->generation));
      if (!cells_.change({in.rank, cells_.link_of(at.to)}, at.next, at.next.redirected(to_mine).marked()))
        continue;
      if (cells_.change({in.rank, at.before}, at.to, to_mine))
        cells_.recycle(in.rank, at.to);
      else
        static_cast<void>(locate(in, matches));  // so that it has left the chain, whichever rank did that
      return update_result::updated;
    }
  }

  /// Returns the erased entry, if there was one.
  template <typename Matches>
  [[nodiscard]] std::optional<Entry> erase(chain in, const Matches& matches) {
    for (;;) {
      const position at = locate(in, matches);
      if (!at.entry) return std::nullopt;
      if (!cells_.change({in.rank, cells_.link_of(at.to)}, at.next, at.next.marked())) continue;
      if (cells_.change({in.rank, at.before}, at.to, at.to.redirected(at.next)))
        cells_.recycle(in.rank, at.to);
      else
        static_cast<void>(locate(in, matches));
      return at.entry;
    }
  }

 private:
  /// Position of an entry, or the end of its chain.
  struct position {
    cell_link first{};       ///< the bucket's link when the chain was read
    std::size_t before = 0;  ///< place of the link that refers to the cell
    cell_link to{};          ///< that link
    cell_link next{};        ///< the cell's own link, if there is a cell
    std::optional<Entry> entry{};
  };

  /// Takes all marked cells out of the chain on its way. Only this allocates, so what is done with its result
  /// is not lost.
  template <typename Matches>
  [[nodiscard]] position locate(chain in, const Matches& matches) {
    cells_.make_room(in.rank);
    for (;;) {
      position at{.before = in.index};
      cells_.start_link({in.rank, in.index}, buffer_);
      cells_.flush();
      at.first = at.to = cell_link(buffer_);
      if (advance(in, at, matches)) return at;
    }
  }

  /// The same for a rank that has obtained a cell, which is not lost if this throws.
  template <typename Matches>
  [[nodiscard]] position locate_with(chain in, const Matches& matches, std::optional<own_cell>& mine) {
    try {
      return locate(in, matches);
    } catch (...) {
      if (mine) cells_.keep_here(in.rank, *mine);
      throw;
    }
  }

  /// Returns false if the chain was changed meanwhile.
  template <typename Matches>
  [[nodiscard]] bool advance(chain in, position& at, const Matches& matches) {
    while (at.to.has_cell()) {
      copy entry;
      cells_.start_link({in.rank, cells_.link_of(at.to)}, buffer_);
      cells_.start_entry({in.rank, at.to.cell()}, entry);
      cells_.flush();
      at.next = cell_link(buffer_);
      if (!cells_.is_of(at.next, at.to.generation()) || !cells_.is_whole(entry, at.to.generation()))
        return false;
      if (at.next.is_marked()) {
        const cell_link without = at.to.redirected(at.next);
        if (!cells_.change({in.rank, at.before}, at.to, without)) return false;
        cells_.recycle(in.rank, at.to);
        if (at.before == in.index) at.first = without;
        at.to = without;
        continue;
      }
      const Entry value = entry.confirmed().value();
      if (matches(value)) {
        at.entry = value;
        return true;
      }
      at.before = cells_.link_of(at.to);
      at.to = at.next;
    }
    return true;
  }

  /// `mine`: a cell that the rank has obtained already, if any.
  template <typename Matches>
  [[nodiscard]] insert_result insert(chain in, const Entry& entry, const Matches& matches,
                                     std::optional<own_cell> mine) {
    for (;;) {
      const position at = locate_with(in, matches, mine);
      if (at.entry) {
        if (mine) cells_.keep(in.rank, *mine);
        return insert_result::exists;
      }
      if (!mine) mine = cells_.take(in.rank);
      if (!mine) return insert_result::full;
      cells_.write(in.rank, *mine, entry, at.first);
      if (cells_.change({in.rank, in.index}, at.first, cell_link(0, mine->index, mine->generation)))
        return insert_result::inserted;
    }
  }

  cells cells_;
  std::uint64_t buffer_ = 0;
};

}  // namespace detail
}  // namespace nearfar
