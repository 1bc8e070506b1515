/// \file
/// Sequential specifications: the effects of an object's operations that come one after another. A history is
/// linearizable if its operations can be ordered so that the specification permits each.
///
/// A specification is a class with the state of one object: copied, compared and hashed by the search, which
/// asks it to `apply` one operation after another. State and arguments must determine the result and the next
/// state, so that an operation that is pending, whose result nobody knows, has one effect:
///
///     class flag_specification {
///      public:
///       enum method : int { raise, is_raised };
///       [[nodiscard]] static std::string_view name(int method) {
///         return method == raise ? "raise" : "is_raised";
///       }
///       [[nodiscard]] bool apply(const operation& what) {
///         if (what.method == is_raised) return what.may_return({raised_ ? 1U : 0U});
///         if (!what.may_return({})) return false;
///         raised_ = true;
///         return true;
///       }
///       [[nodiscard]] std::size_t hash() const { return raised_ ? 1 : 0; }
///       [[nodiscard]] friend bool operator==(const flag_specification&, const flag_specification&) =
///       default;
///
///      private:
///       bool raised_ = false;
///     };
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nearfar/checker/history.hpp"

namespace nearfar::checker {

/// `apply` says whether the operation may come next, with these arguments and, unless it is pending, with
/// this result; then it changes the state, and otherwise leaves it as it was. Throws `misuse` for methods and
/// arguments that the object does not have.
template <typename S>
concept sequential_specification = std::copyable<S> && std::equality_comparable<S> &&
                                   requires(S state, const S& seen, const operation& what, int method) {
                                     { state.apply(what) } -> std::same_as<bool>;
                                     { seen.hash() } -> std::convertible_to<std::size_t>;
                                     { S::name(method) } -> std::convertible_to<std::string_view>;
                                   };

/// A specification of objects whose parts are objects themselves, as the keys of a map are: `part` says which
/// of them an operation is on. Operations on different parts must not depend on each other.
template <typename S>
concept partitioned_specification = sequential_specification<S> && requires(const operation& what) {
  { S::part(what) } -> std::convertible_to<std::uint64_t>;
};

/// A specification of objects some of whose operations wait: `must_wait` says whether the operation, which is
/// pending, can take no effect in this state.
template <typename S>
concept waiting_specification =
    sequential_specification<S> && requires(const S& seen, const operation& what) {
      { seen.must_wait(what) } -> std::same_as<bool>;
    };

/// A specification that knows which operations only observe, such as a pop that found nothing. The search
/// takes such an operation as soon as the state permits it, and tries no other order. `is_observation` gets a
/// completed operation with its result. The answer is yes if the operation changes no state that permits it.
///
/// A derived class inherits `is_observation`. If the class changes what an operation does, it must define the
/// function anew, or hold the specification as a member instead.
template <typename S>
concept specification_with_observations = sequential_specification<S> && requires(const operation& what) {
  { S::is_observation(what) } -> std::same_as<bool>;
};

/// A specification whose state people can read, in what is said of histories that are not linearizable.
template <typename S>
concept printable_specification = sequential_specification<S> && requires(const S& seen) {
  { seen.text() } -> std::convertible_to<std::string>;
};

/// A specification whose results have names, such as "full".
template <typename S>
concept specification_with_named_results =
    sequential_specification<S> && requires(int method, const value_list& result) {
      { S::result_text(method, result) } -> std::same_as<std::string>;
    };

/// How people read its operations.
template <sequential_specification S>
[[nodiscard]] operation_names names_of() {
  if constexpr (specification_with_named_results<S>) return {S::name, S::result_text};
  return S::name;
}

/// Facts that follow from all operations on an object before they are ordered. Operations are named by their
/// number in the history.
struct foresight {
  /// From one stamp to another, both included.
  struct interval {
    std::uint64_t first = 0;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  };

  /// Of two operations that are in here, one has to come before the other if its interval ends before the
  /// other's begins. As pushes onto a queue must come in the order in which their values are popped.
  std::unordered_map<std::size_t, interval> order;
  /// Sets of a few operations that are linearizable by themselves if all are, but may well not be. They are
  /// judged first, because what they show is quickly found and easy to read.
  std::vector<std::vector<std::size_t>> suspects;
};

/// A specification whose initial state foresees something. The search finds the same without, but often not
/// in any reasonable time.
template <typename S>
concept foreseeing_specification =
    sequential_specification<S> &&
    requires(const S& initial, std::span<const operation> all, const std::vector<std::size_t>& on_object) {
      { initial.foresee(all, on_object) } -> std::same_as<foresight>;
    };

/// For the states of specifications; `before`: the hash of what comes before these.
[[nodiscard]] std::size_t hash_of(std::span<const std::uint64_t> words, std::size_t before = 0);

/// `read()` returns the value, `write(value)` nothing. As in MPI, `compare_and_swap(expected, value)` returns
/// the old value and stores `value` if the old one was `expected`.
class register_specification {
 public:
  enum method : int { read, write, compare_and_swap };

  explicit register_specification(std::uint64_t initial = 0) : value_(initial) {}

  [[nodiscard]] static std::string_view name(int method) noexcept;
  [[nodiscard]] static bool is_observation(const operation& what);
  [[nodiscard]] bool apply(const operation& what);
  [[nodiscard]] std::size_t hash() const { return hash_of({&value_, 1}); }
  [[nodiscard]] std::string text() const { return value_list{value_}.text(); }
  [[nodiscard]] friend bool operator==(const register_specification&,
                                       const register_specification&) = default;

 private:
  std::uint64_t value_;
};

/// `add(number)` returns nothing, `read()` the sum, modulo 2^64.
class counter_specification {
 public:
  enum method : int { add, read };

  explicit counter_specification(std::uint64_t initial = 0) : sum_(initial) {}

  [[nodiscard]] static std::string_view name(int method) noexcept;
  [[nodiscard]] static bool is_observation(const operation& what) noexcept { return what.method == read; }
  [[nodiscard]] bool apply(const operation& what);
  [[nodiscard]] std::size_t hash() const { return hash_of({&sum_, 1}); }
  [[nodiscard]] std::string text() const { return value_list{sum_}.text(); }
  [[nodiscard]] friend bool operator==(const counter_specification&, const counter_specification&) = default;

 private:
  std::uint64_t sum_;
};

/// Which element a pop takes.
enum class removal : std::uint8_t { first_in, last_in };

/// `push(value)` returns `done`, or `full` and changes nothing; `pop()` returns the value it takes, or
/// nothing if there is none.
template <removal Order>
class buffer_specification {
 public:
  enum method : int { push, pop };
  static constexpr std::uint64_t full = 0;
  static constexpr std::uint64_t done = 1;
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  explicit buffer_specification(std::size_t capacity = unbounded) : capacity_(capacity) {}

  [[nodiscard]] static std::string_view name(int method) noexcept;
  [[nodiscard]] static bool is_observation(const operation& what) noexcept;
  [[nodiscard]] bool apply(const operation& what);
  [[nodiscard]] std::size_t hash() const { return hash_of(elements()); }
  /// Foresees the order of pushes from that of pops. Also finds values that took an impossible way: lost,
  /// overtaken, popped twice or never pushed, or there when a pop said that none was. Sees only values that
  /// are pushed once, so tests should push different values. Source: T. Henzinger, A. Sezgin, V. Vafeiadis,
  /// "Aspect-oriented linearizability proofs", CONCUR 2013.
  [[nodiscard]] foresight foresee(std::span<const operation> all,
                                  const std::vector<std::size_t>& on_object) const
    requires(Order == removal::first_in);
  /// From the oldest element to the newest.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] friend bool operator==(const buffer_specification& a, const buffer_specification& b) {
    return a.capacity_ == b.capacity_ && a.has_equal_elements(b);
  }

 private:
  [[nodiscard]] std::span<const std::uint64_t> elements() const {
    return std::span(elements_).subspan(taken_);
  }
  [[nodiscard]] bool has_equal_elements(const buffer_specification& other) const;
  [[nodiscard]] bool apply_push(const operation& what);
  [[nodiscard]] bool apply_pop(const operation& what);

  std::vector<std::uint64_t> elements_;
  std::size_t taken_ = 0;  ///< from the front of the vector, so that a pop need not move the others
  std::size_t capacity_;
};

using queue_specification = buffer_specification<removal::first_in>;
using stack_specification = buffer_specification<removal::last_in>;

/// `insert(key, value)` succeeds if the key is new, `update(key, value)` if it exists; both return whether
/// they succeeded. `erase(key)` returns whether the key existed, `find(key)` its value or nothing.
class map_specification {
 public:
  enum method : int { insert, find, erase, update };
  static constexpr std::uint64_t refused = 0;
  static constexpr std::uint64_t done = 1;

  [[nodiscard]] static std::string_view name(int method) noexcept;
  [[nodiscard]] static std::string result_text(int method, const value_list& result);
  [[nodiscard]] static bool is_observation(const operation& what) noexcept;
  /// The key: each is an object of its own.
  [[nodiscard]] static std::uint64_t part(const operation& what) { return what.argument(0); }
  [[nodiscard]] bool apply(const operation& what);
  [[nodiscard]] std::size_t hash() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] friend bool operator==(const map_specification&, const map_specification&) = default;

 private:
  std::map<std::uint64_t, std::uint64_t> values_;
};

}  // namespace nearfar::checker
