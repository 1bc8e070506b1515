/// \file
/// Schedules of the model checker for people and for files.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/check/case.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// Version of the format of schedule files; a reader refuses any other.
inline constexpr const char* schedule_schema = "nearfar.schedule/2";

/// A violation with all that is needed to see it again.
struct recorded_schedule {
  check_case of;
  checker::violation found;
  /// Steps that a file promises and lacks, since somebody has removed them.
  std::size_t missing = 0;

  [[nodiscard]] friend bool operator==(const recorded_schedule& a, const recorded_schedule& b) {
    return a.of == b.of && a.found.what == b.found.what && a.found.text == b.found.text &&
           a.found.schedule == b.found.schedule;
  }
};

/// The kind of a fault, in a sentence for users who have not read the documentation.
[[nodiscard]] std::string_view meaning(checker::fault what) noexcept;

/// The steps, then what went wrong.
[[nodiscard]] std::string violation_text(const check_case& of, const checker::replayed& shown);

/// A schedule file: one member of the object, and one step, a line. `shown` is for readers of the file only.
[[nodiscard]] std::string to_text(const recorded_schedule& schedule,
                                  const std::vector<checker::shown_step>& shown);

/// The schedule in the text of a file. Throws `nearfar::error` with the name of the file for anything else,
/// and for another version.
[[nodiscard]] recorded_schedule parse_schedule(const std::string& text, const std::string& file);

/// The same from a file that may not be readable.
[[nodiscard]] recorded_schedule read_schedule(const std::string& file);

/// `[rank, delivery, choice]` of each step.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<checker::step>& schedule);
/// The members of a case that decide what happens.
[[nodiscard]] nlohmann::ordered_json to_json(const check_case& of);

}  // namespace nearfar::command
