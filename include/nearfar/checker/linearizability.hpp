/// \file
/// Decides whether a history is linearizable. In a linearizable history each operation can be thought to take
/// effect at one moment between its call and its return, so that the specification permits the operations in
/// the order of these moments.
///
/// Source: M. Herlihy, J. Wing, "Linearizability: a correctness condition for concurrent objects", TOPLAS 12,
/// 1990, doi 10.1145/78969.78972.
///
/// The search orders operations one after another and turns back where none can come next (J. Wing, C. Gong,
/// "Testing and verifying concurrent objects", JPDC 17, 1993, doi 10.1006/jpdc.1993.1015). It remembers the
/// configurations, sets of ordered operations with the state they lead to, from which it had to turn back (G.
/// Lowe, "Testing for linearizability", CCPE 29, 2017, doi 10.1002/cpe.3928). Each object is judged alone, as
/// is each part of a partitioned one: a history is linearizable if those of its objects are (Herlihy, Wing).
///
/// Deciding it is NP-complete. The search is quick while few operations overlap and their order shows soon.
/// Each pair of overlapping operations whose order shows only much later can double the effort, unless the
/// specification foresees the order. That of queues does: 100,000 operations of four processes that never
/// rest are judged in a second. Operations that only observe double nothing if the specification names them
/// (`is_observation`). An exception is a queue with room for dozens of elements that is found full again and
/// again.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/history.hpp"
#include "nearfar/checker/specification.hpp"

namespace nearfar::checker {

enum class linearizability : std::uint8_t {
  yes,
  no,
  unknown,  ///< the search gave up
};
[[nodiscard]] std::string_view name(linearizability what) noexcept;

struct linearizability_options {
  /// Configurations to turn back from, for each object or part of one, before the search gives up. Each is
  /// kept, with a copy of the specification's state.
  std::uint64_t most_remembered = 1'000'000;
};

/// Operations are named by their number in the history.
struct verdict {
  linearizability is_linearizable = linearizability::yes;
  /// An order of the operations, without those pending ones that need not have taken effect. If there is
  /// none: the longest beginning of one that was found for the object at fault, or for a few of its
  /// operations that are impossible by themselves.
  std::vector<std::size_t> order{};
  /// If there is none: the operations that could come next in time, none of which leads on.
  std::vector<std::size_t> impossible{};
  /// Why not, or why this is not known, in lines for people. Empty if it is linearizable.
  std::string text{};
  /// How many configurations the search met, of all objects.
  std::uint64_t configurations = 0;
};

namespace detail {

/// The operations on one object, by their numbers in the history.
using selection = std::vector<std::size_t>;

/// A sequence of operations on one object that grows and shrinks at its end, and which of them may come next:
/// those that no other one that is missing precedes in time. Operations have places: pending ones first, then
/// completed ones, each in order of call.
class partial_linearization {
 public:
  using place = std::uint32_t;

  partial_linearization(std::span<const operation> all, selection on_object, const foresight& known);

  [[nodiscard]] const operation& at(place of) const { return all_[numbers_[of]]; }
  [[nodiscard]] std::size_t number(place of) const { return numbers_[of]; }
  [[nodiscard]] std::span<const place> sequence() const noexcept { return sequence_; }
  /// Whether all completed operations are in.
  [[nodiscard]] bool is_complete() const noexcept { return first_missing_ == numbers_.size(); }

  void append(place next);
  void remove_last();
  /// Appends the possible next operations: completed ones in order of return, then pending ones.
  void add_candidates(std::vector<place>& to) const;
  /// Whether another that is missing must come first, by what is foreseen.
  [[nodiscard]] bool is_barred(place of) const {
    return first_awaited_ < awaited_.size() && order_[of].first > order_[awaited_[first_awaited_]].last;
  }
  /// Which operations are in, in as few words as the gaps among them permit, since all before the first
  /// missing one are.
  void identify(std::vector<std::uint64_t>& as) const;

 private:
  static constexpr place word_bits = 64;

  [[nodiscard]] bool contains(place of) const {
    return ((bits_[of / word_bits] >> (of % word_bits)) & 1U) != 0;
  }
  void flip(place of) { bits_[of / word_bits] ^= std::uint64_t{1} << (of % word_bits); }
  [[nodiscard]] place next_missing(place from) const;

  std::span<const operation> all_;
  selection numbers_;    ///< by place
  place pending_;        ///< how many
  place first_missing_;  ///< of the completed; all places, if there is none
  std::vector<std::uint64_t> bits_;
  std::vector<foresight::interval> order_;  ///< by place
  std::vector<place> awaited_;              ///< all in order of the ends of their intervals
  std::vector<place> turns_;                ///< where each is among them
  place first_awaited_ = 0;                 ///< the first of them that is missing
  std::vector<place> sequence_;
  std::vector<place> ends_{0};  ///< with each length of the sequence, the place after the last that is in
};

/// The states that a sequence of operations leads through, the last of which is at hand: of the last steps
/// all are kept, and one now and then of those before, from which others are computed again.
template <sequential_specification S>
class state_trail {
 public:
  explicit state_trail(const S& initial) : recent_{initial} {}

  [[nodiscard]] const S& last() const { return recent_.back(); }
  void append(S next) {
    recent_.push_back(std::move(next));
    if (recent_.size() < 2 * interval) return;
    old_.push_back(std::move(recent_.front()));
    recent_.erase(recent_.begin(), recent_.begin() + interval);
  }
  /// `sequence`: the operations that led here, with the last one or without.
  void remove_last(const partial_linearization& sequence) {
    recent_.pop_back();
    if (!recent_.empty()) return;
    recent_.push_back(std::move(old_.back()));
    old_.pop_back();
    for (std::size_t step = old_.size() * interval; recent_.size() < interval; ++step) {
      S next = recent_.back();
      static_cast<void>(next.apply(sequence.at(sequence.sequence()[step])));
      recent_.push_back(std::move(next));
    }
  }

 private:
  static constexpr std::ptrdiff_t interval = 64;

  std::vector<S> old_;
  std::vector<S> recent_;
};

/// Configurations that lead to no linearization.
template <sequential_specification S>
class configuration_memory {
 public:
  void insert(const partial_linearization& of, const S& state) {
    identify(of, state);
    known_.emplace(hash_, configuration{identity_, state});
  }
  [[nodiscard]] bool contains(const partial_linearization& of, const S& state) {
    if (known_.empty()) return false;
    identify(of, state);
    const auto [first, last] = known_.equal_range(hash_);
    return std::any_of(first, last, [&](const auto& one) {
      return one.second.identity == identity_ && one.second.state == state;
    });
  }

 private:
  struct configuration {
    std::vector<std::uint64_t> identity;
    S state;
  };

  void identify(const partial_linearization& of, const S& state) {
    of.identify(identity_);
    hash_ = hash_of(identity_, state.hash());
  }

  std::unordered_multimap<std::size_t, configuration> known_;
  std::vector<std::uint64_t> identity_;
  std::size_t hash_ = 0;
};

/// The longest of the sequences that a search turned back from. Sequences that come one after another have
/// most of their beginnings in common, so that only the rest is copied.
class longest_sequence {
 public:
  void note(std::span<const partial_linearization::place> sequence) {
    if (sequence.size() <= longest_.size()) return;
    const auto common = static_cast<std::ptrdiff_t>(common_);
    longest_.erase(longest_.begin() + common, longest_.end());
    longest_.insert(longest_.end(), sequence.begin() + common, sequence.end());
    common_ = sequence.size();
  }
  void note_shorter(std::size_t length) { common_ = std::min(common_, length); }
  [[nodiscard]] std::span<const partial_linearization::place> get() const { return longest_; }

 private:
  std::vector<partial_linearization::place> longest_;
  std::size_t common_ = 0;  ///< with the present sequence
};

/// The search for an order of the operations on one object.
template <sequential_specification S>
class linearization_search {
 public:
  using place = partial_linearization::place;

  linearization_search(std::span<const operation> all, selection on_object, const S& initial,
                       const foresight& known)
      : sequence_(all, std::move(on_object), known), states_(initial) {
    enter();
  }

  /// Gives up when it would remember more than `most_remembered` configurations.
  [[nodiscard]] linearizability run(std::uint64_t most_remembered) {
    while (!sequence_.is_complete()) {
      if (advance()) continue;
      if (remembered_ == most_remembered) return linearizability::unknown;
      if (!turn_back()) return linearizability::no;
    }
    return linearizability::yes;
  }

  /// The order that was found.
  [[nodiscard]] selection order() const { return numbers(sequence_.sequence()); }
  /// As many as could be ordered before the search turned back.
  [[nodiscard]] selection longest_order() const { return numbers(longest_.get()); }
  /// Those that may come next after them in time.
  [[nodiscard]] selection impossible() const {
    partial_linearization longest = sequence_;
    while (!longest.sequence().empty()) longest.remove_last();
    for (const place one : longest_.get()) longest.append(one);
    std::vector<place> candidates;
    longest.add_candidates(candidates);
    return numbers(candidates);
  }
  [[nodiscard]] std::uint64_t configurations() const noexcept { return configurations_; }

 private:
  /// The operations that may come next after those that led here: the candidates from `first` on. `next` is
  /// the place of the next one to try.
  struct frame {
    std::size_t first;
    std::size_t next;
  };

  void enter() {
    ++configurations_;
    const std::size_t first = candidates_.size();
    path_.push_back({first, first});
    sequence_.add_candidates(candidates_);
    if constexpr (specification_with_observations<S>) keep_observation(first);
  }

  /// Drops all other candidates from `first` on if one only observes and the state permits it. Nothing is
  /// lost: in each order that leads on from here, this operation can be moved to the beginning.
  void keep_observation(std::size_t first) {
    std::optional<S> scratch;
    for (std::size_t i = first; i < candidates_.size(); ++i) {
      const operation& one = sequence_.at(candidates_[i]);
      if (one.is_pending() || !S::is_observation(one) || sequence_.is_barred(candidates_[i])) continue;
      if (!scratch) scratch = states_.last();
      if (!scratch->apply(one)) continue;
      candidates_[first] = candidates_[i];
      candidates_.resize(first + 1);
      return;
    }
  }

  /// Takes the next operation that leads to a configuration that is not known to be a dead end.
  [[nodiscard]] bool advance() {
    S next = states_.last();
    while (path_.back().next < candidates_.size()) {
      const place which = candidates_[path_.back().next++];
      if (sequence_.is_barred(which) || !next.apply(sequence_.at(which))) continue;
      // A pending operation that changes nothing may as well be left out.
      if (!sequence_.at(which).is_pending() || !(next == states_.last())) {
        sequence_.append(which);
        if (!dead_ends_.contains(sequence_, next)) {
          states_.append(std::move(next));
          enter();
          return true;
        }
        sequence_.remove_last();
      }
      next = states_.last();
    }
    return false;
  }

  /// From a dead end, unless it is the beginning. A configuration is remembered as late as this because it
  /// cannot come again before: those that it leads to are larger.
  [[nodiscard]] bool turn_back() {
    longest_.note(sequence_.sequence());
    if (sequence_.sequence().empty()) return false;
    dead_ends_.insert(sequence_, states_.last());
    ++remembered_;
    candidates_.resize(path_.back().first);
    path_.pop_back();
    states_.remove_last(sequence_);
    sequence_.remove_last();
    longest_.note_shorter(sequence_.sequence().size());
    return true;
  }

  [[nodiscard]] selection numbers(std::span<const place> of) const {
    selection result;
    for (const place one : of) result.push_back(sequence_.number(one));
    return result;
  }

  partial_linearization sequence_;
  state_trail<S> states_;
  std::vector<frame> path_;        ///< one more than the sequence is long
  std::vector<place> candidates_;  ///< of the whole path
  configuration_memory<S> dead_ends_;
  longest_sequence longest_;
  std::uint64_t remembered_ = 0;
  std::uint64_t configurations_ = 0;
};

/// An object, or a part of one.
struct object_part {
  std::uint64_t object = 0;
  std::optional<std::uint64_t> part{};

  [[nodiscard]] friend auto operator<=>(const object_part&, const object_part&) = default;
};

template <sequential_specification S>
[[nodiscard]] std::map<object_part, selection> parts_of(const history& what) {
  std::map<object_part, selection> result;
  for (std::size_t number = 0; number < what.size(); ++number) {
    const operation& one = what.operations()[number];
    object_part on{.object = one.object};
    if constexpr (partitioned_specification<S>) on.part = S::part(one);
    result[on].push_back(number);
  }
  return result;
}

template <sequential_specification S>
[[nodiscard]] foresight foreseen(std::span<const operation> all, const selection& on_object,
                                 const S& initial) {
  if constexpr (foreseeing_specification<S>) return initial.foresee(all, on_object);
  return {};
}

/// One order of all, given one for each object.
[[nodiscard]] selection merged(std::span<const operation> all, std::span<const selection> orders);

/// The state of an object after some operations, if it can be printed.
template <sequential_specification S>
[[nodiscard]] std::string state_text(const history& what, S state, const selection& order) {
  for (const std::size_t number : order) static_cast<void>(state.apply(what.operations()[number]));
  if constexpr (printable_specification<S>) return state.text();
  return {};
}

/// `operations`: how many were to be ordered.
[[nodiscard]] std::string refutation_text(const history& what, const object_part& on, std::size_t operations,
                                          const verdict& found, const std::string& state,
                                          operation_names names);
[[nodiscard]] std::string given_up_text(const object_part& on, std::size_t operations, std::size_t ordered);

/// Judges the operations on one object, or some of them.
template <sequential_specification S>
[[nodiscard]] verdict judged(const history& what, const object_part& on, const selection& numbers,
                             const S& initial, const foresight& known, const linearizability_options& how) {
  linearization_search<S> search(what.operations(), numbers, initial, known);
  verdict result;
  result.is_linearizable = search.run(how.most_remembered);
  result.configurations = search.configurations();
  if (result.is_linearizable == linearizability::yes) {
    result.order = search.order();
  } else if (result.is_linearizable == linearizability::unknown) {
    result.text = given_up_text(on, numbers.size(), search.longest_order().size());
  } else {
    result.order = search.longest_order();
    result.impossible = search.impossible();
    result.text = refutation_text(what, on, numbers.size(), result, state_text(what, initial, result.order),
                                  names_of<S>());
  }
  return result;
}

/// Judges all operations on one object: first those that look as if they were impossible.
template <sequential_specification S>
[[nodiscard]] verdict judged_with_foresight(const history& what, const object_part& on,
                                            const selection& numbers, const S& initial,
                                            const linearizability_options& how) {
  const foresight known = foreseen(what.operations(), numbers, initial);
  std::uint64_t configurations = 0;
  for (const selection& suspects : known.suspects) {
    verdict of_few = judged(what, on, suspects, initial, {}, how);
    of_few.configurations = configurations += of_few.configurations;
    if (of_few.is_linearizable == linearizability::no) return of_few;
  }
  verdict result = judged(what, on, numbers, initial, known, how);
  result.configurations += configurations;
  return result;
}

}  // namespace detail

/// Judges a history of objects that each begin as `initial`. The same arguments give the same verdict. Throws
/// `misuse` where the specification does.
template <sequential_specification S>
[[nodiscard]] verdict linearizable(const history& what, const S& initial,
                                   const linearizability_options& how = {}) {
  verdict result;
  std::vector<detail::selection> orders;
  for (const auto& [on, numbers] : detail::parts_of<S>(what)) {
    verdict of_object = detail::judged_with_foresight(what, on, numbers, initial, how);
    of_object.configurations = result.configurations += of_object.configurations;
    if (of_object.is_linearizable == linearizability::no) return of_object;
    if (of_object.is_linearizable == linearizability::unknown)
      result.is_linearizable = linearizability::unknown;
    result.text += of_object.text;
    orders.push_back(std::move(of_object.order));
  }
  if (result.is_linearizable == linearizability::yes)
    result.order = detail::merged(what.operations(), orders);
  return result;
}

namespace detail {

/// A specification with one more operation, which looks at the state after all others: each of these pending
/// operations must wait in it.
template <waiting_specification S>
class at_rest {
 public:
  static constexpr int look = -1;

  at_rest(S initial, std::span<const operation> pending) : state_(std::move(initial)), pending_(pending) {}

  [[nodiscard]] static std::string_view name(int method) { return method == look ? "rest" : S::name(method); }
  [[nodiscard]] bool apply(const operation& what) {
    if (what.method != look) return state_.apply(what);
    return std::all_of(pending_.begin(), pending_.end(),
                       [this](const operation& one) { return state_.must_wait(one); });
  }
  [[nodiscard]] std::size_t hash() const { return state_.hash(); }
  [[nodiscard]] static bool is_observation(const operation& what)
    requires specification_with_observations<S>
  {
    return what.method == look || S::is_observation(what);
  }
  [[nodiscard]] foresight foresee(std::span<const operation> all,
                                  const std::vector<std::size_t>& on_object) const
    requires foreseeing_specification<S>
  {
    std::vector<std::size_t> of_object;
    std::copy_if(on_object.begin(), on_object.end(), std::back_inserter(of_object),
                 [&](std::size_t number) { return all[number].method != look; });
    return state_.foresee(all, of_object);
  }
  [[nodiscard]] friend bool operator==(const at_rest& a, const at_rest& b) { return a.state_ == b.state_; }

 private:
  S state_;
  std::span<const operation> pending_;
};

}  // namespace detail

/// Whether the pending operations of a history of one object may wait for ever: some order of the others,
/// which the specification permits, ends in a state in which each of them must wait. Throws `misuse` for
/// several objects.
template <waiting_specification S>
[[nodiscard]] linearizability may_wait(const history& what, const S& initial,
                                       const linearizability_options& how = {}) {
  history of_others;
  std::vector<operation> pending;
  std::uint64_t end = 0;
  for (const operation& one : what.operations()) {
    if (one.object != what.operations().front().object)
      throw misuse("may_wait judges histories of one object: give it history::of_object");
    end = std::max(end, one.called);
    if (one.is_pending()) {
      pending.push_back(one);
      continue;
    }
    of_others.call(one.process, 0, one.method, one.arguments, one.called);
    of_others.returned(one.process, one.returned->result, one.returned->at);
    end = std::max(end, one.returned->at);
  }
  using rest = detail::at_rest<S>;
  constexpr int observer = -1;
  of_others.call(observer, 0, rest::look, {}, end + 1);
  of_others.returned(observer, {}, end + 2);
  return linearizable(of_others, rest(initial, pending), how).is_linearizable;
}

/// The judge of waits (`program::judge_of_waits`) of programs with one object that begins as `initial`.
template <waiting_specification S>
[[nodiscard]] auto may_wait_by(S initial, linearizability_options how = {}) {
  return [initial = std::move(initial), how](const history& what) -> judgement {
    switch (may_wait(what, initial, how)) {
      case linearizability::yes:
        return {};
      case linearizability::no:
        return std::optional<std::string>("the specification does not permit these waits");
      default:
        return judgement::undecided("whether the operations that wait have to is not known");
    }
  };
}

/// The judge of programs (`program::judge`) whose objects each begin as `initial`: nothing to say of
/// histories that are linearizable, otherwise why not, or why this is not known.
template <sequential_specification S>
[[nodiscard]] auto linearizable_by(S initial, linearizability_options how = {}) {
  return [initial = std::move(initial), how](const history& what) -> judgement {
    verdict result = linearizable(what, initial, how);
    switch (result.is_linearizable) {
      case linearizability::yes:
        return {};
      case linearizability::no:
        return std::optional(std::move(result.text));
      default:
        return judgement::undecided(std::move(result.text));
    }
  };
}

}  // namespace nearfar::checker
