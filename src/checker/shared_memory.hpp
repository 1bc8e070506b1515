// Words of near and far memory: their writes, the value that an access returns or changes, and what its rank
// learns from it. The rules are those of C++ and of MPI's RMA; docs/checker-model.md has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "footprint.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/substrate.hpp"
#include "total_order.hpp"
#include "view.hpp"

namespace nearfar::checker {

/// The numbers of the last accesses of one rank to a far word, one for each class of accesses whose races MPI
/// treats alike. For a cell without atomicity: the last store and the last load.
struct accesses_of_origin {
  version_number plain = 0;  // puts and writes in place
  version_number get = 0;
  version_number fetch = 0;
  version_number load = 0;                     // in place; noted only where it decides about a race
  version_number ordered = 0;                  // reads that no write may race with, promised or not
  std::array<version_number, 3> accumulate{};  // accumulates that may write: replace, sum, compare-and-swap
  std::source_location plain_site{};           // of cells without atomicity
  std::source_location ordered_site{};

  /// The accesses that may conflict with another access; 0 in place of the others.
  [[nodiscard]] std::array<version_number, 8> that_may_race(const promises& promised) const {
    const version_number read = promised.racing_gets ? 0 : 1;
    return {plain,   get * read,    fetch * read,  promised.racing_loads ? 0 : load,
            ordered, accumulate[0], accumulate[1], accumulate[2]};
  }
};

/// How a word of memory is used.
enum class usage : std::uint8_t { none, near, far, plain };

/// A word of memory, or another thing that ranks share: a mailbox, an epoch, the guard of the critical
/// section.
struct shared_word {
  std::uint64_t name = 0;
  std::uint64_t* cell = nullptr;
  usage used = usage::none;
  version_number version = 0;  // of the newest write; of a far word, the number of its accesses
  std::size_t in_view = 0;     // where views keep the known version; of a far word, one place for each
                               // origin: the last access that is known to be complete
  view message;                // known to a reader of the last write
  std::vector<accesses_of_origin> by_origin;  // of a far word
  version_number last_accumulate = 0;
  bool is_of_object = false;
  std::uint64_t writer = 0;     // of an object's word
  std::size_t plain_bytes = 0;  // of a cell without atomicity
  struct stored {
    std::uint64_t value = 0;
    view message{};
    std::size_t by_event = 0;  // the event that wrote it; none wrote the initial value
    version_number version = 0;
    bool is_atomic = false;  // no write may come between it and the write that it read
  };
  std::vector<stored> history;  // of a near cell, by version: C++'s modification order; see `total_order`
  // The last events that touched the word, and those before them. Each list has events that can be exchanged,
  // or a single one.
  use last_use = use::write;
  std::vector<int> last_events;
  std::vector<int> events_before;
  std::uint64_t value = 0;  // of words that are no cells
  std::vector<std::pair<int, view>> mail;

  /// As new, but for the memory of what it had most of.
  void clear();
};

/// The knowledge of a rank, and the part of it that its fences make known.
struct knowledge {
  view seen;
  view released;    // seen at its last releasing fence; its later relaxed stores make this known
  view unacquired;  // read by its relaxed loads; its next acquiring fence makes this known to it
  view shown;       // seen at its last light fence; heavy fences of other ranks make this known
};

/// Values of a word before and after a step.
struct touched {
  static constexpr std::size_t no_event = ~std::size_t{0};

  std::uint64_t before = 0;
  std::uint64_t read = 0;
  std::uint64_t after = 0;
  std::size_t behind = no_event;  ///< of a near cell: the event whose write precedes the step, if any
};

class shared_memory {
 public:
  /// The needs of the memory, met by its owner.
  class users {
   public:
    virtual void report(fault what, std::string text) = 0;
    [[nodiscard]] virtual std::string word_text(const std::uint64_t* cell) const = 0;
    /// Calls `action` with the view of each rank and of each outstanding operation.
    virtual void for_each_view(const std::function<void(view&)>& action) = 0;
    /// The views that all ranks have shown by their last light fences, joined.
    [[nodiscard]] virtual view all_shown() const = 0;

   protected:
    users() = default;
    ~users() = default;
  };

  shared_memory(users& of, const options& how, const engine::substrate& where);

  /// Forgets every access.
  void clear();
  /// Forgets the accesses of some words.
  void forget(const std::byte* from, std::size_t bytes);

  [[nodiscard]] std::uint64_t name_of(const std::uint64_t* cell) const noexcept {
    return static_cast<std::uint64_t>(cell - first_);
  }
  /// The word of this name, made at the first call.
  shared_word& at(std::uint64_t name);
  [[nodiscard]] const shared_word* find(std::uint64_t name) const;
  [[nodiscard]] const shared_word* find(const std::uint64_t* cell) const { return find(name_of(cell)); }
  [[nodiscard]] std::span<const shared_word> words() const noexcept { return std::span(words_).first(used_); }

  /// The places in the history of a near cell that a load may read, the newest first. For a write, the places
  /// before which the write may go (one past the end for the newest); it reads the value before its place.
  [[nodiscard]] std::vector<std::size_t> places(const view& seen, const engine::operation& what,
                                                const engine::wait* waiting) const;
  /// Whether one poll of a wait may read a value that does not satisfy the wait.
  [[nodiscard]] bool can_read_other(const view& seen, const engine::wait& waiting) const;
  /// Whether a waiting load of a near cell could have read a satisfying value before an event, when the cell
  /// held `value`.
  [[nodiscard]] bool could_satisfy(const view& seen, const engine::wait& waiting, std::size_t event,
                                   std::uint64_t value) const;
  /// The place of the write right after the one accessed at `place`; one past the end if no write follows.
  [[nodiscard]] static std::size_t overlooked(const engine::operation& what, std::size_t place) noexcept {
    return what.what == engine::action::load ? place + 1 : place;
  }

  /// Carries out an operation on a near cell at one of its `places`, as the event of this number.
  touched apply_near(int rank, knowledge& of, const engine::operation& what, const engine::wait* waiting,
                     int choice, std::size_t event);
  void fence(int rank, knowledge& of, std::memory_order order);
  /// A light fence and a heavy fence of another rank act on each other like two whole fences. Two light
  /// fences have no effect on each other. A heavy fence does not pass on to light fences what another rank
  /// shows by a light fence.
  void light_fence(knowledge& of);
  void heavy_fence(int rank, knowledge& of);
  /// Called when an operation on an object is called or returns: real time is part of the total order.
  void note_call(std::uint64_t object, view& seen) { order_.note_call(seen, at(object).message); }
  void note_return(std::uint64_t object, const view& seen) { order_.note_return(at(object).message, seen); }
  /// Whether a sequentially consistent step has happened. From then on a step may take choices away from
  /// steps that touch other words.
  [[nodiscard]] bool has_total_order() const noexcept { return order_.is_used(); }
  touched apply_direct(int rank, const engine::operation& what, view& seen);
  struct far_access {
    touched values;
    version_number number = 0;  // counted per word
    bool wrote = false;
  };
  /// `seen` is what the origin knew at the issue of the operation.
  far_access apply_far(int origin, const engine::operation& what, view& seen);
  /// Repeats the write of the access with this number.
  touched write_again(const engine::operation& what, version_number access, std::uint64_t written);
  /// An access of a cell without atomicity. The access is a race unless it is ordered with all others.
  void access_plain(int rank, const engine::plain_access& what, view& seen, const std::source_location& here);
  /// The last writer of this word of an object.
  std::uint64_t& writer_of(const std::uint64_t* cell) { return at(name_of(cell)).writer; }

  // Memory that pools lend.

  void lend(int owner, const std::byte* from, std::size_t bytes, view& seen);
  void take_back(int owner, const std::byte* from, std::size_t bytes, view& seen);
  /// A rank uses a word.
  void check_lifetime(int rank, const std::uint64_t* cell, view& seen);

  // Accesses that have to be ordered. Only reads of the same thing may be unordered.

  /// The first rank with a write that `seen` does not include. Reads count like writes if `reads_matter`.
  [[nodiscard]] static std::optional<int> first_unknown(const shared_word& of, const view& seen,
                                                        bool reads_matter);
  void note_ordered(shared_word& of, int rank, bool writes, view& seen);
  /// Makes room to record the accesses of each rank.
  void tell_ranks_apart(shared_word& of);

  /// Notes that the rank now knows the access of this number to be complete.
  void note_complete(int origin, const engine::operation& what, version_number access, view& seen) const;

 private:
  /// A word that is as new.
  shared_word& one_more(std::uint64_t name);
  shared_word& used_as(const std::uint64_t* cell, usage how);
  [[nodiscard]] shared_word* lifetime_of(const std::uint64_t* cell);
  void note_lifetime(int owner, const std::byte* from, std::size_t bytes, bool is_lent, view& seen);
  /// Carries out an operation by this memory order: it reads the write at place `earlier` in the history, or
  /// comes right behind that write.
  touched access_near(knowledge& of, const engine::operation& what, shared_word& word, std::size_t earlier,
                      std::memory_order order, std::size_t event);
  touched store_near(knowledge& of, const engine::operation& what, shared_word& word, std::size_t place,
                     std::size_t event);
  /// Whether the total order admits an access of a near cell right behind this write.
  [[nodiscard]] bool is_in_order_behind(const shared_word::stored& write, const view& seen,
                                        const engine::operation& what, std::size_t in_view) const;
  /// The total order, with room for it in views.
  [[nodiscard]] total_order& in_order();
  /// Makes room between the versions of a near cell.
  void spread_versions(shared_word& word);
  /// Reports a conflict unless `seen` says that every access that MPI forbids to race with this one is
  /// complete.
  void check_race(int rank, const shared_word& word, const engine::operation& what, const view& seen);
  /// For a word of an object: reports a race that no promise allows.
  void check_order(const shared_word& word, const engine::operation& what, const view& seen);

  users* users_;
  const options* options_;
  std::uint64_t* first_;
  std::size_t ranks_;
  std::vector<shared_word> words_;  // the first `used_`; the others were used by executions before
  std::size_t used_ = 0;
  total_order order_;
  std::size_t places_in_views_ = 0;
  std::vector<std::int32_t> slot_of_cell_;
  std::vector<std::int32_t> slot_of_lifetime_;  // same size, once a pool lends a word
  std::map<std::uint64_t, std::size_t> slot_of_other_;
};

}  // namespace nearfar::checker
