#include "apps/nearfar/sim/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <tuple>

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
    const std::string& cell = text(column);
    if (cell.empty()) return std::nullopt;
    Number value{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) ||
        value > std::numeric_limits<Number>::max())
      refuse(fmt::format("'{}' in column '{}' must be a positive number", cell, column));
    return value;
  }
  template <typename Number>
  [[nodiscard]] Number required(const std::string& column) const {
    const std::optional<Number> value = positive<Number>(column);
    if (!value) refuse(fmt::format("column '{}' is empty", column));
    return *value;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw usage_error(fmt::format("{}:{}: {}", *file_, line_, what));
  }

  const std::string* file_;
  std::istringstream stream_;
  int line_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;
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

std::map<std::string, std::string> texts(const nlohmann::ordered_json& object) {
  return object.get<std::map<std::string, std::string>>();
}

std::map<std::string, std::string> texts_if_any(const nlohmann::ordered_json& in, const char* name) {
  return in.contains(name) ? texts(in.at(name)) : std::map<std::string, std::string>();
}

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
    if (json.at("schema") != plan_schema)
      throw usage_error(fmt::format("{}: this nearfar reads schema '{}'", file, plan_schema));
    plan.same_algorithm = texts(json.at("same_algorithm"));
    plan.not_compared = texts(json.at("not_compared"));
    plan.same_session = texts_if_any(json, "same_session");
    plan.kinds = texts_if_any(json, "kinds");
    for (const auto& parameter : json.at("free_parameters"))
      plan.free.push_back({parameter.at("meaning").get<std::string>(),
                           parameter.at("fields").get<std::vector<std::string>>(),
                           parameter.at("low").get<double>(), parameter.at("high").get<double>()});
  } catch (const nlohmann::json::exception& wrong) {
    throw usage_error(fmt::format("{}: {}", file, wrong.what()));
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
  const auto session_of = [&](const csv_reader& line) {
    const std::string suite = line.has("suite") ? line.text("suite") : std::string();
    const auto same = plan.same_session.find(suite);
    return same == plan.same_session.end() ? suite : same->second;
  };
  point_collector ecsb_points;
  for (csv_reader line(ecsb); line.next_line();) {
    const std::string& published = line.text("lock");
    if (const auto lock = registered(published))
      ecsb_points.add({*lock,
                       published,
                       {line.required<int>("nodes"), line.required<int>("ranks_per_node")},
                       "ecsb",
                       "",
                       line.required<double>("iteration_ns"),
                       session_of(line)});
  }
  point_collector upb_points;
  for (csv_reader line(upb); line.next_line();) {
    const std::string& published = line.text("lock");
    const auto lock = registered(published);
    if (!lock) continue;
    for (const auto& [scenario, column] : upb_columns)
      if (const auto ns = line.positive<double>(column))
        upb_points.add({*lock, published, upb_shape, "upb", scenario, *ns, session_of(line)});
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
