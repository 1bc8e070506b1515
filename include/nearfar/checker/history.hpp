/// \file
/// Histories: which process called which operation of which shared object, with which arguments and result,
/// and the times of call and return. They are recorded in the model checker or in stress runs and judged by
/// `linearizable`.
///
/// An operation precedes another if it returned before the other was called, by stamps that are strictly
/// less. Clocks have finite resolution, so equal stamps say nothing: two operations that touch only at one
/// stamp count as overlapping, even two of the same process. If the order of each process is to count in any
/// case, give stamps that differ, such as the event numbers that a history gives by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfar/language.hpp"

namespace nearfar::checker {

/// A few 64-bit words with no memory of their own: the arguments of an operation, or its result. An empty one
/// is "nothing", as a write returns, or a pop from an empty queue.
class value_list {
 public:
  static constexpr std::size_t most = 4;

  value_list() = default;
  /// Throws `misuse` if there are more than `most`.
  value_list(std::initializer_list<std::uint64_t> values);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint64_t operator[](std::size_t place) const { return words_[place]; }
  [[nodiscard]] const std::uint64_t* begin() const noexcept { return words_.data(); }
  [[nodiscard]] const std::uint64_t* end() const noexcept { return words_.data() + size_; }
  /// As signed numbers, since a word near 2^64 is nearly always a negative one: "1, -1".
  [[nodiscard]] std::string text() const;
  [[nodiscard]] friend bool operator==(const value_list&, const value_list&) = default;

 private:
  std::array<std::uint64_t, most> words_{};
  std::size_t size_ = 0;
};

/// The result of an operation, and when it came back.
struct response {
  value_list result;
  std::uint64_t at = 0;

  [[nodiscard]] friend bool operator==(const response&, const response&) = default;
};

/// One operation on a shared object, from its call to its return.
struct operation {
  int process = 0;
  std::uint64_t object = 0;
  /// Which of the object's operations, as its specification numbers them.
  int method = 0;
  value_list arguments{};
  std::uint64_t called = 0;
  /// None while it is pending: it may have taken effect or not, and may yet do so at any later time.
  std::optional<response> returned{};

  [[nodiscard]] bool is_pending() const noexcept { return !returned; }
  [[nodiscard]] bool precedes(const operation& other) const noexcept {
    return returned && returned->at < other.called;
  }
  /// For specifications. Throws `misuse` if there is no such argument.
  [[nodiscard]] std::uint64_t argument(std::size_t place) const;
  /// For specifications: whether this is what came back, which is not known of a pending operation.
  [[nodiscard]] bool may_return(const value_list& result) const {
    return !returned || returned->result == result;
  }

  [[nodiscard]] friend bool operator==(const operation&, const operation&) = default;
};

/// The name of an operation of an object, for people.
using method_namer = std::string_view (*)(int method);

/// The text of a result, for people.
using result_namer = std::string (*)(int method, const value_list& result);

/// How people read the operations of an object.
struct operation_names {
  // NOLINTNEXTLINE(google-explicit-constructor): results are numbers unless more is said
  operation_names(method_namer of_methods, result_namer of_results = nullptr)
      : method(of_methods), result(of_results) {}

  /// "push(1)".
  [[nodiscard]] std::string text(int which, const value_list& arguments) const;
  /// "nothing", numbers, or what `result` says of them.
  [[nodiscard]] std::string text_of_result(int which, const value_list& returned) const;

  method_namer method;
  result_namer result;
};

/// One line for each of the chosen operations, aligned: its number, process, object, interval, arguments and
/// result.
[[nodiscard]] std::string text_of(std::span<const operation> operations, std::span<const std::size_t> chosen,
                                  operation_names names);

/// The operations of some processes on some shared objects. Not to be shared by threads: each records its
/// own, and `append` merges them.
class history {
 public:
  /// The process calls an operation. The number of the event is its stamp, one more than the greatest before.
  /// Throws `misuse` if an earlier operation of the process has not returned.
  void call(int process, std::uint64_t object, int method, value_list arguments);
  /// The same with a stamp of the caller's. Throws `misuse` also if the process has a later one already.
  void call(int process, std::uint64_t object, int method, value_list arguments, std::uint64_t at);
  /// The operation that the process called last returns. Throws `misuse` if it has returned already, or by a
  /// stamp before its call.
  void returned(int process, value_list result);
  void returned(int process, value_list result, std::uint64_t at);

  /// Adds another's operations, by stamps of the same clock; those that are pending there can return here. If
  /// a process is in both histories, its operations there must be later. Otherwise throws `misuse` and adds
  /// nothing.
  void append(const history& other);
  /// The operations on one object, renumbered: for objects of different kinds, each of which is judged by
  /// its own specification.
  [[nodiscard]] history of_object(std::uint64_t object) const;

  /// Whether the process has called an operation that has not returned.
  [[nodiscard]] bool has_pending(int process) const;
  /// The operation that the process called last. Throws `misuse` if it has called nothing.
  [[nodiscard]] const operation& last_of(int process) const;
  /// In the order in which the calls were recorded; an operation's place here is its number.
  [[nodiscard]] std::span<const operation> operations() const noexcept { return operations_; }
  [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }
  /// All of them in order of call, as `text_of` shows them.
  [[nodiscard]] std::string text(operation_names names) const;
  [[nodiscard]] friend bool operator==(const history&, const history&) = default;

 private:
  /// The stamps and the last operation of a process.
  struct activity {
    std::uint64_t first_stamp = 0;
    std::uint64_t last_stamp = 0;
    std::size_t last_operation = 0;

    [[nodiscard]] friend bool operator==(const activity&, const activity&) = default;
  };

  [[nodiscard]] bool is_inside(const activity& of) const {
    return operations_[of.last_operation].is_pending();
  }

  std::vector<operation> operations_;
  std::map<int, activity> processes_;
  std::uint64_t last_stamp_ = 0;
};

}  // namespace nearfar::checker
