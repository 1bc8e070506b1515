#include "bench/axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {

namespace {

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [last, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || last != end) return std::nullopt;
  return value;
}

/// Whole numbers may be written 1e6.
std::optional<std::int64_t> whole_in(std::string_view text) {
  if (const auto plain = number_in<std::int64_t>(text)) return plain;
  constexpr double exact = 9007199254740992.0;
  const auto real = number_in<double>(text);
  const bool fits = real && *real >= -exact && *real <= exact;  // not so for NaN
  if (!fits) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(*real);
  return static_cast<double>(whole) == *real ? std::optional(whole) : std::nullopt;
}

/// Readers of C take 010 for 8.
bool has_zeros_in_front(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

}  // namespace

std::string text_of(const axis_value& of) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, of);
}

nlohmann::ordered_json json_of(const axis_value& of) {
  return std::visit([](const auto& value) { return nlohmann::ordered_json(value); }, of);
}

std::string axis::option() const {
  std::string words = name;
  std::replace(words.begin(), words.end(), '_', '-');
  return "--" + words;
}

std::vector<axis_value> axis::defaults(bool is_simulated) const {
  if (!usual.empty()) return usual;
  return {is_simulated ? simulated.value_or(standard) : standard};
}

std::string axis::negated_option() const { return "--no-" + option().substr(2); }

std::string axis::allowed() const {
  const std::string of_what = unit.empty() ? "" : fmt::format(" of {}", unit);
  if (std::holds_alternative<std::int64_t>(standard))
    return fmt::format("a whole number{} from {:.0f} to {:.0f}", of_what, least, most);
  if (std::holds_alternative<double>(standard))
    return fmt::format("a number{} from {} to {}", of_what, least, most);
  if (is_flag()) return fmt::format("{} or {}", true, false);
  return fmt::format("one of {}{}{}", fmt::join(choices, ", "), others.empty() ? "" : ", or ", others);
}

std::string axis::range() const {
  const std::string in_unit = unit.empty() ? "" : " " + unit;
  if (std::holds_alternative<std::int64_t>(standard))
    return fmt::format("{:.0f} to {:.0f}{}", least, most, in_unit);
  if (std::holds_alternative<double>(standard)) return fmt::format("{} to {}{}", least, most, in_unit);
  if (is_flag()) return fmt::format("{} or {}", true, false);
  return fmt::format("{}{}{}", fmt::join(choices, ", "), others.empty() ? "" : ", or ", others);
}

axis_value axis::parse(std::string_view text) const {
  // Written so that NaN is refused too.
  const auto fits = [&](auto value) {
    return static_cast<double>(value) >= least && static_cast<double>(value) <= most;
  };
  if (std::holds_alternative<std::int64_t>(standard)) {
    if (has_zeros_in_front(text))
      throw error(fmt::format("{} must be {}, without zeros in front, not '{}'", option(), allowed(), text));
    if (const auto value = whole_in(text); value && fits(*value)) return *value;
  } else if (std::holds_alternative<double>(standard)) {
    if (const auto value = number_in<double>(text); value && fits(*value)) return *value;
  } else if (is_flag()) {
    for (const bool value : {true, false})
      if (text == text_of(value)) return value;
  } else if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
    return std::string(text);
  } else if (refuse_other != nullptr) {
    const std::string why = refuse_other(text);
    if (why.empty()) return std::string(text);
    throw error(fmt::format("{} must be {}, not '{}': {}", option(), allowed(), text, why));
  }
  throw error(fmt::format("{} must be {}, not '{}'", option(), allowed(), text));
}

void to_json(nlohmann::ordered_json& to, const axis& from) {
  // Lines about single values are for the help.
  to = {{"name", from.name},
        {"unit", from.unit},
        {"meaning", from.meaning.substr(0, from.meaning.find(":\n"))},
        {"effort", from.is_effort}};
}

void point::set(const std::string& name, axis_value value) {
  const auto same =
      std::find_if(values_.begin(), values_.end(), [&](const auto& each) { return each.first == name; });
  if (same != values_.end())
    same->second = std::move(value);
  else
    values_.emplace_back(name, std::move(value));
}

void point::erase(std::string_view name) {
  std::erase_if(values_, [&](const auto& each) { return each.first == name; });
}

const axis_value* point::find(std::string_view name) const {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const auto& each) { return each.first == name; });
  return found == values_.end() ? nullptr : &found->second;
}

const axis_value& point::at(std::string_view name) const {
  if (const axis_value* const found = find(name)) return *found;
  throw std::logic_error(fmt::format("a point without axis '{}'", name));
}

namespace {

template <typename Value>
const Value& value_of(const point& in, std::string_view name) {
  const auto* const value = std::get_if<Value>(&in.at(name));
  if (value == nullptr) throw std::logic_error(fmt::format("axis '{}' has values of another type", name));
  return *value;
}

}  // namespace

std::int64_t point::whole(std::string_view name) const { return value_of<std::int64_t>(*this, name); }
double point::real(std::string_view name) const { return value_of<double>(*this, name); }
bool point::flag(std::string_view name) const { return value_of<bool>(*this, name); }
const std::string& point::text(std::string_view name) const { return value_of<std::string>(*this, name); }

std::vector<point> points_of(std::span<const values_on_axis> axes) {
  std::vector<point> points(1);
  for (const values_on_axis& along : axes) {
    std::vector<point> longer;
    for (const point& shorter : points)
      for (const axis_value& value : along.values) {
        longer.push_back(shorter);
        longer.back().set(along.of->name, value);
      }
    points = std::move(longer);
  }
  return points;
}

}  // namespace nearfar::bench
