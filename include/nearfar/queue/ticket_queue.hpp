/// \file
/// A FIFO queue in which one atomic operation decides what a push or a pop does, and one put or get does it.
///
/// Source: nearfar's. The ring and the tickets are those of A. Gottlieb, B. Lubachevsky, L. Rudolph, "Basic
/// techniques for the efficient coordination of very large numbers of cooperating sequential processors",
/// 1983, doi 10.1145/69624.357206, section 4. That queue was made for fetch-and-add on far memory. There, and
/// in its successors (A. Morrison, Y. Afek, "Fast concurrent queues for x86 processors", PPoPP 2013, doi
/// 10.1145/2442516.2442527), a surplus ticket is detected at the cell, by more atomic operations. Here both
/// counts are in one word, so that drawing a ticket tells what it is good for.
///
/// The word at `home` holds the next ticket of pushes, and the number of pushes less that of pops, hence the
/// next ticket of pops. A push and a pop with the same ticket belong together. The order in which the two
/// tickets were drawn decides:
///  - the push first: the pop waits for the value, which is in the ring or on its way there;
///  - the pop first: there was nothing to pop. The pop reports that, and the ticket is void: the push, which
///    sees from the result of its own addition that the pop came before, draws another.
/// Since each void ticket costs a push one more addition, a rank that knows of no element looks before it
/// adds. So does a rank that knows of no room; since several may do so at once, there is extra room for
/// elements of each rank.
///
/// The ring has its cells in the memory of all ranks by turns, or all at home (`ticket_cells`). Every word of
/// a cell carries its lap (`stamped_entry`), so that one get tells whether the value is complete. A cell is
/// put again only when all ranks that used its last lap are done with it. Each rank has a word in its own
/// memory, written in place: a ticket below which it has nothing under way, or that it has nothing under way
/// at all. A rank that runs out of tickets known to be done gets these words of all ranks, after the counts.
/// A rank that drew an earlier ticket had written its word before, as (1) and (2) pair. For the same reason a
/// put never meets an earlier one that may still be under way (core/world.hpp, "seen is not complete"): a
/// rank is done only after its flush.
///
/// Ranks of a node other than home's combine their additions (queue/combining_add.hpp). Otherwise the rate
/// of additions at home's network interface would limit the queue.
///
/// Linearization points: of a push and of a pop the additions that drew their tickets; of one that returns
/// empty, full or closed the read of the counts. Progress: a pop waits for the push with its ticket, if that
/// is under way. A push waits, a whole ring later, for a rank that is still busy with its cell. Both wait for
/// the rank that adds for their node. All others go on. A rank that stops between its two steps stops the pop
/// with its ticket and, a ring later, all pushes; one that stops while it adds stops its node. If ranks may
/// stop, use `lockfree_queue`. Pushes and pops that do not wait only add to the counts, to which MPI promises
/// atomicity. `close`, and pops that have waited, also compare and swap them, which is more than MPI promises
/// by default (accumulate_ops); the doctor tests it.
///
/// Cost in far operations: push 1 fetch-and-add at home and 1 put; pop 1 fetch-and-add and 1 get, and polls
/// while the value is on its way. A cell on the rank's own node is written and read in place, and the
/// addition of a rank on home's node is the MPI library's in shared memory. For n values at once: n puts or
/// gets, but 1 fetch-and-add for up to as many as a rank has elements (`capacity`); ranks of a node that come
/// together also share 1. A queue that is found empty or full again costs 1 get instead of all that. Each
/// void ticket costs 1 fetch-and-add more. A pop that has waited tries 1 or a few compare-and-swaps instead
/// of the addition, so that many waiting pops leave no void tickets. Each ring of pushes costs 2 gets, and
/// one rank in addition 1 get for each rank and 1 accumulate. With all cells at home, nothing that home does
/// leaves its node. Memory of each rank: for each element at most 32 bytes for each 4 of the value, rounded
/// up to a power of two over all ranks; with all cells at home, that of all ranks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/nearest_access.hpp"
#include "nearfar/memory/stamped_entry.hpp"
#include "nearfar/queue/combining_add.hpp"
#include "nearfar/queue/queue_operations.hpp"
#include "nearfar/queue/ticket_counts.hpp"

namespace nearfar {

/// Where the elements of a `ticket_queue` are.
enum class ticket_cells : std::uint8_t {
  spread,   ///< at all ranks by turns, so that no network interface handles them all
  at_home,  ///< at home, for a queue of which home is the only consumer or the only producer
};

/// Size and place of a `ticket_queue`.
struct ticket_queue_parameters {
  /// Elements for each rank; the queue's room is the sum. One more for each rank may get in, or as many again
  /// if several are pushed at once.
  std::size_t capacity = 0;
  /// The rank that has the counts.
  int home = 0;
  /// Cells of the ring: a power of two, at least the most elements there can be; 0: at least twice as many.
  /// The larger the ring, the more seldom a push has to ensure that no rank is still busy with the previous
  /// lap.
  std::size_t ring = 0;
  /// Whether the ranks of a node combine their additions, if the counts are on another node.
  bool combines = true;
  ticket_cells cells = ticket_cells::spread;
};

namespace detail {

/// Steps that tests leave out, to show that they are needed.
struct ticket_queue_faults {
  bool uses_void_tickets = false;
  bool no_stamps = false;
  bool never_waits_for_done = false;
};

}  // namespace detail

/// Queue of all ranks of a world. Each rank has its own object, used by one thread. See the file's comment.
template <world W, far_object_value T, detail::ticket_queue_faults Faults = detail::ticket_queue_faults{}>
class ticket_queue : public queue_operations<ticket_queue<W, T, Faults>, W, T> {
  using counts = detail::ticket_counts;
  using access = nearest_access<W, far_read::get>;

 public:
  using parameters = ticket_queue_parameters;

  /// Collective. Throws `misuse` for a capacity of 0, or for 2^22 elements or more, counting those of all
  /// ranks.
  ticket_queue(W& w, const parameters& of) : ticket_queue(w, checked(w, of), detail::checked_arguments{}) {}
  ticket_queue(const ticket_queue&) = delete;
  ticket_queue& operator=(const ticket_queue&) = delete;

  /// From now on pushes are `closed`, and so are pops that find the queue empty. Any rank may call it, any
  /// number of times. Cost: 1 get, and 1 compare-and-swap for each attempt.
  void close() {
    this->expect_world();
    for (look(); !known_.is_closed();)
      if (change_counts(known_.closed())) return;
  }

  /// Number of elements when this rank last saw the counts.
  [[nodiscard]] std::size_t size_estimate() const noexcept {
    return static_cast<std::size_t>(std::max<std::int64_t>(known_.size(), 0));
  }
  /// The most elements that the queue can hold.
  [[nodiscard]] std::size_t capacity() const {
    this->expect_world();
    return room_ + batch_ * static_cast<std::size_t>(world_->size());
  }

  // The operations that `queue_operations` requires.

  [[nodiscard]] queue_status put(const T& value) { return put_some(std::span<const T>(&value, 1)).status; }
  [[nodiscard]] popped<T> take() {
    T value{};
    const queue_range_result result = take_some(std::span<T>(&value, 1));
    if (result.count == 0) return result.status;
    return value;
  }

  [[nodiscard]] queue_range_result put_some(std::span<const T> values) {
    if (known_.is_closed()) return {0, queue_status::closed};
    if (room_in(known_) == 0) look();
    for (;;) {
      if (known_.is_closed()) return {0, queue_status::closed};
      const std::size_t count = std::min({values.size(), room_in(known_), batch_});
      if (count == 0) return {0, queue_status::full};
      make_room(count);
      const underway now(*this, known_.tail());
      const drawn tickets = draw_pushes(count);
      if (tickets.count == 0) continue;
      now.is_at(tickets.first);
      // Pops can hold tickets drawn after the queue was closed, as any others, and so must find something
      // there.
      write(tickets, values);
      if (tickets.is_closed) return {0, queue_status::closed};
      return {tickets.count, queue_status::success};
    }
  }

  [[nodiscard]] queue_range_result take_some(std::span<T> into) {
    if (known_.size() <= 0) look();
    if (known_.size() <= 0) return {0, nothing_in(known_)};
    make_room(std::min(into.size(), batch_));
    const underway now(*this, known_.head());
    const drawn tickets = draw_pops(std::min(into.size(), batch_));
    if (tickets.count == 0) return {0, tickets.is_closed ? queue_status::closed : queue_status::empty};
    now.is_at(tickets.first);
    const std::size_t count = read(tickets, into);
    return {count, count == 0 ? queue_status::closed : queue_status::success};
  }

  [[nodiscard]] bool await_room(const std::optional<std::chrono::nanoseconds>& deadline) {
    return await_counts(deadline, [this](counts now) { return now.is_closed() || room_in(now) > 0; });
  }
  [[nodiscard]] bool await_element(const std::optional<std::chrono::nanoseconds>& deadline) {
    has_waited_ = true;
    return await_counts(deadline, [](counts now) { return now.is_closed() || now.size() > 0; });
  }

  [[nodiscard]] W& world_of() noexcept { return *world_; }

 private:
  using stamped = detail::stamped_entry<T>;
  static constexpr std::size_t pieces = std::tuple_size_v<decltype(stamped::words)>;
  struct piece {
    far<std::uint64_t> word;
  };
  struct alignas(slot_bytes) home_words {
    far<std::uint64_t> counts;
    far<std::uint64_t> done;  ///< a ticket below which nothing is under way
  };
  struct alignas(slot_bytes) own_words {
    far<std::uint64_t> underway;  ///< 1 + a ticket below which the rank has nothing under way; 0: none
  };

  static parameters checked(W& w, const parameters& of) {
    using detail::size_argument;
    expect_alike<ticket_queue>(w, {{"capacity", size_argument(of.capacity)},
                                   {"home", of.home},
                                   {"ring", size_argument(of.ring)},
                                   {"combines", of.combines ? 1 : 0},
                                   {"cells", static_cast<std::int64_t>(of.cells)}});
    const auto ranks = static_cast<std::size_t>(w.size());
    const std::size_t most = static_cast<std::size_t>(counts::size_limit) / 2 / ranks - 1;
    if (of.capacity < 1 || of.capacity > most)
      throw misuse("a ticket_queue of " + std::to_string(ranks) + " ranks has room for 1 to " +
                   std::to_string(most) + " elements of each, not " + std::to_string(of.capacity));
    if (of.ring != 0 && (!std::has_single_bit(of.ring) || of.ring < (of.capacity + 1) * ranks ||
                         of.ring > static_cast<std::size_t>(counts::size_limit)))
      throw misuse("the ring of a ticket_queue is a power of two, from " +
                   std::to_string((of.capacity + 1) * ranks) + ", its elements at most, to " +
                   std::to_string(counts::size_limit) + ", not " + std::to_string(of.ring));
    (void)checked_rank(w, of.home);
    return of;
  }
  ticket_queue(W& w, const parameters& of, detail::checked_arguments /*tag*/)
      : queue_operations<ticket_queue<W, T, Faults>, W, T>(w),
        world_(&w),
        home_(of.home),
        room_(of.capacity * static_cast<std::size_t>(w.size())),
        ring_(of.ring != 0 ? of.ring
                           : std::bit_ceil(2 * (of.capacity + 1) * static_cast<std::size_t>(w.size()))),
        batch_(std::min(of.capacity, ring_ / static_cast<std::size_t>(w.size()) - of.capacity)),
        spread_over_(of.cells == ticket_cells::at_home ? 1 : static_cast<std::size_t>(w.size())),
        cells_(w, ((ring_ - 1) / spread_over_ + 1) * pieces),
        at_home_(w),
        own_(w),
        combined_(w),
        combines_(of.combines && !w.locality().same(level::node, home_, w.rank()) &&
                  w.locality().members(level::node, w.locality().group(level::node, w.rank())).size() > 1) {
    if (w.rank() == home_) at_home_.write_direct(home_, &home_words::counts, counts::initial().bits());
    w.barrier();
  }

  [[nodiscard]] std::size_t room_in(counts now) const noexcept {
    return static_cast<std::size_t>(std::max<std::int64_t>(static_cast<std::int64_t>(room_) - now.size(), 0));
  }
  [[nodiscard]] static queue_status nothing_in(counts now) noexcept {
    return now.is_closed() ? queue_status::closed : queue_status::empty;
  }

  // The counts. `known_` is the latest value that this rank has seen.

  void look() {
    std::uint64_t bits = 0;
    at_home_.fetch(home_, &home_words::counts, bits);
    at_home_.flush(home_);
    known_ = counts(bits);
  }
  /// Returns the counts before the addition.
  [[nodiscard]] counts add(std::uint64_t sum) {
    const auto add_far = [this](const std::uint64_t& all) {
      std::uint64_t before = 0;
      at_home_.fetch_add(home_, &home_words::counts, all, before);
      at_home_.flush(home_);
      return before;
    };
    const counts before(combines_ ? combined_(sum, add_far) : add_far(sum));
    known_ = before.plus(sum);
    return before;
  }
  [[nodiscard]] bool change_counts(counts to) {
    const std::uint64_t from = known_.bits();
    const std::uint64_t desired = to.bits();
    std::uint64_t before = 0;
    at_home_.compare_and_swap(home_, &home_words::counts, from, desired, before);
    at_home_.flush(home_);
    known_ = before == from ? to : counts(before);
    return before == from;
  }
  /// Tickets that this rank may use.
  struct drawn {
    std::uint64_t first = 0;
    std::size_t count = 0;
    bool is_closed = false;  ///< the queue was closed before
  };
  /// Fewer than `count`, and maybe none, if some were void.
  [[nodiscard]] drawn draw_pushes(std::size_t count) {
    const counts before = add(counts::of_pushes(count));
    const std::size_t all_void = Faults.uses_void_tickets || before.size() >= 0
                                     ? 0
                                     : std::min(count, static_cast<std::size_t>(-before.size()));
    return {counts::after(before.tail(), all_void), count - all_void, before.is_closed()};
  }
  /// As many as there are elements, at most `most` and at most as many as were known before.
  [[nodiscard]] drawn draw_pops(std::size_t most) {
    const auto of = [&](counts now) {
      const auto size = static_cast<std::size_t>(std::max<std::int64_t>(now.size(), 0));
      return drawn{now.head(), std::min(most, size), now.is_closed()};
    };
    // All waiting ranks see an element arrive, and if each added, all but one would draw void tickets. A rank
    // whose compare-and-swap fails has drawn none. But if others keep changing the word, only additions get
    // through.
    constexpr int attempts = 3;
    if (std::exchange(has_waited_, false) && known_.size() < world_->size()) {
      for (int i = 0; i < attempts; ++i) {
        const drawn wanted = of(known_);
        if (wanted.count == 0 || change_counts(known_.plus(counts::of_pops(wanted.count)))) return wanted;
      }
      if (known_.size() <= 0) return of(known_);
    }
    most = of(known_).count;
    return of(add(counts::of_pops(most)));
  }

  template <typename Predicate>
  [[nodiscard]] bool await_counts(const std::optional<std::chrono::nanoseconds>& deadline,
                                  const Predicate& predicate) {
    const auto holds = [&](std::uint64_t bits) { return predicate(counts(bits)); };
    if (deadline) {
      const auto bits = world_->await_fetch_until(*deadline, at_home_, home_, &home_words::counts, holds);
      if (bits) known_ = counts(*bits);
      return bits.has_value();
    }
    known_ = counts(world_->await_fetch(at_home_, home_, &home_words::counts, holds));
    return true;
  }

  // The tickets under way.

  /// While it exists, this rank may be busy with tickets from the given one on.
  class underway {
   public:
    underway(ticket_queue& of, std::uint64_t from) : of_(&of) { is_at(from); }
    underway(const underway&) = delete;
    underway& operator=(const underway&) = delete;
    ~underway() { of_->tell(0); }
    // (1) Written before the ticket is drawn, so a rank that sees that it was drawn, and then looks here,
    //     sees it (2).
    void is_at(std::uint64_t ticket) const { of_->tell(ticket + 1); }

   private:
    ticket_queue* of_;
  };
  void tell(std::uint64_t ticket_and_one) {
    own_.write_direct(world_->rank(), &own_words::underway, ticket_and_one);
  }

  /// Whether a ticket is past another. False if it seems to be further ahead than any can get: it is then one
  /// of at least 2^38 tickets ago, known to a rank that has pushed nothing since.
  [[nodiscard]] bool is_past(std::uint64_t ticket, std::uint64_t earlier) const noexcept {
    const std::int64_t by = counts::ahead(ticket, earlier);
    return by > 0 && by <= 4 * static_cast<std::int64_t>(ring_);
  }
  /// Waits until no rank is busy with the ticket's cell for an earlier ticket.
  void await_cell(std::uint64_t ticket) {
    if (Faults.never_waits_for_done) return;
    const std::uint64_t earlier = counts::before(ticket, static_cast<std::int64_t>(ring_));
    const auto is_done = [&](std::uint64_t done) { return is_past(done, earlier); };
    if (is_done(done_)) return;
    at_home_.fetch(home_, &home_words::done, done_);
    at_home_.flush(home_);
    if (is_done(done_)) return;
    done_ = found_done(earlier);
    // Done tickets stay done, so it does no harm to overwrite a newer value.
    at_home_.accumulate(home_, &home_words::done, done_, far_op::replace);
    at_home_.flush(home_);  // before this object may be gone
  }
  /// Waits for a ticket after `earlier` below which nothing is under way, and returns it.
  [[nodiscard]] std::uint64_t found_done(std::uint64_t earlier) {
    look();
    // (2) After the counts: a rank that had drawn an earlier ticket has written its word (1).
    std::uint64_t result = known_.size() > 0 ? known_.head() : known_.tail();
    // The words of a few ranks at a time, since this must not allocate: tickets are drawn.
    std::array<std::uint64_t, 64> words{};
    for (int first = 0; first < world_->size();) {
      const int end = std::min(first + static_cast<int>(words.size()), world_->size());
      const auto word_of = [&](int rank) -> std::uint64_t& {
        return words[static_cast<std::size_t>(rank - first)];
      };
      for (int rank = first; rank < end; ++rank) own_.get(rank, &own_words::underway, word_of(rank));
      for (int rank = first; rank < end; ++rank) own_.flush(rank);
      for (int rank = first; rank < end; ++rank) {
        std::uint64_t word = word_of(rank);
        if (word == 0) continue;
        const auto is_over = [&](std::uint64_t now) { return now == 0 || is_past(now - 1, earlier); };
        if (!is_over(word)) word = world_->await_get(own_, rank, &own_words::underway, is_over);
        if (word != 0 && counts::ahead(result, word - 1) > 0) result = word - 1;
      }
      first = end;
    }
    return result;
  }

  // The ring.

  [[nodiscard]] element cell_of(std::uint64_t ticket) const noexcept {
    const std::uint64_t cell = ticket % ring_;
    const int rank = spread_over_ == 1 ? home_ : static_cast<int>(cell % spread_over_);
    return {rank, cell / spread_over_ * pieces};
  }
  /// Differs from 0, the stamp of a cell before its first lap.
  [[nodiscard]] std::uint32_t stamp_of(std::uint64_t ticket, bool is_void) const noexcept {
    const std::uint64_t lap = ticket / ring_ + 1;
    return static_cast<std::uint32_t>(lap << 1U | (is_void ? 1U : 0U));
  }
  [[nodiscard]] access access_to(int rank) const { return access(*world_, rank); }

  /// Called before tickets are drawn. Afterwards nothing may allocate, since others wait for what is written
  /// for the tickets.
  void make_room(std::size_t tickets) {
    if (staged_.size() < tickets) staged_.resize(tickets);
  }
  /// Writes the values of tickets, or marks the tickets as void.
  void write(const drawn& tickets, std::span<const T> values) {
    for (std::size_t i = 0; i < tickets.count; ++i) {
      const std::uint64_t ticket = counts::after(tickets.first, i);
      await_cell(ticket);
      const element cell = cell_of(ticket);
      staged_[i] = stamped(values[i], stamp_of(ticket, tickets.is_closed));
      access_to(cell.rank).start_write_range(cells_, cell, &piece::word,
                                             std::span<const std::uint64_t>(staged_[i].words));
    }
    flush(tickets);
  }
  /// Waits for the values of the tickets; returns fewer if some are void, which are the last ones.
  [[nodiscard]] std::size_t read(const drawn& tickets, std::span<T> into) {
    for (std::size_t i = 0; i < tickets.count; ++i)
      start_reading(cell_of(counts::after(tickets.first, i)), staged_[i]);
    flush(tickets);
    std::size_t count = 0;
    for (std::size_t i = 0; i < tickets.count; ++i) {
      const std::uint64_t ticket = counts::after(tickets.first, i);
      const std::uint32_t stamp = stamp_of(ticket, false);
      await_whole(cell_of(ticket), stamp, staged_[i]);
      if (static_cast<std::uint32_t>(staged_[i].words[0] >> 32U) != stamp && !Faults.no_stamps) continue;
      into[count] = staged_[i].value();
      ++count;
    }
    return count;
  }
  /// Waits until all words carry that stamp, or say that the ticket is void.
  void await_whole(element cell, std::uint32_t stamp, stamped& entry) {
    const auto is_current = [stamp](std::uint64_t word) {
      return Faults.no_stamps || (static_cast<std::uint32_t>(word >> 32U) | 1U) == (stamp | 1U);
    };
    for (;;) {
      const auto late = std::find_if_not(entry.words.begin(), entry.words.end(), is_current);
      if (late == entry.words.end()) return;
      const element where{cell.rank, cell.index + static_cast<std::size_t>(late - entry.words.begin())};
      const access there = access_to(cell.rank);
      there.await(cells_, where, &piece::word, is_current);
      start_reading(cell, entry);
      there.flush(cells_);
    }
  }
  void start_reading(element cell, stamped& entry) {
    access_to(cell.rank).start_read_range(cells_, cell, &piece::word, std::span<std::uint64_t>(entry.words));
  }
  /// Flushes the ranks that have the cells of these tickets.
  void flush(const drawn& tickets) {
    const auto flush_one = [this](int rank) { access_to(rank).flush(cells_); };
    if (spread_over_ == 1) return flush_one(home_);
    // Where the ring begins again, the turns of the ranks are interrupted.
    if (tickets.count >= spread_over_) {
      for (int rank = 0; rank < world_->size(); ++rank) flush_one(rank);
    } else {
      for (std::size_t i = 0; i < tickets.count; ++i)
        flush_one(cell_of(counts::after(tickets.first, i)).rank);
    }
  }

  W* world_;
  int home_;
  std::size_t room_;
  std::size_t ring_;         ///< a power of two, so that laps end where tickets wrap around
  std::size_t batch_;        ///< most tickets that a rank draws at once
  std::size_t spread_over_;  ///< number of ranks with cells; 1: home
  typename W::template far_array<piece> cells_;
  typename W::template far_segment<home_words> at_home_;
  typename W::template far_segment<own_words> own_;
  counts known_ = counts::initial();
  std::uint64_t done_ = 0;
  combining_add<W> combined_;
  bool combines_;
  std::vector<stamped> staged_;  ///< values being written or read
  bool has_waited_ = false;      ///< for an element, since the last pop
};

}  // namespace nearfar
