/// \file
/// The question to the model checker: which lock, within which bounds, under which memory model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// More are neither explored nor drawn.
inline constexpr int most_checked_ranks = 64;
/// Of a queue or channel; searches of larger ones show nothing more.
inline constexpr std::size_t most_capacity = 1024;
inline constexpr int most_early_wakes = 8;

/// Kinds of objects that the command checks. Ranks acquire and release locks of either kind; on other objects
/// they carry out plans.
enum class checked_kind : std::uint8_t { lock, queue, map, channel };
inline constexpr std::array checked_kinds{checked_kind::lock, checked_kind::queue, checked_kind::map,
                                          checked_kind::channel};
/// "queue", and "queues", of which the option --queues is made.
[[nodiscard]] std::string_view name(checked_kind kind) noexcept;
[[nodiscard]] std::string plural(checked_kind kind);

/// One object under one memory model.
struct check_case {
  checked_kind kind = checked_kind::lock;
  std::string object;  ///< its name
  int ranks = 2;
  int nodes = 2;
  int nodes_per_island = 0;  ///< 0: no islands
  int acquisitions = 2;      ///< of each rank
  int readers = 0;  ///< the number of readers, the last ranks; the others write; 0 for an exclusive lock
  int home = 0;
  bool try_first = false;  ///< `try_lock`, and `lock` only if that fails; the same for readers
  /// 1, so that a few ranks reach the limit.
  int max_local_passes = 1;
  // Of queues, maps and channels.
  std::string plan{};        ///< as `plan_text` writes it; the number of ranks follows from it
  std::size_t capacity = 0;  ///< of each rank's part of a queue, or of a channel; 0: the usual one
  checker::delivery_mode mode = checker::delivery_mode::lazy;
  checker::near_model near = checker::near_model::release_acquire;
  checker::conflicts conflict = checker::conflicts::reported;
  checker::promises promised{};
  int crashes = 0;      ///< ranks that may stop for good
  int early_wakes = 0;  ///< of each rank
  checker::search tier = checker::search::exhaustive;
  std::size_t step_limit = 0;  ///< of one schedule; 0 for `usual_step_limit`
  // Of random schedules.
  std::uint64_t seed = 1;
  int depth = checker::options{}.priority_changes;  ///< changes of priority

  [[nodiscard]] friend bool operator==(const check_case&, const check_case&) = default;
};

/// Operations of all ranks.
[[nodiscard]] std::size_t operations_of(const check_case& of);

/// More steps than any correct run takes that was seen, by a factor of ten and more: a cohort lock with RMA
/// counters takes 18 for each acquisition.
[[nodiscard]] std::size_t usual_step_limit(const check_case& of);

template <typename Value, std::size_t Count>
using value_names = std::array<std::pair<Value, std::string_view>, Count>;

inline constexpr value_names<checker::delivery_mode, 3> mode_names{
    {{checker::delivery_mode::eager, "eager"},
     {checker::delivery_mode::lazy, "lazy"},
     {checker::delivery_mode::progress, "progress"}}};
inline constexpr value_names<checker::near_model, 2> near_names{
    {{checker::near_model::sequential, "sequential"},
     {checker::near_model::release_acquire, "release_acquire"}}};
inline constexpr value_names<checker::conflicts, 2> conflict_names{
    {{checker::conflicts::reported, "report"}, {checker::conflicts::enacted, "enact"}}};
inline constexpr value_names<bool checker::promises::*, 4> promise_names{
    {{&checker::promises::racing_gets, "racing_gets"},
     {&checker::promises::racing_loads, "racing_loads"},
     {&checker::promises::mixed_accumulates, "mixed_accumulates"},
     {&checker::promises::causal_messages, "causal_messages"}}};
inline constexpr value_names<checker::search, 3> tier_names{{{checker::search::exhaustive, "exhaustive"},
                                                             {checker::search::hash, "hash"},
                                                             {checker::search::random, "random"}}};

template <typename Value, std::size_t Count>
[[nodiscard]] std::string_view name_in(const value_names<Value, Count>& names, Value value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return "?";
}

/// Nothing if there is no such name.
template <typename Value, std::size_t Count>
[[nodiscard]] std::optional<Value> value_in(const value_names<Value, Count>& names, std::string_view name) {
  for (const auto& [value, known] : names)
    if (known == name) return value;
  return std::nullopt;
}

/// "racing_gets,racing_loads", or "none".
[[nodiscard]] std::string promises_text(const checker::promises& of);

/// Reads the text of `promises_text`, or "all"; nothing if a name is unknown.
[[nodiscard]] std::optional<checker::promises> parse_promises(std::string_view text);

/// Why it cannot be checked; empty if it can.
[[nodiscard]] std::string obstacle(const check_case& of);

/// Of a reader-writer lock: half of the ranks, but one at least.
[[nodiscard]] int usual_readers(int ranks);

/// ", 1 of them a reader"; nothing if all write or exclude one another.
[[nodiscard]] std::string readers_text(const check_case& of);

/// ", 1 rank may crash", ", each rank may have 1 spurious wake-up"; nothing if none may.
[[nodiscard]] std::string liberties_text(const check_case& of);

/// The ranks in order, evenly over the nodes and two NUMA domains of each: three on two nodes are 0 and 1,
/// and 2. The nodes in order, in islands if there are any: three with two in an island are 0 and 1, and 2.
/// Throws `nearfar::error` where `obstacle` has something to say.
[[nodiscard]] locality locality_of(const check_case& of);

/// How to check it, without limits.
[[nodiscard]] checker::options options_of(const check_case& of);

/// The options of `nearfar check` that ask for it.
[[nodiscard]] std::string arguments_of(const check_case& of);

/// "3 ranks on 2 nodes, 1 of them a reader, 2 acquisitions each", and whether by try_lock; or "2 ranks on 2
/// nodes, plan 'push 1 | pop'".
[[nodiscard]] std::string shape_text(const check_case& of);

}  // namespace nearfar::command
