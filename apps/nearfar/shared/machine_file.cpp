#include "apps/nearfar/shared/machine_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <concepts>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <type_traits>
#include <variant>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/machine_fields.hpp"
#include "apps/nearfar/shared/shipped.hpp"

namespace nearfar::command {

namespace {

/// Characters of a text, counting the lines that have been read.
class counting_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  counting_iterator& operator++() {
    if (*at_++ == '\n' && line_ != nullptr) ++*line_;
    return *this;
  }
  counting_iterator operator++(int) {
    counting_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) { return a.at_ == b.at_; }
  friend bool operator!=(const counting_iterator& a, const counting_iterator& b) { return !(a == b); }

 private:
  const char* at_;
  int* line_;
};

/// The name of a type that is neither a number nor a text.
struct other_type {
  const char* name;
};
using field_value = std::variant<double, std::string, other_type>;

struct found_field {
  field_value value;
  int line = 0;
  bool known = false;
};

/// Collects all values of nested objects under dotted names, with the line of each name.
class field_collector : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// `line`: of the text's part that has been read.
  field_collector(const std::string& file, std::string_view text, const int& line)
      : file_(&file), text_(text), line_(&line) {}

  bool null() override { return value(other_type{"null"}); }
  bool boolean(bool) override { return value(other_type{"true or false"}); }
  bool number_integer(number_integer_t number) override { return value(static_cast<double>(number)); }
  bool number_unsigned(number_unsigned_t number) override { return value(static_cast<double>(number)); }
  bool number_float(number_float_t number, const string_t& /*text*/) override { return value(number); }
  bool string(string_t& text) override {
    // At once: whatever else a file of another kind holds is no fault of it.
    if (name() == "schema" && text != machine_schema)
      refuse(
          fmt::format("the file is of schema '{}', but a machine description is of '{}'; 'nearfar sim "
                      "machines coolmuc2' prints one",
                      text, machine_schema));
    return value(text);
  }
  bool binary(binary_t& /*bytes*/) override { return value(other_type{"binary"}); }
  bool start_array(std::size_t /*elements*/) override {
    if (path_.empty()) refuse("the file holds a list, not an object");
    refuse(fmt::format("'{}' is a list, but must be one value", name()), key_line_);
  }
  bool end_array() override { return true; }
  bool start_object(std::size_t /*elements*/) override {
    if (!path_.empty()) groups_.try_emplace(name(), key_line_);
    constexpr std::size_t deepest = 8;
    if (path_.size() == deepest) refuse(fmt::format("objects are more than {} deep in each other", deepest));
    path_.emplace_back();
    return true;
  }
  bool end_object() override {
    path_.pop_back();
    return true;
  }
  bool key(string_t& text) override {
    path_.back() = text;
    key_line_ = *line_;
    if (fields_.contains(name()) || groups_.contains(name()))
      refuse(fmt::format("'{}' occurs twice; keep one", name()), key_line_);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    if (std::string_view(error.what()).find("unexpected end of input") != std::string_view::npos)
      refuse("the file ends within the JSON text", line_at(text_.find_last_not_of(blanks)));
    // The last character read may be the end of the line.
    const int line = line_at(position == 0 ? 0 : position - 1);
    constexpr std::size_t shown = 60;
    const std::string last = token.size() <= shown ? token : "..." + token.substr(token.size() - shown);
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr)
      refuse(fmt::format("the number {} is out of range", last), line);
    refuse(fmt::format("not JSON at the end of '{}'", last), line);
  }

  [[noreturn]] void refuse(const std::string& what, int line) const {
    throw usage_error(fmt::format("{}:{}: {}", *file_, line, what));
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse(what, *line_); }

  [[nodiscard]] std::map<std::string, found_field>& fields() { return fields_; }
  /// Where an object begins, or the file's first line.
  [[nodiscard]] int line_of_group(const std::string& field) const {
    const auto group = groups_.find(field.substr(0, field.rfind('.')));
    return group == groups_.end() ? 1 : group->second;
  }
  [[nodiscard]] bool is_group(const std::string& field) const { return groups_.contains(field); }
  /// Whether the object that a field belongs to is there without it.
  [[nodiscard]] bool is_absent(const std::string& field) const {
    return !fields_.contains(field) && !is_group(field) && is_group(field.substr(0, field.rfind('.')));
  }
  [[nodiscard]] const std::map<std::string, int>& groups() const { return groups_; }

  static constexpr const char* blanks = " \t\r\n";

  [[nodiscard]] int line_at(std::size_t position) const {
    const auto before = text_.substr(0, position);
    return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }

 private:
  [[nodiscard]] std::string name() const { return fmt::format("{}", fmt::join(path_, ".")); }
  bool value(field_value what) {
    if (path_.empty()) refuse("the file holds no object", line_at(text_.find_first_not_of(blanks)));
    fields_[name()] = {std::move(what), key_line_};
    return true;
  }

  const std::string* file_;
  std::string_view text_;
  const int* line_;
  int key_line_ = 1;
  std::vector<std::string> path_;
  std::map<std::string, found_field> fields_;
  std::map<std::string, int> groups_;
};

/// Sets members from what was collected.
class field_reader {
 public:
  explicit field_reader(field_collector& from) : from_(&from) {}

  template <typename Number>
    requires std::is_arithmetic_v<Number>
  void operator()(const std::string& name, Number& member, bounds allowed) {
    if (allowed.may_be_absent && from_->is_absent(name)) return;
    const found_field& found = find(name);
    const double* number = std::get_if<double>(&found.value);
    if (number == nullptr)
      from_->refuse(fmt::format("'{}' must be a number, not {}", name, kind_of(found)), found.line);
    if (*number < 0) from_->refuse(fmt::format("'{}' is negative", name), found.line);
    // Written so that NaN is refused too.
    const bool fits = *number >= allowed.low && *number <= allowed.high;
    if (!fits)
      from_->refuse(fmt::format("'{}' must be {} to {}, not {}", name, allowed.low, allowed.high, *number),
                    found.line);
    if (std::is_integral_v<Number> && *number != std::floor(*number))
      from_->refuse(fmt::format("'{}' must be a whole number, not {}", name, *number), found.line);
    member = static_cast<Number>(*number);
  }
  void operator()(const std::string& name, std::string& member) {
    const found_field& found = find(name);
    member = text_of(name, found);
    if (member.empty()) from_->refuse(fmt::format("'{}' is empty", name), found.line);
  }
  void operator()(const std::string& name, simulation::executor& member) {
    const found_field& found = find(name);
    const std::string& text = text_of(name, found);
    const auto at = std::find(executor_names.begin(), executor_names.end(), text);
    if (at == executor_names.end())
      from_->refuse(
          fmt::format("'{}' must be one of {}, not '{}'", name, fmt::join(executor_names, ", "), text),
          found.line);
    member = static_cast<simulation::executor>(at - executor_names.begin());
    if (member == simulation::executor::origin && name.starts_with("transfers.remote."))
      from_->refuse(fmt::format("'{}' is 'origin', but nodes share no memory", name), found.line);
  }

  /// Of a schema that is there it is known already that it is the right one.
  void expect_schema() { static_cast<void>(text_of("schema", find("schema"))); }

  /// An interval has both its ends or none, the lower one first.
  void expect_interval(const std::string& group, const simulation::prediction_interval& of) const {
    const std::string low = group + ".measured_low";
    const std::string high = group + ".measured_high";
    for (const auto& [there, missing] : {std::pair(low, high), std::pair(high, low)})
      if (from_->is_absent(missing) && !from_->is_absent(there))
        from_->refuse(fmt::format("'{}' is missing beside '{}'; give both or neither", missing, there),
                      from_->fields().at(there).line);
    if (of.low > of.high)
      from_->refuse(fmt::format("'{}' must be at most '{}', but {} is more than {}; exchange them", low, high,
                                of.low, of.high),
                    from_->fields().at(low).line);
  }

  /// Refuses what nobody asked for.
  void expect_no_other() const {
    std::vector<std::string> known;
    for (const auto& [name, found] : from_->fields())
      if (found.known) known.push_back(name);
    for (const auto& [name, found] : from_->fields())
      if (!found.known) from_->refuse(unknown_name("field", name, known, "remove it"), found.line);
    for (const auto& [name, line] : from_->groups())
      if (std::none_of(known.begin(), known.end(),
                       [&](const std::string& field) { return field.starts_with(name + "."); }))
        from_->refuse(fmt::format("field '{}' is unknown; remove it", name), line);
  }

 private:
  found_field& find(const std::string& name) {
    const auto found = from_->fields().find(name);
    if (found == from_->fields().end()) {
      for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
        if (const auto outer = from_->fields().find(name.substr(0, dot)); outer != from_->fields().end())
          from_->refuse(fmt::format("'{}' must be an object", outer->first), outer->second.line);
      if (from_->is_group(name))
        from_->refuse(fmt::format("'{}' must be a value, not an object", name),
                      from_->line_of_group(name + "."));
      from_->refuse(fmt::format("'{}' is missing", name), from_->line_of_group(name));
    }
    found->second.known = true;
    return found->second;
  }
  const std::string& text_of(const std::string& name, const found_field& found) const {
    const std::string* text = std::get_if<std::string>(&found.value);
    if (text == nullptr)
      from_->refuse(fmt::format("'{}' must be a text, not {}", name, kind_of(found)), found.line);
    return *text;
  }
  [[nodiscard]] static std::string kind_of(const found_field& found) {
    if (const auto* other = std::get_if<other_type>(&found.value)) return other->name;
    if (const auto* text = std::get_if<std::string>(&found.value)) return fmt::format("the text '{}'", *text);
    return fmt::format("the number {}", std::get<double>(found.value));
  }

  field_collector* from_;
};

/// Sets a dotted name in nested objects.
class json_writer {
 public:
  explicit json_writer(nlohmann::ordered_json& to) : to_(&to) {}
  void operator()(const std::string& name, const std::string& member) { at(name) = member; }
  void operator()(const std::string& name, simulation::executor member) {
    at(name) = executor_names.at(static_cast<std::size_t>(member));
  }
  template <typename Number>
  void operator()(const std::string& name, const Number& member, bounds /*allowed*/) {
    if constexpr (std::is_floating_point_v<Number>) {
      // Tenths of a nanosecond, and no ".0" that no one would write.
      constexpr double digits = 1e4;
      const double rounded = std::round(member * digits) / digits;
      if (rounded == std::floor(rounded)) {
        at(name) = static_cast<std::int64_t>(rounded);
        return;
      }
      at(name) = rounded;
    } else {
      at(name) = member;
    }
  }

 private:
  nlohmann::ordered_json& at(const std::string& name) {
    nlohmann::ordered_json* node = to_;
    std::stringstream parts(name);
    for (std::string part; std::getline(parts, part, '.');) node = &(*node)[part];
    return *node;
  }

  nlohmann::ordered_json* to_;
};

/// An object of plain values on one line, an object of objects on several.
void print_object(std::string& text, const nlohmann::ordered_json& object, const std::string& indent) {
  const bool flat = std::none_of(object.begin(), object.end(), [](const auto& v) { return v.is_object(); });
  if (flat) {
    std::vector<std::string> members;
    for (const auto& [name, value] : object.items())
      members.push_back(fmt::format("\"{}\": {}", name, value.dump()));
    text += fmt::format("{{{}}}", fmt::join(members, ", "));
    return;
  }
  text += "{\n";
  const std::string inner = indent + "  ";
  std::size_t left = object.size();
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("{}\"{}\": ", inner, name);
    if (value.is_object())
      print_object(text, value, inner);
    else
      text += value.dump();
    text += --left == 0 ? "\n" : ",\n";
  }
  text += indent + "}";
}

}  // namespace

simulation::machine parse_machine(std::string_view text, const std::string& file) {
  int line = 1;
  field_collector collected(file, text, line);
  if (text.find_first_not_of(field_collector::blanks) == std::string_view::npos)
    collected.refuse("the file is empty", 1);
  // At which the parser would end.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    collected.refuse("byte 0 in the text; remove it", collected.line_at(zero));
  nlohmann::json::sax_parse(counting_iterator(text.data(), &line),
                            counting_iterator(text.data() + text.size(), nullptr), &collected);
  field_reader reader(collected);
  reader.expect_schema();
  simulation::machine result;
  visit_fields(result, reader);
  reader.expect_no_other();
  reader.expect_interval("near", result.near.measured);
  reader.expect_interval("library", result.library.measured);
  reader.expect_interval("network", result.network.measured);
  // For ranks that only look, or only ask the library, benchmarks that run for a time would never end.
  constexpr double no_time = 0.001;
  if (std::max({result.near.hit, result.near.atomic, result.library.progress, result.library.flush}) <
      no_time)
    throw usage_error(
        fmt::format("{}: near.hit, near.atomic, library.progress and library.flush are all below {}: time "
                    "would stand still; raise one",
                    file, no_time));
  return result;
}

simulation::machine read_machine(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw usage_error(fmt::format("cannot read machine file '{}': it is a directory", path.string()));
  std::ifstream file(path, std::ios::binary);
  // A device may have no end.
  constexpr std::size_t largest = std::size_t{1} << 20U;
  std::string text(largest + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof()))
    throw usage_error(fmt::format("cannot read machine file '{}': {}", path.string(), std::strerror(errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > largest)
    throw usage_error(
        fmt::format("'{}' is no machine description: it is larger than {} bytes; name another file",
                    path.string(), largest));
  return parse_machine(text, path.string());
}

nlohmann::ordered_json to_json(const simulation::machine& from) {
  nlohmann::ordered_json result = {{"schema", machine_schema}};
  visit_fields(from, json_writer(result));
  return result;
}

std::string to_text(const simulation::machine& from) {
  std::string text;
  print_object(text, to_json(from), "");
  // The schema in the first line, which tells what the file is.
  constexpr std::string_view opening = "{\n  ";
  return "{" + text.substr(opening.size()) + "\n";
}

const std::vector<simulation::machine>& shipped_machines() {
  static const std::vector<simulation::machine> all = [] {
    std::vector<simulation::machine> result;
    for (const shipped_file& file : shipped_files())
      if (file.path.ends_with(".json") && file.path.find('/') == std::string_view::npos)
        result.push_back(parse_machine(file.text, fmt::format("machines/{}", file.path)));
    return result;
  }();
  return all;
}

simulation::machine find_machine(const std::string& name_or_file) {
  std::vector<std::string> names;
  for (const simulation::machine& shipped : shipped_machines()) {
    if (shipped.name == name_or_file) return shipped;
    names.push_back(shipped.name);
  }
  std::error_code ignored;
  const bool looks_like_a_file =
      name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".json");
  if (name_or_file == "this-machine" && std::filesystem::exists("this-machine.json", ignored))
    return read_machine("this-machine.json");
  if (looks_like_a_file || std::filesystem::exists(name_or_file, ignored)) return read_machine(name_or_file);
  if (name_or_file == "this-machine")
    throw usage_error(
        "there is no this-machine.json in the current folder; 'nearfar doctor --machine' measures this "
        "machine and writes it");
  throw usage_error(unknown_name("machine", name_or_file, names,
                                 fmt::format("choose one of: {}, or a file", fmt::join(names, ", "))));
}

}  // namespace nearfar::command
