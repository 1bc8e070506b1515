#include "apps/nearfar/shared/option_values.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

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

/// CLI11 takes numbers that begin with 0 for octal ones.
bool is_padded(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first + 1 && text[first] == '0';
}

/// Whole numbers as people write them.
template <typename Value>
bool is_whole_number(const std::string& text) {
  return is_number<Value>(text) && !is_padded(text);
}

/// That `text` is no such number.
std::string no_whole_number(const std::string& range, const std::string& text) {
  return fmt::format("must be a whole number{}{}, not '{}'", range,
                     is_padded(text) ? ", without zeros in front" : "", text);
}

std::string nothing_wrong() { return {}; }

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : nothing_wrong();
}

/// `text` is no such number.
template <typename Value>
std::string out_of_range(Value least, Value most, const std::string& text) {
  return no_whole_number(fmt::format(" from {} to {}", least, most), text);
}

std::string refuse_no_unsigned(const std::string& text) {
  if (is_whole_number<std::uint64_t>(text)) return nothing_wrong();
  return out_of_range<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max(), text);
}

std::string refuse_no_integer(const std::string& text) {
  return is_whole_number<std::int64_t>(text) ? nothing_wrong() : no_whole_number("", text);
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

std::string missing_value(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* within = &app;
  const CLI::Option* option = nullptr;  // whose value follows
  const auto needs_value = [&] { return fmt::format("option '{}' needs a value", option->get_name()); };
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const begun = word.starts_with("--") ? within->get_option_no_throw(name) : nullptr;
    if (option != nullptr && begun != nullptr)
      return fmt::format("{}, and '{}' is another option", needs_value(), name);
    const bool is_value = option != nullptr;
    const bool has_value = word.size() > name.size() + 1;
    option = begun != nullptr && !has_value && begun->get_items_expected_min() > 0 ? begun : nullptr;
    if (is_value || begun != nullptr) continue;
    const auto named =
        within->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
    if (!named.empty()) within = named.front();
  }
  return option == nullptr ? nothing_wrong() : needs_value();
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

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  // Without a name, which the help would show beside the option's type.
  return CLI::Validator("").operation([least, most](const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return is_whole_number<std::int64_t>(text) && value >= least && value <= most
               ? nothing_wrong()
               : out_of_range(least, most, text);
  });
}

CLI::Validator number(double least, double most) {
  return CLI::Validator("").operation([least, most](const std::string& text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return is_number<double>(text) && value >= least && value <= most
               ? nothing_wrong()
               : fmt::format("must be a number from {} to {}, not '{}'", least, most, text);
  });
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator("").operation([words = std::move(words)](const std::string& text) {
    return std::ranges::find(words, text) != words.end() ? nothing_wrong()
                                                         : unknown_name("value", text, words);
  });
}

namespace {
std::map<const CLI::Option*, std::vector<std::string>> names_of_options;
}

void complete_with(const CLI::Option* option, std::vector<std::string> names) {
  names_of_options[option] = std::move(names);
}

std::vector<std::string> completed_names(const CLI::Option* option) {
  const auto found = names_of_options.find(option);
  return found == names_of_options.end() ? std::vector<std::string>() : found->second;
}

CLI::Validator directory_name() {
  return CLI::Validator("").operation([](const std::string& text) {
    return text == "-" ? "must be a directory; '-' is standard output, which takes no pages"
                       : nothing_wrong();
  });
}

CLI::Option* add_overwrite_option(CLI::App& command, bench::older_output& older) {
  return command.add_flag("--overwrite", older.is_replaced, "Replace an existing file");
}

void add_older_options(CLI::App& command, CLI::Option* output, bench::older_output& older,
                       const std::string& appends) {
  older.is_extendable = true;
  CLI::Option* const append = command.add_flag("--append", older.is_extended, appends)->needs(output);
  add_overwrite_option(command, older)->excludes(append)->needs(output);
}

void check_threads(int threads, const char* option) {
  if (threads < 1 || threads > most_threads)
    throw usage_error(fmt::format("{} must be 1 to {}, not {}", option, most_threads, threads));
}

}  // namespace nearfar::command
