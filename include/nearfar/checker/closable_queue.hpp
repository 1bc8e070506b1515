/// \file
/// The sequential specification of nearfar's queues and channels, whose operations fail at once or wait, and
/// which can be closed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nearfar/checker/history.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::checker {

/// A FIFO queue that can be closed. Every push and pop returns a `queue_status`, and a pop that succeeds also
/// the value; `close` and `reopen` return whether they changed anything, or nothing. `push` and `pop` wait:
/// no order is allowed in which they would return `full` or `empty`.
class closable_queue {
 public:
  enum method : int { try_push, push, try_pop, pop, close, reopen };
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  /// Whether only a queue that is full says so, or any may.
  enum class fullness : std::uint8_t { exact, said_early };

  /// `waits_from`: the values in the queue from which on a push may wait; by default as many as fit.
  explicit closable_queue(std::size_t capacity = unbounded, fullness full = fullness::exact)
      : closable_queue(capacity, full, capacity) {}
  closable_queue(std::size_t capacity, fullness full, std::size_t waits_from)
      : capacity_(capacity), waits_from_(waits_from), full_(full) {}

  [[nodiscard]] static std::string_view name(int method) noexcept {
    constexpr std::array<std::string_view, 6> names{"try_push", "push", "try_pop", "pop", "close", "reopen"};
    return names.at(static_cast<std::size_t>(method));
  }
  [[nodiscard]] static value_list result_of(queue_status status) {
    return {static_cast<std::uint64_t>(status)};
  }
  [[nodiscard]] static value_list result_of_pop(std::uint64_t value) {
    return {static_cast<std::uint64_t>(queue_status::success), value};
  }
  [[nodiscard]] static bool brings_value(const value_list& result) noexcept { return result.size() == 2; }
  /// A push or pop that did not succeed changed nothing.
  [[nodiscard]] static bool is_observation(const operation& what) {
    if (!what.returned || what.method == close || what.method == reopen) return false;
    return !brings_value(what.returned->result) && what.returned->result != result_of(queue_status::success);
  }
  /// "full", "success", or the value.
  [[nodiscard]] static std::string result_text(int /*method*/, const value_list& result) {
    constexpr std::array<std::string_view, 5> statuses{"success", "empty", "full", "closed", "timed out"};
    if (result.empty()) return "nothing";
    return brings_value(result) ? value_list{result[1]}.text() : std::string(statuses.at(result[0]));
  }

  [[nodiscard]] bool apply(const operation& what) {
    switch (what.method) {
      case try_push:
      case push:
        return apply_push(what);
      case try_pop:
      case pop:
        return apply_pop(what);
      default:
        return apply_change(what);
    }
  }
  [[nodiscard]] bool must_wait(const operation& what) const {
    if (is_closed_) return false;
    return what.method == pop ? values_.empty() : what.method == push && values_.size() >= waits_from_;
  }
  /// Values pushed once must be pushed in the order of their pops, and those never popped after all of them.
  /// Without this, ten pushes that overlap have more orders than the search tries.
  [[nodiscard]] foresight foresee(std::span<const operation> all,
                                  const std::vector<std::size_t>& on_object) const {
    constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    foresight result;
    if (!values_.empty()) return result;  // these could be popped, too
    std::unordered_map<std::uint64_t, passage> passages;
    std::uint64_t first_pending_pop = never;
    for (const std::size_t number : on_object) {
      const operation& one = all[number];
      const bool pushes = one.method == push || one.method == try_push;
      if (pushes && one.may_return(result_of(queue_status::success)))
        passages[one.argument(0)].pushes.push_back(number);
      else if (one.method != pop && one.method != try_pop)
        continue;
      else if (one.is_pending())
        first_pending_pop = std::min(first_pending_pop, one.called);
      else if (brings_value(one.returned->result))
        passages[one.returned->result[1]].pops.push_back({.first = one.called, .last = one.returned->at});
    }
    for (const auto& [value, way] : passages) {
      if (way.pushes.size() != 1 || way.pops.size() > 1) continue;
      result.order[way.pushes.front()] = way.pops.empty()
                                             ? foresight::interval{.first = first_pending_pop, .last = never}
                                             : way.pops.front();
    }
    return result;
  }
  [[nodiscard]] std::size_t hash() const { return hash_of(values_, is_closed_ ? 1 : 0); }
  [[nodiscard]] std::string text() const {
    std::string result = is_closed_ ? "closed:" : "open:";
    for (const std::uint64_t value : values_) result += " " + value_list{value}.text();
    return result + (values_.empty() ? " empty" : "");
  }
  [[nodiscard]] friend bool operator==(const closable_queue&, const closable_queue&) = default;

 private:
  struct passage {
    std::vector<std::size_t> pushes;
    std::vector<foresight::interval> pops;
  };

  [[nodiscard]] bool apply_push(const operation& what) {
    const bool may_say_full = values_.size() >= capacity_ || full_ == fullness::said_early;
    if (what.method == try_push && what.returned && what.returned->result == result_of(queue_status::full))
      return may_say_full && !is_closed_;
    if (!is_closed_ && values_.size() >= capacity_) return false;
    if (!what.may_return(result_of(is_closed_ ? queue_status::closed : queue_status::success))) return false;
    if (!is_closed_) values_.push_back(what.argument(0));
    return true;
  }
  [[nodiscard]] bool apply_pop(const operation& what) {
    if (values_.empty()) {
      if (what.method == pop && !is_closed_) return false;
      return what.may_return(result_of(is_closed_ ? queue_status::closed : queue_status::empty));
    }
    if (!what.may_return(result_of_pop(values_.front()))) return false;
    values_.erase(values_.begin());
    return true;
  }
  [[nodiscard]] bool apply_change(const operation& what) {
    const bool changes = is_closed_ != (what.method == close);
    if (!what.may_return({}) && !what.may_return({changes ? std::uint64_t{1} : 0})) return false;
    is_closed_ = what.method == close;
    return true;
  }

  std::vector<std::uint64_t> values_;
  std::size_t capacity_;
  std::size_t waits_from_;
  fullness full_;
  bool is_closed_ = false;
};

}  // namespace nearfar::checker
