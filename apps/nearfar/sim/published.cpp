#include "apps/nearfar/sim/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/shipped.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/results/statistics.hpp"

namespace nearfar::command {

namespace {

constexpr const char* plan_schema = "nearfar.fit/1";

/// The published program's four ranks.
constexpr cluster_shape upb_shape{.nodes = 2, .ranks_per_node = 2};

/// Columns of upb.csv by scenario: previous holder, then where the acquiring rank is.
constexpr std::array<std::pair<const char*, const char*>, 9> upb_columns{{
    {"1a", "same_process_master_rank_ns"},
    {"2a", "same_node_master_rank_ns"},
    {"3a", "different_node_master_rank_ns"},
    {"1b", "same_process_master_node_ns"},
    {"2b", "same_node_master_node_ns"},
    {"3b", "different_node_master_node_ns"},
    {"1c", "same_process_slave_node_ns"},
    {"2c", "same_node_slave_node_ns"},
    {"3c", "different_node_slave_node_ns"},
}};

/// Lines of a CSV file without quotes, by column name.
class csv_reader {
 public:
  explicit csv_reader(const source& from) : file_(&from.file), stream_(from.text) {
    if (next_line()) columns_ = cells_;
    // Spreadsheets write it before the first column's name.
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (!columns_.empty() && columns_.front().starts_with(byte_order_mark))
      columns_.front().erase(0, byte_order_mark.size());
    if (columns_.empty()) refuse("the file is empty");
  }

  bool next_line() {
    for (std::string line; std::getline(stream_, line);) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty()) continue;
      cells_.clear();
      std::size_t begin = 0;
      for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
        comma = line.find(',', begin);
        cells_.push_back(line.substr(begin, comma == std::string::npos ? comma : comma - begin));
      }
      if (!columns_.empty() && cells_.size() != columns_.size())
        refuse(fmt::format("{} values in {} columns", cells_.size(), columns_.size()));
      return true;
    }
    return false;
  }
  [[nodiscard]] bool has(const std::string& column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
  }
  [[nodiscard]] const std::string& text(const std::string& column) const {
    const auto at = std::find(columns_.begin(), columns_.end(), column);
    if (at == columns_.end()) refuse(fmt::format("column '{}' is missing", column));
    return cells_[static_cast<std::size_t>(at - columns_.begin())];
  }
  /// Nothing where the cell is empty: not measured.
  template <typename Number>
  [[nodiscard]] std::optional<Number> positive(const std::string& column) const {
    return number<Number>(column, false);
  }
  /// A time in ns.
  [[nodiscard]] std::optional<double> time(const std::string& column) const {
    const std::optional<double> ns = positive<double>(column);
    if (ns && (*ns < least_time || *ns > most_time))
      refuse(fmt::format("'{}' in column '{}' must be a time in nanoseconds, {} to {}", text(column), column,
                         least_time, most_time));
    return ns;
  }
  /// Columns that others may lack, and that are not compared, but that tell careless files.
  void expect_sound_counts() const {
    if (has("runs")) static_cast<void>(positive<int>("runs"));
    if (has("progress_cv")) static_cast<void>(number<double>("progress_cv", true));
    if (!has("ranks") || !has("nodes") || !has("ranks_per_node")) return;
    const auto ranks = positive<std::int64_t>("ranks");
    const auto nodes = positive<int>("nodes");
    const auto on_each = positive<int>("ranks_per_node");
    if (ranks && nodes && on_each && *ranks != std::int64_t{*nodes} * *on_each)
      refuse(
          fmt::format("'ranks' is {}, but 'nodes' times 'ranks_per_node' is {} x {} = {}; correct the line",
                      *ranks, *nodes, *on_each, std::int64_t{*nodes} * *on_each));
  }
  /// Where the line is.
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", *file_, line_); }

  template <typename Number>
  [[nodiscard]] Number required(const std::string& column) const {
    const std::optional<Number> value = positive<Number>(column);
    if (!value) refuse(fmt::format("column '{}' is empty", column));
    return *value;
  }
  [[nodiscard]] double required_time(const std::string& column) const {
    const std::optional<double> ns = time(column);
    if (!ns) refuse(fmt::format("column '{}' is empty", column));
    return *ns;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw usage_error(fmt::format("{}: {}", place(), what));
  }

 private:
  /// Less is a file in other units, or another column; with more the simulated time would overflow.
  static constexpr double least_time = 0.1;
  static constexpr double most_time = 1e9;

  template <typename Number>
  [[nodiscard]] std::optional<Number> number(const std::string& column, bool may_be_zero) const {
    const std::string& cell = text(column);
    if (cell.empty()) return std::nullopt;
    Number value{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() ||
        !(value > 0 || (may_be_zero && value == 0)) || value > std::numeric_limits<Number>::max())
      refuse(fmt::format("'{}' in column '{}' must be a {}", cell, column,
                         may_be_zero                  ? "number, 0 or more"
                         : std::is_integral_v<Number> ? "positive whole number"
                                                      : "positive number"));
    return value;
  }
  const std::string* file_;
  std::istringstream stream_;
  int line_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;
};

/// The value of each cell that is to be there once, to find others for the same.
class cell_values {
 public:
  /// Refuses another value of the same suite and configuration.
  void expect_alone(const csv_reader& line, const std::string& suite, const measured_point& point) {
    const auto [at, is_new] = seen_.try_emplace(
        {suite, point.published, point.shape.nodes, point.shape.ranks_per_node, point.scenario},
        std::pair(point.ns, line.place()));
    if (!is_new && at->second.first != point.ns)
      line.refuse(
          fmt::format("{} ns contradicts the {} ns of {}, of the same suite and configuration; keep one",
                      point.ns, at->second.first, at->second.second));
  }

 private:
  std::map<std::tuple<std::string, std::string, int, int, std::string>, std::pair<double, std::string>> seen_;
};

/// Points with all values that were measured for them.
class point_collector {
 public:
  void add(const measured_point& point) {
    auto [at, is_new] = values_.try_emplace(key_of(point));
    if (is_new) order_.push_back(point);
    at->second.push_back(point.ns);
  }
  [[nodiscard]] std::vector<measured_point> medians() {
    for (measured_point& point : order_) point.ns = bench::median_of(values_.at(key_of(point))).median;
    return order_;
  }

 private:
  using key = std::tuple<std::string, std::string, int, int, std::string, std::string>;

  [[nodiscard]] static key key_of(const measured_point& point) {
    return {point.lock,     point.published, point.shape.nodes, point.shape.ranks_per_node,
            point.scenario, point.session};
  }

  std::map<key, std::vector<double>> values_;
  std::vector<measured_point> order_;
};

/// Members of a plan's objects. Errors name the member.
class plan_reader {
 public:
  explicit plan_reader(const std::string& file) : file_(&file) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw usage_error(fmt::format("{}: {}", *file_, what));
  }
  [[nodiscard]] const nlohmann::ordered_json& member(const nlohmann::ordered_json& of,
                                                     const char* name) const {
    if (!of.is_object())
      refuse(fmt::format("there must be an object, with '{}', not: {}", name, short_text(of)));
    const auto at = of.find(name);
    if (at == of.end()) refuse(fmt::format("'{}' is missing; machines/coolmuc2/fit.json has one", name));
    return *at;
  }
  [[nodiscard]] std::string text(const nlohmann::ordered_json& of, const char* name) const {
    const auto& value = member(of, name);
    if (!value.is_string()) refuse(fmt::format("'{}' must be a text, not: {}", name, short_text(value)));
    return value;
  }
  [[nodiscard]] double number(const nlohmann::ordered_json& of, const char* name) const {
    const auto& value = member(of, name);
    if (!value.is_number()) refuse(fmt::format("'{}' must be a number, not: {}", name, short_text(value)));
    return value;
  }
  [[nodiscard]] const nlohmann::ordered_json& list(const nlohmann::ordered_json& of, const char* name) const {
    const auto& value = member(of, name);
    if (!value.is_array()) refuse(fmt::format("'{}' must be a list, not: {}", name, short_text(value)));
    return value;
  }
  [[nodiscard]] std::map<std::string, std::string> texts(const nlohmann::ordered_json& of,
                                                         const char* name) const {
    const auto& all = member(of, name);
    if (!all.is_object()) refuse(fmt::format("'{}' must be an object, not: {}", name, short_text(all)));
    std::map<std::string, std::string> result;
    for (const auto& [key, value] : all.items()) result[key] = text(all, key.c_str());
    return result;
  }
  [[nodiscard]] std::map<std::string, std::string> texts_if_any(const nlohmann::ordered_json& of,
                                                                const char* name) const {
    return of.contains(name) ? texts(of, name) : std::map<std::string, std::string>();
  }

 private:
  [[nodiscard]] static std::string short_text(const nlohmann::ordered_json& of) {
    constexpr std::size_t most = 40;
    // As it may hold what is no text.
    const std::string all = of.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    return all.size() <= most ? all : all.substr(0, most) + "...";
  }

  const std::string* file_;
};

}  // namespace

std::string measured_point::job() const {
  if (shape.nodes == 1) return {};
  return scenario.empty() ? fmt::format("{} ECSB {}x{}", session, shape.nodes, shape.ranks_per_node)
                          : fmt::format("{} UPB", session);
}

std::string fit_plan::kind_of(const std::string& lock) const {
  const auto known = kinds.find(lock);
  return known == kinds.end() ? lock.substr(0, lock.find('.')) : known->second;
}

fit_plan parse_plan(std::string_view text, const std::string& file) {
  fit_plan plan;
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    const plan_reader reader(file);
    if (const std::string schema = reader.text(json, "schema"); schema != plan_schema)
      reader.refuse(fmt::format("the schema is '{}', but this nearfar reads '{}'", schema, plan_schema));
    plan.same_algorithm = reader.texts(json, "same_algorithm");
    plan.not_compared = reader.texts(json, "not_compared");
    plan.same_session = reader.texts_if_any(json, "same_session");
    plan.kinds = reader.texts_if_any(json, "kinds");
    for (const auto& parameter : reader.list(json, "free_parameters")) {
      free_parameter one{.meaning = reader.text(parameter, "meaning"),
                         .fields = {},
                         .low = reader.number(parameter, "low"),
                         .high = reader.number(parameter, "high")};
      for (const auto& field : reader.list(parameter, "fields")) {
        if (!field.is_string())
          reader.refuse(fmt::format("the fields of free parameter '{}' must be texts", one.meaning));
        one.fields.push_back(field);
      }
      plan.free.push_back(std::move(one));
    }
  } catch (const nlohmann::json::parse_error& wrong) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(wrong.byte, text.size()));
    throw usage_error(fmt::format("{}:{}: not JSON, or it ends too soon; mend the text there", file,
                                  1 + std::count(text.begin(), end, '\n')));
  }
  const bench::catalogue& all = bench::catalogue::instance();
  for (const auto& [published, name] : plan.same_algorithm)
    if (all.find(name) == nullptr)
      throw usage_error(fmt::format("{}: '{}': {}", file, published,
                                    unknown_name("lock", name, all.names(), "'nearfar list' shows all")));
  for (const free_parameter& parameter : plan.free)
    for (const std::string& field : parameter.fields)
      if (field.ends_with(".measured_low") || field.ends_with(".measured_high"))
        throw usage_error(fmt::format(
            "{}: free parameter '{}' names '{}', which is no cost of the machine; remove it, as 'nearfar "
            "sim compare --cross-validate' finds it",
            file, parameter.meaning, field));
  for (const free_parameter& parameter : plan.free)
    if (parameter.fields.empty() || !(parameter.low > 0) || !(parameter.low < parameter.high))
      throw usage_error(
          fmt::format("{}: free parameter '{}' needs fields, and 0 < low < high", file, parameter.meaning));
  return plan;
}

source read_source(const std::string& file, std::string_view shipped) {
  if (file.empty()) {
    for (const shipped_file& one : shipped_files())
      if (one.path == shipped) return {fmt::format("machines/{}", shipped), std::string(one.text)};
    throw usage_error(fmt::format("nearfar comes without machines/{}", shipped));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw usage_error(fmt::format("cannot read '{}': it is a directory; name a file in it", file));
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream && stream.peek() == std::ifstream::traits_type::eof())
    throw usage_error(fmt::format("'{}' is empty", file));
  if (stream) text << stream.rdbuf();
  if (!stream || !text) throw usage_error(fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
  return {file, text.str()};
}

published_data read_published(const source& upb, const source& ecsb, const fit_plan& plan) {
  published_data result;
  // The registered lock of the line's, or nothing, with the reason noted.
  const auto registered = [&](const std::string& published) -> std::optional<std::string> {
    if (const auto same = plan.same_algorithm.find(published); same != plan.same_algorithm.end())
      return same->second;
    const auto why = plan.not_compared.find(published);
    result.left_out[published] = why == plan.not_compared.end() ? "not in the plan" : why->second;
    return std::nullopt;
  };
  const auto suite_of = [](const csv_reader& line) {
    return line.has("suite") ? line.text("suite") : std::string();
  };
  const auto session_of = [&](const csv_reader& line) {
    const std::string suite = suite_of(line);
    const auto same = plan.same_session.find(suite);
    return same == plan.same_session.end() ? suite : same->second;
  };
  point_collector ecsb_points;
  cell_values ecsb_values;
  for (csv_reader line(ecsb); line.next_line();) {
    const std::string& published = line.text("lock");
    line.expect_sound_counts();
    const auto lock = registered(published);
    if (!lock) continue;
    const measured_point point{.lock = *lock,
                               .published = published,
                               .shape = {.nodes = line.required<int>("nodes"),
                                         .ranks_per_node = line.required<int>("ranks_per_node")},
                               .benchmark = "ecsb",
                               .scenario = "",
                               .ns = line.required_time("iteration_ns"),
                               .session = session_of(line),
                               .place = line.place()};
    ecsb_values.expect_alone(line, suite_of(line), point);
    ecsb_points.add(point);
  }
  point_collector upb_points;
  cell_values upb_values;
  for (csv_reader line(upb); line.next_line();) {
    const std::string& published = line.text("lock");
    line.expect_sound_counts();
    const auto lock = registered(published);
    if (!lock) continue;
    for (const auto& [scenario, column] : upb_columns) {
      const auto ns = line.time(column);
      if (!ns) continue;
      const measured_point point{*lock,    published, upb_shape,        "upb",
                                 scenario, *ns,       session_of(line), line.place()};
      upb_values.expect_alone(line, suite_of(line), point);
      upb_points.add(point);
    }
  }
  result.ecsb = ecsb_points.medians();
  result.upb = upb_points.medians();
  // A lock that works in one node is measured there; its scenarios with another node do not exist.
  for (measured_point& point : result.upb)
    if (bench::catalogue::instance().find(point.lock)->one_node_only) point.shape.nodes = 1;
  std::erase_if(result.upb, [](const measured_point& point) {
    return point.shape.nodes == 1 && (point.scenario[0] == '3' || point.scenario[1] == 'c');
  });
  return result;
}

std::vector<measured_point> over_sessions(const std::vector<measured_point>& points) {
  point_collector collected;
  for (measured_point point : points) {
    point.session.clear();
    collected.add(point);
  }
  return collected.medians();
}

}  // namespace nearfar::command
