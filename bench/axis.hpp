/// \file
/// The parameters that a study may vary: axes with their values, and the points that these span.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nearfar::bench {

/// A whole number, a real number, a name, or a flag.
using axis_value = std::variant<std::int64_t, double, std::string, bool>;

/// The shortest text that reads back as the same value: "48", "0.5", "fair".
[[nodiscard]] std::string text_of(const axis_value& of);
[[nodiscard]] nlohmann::ordered_json json_of(const axis_value& of);

/// A choice that a benchmark offers its user, or a parameter of the objects that it drives.
struct axis {
  std::string name;                    ///< words joined by underscores: "lock_count"
  std::string unit{};                  ///< "s", "ns", "B"; empty for a number of things, or a name
  std::string meaning;                 ///< for the help; lines about single values may follow ":\n"
  axis_value standard;                 ///< default; also determines the kind of value
  double least = 0;                    ///< smallest allowed number
  double most = 0;                     ///< largest allowed number
  std::vector<std::string> choices{};  ///< allowed names
  /// Other allowed texts, in words. The function says why a text is none of them; an empty string accepts the
  /// text.
  std::string others{};
  std::string (*refuse_other)(std::string_view text) = nullptr;
  std::optional<axis_value> simulated{};  ///< default in virtual time, if it differs
  std::vector<axis_value> usual{};        ///< the defaults, if there are several
  std::vector<axis_value> all{};          ///< the values of the word "all"; empty: no such word
  std::string alias{};                    ///< another name of the option: "--lengths"
  bool is_single = false;                 ///< takes one value, which may hold commas
  /// Whether the axis says how much effort is spent, such as a duration. Figures of different efforts measure
  /// the same thing.
  bool is_effort = false;

  [[nodiscard]] std::vector<axis_value> defaults(bool is_simulated) const;
  /// Whether its only values are true and false.
  [[nodiscard]] bool is_flag() const noexcept { return std::holds_alternative<bool>(standard); }
  /// "--lock-count"
  [[nodiscard]] std::string option() const;
  /// For a flag: "--no-progress"
  [[nodiscard]] std::string negated_option() const;
  /// The allowed values in words: "a whole number from 1 to 10".
  [[nodiscard]] std::string allowed() const;
  /// The same for a help text, as short as it can be: "1 to 10 ns"; "sleep, retry".
  [[nodiscard]] std::string range() const;
  /// Throws `nearfar::error`, which names the option and what is allowed.
  [[nodiscard]] axis_value parse(std::string_view text) const;
};

void to_json(nlohmann::ordered_json& to, const axis& from);

/// One value for each of some axes.
class point {
 public:
  void set(const std::string& name, axis_value value);
  /// Removes the value of an axis, if there is one.
  void erase(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

  // The value on an axis. Throw `std::logic_error` if the point has no value of that name and type.
  [[nodiscard]] std::int64_t whole(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] const axis_value& at(std::string_view name) const;

  /// The values in the order in which they were set.
  [[nodiscard]] const std::vector<std::pair<std::string, axis_value>>& values() const noexcept {
    return values_;
  }
  bool operator==(const point&) const = default;

 private:
  [[nodiscard]] const axis_value* find(std::string_view name) const;

  std::vector<std::pair<std::string, axis_value>> values_;
};

/// An axis and the values requested on it.
struct values_on_axis {
  const axis* of;
  std::vector<axis_value> values;
};

/// Every combination of values; the last axis varies fastest. Without axes, one empty point.
[[nodiscard]] std::vector<point> points_of(std::span<const values_on_axis> axes);

}  // namespace nearfar::bench
