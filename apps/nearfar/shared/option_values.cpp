#include "apps/nearfar/shared/option_values.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

/// Whether all of `text` is a number that `Value` can hold.
template <typename Value>
bool is_number(const std::string& text) {
  Value value{};
  const char* const end = text.data() + text.size();
  const auto [last, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && last == end;
}

/// Whole numbers as people write them: CLI11 takes those that begin with 0 for octal ones.
template <typename Value>
bool is_whole_number(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const bool is_padded = text.size() > first + 1 && text[first] == '0';
  return is_number<Value>(text) && !is_padded;
}

std::string nothing_wrong() { return {}; }

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : nothing_wrong();
}

std::string refuse_no_unsigned(const std::string& text) {
  if (is_whole_number<std::uint64_t>(text)) return nothing_wrong();
  return fmt::format("must be a whole number from 0 to {}, without zeros in front, not '{}'",
                     std::numeric_limits<std::uint64_t>::max(), text);
}

std::string refuse_no_integer(const std::string& text) {
  return is_whole_number<std::int64_t>(text)
             ? nothing_wrong()
             : fmt::format("must be a whole number, without zeros in front, not '{}'", text);
}

std::string refuse_no_number(const std::string& text) {
  return is_number<double>(text) ? nothing_wrong() : fmt::format("must be a number, not '{}'", text);
}

}  // namespace

void refuse_careless_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const bool takes_value = option->get_expected_max() > 0 && option->get_type_size_max() > 0;
    if (!takes_value) continue;
    const std::string type = option->get_type_name();
    if (type.rfind("UINT", 0) == 0)
      option->check(refuse_no_unsigned);
    else if (type.rfind("INT", 0) == 0)
      option->check(refuse_no_integer);
    else if (type.rfind("FLOAT", 0) == 0)
      option->check(refuse_no_number);
    else
      option->check(refuse_empty);
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_careless_values(*command);
}

std::string empty_item(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* within = &app;
  const CLI::Option* option = nullptr;  // whose values follow
  for (const std::string& word : words) {
    std::string values = word;
    if (word.starts_with("--")) {
      const std::size_t end = std::min(word.find('='), word.size());
      option = within->get_option_no_throw(word.substr(0, end));
      values.erase(0, end + 1);
    } else if (const auto named =
                   within->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
               !named.empty()) {
      within = named.front();
    }
    if (option == nullptr || option->get_delimiter() != ',' || values.empty()) continue;
    if (values.front() == ',' || values.back() == ',' || values.find(",,") != std::string::npos)
      return fmt::format("{} {}: an item of the list is empty; separate items by one comma and no blank",
                         option->get_name(), values);
  }
  return nothing_wrong();
}

CLI::Validator at_least_one() {
  CLI::Validator result("at least 1");
  return result.operation([](const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return is_whole_number<std::int64_t>(text) && value >= 1
               ? std::string()
               : fmt::format("must be a whole number of 1 or more, not '{}'", text);
  });
}

void check_threads(int threads, const char* option) {
  if (threads < 1 || threads > most_threads)
    throw usage_error(fmt::format("{} must be 1 to {}, not {}", option, most_threads, threads));
}

}  // namespace nearfar::command
