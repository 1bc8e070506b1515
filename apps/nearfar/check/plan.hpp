/// \file
/// Plans as users write them: "push 1, pop | try_pop, push 2".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nearfar/checker/object_plan.hpp"

namespace nearfar::command {

/// The largest key, value or message of a plan.
inline constexpr std::uint64_t most_plan_value = 0xffffffffU;

/// One operation of a kind of objects.
struct plan_word {
  std::string_view name;
  int method = 0;                ///< as the kind's specification numbers it
  std::string_view arguments{};  ///< its arguments, a letter for each: "KV", "V", or nothing
};

/// The operations of a kind: "queue".
struct plan_language {
  std::string_view kind;
  std::span<const plan_word> words;
};

/// Ranks are separated by '|', their operations by ',', and what rank 0 does before all others ends with ';'.
/// A part without operations is a rank that rests. Throws `usage_error` for anything else.
[[nodiscard]] checker::object_plan parse_plan(std::string_view text, const plan_language& of);

/// The text from which `parse_plan` reads that plan.
[[nodiscard]] std::string plan_text(const checker::object_plan& plan, const plan_language& of);

/// "push V, try_push V, pop, try_pop, close".
[[nodiscard]] std::string words_text(const plan_language& of);

}  // namespace nearfar::command
