#include "apps/nearfar/check/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

constexpr std::string_view blanks = " \t\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The parts between separators, trimmed; of nothing one part, which is empty.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    words.push_back(text.substr(0, text.find_first_of(blanks)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::string signature(const plan_word& of) {
  std::string text(of.name);
  for (const char argument : of.arguments) text += fmt::format(" {}", argument);
  return text;
}

const plan_word& find_word(std::string_view name, const plan_language& of) {
  const auto found =
      std::find_if(of.words.begin(), of.words.end(), [&](const plan_word& one) { return one.name == name; });
  if (found != of.words.end()) return *found;
  std::vector<std::string> known;
  for (const plan_word& one : of.words) known.emplace_back(one.name);
  throw usage_error(fmt::format(
      "--plan: {}", unknown_name(fmt::format("{} operation", of.kind), name, known,
                                 fmt::format("operations of a {}: {}", of.kind, words_text(of)))));
}

std::uint64_t parse_value(std::string_view text, std::string_view operation) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = problem != std::errc::invalid_argument && end == text.data() + text.size();
  if (is_number && problem == std::errc() && value <= most_plan_value) return value;
  throw usage_error(
      fmt::format("--plan: '{}' takes whole numbers of 0 to {}, not '{}'", operation, most_plan_value, text));
}

checker::value_list arguments_of(const std::vector<std::string_view>& words, const plan_word& of) {
  if (words.size() - 1 != of.arguments.size())
    throw usage_error(fmt::format("--plan: '{}' is not '{}'", fmt::join(words, " "), signature(of)));
  if (of.arguments.empty()) return {};
  const std::uint64_t first = parse_value(words[1], of.name);
  if (of.arguments.size() == 1) return {first};
  return {first, parse_value(words[2], of.name)};
}

std::vector<checker::planned_operation> parse_part(std::string_view text, std::string_view whose,
                                                   const plan_language& of) {
  std::vector<checker::planned_operation> part;
  if (text.empty()) return part;
  for (const std::string_view one : split(text, ',')) {
    const std::vector<std::string_view> words = words_in(one);
    if (words.empty())
      throw usage_error(fmt::format("--plan: an operation of {} is empty: '{}'", whose, text));
    const plan_word& word = find_word(words.front(), of);
    part.push_back({word.method, arguments_of(words, word)});
  }
  return part;
}

std::string operation_text(const checker::planned_operation& one, const plan_language& of) {
  const auto word = std::find_if(of.words.begin(), of.words.end(),
                                 [&](const plan_word& known) { return known.method == one.method; });
  std::string text(word == of.words.end() ? "?" : word->name);
  for (const std::uint64_t value : one.arguments) text += fmt::format(" {}", value);
  return text;
}

std::string part_text(const std::vector<checker::planned_operation>& part, const plan_language& of) {
  std::vector<std::string> texts;
  for (const checker::planned_operation& one : part) texts.push_back(operation_text(one, of));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

checker::object_plan parse_plan(std::string_view text, const plan_language& of) {
  checker::object_plan plan;
  if (const std::size_t end = text.find(';'); end != std::string_view::npos) {
    const std::string_view before = trimmed(text.substr(0, end));
    if (before.find('|') != std::string_view::npos)
      throw usage_error(
          fmt::format("--plan: only rank 0 has operations before ';': leave out '|' in '{}'", before));
    plan.before = parse_part(before, "the part before ';'", of);
    text.remove_prefix(end + 1);
  }
  if (text.find(';') != std::string_view::npos)
    throw usage_error("--plan: one ';' at most, after the operations that rank 0 does before all others");
  for (const std::string_view part : split(text, '|'))
    plan.of_ranks.push_back(parse_part(part, fmt::format("rank {}", plan.ranks()), of));
  if (plan.ranks() > most_checked_ranks)
    throw usage_error(fmt::format("--plan: {} ranks at most, not {}", most_checked_ranks, plan.ranks()));
  return plan;
}

std::string plan_text(const checker::object_plan& plan, const plan_language& of) {
  std::vector<std::string> parts;
  for (const auto& part : plan.of_ranks) parts.push_back(part_text(part, of));
  const std::string before = plan.before.empty() ? "" : part_text(plan.before, of) + "; ";
  return before + fmt::format("{}", fmt::join(parts, " | "));
}

std::string words_text(const plan_language& of) {
  std::vector<std::string> texts;
  for (const plan_word& one : of.words) texts.push_back(signature(one));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace nearfar::command
