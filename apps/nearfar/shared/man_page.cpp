#include "apps/nearfar/shared/man_page.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

/// A text in which nothing is a request of the language.
std::string literal(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char each : text) {
    if (begins_line && (each == '.' || each == '\'')) result += "\\&";
    if (each == '\\')
      result += "\\e";
    else if (each == '-')
      result += "\\-";
    else
      result += each;
    begins_line = each == '\n';
  }
  return result;
}

/// Lines of a description that begin with a name stay lines.
std::string paragraph(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!result.empty()) result += ".br\n";
    result += literal(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string option_text(const CLI::Option& of) {
  std::string head = of.get_name(of.get_positional(), true);
  if (of.get_type_size() != 0 && !of.get_type_name().empty()) head += " " + of.get_type_name();
  std::string description = of.get_description();
  if (of.get_type_size() != 0 && !of.get_default_str().empty())
    description += fmt::format("\n(default: {})", of.get_default_str());
  return fmt::format(".TP\n.B {}\n{}", literal(head), paragraph(description));
}

std::string options_text(const CLI::App& of) {
  std::string text;
  for (const CLI::Option* option : of.get_options())
    if (!option->get_group().empty()) text += option_text(*option);
  return text;
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& of) {
  std::vector<const CLI::App*> all;
  for (const CLI::App* each : of.get_subcommands({}))
    if (!each->get_group().empty()) all.push_back(each);
  return all;
}

std::string subcommand_text(const CLI::App& of, const std::string& path) {
  std::string text = fmt::format(".SS {}\n{}", literal(path), paragraph(of.get_description()));
  text += options_text(of);
  if (const std::string footer = of.get_footer(); !footer.empty()) text += ".PP\n" + paragraph(footer);
  for (const CLI::App* each : shown_subcommands(of))
    text += subcommand_text(*each, path + " " + each->get_name());
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const std::string& name = app.get_name();
  std::string title = name;
  std::ranges::transform(title, title.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"{} {}\" \"User commands\"\n.SH NAME\n{} \\- synchronisation on near and far memory\n"
      ".SH SYNOPSIS\n.B {}\nSUBCOMMAND [OPTION...]\n.SH DESCRIPTION\n{}.SH OPTIONS\n{}.SH SUBCOMMANDS\n",
      title, name, version, literal(name), literal(name), paragraph(app.get_description()),
      options_text(app));
  for (const CLI::App* each : shown_subcommands(app))
    text += subcommand_text(*each, name + " " + each->get_name());
  return text + ".SH NOTES\n" + paragraph(app.get_footer());
}

}  // namespace nearfar::command
