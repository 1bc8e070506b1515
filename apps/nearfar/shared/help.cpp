#include "apps/nearfar/shared/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "bench/object.hpp"

namespace nearfar::command {

namespace {

std::size_t terminal_width() {
  constexpr std::size_t least = 40;
  constexpr std::size_t without_terminal = 100;
  std::size_t columns = 0;
  if (const char* const told = std::getenv("COLUMNS"))
    std::from_chars(told, told + std::char_traits<char>::length(told), columns);
  winsize size{};
  const bool is_terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;  // NOLINT(*-vararg)
  if (columns == 0 && is_terminal) columns = size.ws_col;
  return columns == 0 ? without_terminal : std::max(columns, least);
}

/// Where the second column of an indented line of two begins, 0 of any other line.
std::size_t second_column(std::string_view line) {
  const std::size_t name = line.find_first_not_of(' ');
  if (name == 0 || name == std::string_view::npos) return 0;
  const std::size_t gap = line.find("  ", name);
  return gap == std::string_view::npos ? name + 2 : std::min(line.find_first_not_of(' ', gap), line.size());
}

/// Appends a line of words from column `begin` on, what does not fit below it from column `begin_of_rest` on.
void append_line(std::string& to, std::string_view line, std::size_t begin, std::size_t begin_of_rest,
                 std::size_t width) {
  std::size_t column = begin;
  while (!line.empty()) {
    const std::size_t word = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    if (column == begin || column + end <= width) {
      to += line.substr(0, end);
      column += end;
      line.remove_prefix(end);
    } else {
      to.append("\n").append(begin_of_rest, ' ');
      column = begin = begin_of_rest;
      line.remove_prefix(word);
    }
  }
}

/// Options and subcommands with their descriptions in a column of their own.
class formatter final : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }

  [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }

  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) text += " " + type_of(*option);
    if (option->get_required()) text += " (required)";
    return text;
  }

  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_type_size() == 0 || option->get_default_str().empty()) return text;
    // Before the list of names that may follow.
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool has_list = text.substr(0, end).ends_with(':');
    const std::string standard = fmt::format(" (default: {})", default_of(*option));
    return text.insert(has_list ? end - 1 : end, standard);
  }

  [[nodiscard]] std::string make_description(const CLI::App* app) const override {
    return wrapped(Formatter::make_description(app), 0, width());
  }

  [[nodiscard]] std::string make_footer(const CLI::App* app) const override {
    return wrapped(Formatter::make_footer(app), 0, width());
  }

  [[nodiscard]] std::string make_expanded(const CLI::App* app) const override {
    depth_ += 1;
    std::string text = Formatter::make_expanded(app);
    depth_ -= 1;
    return text;
  }

 private:
  /// The width that the indentation of subcommands within --help-all leaves.
  [[nodiscard]] std::size_t width() const { return width_ - std::min(width_ / 2, 2 * depth_); }

  [[nodiscard]] std::string entry(const std::string& name, const std::string& description) const {
    constexpr std::size_t widest_names = 30;
    const std::size_t column = std::min(widest_names, width() / 3);
    std::string text = "  " + name;
    const bool has_room = text.size() + 2 <= column;
    text += has_room ? std::string(column - text.size(), ' ') : "\n" + std::string(column, ' ');
    return text + wrapped(description, column, width()) + "\n";
  }

  [[nodiscard]] static std::string type_of(const CLI::Option& option) {
    const bool is_list = option.get_expected_max() == CLI::detail::expected_max_vector_size;
    if (!is_list) return option.get_type_name();
    return option.get_type_name() + (option.get_delimiter() == ',' ? ",..." : " ...");
  }

  /// As it is typed: the parser puts lists into brackets.
  [[nodiscard]] static std::string default_of(const CLI::Option& option) {
    std::string text = option.get_default_str();
    if (option.get_delimiter() == ',' && text.starts_with('[') && text.ends_with(']'))
      text = text.substr(1, text.size() - 2);
    return text;
  }

  std::size_t width_ = terminal_width();
  mutable std::size_t depth_ = 0;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<formatter>(); }

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  for (bool is_first = true; is_first || !text.empty(); is_first = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!is_first && !line.empty()) result.append(indent, ' ');
    append_line(result, line, indent, indent + second_column(line), width);
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string description_of(const bench::axis& of, bool is_simulated) {
  std::vector<std::string> defaults;
  for (const bench::axis_value& each : of.defaults(is_simulated)) defaults.push_back(bench::text_of(each));
  const std::string standard = fmt::format("default: {}", fmt::join(defaults, ","));
  const std::size_t lines = of.meaning.find(":\n");
  if (lines == std::string::npos) return fmt::format("{} ({}; {})", of.meaning, of.range(), standard);
  return fmt::format("{} ({}){}", of.meaning.substr(0, lines), standard, of.meaning.substr(lines));
}

bool can_be_simulated(const bench::object_kind& of) {
  return std::ranges::any_of(
      of.objects, [](const bench::object& each) { return each.exists_in(bench::world_kind::engine); });
}

std::string kinds_text(naming which) {
  std::vector<std::string> names;
  for (const bench::object_kind* kind : bench::object_kinds()) {
    if (which != naming::simulated || can_be_simulated(*kind)) names.push_back(kind->title + "s");
  }
  if (names.size() == 1) return names.front();
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

}  // namespace nearfar::command
