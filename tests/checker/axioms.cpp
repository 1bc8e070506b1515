#include "tests/checker/axioms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar::checker::testing {
namespace {

using engine::action;
/// Index of an event in its program.
using index = std::size_t;
using event_set = std::uint64_t;
constexpr index most_events = 64;
constexpr index none = most_events;
constexpr std::size_t near_words = 3;  // come first
constexpr std::size_t all_words = 6;

[[nodiscard]] constexpr event_set only(index at) { return event_set{1} << at; }
[[nodiscard]] constexpr bool has(event_set set, index at) { return (set >> at & 1U) != 0; }
[[nodiscard]] constexpr event_set below(index at) { return at == none ? ~event_set{0} : only(at) - 1; }
[[nodiscard]] constexpr index first_of(event_set set) { return static_cast<index>(std::countr_zero(set)); }
[[nodiscard]] constexpr index last_of(event_set set) { return static_cast<index>(std::bit_width(set)) - 1; }
template <typename Test>
[[nodiscard]] event_set those_of(event_set set, Test test) {
  event_set result = 0;
  for (; set != 0; set &= set - 1)
    if (test(first_of(set))) result |= only(first_of(set));
  return result;
}
template <typename Test>
bool holds_for_all(event_set set, Test test) {
  for (; set != 0; set &= set - 1)
    if (!test(first_of(set))) return false;
  return true;
}

/// A strict partial order of events.
class partial_order {
 public:
  [[nodiscard]] bool operator()(index a, index b) const { return has(after_[a], b); }
  [[nodiscard]] event_set after(index a) const { return after_[a]; }
  /// Puts `a` before `b`, and adds what follows from that. Returns false if a cycle results.
  bool add(index a, index b) {
    if (a == b || (*this)(b, a)) return false;
    if ((*this)(a, b)) return true;
    const event_set behind = after_[b] | only(b);
    for (index each = 0; each < most_events; ++each)
      if (each == a || (*this)(each, a)) after_[each] |= behind;
    return true;
  }

 private:
  std::array<event_set, most_events> after_{};
};

// ---- events -----------------------------------------------------------------------------------------------

struct event {
  enum class kind : std::uint8_t { access, fence, sent, taken, arrival, issue, flush };
  kind what = kind::access;
  std::size_t rank = 0;
  std::size_t number = 0;  ///< of the instruction within its rank
  instruction of{};
  index issue = none;  ///< of a delivery, and its flush
  index flush = none;
  bool needs_target = false;  ///< to be in the library

  [[nodiscard]] bool is_near() const { return engine::is_near(of.what); }
  [[nodiscard]] bool reads() const { return is_read(of.what); }
  [[nodiscard]] bool accumulates() const { return is_accumulate(of.what); }
  [[nodiscard]] bool compares() const {
    return of.what == action::compare_exchange || of.what == action::compare_and_swap;
  }
  /// Whether it is a wait that keeps its rank out of the library.
  [[nodiscard]] bool is_outside() const {
    return what == kind::access && of.waits && of.what == action::read_direct && !of.progresses;
  }
  [[nodiscard]] std::size_t accessed() const {
    return static_cast<std::size_t>(of.place) + (is_near() ? 0 : near_words);
  }
  [[nodiscard]] word written_over(word old) const {
    const bool adds = of.what == action::add || of.what == action::fetch_add || of.what == action::sum;
    return adds ? old + of.value : of.value;
  }
  /// Memory order of a fence, or of an access of a near cell that wrote or did not.
  [[nodiscard]] std::memory_order order(bool wrote) const {
    if (what == kind::fence) return of.order;
    if (of.waits) return acquire;
    if (of.what == action::load) return load_order(of.order);
    if (of.what == action::store) return store_order(of.order);
    return compares() && !wrote ? of.failure : of.order;
  }
  [[nodiscard]] bool synchronises(std::memory_order by, bool wrote) const {
    return order(wrote) == by || order(wrote) == acq_rel || order(wrote) == seq_cst;
  }
};

/// A program's events, and the order that the program text gives them.
struct graph {
  std::vector<event> events{};
  std::vector<event_set> steps;  ///< one set per rank; all other events are deliveries
  partial_order before{};
  partial_order known{};

  graph(const random_program& of, delivery_mode mode) : steps(of.size()), mode_(mode) {
    for (std::size_t rank = 0; rank < of.size(); ++rank) {
      for (std::size_t i = 0; i < of[rank].size(); ++i)
        append({.rank = rank, .number = i, .of = of[rank][i]});
      complete(rank);
    }
  }

 private:
  delivery_mode mode_;
  event_set open_ = 0;  ///< deliveries that are not flushed
  index last_ = none;   ///< step

  void append(event next) {
    using enum event::kind;
    const instruction& of = next.of;
    if (of.is_fence) return step(next, fence);
    if (of.is_signal) return step(next, of.waits ? taken : sent);
    if (next.is_outside()) step(next, arrival);
    if (!is_rma(of.what)) return step(next, access);
    next.needs_target = next.rank + 1 != steps.size();
    if (of.waits) {
      complete(next.rank);
      return step(next, access);
    }
    step(next, issue);
    next.issue = last_;
    const index delivery = add(next);
    ordered(next.issue, delivery);
    holds_for_all(next.accumulates() ? open_ : 0, [&](index other) {
      const event& earlier = events[other];
      return !earlier.accumulates() || earlier.of.place != of.place || before.add(other, delivery);
    });
    open_ |= only(delivery);
    if (of.flushes || of.what == action::put) complete(next.rank);
  }
  void complete(std::size_t rank) {
    if (open_ == 0) return;
    const index earlier = last_;
    step({.rank = rank}, event::kind::flush);
    for (; open_ != 0; open_ &= open_ - 1) {
      const index delivery = first_of(open_);
      events[delivery].flush = last_;
      if (mode_ == delivery_mode::lazy) before.add(earlier, delivery);
      before.add(delivery, last_);
      if (events[delivery].reads()) known.add(delivery, last_);
    }
  }
  void step(event next, event::kind what) {
    next.what = what;
    const index at = add(next);
    if (steps[next.rank] != 0) ordered(last_, at);
    const event_set delivered = mode_ == delivery_mode::eager ? open_ : 0;
    holds_for_all(delivered, [&](index delivery) { return before.add(delivery, at); });
    steps[next.rank] |= only(at);
    last_ = at;
  }
  index add(const event& next) {
    if (events.size() == most_events) throw error("a program of more events than the axioms are made for");
    events.push_back(next);
    return events.size() - 1;
  }
  void ordered(index a, index b) {
    before.add(a, b);
    known.add(a, b);
  }
};

// ---- executions -------------------------------------------------------------------------------------------

/// The choices made for an execution so far.
struct execution {
  partial_order before;
  partial_order known;
  event_set happened = 0;
  event_set taken{};   ///< signals
  event_set placed{};  ///< accesses whose place in the history of their word is chosen
  event_set wrote{};
  std::array<std::size_t, most_events> place{};       ///< 2n: the n-th write; 2n + 1: reads it
  std::array<index, most_events> behind{};            ///< the write that is read or comes just before
  std::array<word, most_events> read{};               ///< its value
  std::array<word, all_words> last{};                 ///< last value of the history
  std::array<event_set, most_events> synchronised{};  ///< with these
};

class enumeration {
 public:
  enumeration(const random_program& of, delivery_mode mode, near_model near)
      : mode_(mode), near_(near), in_(of, mode), stopped_(of.size(), none) {
    for (index at = 0; at < in_.events.size(); ++at) {
      const event& each = in_.events[at];
      const bool is_access = each.what == event::kind::access;
      if (is_access) accesses_[each.accessed()] |= only(at);
      if (each.what == event::kind::fence) fences_ |= only(at);
      if (each.issue != none) deliveries_ |= only(at);
      if (mode == delivery_mode::progress && is_access && each.needs_target) served_ |= only(at);
      if (mode == delivery_mode::progress && each.is_outside()) outside_ |= only(at);
      may_conflict_ = may_conflict_ || each.of.what == action::put || each.of.what == action::write_direct;
    }
  }
  [[nodiscard]] permitted all() {
    stop(0);
    return result_;
  }

 private:
  // Events that happen.

  /// Each rank ends, or stops at a step that may have to wait.
  void stop(std::size_t rank) {
    if (rank == stopped_.size()) return deliver();
    stopped_[rank] = none;
    stop(rank + 1);
    holds_for_all(in_.steps[rank], [&](index at) {
      const event& next = in_.events[at];
      const bool waits = next.of.waits && !next.of.has_deadline && next.what != event::kind::arrival;
      stopped_[rank] = at;
      const bool is_served = next.what == event::kind::flush || (next.of.has_deadline && next.needs_target);
      if (waits || (is_served && outside_ != 0)) stop(rank + 1);
      return true;
    });
  }
  /// Each issued operation is delivered, or has to wait for its flush or for the target.
  void deliver() {
    is_complete_ = std::all_of(stopped_.begin(), stopped_.end(), [](index at) { return at == none; });
    is_target_outside_ = stopped_.back() != none && has(outside_, stopped_.back());
    event_set happened = 0;
    for (std::size_t rank = 0; rank < stopped_.size(); ++rank)
      happened |= in_.steps[rank] & below(stopped_[rank]);
    const event_set flushed =
        those_of(deliveries_, [&](index at) { return has(happened, in_.events[at].flush); });
    const event_set open = those_of(deliveries_ & ~flushed, [&](index at) {
      return mode_ != delivery_mode::lazy && has(happened, in_.events[at].issue);
    });
    const event_set waiting = is_target_outside_ ? open & served_ : 0;
    for (event_set some = waiting;; some = (some - 1) & waiting) {
      attempt(happened | flushed | (open & ~waiting) | some);
      if (some == 0) return;
    }
  }
  void attempt(event_set happened) {
    // All events before one that happened have happened, too. A rank stops at a flush only if an operation of
    // the flush is undelivered.
    const event_set others = below(in_.events.size()) & ~happened;
    if (!holds_for_all(others, [&](index at) { return (in_.before.after(at) & happened) == 0; })) return;
    for (const index at : stopped_)
      if (at != none && in_.events[at].what == event::kind::flush &&
          holds_for_all(deliveries_ & others, [&](index each) { return in_.events[each].flush != at; }))
        return;
    take({.before = in_.before, .known = in_.known, .happened = happened}, 0);
  }

  // Signals.

  /// The oldest signal of `sender` that can be taken; `none` without one.
  [[nodiscard]] index signal_for(const execution& now, const event& taking, std::size_t sender) const {
    const int from = sender_of(taking.of, stopped_.size());
    if (from != any_rank && from != static_cast<int>(sender)) return none;
    return first_of(those_of(in_.steps[sender] & now.happened & ~now.taken, [&](index at) {
      const event& each = in_.events[at];
      return each.what == event::kind::sent &&
             receiver_of(each.of, stopped_.size()) == static_cast<int>(taking.rank);
    }));
  }
  void take(const execution& now, index at) {
    if (at == in_.events.size()) return write(now, 0, {}, accesses_[0] & now.happened);
    if (in_.events[at].what != event::kind::taken || !has(now.happened, at)) return take(now, at + 1);
    for (std::size_t sender = 0; sender < stopped_.size(); ++sender) {
      const index sent = signal_for(now, in_.events[at], sender);
      execution next = now;
      if (sent == none || !next.before.add(sent, at) || !next.known.add(sent, at)) continue;
      next.taken |= only(sent);
      take(next, at + 1);
    }
  }

  // Histories of words, one after the other.

  /// Chooses the next write among the remaining accesses, or ends the history.
  void write(const execution& now, std::size_t to, const std::vector<index>& history, event_set left) {
    // One example of an endless wait is enough.
    if (!is_complete_ && result_.deadlock && (result_.conflict || !may_conflict_)) return;
    bool may_end = true;
    holds_for_all(left, [&](index at) {
      const event& each = in_.events[at];
      if (!is_write(each.of.what)) return true;
      may_end = may_end && each.compares();
      execution next = now;
      next.wrote |= only(at);
      next.last[to] = each.written_over(now.last[to]);
      std::vector<index> longer = history;
      longer.push_back(at);
      if (put_in(next, at, longer, 2 * longer.size())) write(next, to, longer, left & ~only(at));
      return true;
    });
    if (may_end) read(now, to, history, left);
  }
  /// Chooses which write each access that is left reads.
  void read(const execution& now, std::size_t from, const std::vector<index>& history, event_set left) {
    if (left == 0) {
      if (!is_coherent(now)) return;
      if (from + 1 == all_words) return serve(now, outside_, served_ & now.happened);
      return write(now, from + 1, {}, accesses_[from + 1] & now.happened);
    }
    for (std::size_t writes = 0; writes <= history.size(); ++writes) {
      execution next = now;
      if (put_in(next, first_of(left), history, 2 * writes + 1)) read(next, from, history, left & (left - 1));
    }
  }
  [[nodiscard]] bool is_strong(const event& access) const {
    return !access.is_near() || near_ == near_model::sequential;
  }
  /// Puts an access at a place in a history; false if the axioms forbid it.
  [[nodiscard]] bool put_in(execution& now, index at, const std::vector<index>& history,
                            std::size_t place) const {
    const event& each = in_.events[at];
    const bool wrote = place % 2 == 0;
    const std::size_t earlier = (place - 1) / 2;  // writes
    const index behind = earlier == 0 ? none : history[earlier - 1];
    const word value = behind == none ? 0 : in_.events[behind].written_over(now.read[behind]);
    if (each.of.waits && !each.of.has_deadline && !each.of.until(value)) return false;
    if (each.compares() && wrote != (value == 0)) return false;
    now.place[at] = place;
    now.behind[at] = behind;
    now.read[at] = value;
    now.placed |= only(at);
    if (is_strong(each) && !wrote && earlier < history.size() && !now.before.add(at, history[earlier]))
      return false;
    if (behind != none) {
      if ((is_strong(each) || each.reads()) && !now.before.add(behind, at)) return false;
      if (each.is_near() && each.reads() && !synchronise(now, at)) return false;
      if (!each.is_near() && (each.reads() || each.accumulates()) && !now.known.add(behind, at)) return false;
    }
    return is_strong(each) || is_coherent(now, at);
  }
  /// Makes known the releases that the reader of a near cell, or a fence behind it, acquires.
  [[nodiscard]] bool synchronise(execution& now, index reader) const {
    const auto those_that = [&](std::memory_order part, event_set among) {
      return those_of(among, [&](index at) { return in_.events[at].synchronises(part, has(now.wrote, at)); });
    };
    const event_set to = those_that(acquire, only(reader) | (steps_after(reader) & fences_));
    // The release sequences of the write: its own, and for a read-modify-write also those of the write
    // before.
    event_set from = 0;
    for (index write = now.behind[reader]; write != none;
         write = in_.events[write].reads() ? now.behind[write] : none)
      from |= those_that(release, only(write) | (steps_before(write) & fences_));
    return holds_for_all(from, [&](index a) {
      now.synchronised[a] |= to;
      return holds_for_all(to, [&](index b) { return now.known.add(a, b); });
    });
  }
  [[nodiscard]] event_set steps_before(index at) const { return in_.steps[in_.events[at].rank] & below(at); }
  [[nodiscard]] event_set steps_after(index at) const {
    return in_.steps[in_.events[at].rank] & ~below(at) & ~only(at);
  }
  [[nodiscard]] bool is_coherent(const execution& now, index at) const {
    return holds_for_all(accesses_[in_.events[at].accessed()] & now.placed, [&](index other) {
      if (now.known(at, other)) return now.place[at] <= now.place[other];
      return !now.known(other, at) || now.place[other] <= now.place[at];
    });
  }
  /// Again, since more has become known.
  [[nodiscard]] bool is_coherent(const execution& now) const {
    return near_ == near_model::sequential ||
           holds_for_all(cells(now), [&](index at) { return is_coherent(now, at); });
  }
  /// Accesses of near cells.
  [[nodiscard]] event_set cells(const execution& now) const {
    return (accesses_[0] | accesses_[1] | accesses_[2]) & now.placed;
  }

  // Choices that remain once all histories are complete.

  /// Puts each event that needs the target before each of the target's waits outside the library, or after
  /// it.
  void serve(const execution& now, event_set waits, event_set left) {
    if (waits == 0) return finish(now);
    const index wait = first_of(waits);
    const index arrival = last_of(steps_before(wait));
    if (left == 0 || !has(now.happened, arrival))
      return serve(now, waits & (waits - 1), served_ & now.happened);
    execution earlier = now;
    if (earlier.before.add(first_of(left), arrival)) serve(earlier, waits, left & (left - 1));
    execution later = now;
    if (has(now.happened, wait) && later.before.add(wait, first_of(left)))
      serve(later, waits, left & (left - 1));
  }
  void finish(const execution& now) {
    if (near_ == near_model::release_acquire && !has_total_order(now)) return;
    if (!is_complete_ && !is_stuck(now)) return;
    if (is_complete_) result_.seen.insert(outcome_of(now));
    result_.deadlock = result_.deadlock || !is_complete_;
    result_.conflict = result_.conflict || (may_conflict_ && has_conflict(now));
  }
  [[nodiscard]] outcome outcome_of(const execution& now) const {
    outcome result(stopped_.size() * most_instructions);
    holds_for_all(now.placed, [&](index at) {
      const event& each = in_.events[at];
      if (!each.reads()) return true;
      const bool is_late = each.of.has_deadline && !each.of.until(now.read[at]);
      result[each.rank * most_instructions + each.number] = is_late ? too_late : now.read[at];
      return true;
    });
    result.insert(result.end(), now.last.begin(), now.last.end());
    return result;
  }
  /// Whether no rank can go on.
  [[nodiscard]] bool is_stuck(const execution& now) const {
    return std::all_of(stopped_.begin(), stopped_.end(), [&](index at) {
      if (at == none || in_.events[at].what == event::kind::flush) return true;
      const event& next = in_.events[at];
      if (next.what == event::kind::access)
        return (!next.of.has_deadline && !next.of.until(now.last[next.accessed()])) ||
               (is_target_outside_ && has(served_, at));
      for (std::size_t sender = 0; sender < stopped_.size(); ++sender)
        if (signal_for(now, next, sender) != none) return false;
      return true;
    });
  }
  [[nodiscard]] bool has_conflict(const execution& now) const {
    const event_set writes = those_of(now.placed & ~cells(now), [&](index at) {
      return is_write(in_.events[at].of.what);  // also if a compare failed
    });
    return !holds_for_all(writes, [&](index first) {
      const event& a = in_.events[first];
      return holds_for_all(writes & accesses_[a.accessed()], [&](index second) {
        const event& b = in_.events[second];
        if (now.place[first] >= now.place[second] || (a.accumulates() && b.accumulates())) return true;
        return now.known(a.flush == none ? first : a.flush, b.issue == none ? second : b.issue);
      });
    });
  }
  /// Whether an order S of the seq_cst events exists.
  [[nodiscard]] bool has_total_order(const execution& now) const {
    const event_set all = those_of(cells(now) | (fences_ & now.happened), [&](index at) {
      return in_.events[at].order(has(now.wrote, at)) == seq_cst;
    });
    if (all == 0) return true;
    // "Strongly happens before": sequenced; both seq_cst and synchronised; known from a step after to one
    // before.
    const auto is_strongly_known = [&](index a, index b) {
      const event_set next = steps_after(a);
      const event_set earlier = steps_before(b);
      return has(next | now.synchronised[a], b) ||
             (next != 0 && earlier != 0 && now.known(first_of(next), last_of(earlier)));
    };
    partial_order total{};
    const auto put = [&](event_set some, event_set after) {
      return holds_for_all(
          some, [&](index a) { return holds_for_all(after, [&](index b) { return total.add(a, b); }); });
    };
    const event_set fences = all & fences_;
    const auto is_put = [&](index a) {
      // If an access is coherence-ordered before another, the order holds for these two and for fences around
      // them.
      const event_set from = (only(a) & all) | those_of(fences, [&](index x) { return now.known(x, a); });
      return holds_for_all(cells(now) & accesses_[in_.events[a].accessed()], [&](index b) {
        return now.place[a] >= now.place[b] || put(from, (only(b) & all) | (now.known.after(b) & fences));
      });
    };
    return holds_for_all(all,
                         [&](index a) {
                           return put(only(a),
                                      those_of(all, [&](index b) { return is_strongly_known(a, b); }));
                         }) &&
           holds_for_all(cells(now), is_put);
  }

  delivery_mode mode_;
  near_model near_;
  graph in_;
  std::array<event_set, all_words> accesses_{};
  event_set deliveries_ = 0;
  event_set fences_ = 0;
  event_set served_ = 0;   ///< accesses that need the target in the library
  event_set outside_ = 0;  ///< waits outside the library
  bool may_conflict_ = false;

  std::vector<index> stopped_;  ///< the event where each rank stops; none: the rank ends
  bool is_complete_ = false;
  bool is_target_outside_ = false;  ///< for ever
  permitted result_{};
};

}  // namespace

permitted outcomes_by_axioms(const random_program& of, delivery_mode mode, near_model near) {
  return enumeration(of, mode, near).all();
}

}  // namespace nearfar::checker::testing
