/// \file
/// The counters of the readers of `rma_rw_lock`: one word on every T_DC-th node, with the writer's flag, the
/// arrivals and the departures, b|x|y.
///
/// Source: the distributed counter of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA
/// Locks", HPDC 2016, doi 10.1145/2907294.2907323. As there, a reader arrives by one fetch-and-add and leaves
/// by one accumulate. It is nearfar's that no reader backs off: the flag is a phase number, as in the
/// phase-fair locks of B. Brandenburg, J. Anderson, "Spin-based reader-writer synchronization for
/// multiprocessor real-time systems", 2010, doi 10.1007/s11241-010-9097-2.
///
/// The word. Phases are numbered; odd ones belong to a writer, even ones to readers. Only the holder of the
/// writers' lock begins phases. A reader that arrives in an even phase is in. A reader that arrives in an odd
/// phase stays counted. It is in when that phase ends, even if it has not noticed by then. So when a writer
/// ends the readers' phase by a fetch-and-add, the arrivals that this returns are the readers that are in or
/// have been in. All of them have left when the departures have reached that number, and later arrivals do
/// not change that. When the writer's phase ends, both numbers go down by the readers that have left, so that
/// the arrivals are then the readers that waited.
///
/// A readers' phase that begins while writers wait is limited: only the first `max_readers` arrivals are in,
/// the readers that waited among them, which is why `max_readers` is never less than the ranks at the word.
/// Later arrivals wait for the next readers' phase. The next writer lets the readers of a limited phase be
/// until all `max_readers` have come, or none is in. Only one word, read at one time, can say which of the
/// two holds.
///
/// With `counted_readers::always` every readers' phase is limited, as published, whether a writer waits or
/// not. A reader that finds the count used up looks at the writers' queue. If the queue is empty, the reader
/// lets itself in by a compare-and-swap and begins the count anew. Each waiting reader does this for itself:
/// if one reader let others in, a reader could miss that it was let in, and the next count would confuse it.
/// The word therefore also has the number of readers that wait since an earlier count. If a writer is in the
/// queue, the reader marks the word (the bit `limited`), looks again, and waits for the writer's turn while
/// the mark is there. The second look is for a writer that left before it could see the mark. A rank that
/// leaves the queue empty after the second look finds the mark and takes it away (`writers_left`), so that
/// the reader looks again. Any other rank in the queue ends the readers' phase, or a rank behind it does.
///
/// A word is written by accumulates (sum) only and, when a reader withdraws or lets itself in or an attempt
/// of a writer fails, by compare-and-swap (`promises::mixed_accumulates`). These exclude each other, so it
/// does not matter that a write that is seen may not be complete.
///
/// Numbers have 30 bits. They go down whenever writers come. Where no writer comes, a reader that finds a
/// number large reports it (`is_high`) and, holding the writers' lock, makes it smaller (`lower`). With
/// `counted_readers::always` numbers stay below `max_readers` and the ranks at the word together.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// The readers that count towards the limit of a readers' turn, T_R.
enum class counted_readers : std::uint8_t {
  while_writers_wait,  ///< those of a turn that begins while writers wait
  always,              ///< all consecutive ones, as published; begins anew if no writer waits at the limit
};

namespace detail {

/// For each group of `nodes` consecutive nodes, the leader of the first. Throws `misuse` if `nodes` < 1.
[[nodiscard]] std::vector<int> counter_hosts(const locality& where, int nodes);
/// The largest number of ranks that share a counter.
[[nodiscard]] int most_at_one_counter(const locality& where, int nodes);
/// `max_readers`, or `at_one_counter` if that is more. Throws `misuse` if `max_readers` is less than 1, or if
/// one of the two is more than the word can count.
[[nodiscard]] std::uint64_t checked_max_readers(int max_readers, int at_one_counter, counted_readers counted);

/// An empty queue of writers, for callers that have none.
struct no_writers {
  [[nodiscard]] bool operator()() const noexcept { return false; }
};

}  // namespace detail

/// Readers of one lock, among all ranks of a world. See the file's comment.
///
/// Cost in far operations: enter 1 fetch-and-add and leave 1 accumulate at the nearest counter; shut 1
/// fetch-and-add and open 1 accumulate at each counter, in flight together. A waiting reader polls its
/// counter, in place if the counter is on its node. Memory: 64 bytes of far memory for each rank.
///
/// With `counted_readers::always` a reader that finds the count used up adds the look at the writers' queue
/// and 1 compare-and-swap, and a second look if a writer is there. A writer that leaves the queue empty adds
/// 1 fetch at each counter, in flight together, and 1 compare-and-swap at each with a mark.
template <world W, counted_readers Counted = counted_readers::while_writers_wait,
          std::uint64_t HighMark = std::uint64_t{1} << 29U>
class distributed_counter {
 public:
  using world_type = W;

  /// Collective. Makes a counter for every `nodes` nodes (T_DC); `max_readers` is T_R.
  distributed_counter(W& w, int nodes, int max_readers)
      : world_(&w),
        words_(w),
        hosts_(detail::counter_hosts(w.locality(), nodes)),
        max_readers_(detail::checked_max_readers(max_readers,
                                                 detail::most_at_one_counter(w.locality(), nodes), Counted)),
        mine_(hosts_[static_cast<std::size_t>(w.locality().group(level::node, w.rank()) / nodes)]),
        at_mine_(w, mine_),
        seen_(hosts_.size()),
        changes_(hosts_.size()) {}

  /// T_R as it is in effect: never less than the ranks at a counter.
  [[nodiscard]] std::uint64_t max_readers() const noexcept { return max_readers_; }

  // Called by readers. `is_wanted` looks whether a writer is in the queue.

  template <typename IsWanted = detail::no_writers>
  [[nodiscard]] handover enter(IsWanted is_wanted = {}) {
    const count before = arrive();
    if (is_in(before)) return handover::uncontended;
    static_cast<void>(await_admission(before, std::nullopt, is_wanted));
    return handover::waited;
  }

  /// Looks first, so that an attempt leaves nothing behind where readers would have to wait.
  template <typename IsWanted = detail::no_writers>
  [[nodiscard]] bool try_enter(IsWanted is_wanted = {}) {
    const count seen{at_mine_.read(words_, mine_, &word::state)};
    if (!is_in(seen) && (!is_used_up(seen) || is_wanted())) return false;
    const count before = arrive();
    if (is_in(before)) return true;
    if (is_used_up(before) && !is_wanted())
      if (count now = arrived_at(before); let_self_in(now)) return true;
    withdraw(before);
    return false;
  }

  template <typename IsWanted = detail::no_writers>
  [[nodiscard]] std::optional<handover> try_enter_until(std::chrono::nanoseconds deadline,
                                                        IsWanted is_wanted = {}) {
    const count before = arrive();
    if (is_in(before)) return handover::uncontended;
    if (await_admission(before, deadline, is_wanted)) return handover::waited;
    withdraw(before);
    return std::nullopt;
  }

  void leave() { add(mine_, one_departure); }

  /// Whether this rank saw a large number of arrivals at its last arrival.
  [[nodiscard]] bool is_high() const noexcept { return seen_high_; }

  // Called by the holder of the writers' lock.

  /// Makes the numbers of this rank's counter smaller. Called in a readers' phase.
  void lower() {
    const count now{read(mine_)};
    add(mine_, std::uint64_t{0} - now.departures() * (one_arrival + one_departure));
    seen_high_ = false;
  }

  /// Ends the readers' phase and waits until all readers that are in have left.
  void shut(readers_turn before) {
    if (before != readers_turn::none) grant(before);
    end_phase();
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      if (const count at_end{seen_[i]}; !is_left_by(at_end, at_end.departures()))
        await_at(hosts_[i],
                 [this, at_end](std::uint64_t now) { return is_left_by(at_end, count{now}.departures()); });
    ended_here_ = true;
  }

  /// This rank goes on writing in a phase that another rank has begun.
  void take_over() noexcept { ended_here_ = false; }

  /// Ends the readers' phase if no reader is in, or only this rank (if `is_in`). Otherwise the readers' phase
  /// goes on under another number, with all readers that came. No other rank may want the writers' lock, so
  /// the phase is not limited.
  [[nodiscard]] bool try_shut(bool is_in) {
    // Looks first: a reader that has been let in, but has not noticed yet, would wait for ever if phases went
    // by.
    read_all();
    if (!is_empty(is_in)) return false;
    end_phase();
    ended_here_ = is_empty(is_in);
    if (ended_here_) return true;
    if constexpr (counts_always) {
      for (std::size_t i = 0; i < hosts_.size(); ++i) let_all_in(hosts_[i], count{seen_[i]}.ended());
    } else {
      for (std::size_t i = 0; i < hosts_.size(); ++i)
        changes_[i] = count{seen_[i]}.ended().to_next_phase(false);
      change_all();
    }
    return false;
  }

  /// Begins a readers' phase. `is_limited`: writers are already waiting.
  void open(bool is_limited) {
    if (!ended_here_) read_all();
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      // All readers that were in have left, so the departures no longer change.
      const count seen{seen_[i]};
      const count now = ended_here_ ? seen.ended() : seen;
      const std::uint64_t left = ended_here_ ? entered(seen) : seen.departures();
      changes_[i] =
          now.to_next_phase(is_limited) + all_in_next_phase(seen) - left * (one_arrival + one_departure);
    }
    change_all();
  }

  /// Called by a writer that has left the writers' queue empty. A reader may have seen it there, and waits
  /// for a turn that does not come.
  void writers_left()
    requires(Counted == counted_readers::always)
  {
    read_all();
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      for (count now{seen_[i]}; now.is_of_readers() && now.is_limited();)
        if (replace(hosts_[i], now, now.unlimited())) break;
  }

  /// Makes this writing rank arrive as a reader, so that it is in when its phase ends.
  void enter_next_phase() { add(mine_, one_arrival); }

 private:
  using access = nearest_access<W, far_read::fetch>;

  struct alignas(slot_bytes) word {
    far<std::uint64_t> state;
  };
  static constexpr bool counts_always = Counted == counted_readers::always;
  // From the lowest bit on: limited (1), phase (3), departures (30), arrivals (30). With `counts_always`
  // departures and arrivals have 21 bits each, and 18 bits are for those that wait since an earlier count.
  static constexpr std::uint64_t limited_bit = 1;
  static constexpr std::uint64_t one_phase = 2;
  static constexpr std::uint64_t phases = 8;
  static constexpr std::uint64_t one_departure = one_phase * phases;
  static constexpr std::uint64_t numbers = std::uint64_t{1} << (counts_always ? 21U : 30U);
  static constexpr std::uint64_t one_arrival = one_departure * numbers;
  static constexpr std::uint64_t one_waiting = counts_always ? one_arrival * numbers : 0;

  struct count {
    std::uint64_t bits = 0;

    [[nodiscard]] bool is_limited() const noexcept { return (bits & limited_bit) != 0; }
    [[nodiscard]] std::uint64_t phase() const noexcept { return bits / one_phase % phases; }
    [[nodiscard]] bool is_of_readers() const noexcept { return phase() % 2 == 0; }
    [[nodiscard]] std::uint64_t departures() const noexcept { return bits / one_departure % numbers; }
    /// Of the present count.
    [[nodiscard]] std::uint64_t arrivals() const noexcept { return bits / one_arrival % numbers; }
    /// Readers that found an earlier count used up and are not in.
    [[nodiscard]] std::uint64_t waiting() const noexcept {
      if constexpr (counts_always)
        return bits / one_waiting;
      else
        return 0;
    }
    [[nodiscard]] count limited() const noexcept { return {bits | limited_bit}; }
    [[nodiscard]] count unlimited() const noexcept { return {bits & ~limited_bit}; }
    /// The word after the readers' phase has been ended.
    [[nodiscard]] count ended() const noexcept { return {bits + one_phase}; }
    /// The addend that begins the next phase. Phases begin again at 0, without a carry.
    [[nodiscard]] std::uint64_t to_next_phase(bool limited) const noexcept {
      const std::uint64_t next = (phase() + 1) % phases;
      return (next - phase()) * one_phase + (limited ? limited_bit : 0) - (bits & limited_bit);
    }
  };

  /// Whether only the first `max_readers` arrivals of the phase are in.
  [[nodiscard]] static bool has_limit(count now) noexcept { return counts_always || now.is_limited(); }
  /// Whether a reader that arrived at `before` is in at once.
  [[nodiscard]] bool is_in(count before) const noexcept {
    return before.is_of_readers() && (!has_limit(before) || before.arrivals() < max_readers_);
  }
  /// Whether a reader may begin the count anew if no writer waits.
  [[nodiscard]] bool is_used_up(count now) const noexcept {
    return counts_always && now.is_of_readers() && now.arrivals() >= max_readers_;
  }
  /// The number of readers that were in, or had been in, when the readers' phase was ended at `at_end`.
  [[nodiscard]] std::uint64_t entered(count at_end) const noexcept {
    return has_limit(at_end) ? std::min(at_end.arrivals(), max_readers_) : at_end.arrivals();
  }
  /// The addend by which readers that wait since an earlier count become arrivals of the next phase.
  [[nodiscard]] static std::uint64_t all_in_next_phase(count at_end) noexcept {
    return at_end.waiting() * (one_arrival - one_waiting);
  }
  [[nodiscard]] bool is_left_by(count at_end, std::uint64_t departures) const noexcept {
    return departures == entered(at_end);
  }
  /// The readers' phase in which a reader is in that arrived at `before` and had to wait.
  [[nodiscard]] static std::uint64_t admitted_in(count before) noexcept {
    return (before.phase() + (before.is_of_readers() ? 2 : 1)) % phases;
  }
  /// That phase may have ended, but the one after the next cannot begin before the admitted reader has left.
  [[nodiscard]] static auto admission_after(count before) noexcept {
    return [in = admitted_in(before)](std::uint64_t now) {
      const std::uint64_t phase = count{now}.phase();
      return phase == in || phase == (in + 1) % phases;
    };
  }

  [[nodiscard]] count arrive() {
    const count before{fetch_and_add(mine_, one_arrival)};
    seen_high_ = before.arrivals() >= HighMark;
    return before;
  }

  [[nodiscard]] static count arrived_at(count before) noexcept { return {before.bits + one_arrival}; }

  /// Waits after an arrival at `before` that was not in. Returns whether this reader is in by the deadline.
  template <typename IsWanted>
  [[nodiscard]] bool await_admission(count before, const std::optional<std::chrono::nanoseconds>& deadline,
                                     IsWanted is_wanted) {
    if (is_used_up(before)) {
      const auto is_to_look = [phase = before.phase()](std::uint64_t bits) {
        return count{bits}.phase() != phase || !count{bits}.is_limited();
      };
      for (count now = arrived_at(before); now.phase() == before.phase();) {
        if (!now.is_limited()) {
          bool is_next = !is_wanted();
          if (!is_next) {
            if (!replace(mine_, now, now.limited())) continue;
            // The writer may have left before it could see the mark.
            is_next = !is_wanted();
          }
          if (is_next) {
            if (let_self_in(now)) return true;
            continue;
          }
        }
        const auto seen = await_here(deadline, is_to_look);
        if (!seen) return false;
        now = {*seen};
      }
    }
    return await_here(deadline, admission_after(before)).has_value();
  }
  /// Waits at this rank's counter. Returns the word, or nothing if the deadline has passed.
  template <typename Predicate>
  [[nodiscard]] std::optional<std::uint64_t> await_here(
      const std::optional<std::chrono::nanoseconds>& deadline, Predicate predicate) {
    if (deadline) return at_mine_.await_until(deadline, words_, mine_, &word::state, predicate);
    return await_at(mine_, predicate);
  }

  /// Lets this waiting reader in, and begins the count anew, with the readers that are in. Returns whether
  /// the phase `now` still went on; if not, `now` has the next one.
  [[nodiscard]] bool let_self_in(count& now) {
    for (const std::uint64_t phase = now.phase(); now.phase() == phase;) {
      const std::uint64_t are_in = entered(now) - now.departures();
      const std::uint64_t waiting = now.waiting() + now.arrivals() - entered(now);
      const count anew{phase * one_phase + (are_in + 1) * one_arrival + (waiting - 1) * one_waiting};
      if (replace(mine_, now, anew)) return true;
    }
    return false;
  }

  /// Begins a readers' phase at a counter with all readers that are in or wait. Of a reader that has been in,
  /// and waits again, the count must not have both.
  void let_all_in(int host, count now) {
    for (;;) {
      const std::uint64_t next = (now.phase() + 1) % phases;
      const std::uint64_t readers = now.arrivals() + now.waiting() - now.departures();
      if (replace(host, now, {next * one_phase + readers * one_arrival})) return;
    }
  }

  /// Gives up after an arrival at `before` that was not in. The phase and the arrival are in one word, and
  /// one operation must check the phase and withdraw the arrival. If the arrival of a reader that is already
  /// in were withdrawn, another reader that is not in would be counted in its place.
  void withdraw(count before) {
    const std::uint64_t in = admitted_in(before);
    for (count now{read(mine_)}; now.phase() != in && now.phase() != (in + 1) % phases;) {
      // A writer that ends the phase decides about the arrivals and those that wait by the word that it finds
      // then. Later the sum of the two counts.
      const bool is_of_earlier = now.is_of_readers() && now.waiting() > 0;
      if (replace(mine_, now, {now.bits - (is_of_earlier ? one_waiting : one_arrival)})) return;
    }
    leave();
  }

  /// Compare-and-swap. If the word was not `now`, `now` becomes the word.
  [[nodiscard]] bool replace(int host, count& now, const count& by) {
    std::uint64_t found = 0;
    words_.compare_and_swap(host, &word::state, now.bits, by.bits, found);
    words_.flush(host);
    const bool is_replaced = found == now.bits;
    now.bits = is_replaced ? by.bits : found;
    return is_replaced;
  }

  /// Whether, by `seen_`, no reader is in, or only this rank (if `is_in`).
  [[nodiscard]] bool is_empty(bool is_in) const {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const count seen{seen_[i]};
      const std::uint64_t own = is_in && hosts_[i] == mine_ ? 1 : 0;
      if (seen.arrivals() + seen.waiting() != seen.departures() + own) return false;
    }
    return true;
  }

  void grant(readers_turn turn) {
    const auto is_over = [this, turn](std::uint64_t bits) {
      const count now{bits};
      if (now.arrivals() == now.departures()) return true;
      return turn == readers_turn::limited && (!has_limit(now) || now.arrivals() >= max_readers_);
    };
    read_all();
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      if (!is_over(seen_[i])) await_at(hosts_[i], is_over);
  }

  template <typename Predicate>
  std::uint64_t await_at(int host, Predicate predicate) {
    return access(*world_, host).await(words_, host, &word::state, predicate);
  }

  /// Ends the readers' phase at all counters, and puts their words before that into `seen_`.
  void end_phase() {
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      words_.fetch_add(hosts_[i], &word::state, one_phase, seen_[i]);
    flush_all();
  }
  void read_all() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) words_.fetch(hosts_[i], &word::state, seen_[i]);
    flush_all();
  }
  void change_all() {
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      words_.accumulate(hosts_[i], &word::state, changes_[i], far_op::sum);
    flush_all();
  }
  void flush_all() {
    for (const int host : hosts_) words_.flush(host);
  }

  [[nodiscard]] std::uint64_t read(int host) {
    std::uint64_t value = 0;
    words_.fetch(host, &word::state, value);
    words_.flush(host);
    return value;
  }
  [[nodiscard]] std::uint64_t fetch_and_add(int host, const std::uint64_t& addend) {
    std::uint64_t before = 0;
    words_.fetch_add(host, &word::state, addend, before);
    words_.flush(host);
    return before;
  }
  void add(int host, const std::uint64_t& addend) {
    words_.accumulate(host, &word::state, addend, far_op::sum);
    words_.flush(host);
  }

  W* world_;
  typename W::template far_segment<word> words_;
  std::vector<int> hosts_;
  std::uint64_t max_readers_;
  int mine_;
  access at_mine_;
  bool seen_high_ = false;
  bool ended_here_ = false;  ///< `seen_` has the words from when this rank ended the readers' phase
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint64_t> changes_;
};

}  // namespace nearfar
