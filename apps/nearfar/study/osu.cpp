#include "apps/nearfar/study/osu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "apps/nearfar/study/coordinates.hpp"
#include "bench/results/statistics.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

// Those of osu_util.h: FIELD_WIDTH, FLOAT_PRECISION.
constexpr int width_of_first = 10;
constexpr int width = 20;
constexpr int digits = 2;
constexpr double ns_per_us = 1000;

/// All repetitions of one configuration and scenario.
struct osu_line {
  const configuration* of = nullptr;
  std::string scenario;
  std::vector<const bench::sample*> samples;
  std::vector<coordinate> coordinates;
};

/// How the repetitions' figures become one.
using joined = double (*)(const std::vector<double>&);

double median(const std::vector<double>& values) { return bench::median_of(values).median; }
double least(const std::vector<double>& values) { return *std::ranges::min_element(values); }
double most(const std::vector<double>& values) { return *std::ranges::max_element(values); }

struct osu_column {
  const char* head;
  const char* part;  ///< of the name of what a sample counts
  joined by;
};

/// As `osu_latency -f` and its tail latencies have them.
constexpr std::array<osu_column, 7> columns{{{"Avg Latency(us)", "mean", median},
                                             {"Min Latency(us)", "min", least},
                                             {"Max Latency(us)", "max", most},
                                             {"P50 Tail Lat(us)", "p50", median},
                                             {"P90 Tail Lat(us)", "p90", median},
                                             {"P99 Tail Lat(us)", "p99", median},
                                             {"P99.9 Tail Lat(us)", "p999", median}}};

std::optional<double> over(const osu_line& line, const std::string& name, joined by) {
  std::vector<double> values;
  for (const bench::sample* each : line.samples)
    if (const auto value = each->count(name)) values.push_back(*value);
  return values.empty() ? std::nullopt : std::optional(by(values));
}

/// Operations whose latencies were measured: "acquire", and in words "acquisitions".
struct operations {
  std::string name;
  std::string words;
};

std::vector<operations> operations_of(const bench::benchmark& of) {
  const std::string ending = "_mean";
  const std::string title = "Mean latency of ";
  std::vector<operations> all;
  for (const bench::column& each : of.columns)
    if (each.name.ends_with(ending) && each.title.starts_with(title))
      all.push_back({each.name.substr(0, each.name.size() - ending.size()), each.title.substr(title.size())});
  return all;
}

/// The blocks of one benchmark.
class osu_benchmark {
 public:
  osu_benchmark(const bench::benchmark& of, const std::vector<result>& results, const table_layout& layout)
      : benchmark_(&of), layout_(&layout) {
    std::map<std::pair<std::size_t, std::string>, std::size_t> index_of;
    for (const result& each : results) {
      const configuration& where = layout.configurations[each.configuration];
      if (where.benchmark != &of) continue;
      const std::string scenario = each.sample.scenario.value_or("");
      const auto [found, is_new] = index_of.try_emplace({each.configuration, scenario}, lines_.size());
      if (is_new) lines_.push_back({&where, scenario, {}, coordinates_of(where, each.sample)});
      lines_[found->second].samples.push_back(&each.sample);
    }
    // Results come in the random order in which they were measured.
    std::vector<osu_line> sorted;
    for (const auto& [key, index] : index_of) sorted.push_back(lines_[index]);
    lines_ = std::move(sorted);
    swept_ = choose_swept();
  }

  [[nodiscard]] std::string text() const {
    std::vector<std::vector<std::string>> order;
    std::map<std::vector<std::string>, std::vector<const osu_line*>> blocks;
    for (const osu_line& each : lines_) {
      const auto key = key_of(each);
      if (!blocks.contains(key)) order.push_back(key);
      blocks[key].push_back(&each);
    }
    std::string text;
    for (const auto& key : order) text += block(blocks[key]);
    return text;
  }

 private:
  /// Ranks or nodes where the other is told by it, as on a simulated cluster.
  [[nodiscard]] bool tells(const std::string& one, const std::string& other) const {
    std::map<std::string, std::set<std::string>> found;
    for (const osu_line& each : lines_) found[value_of(each, one)].insert(value_of(each, other));
    return std::ranges::all_of(found, [](const auto& each) { return each.second.size() == 1; });
  }

  static std::string value_of(const osu_line& of, const std::string& name) {
    const std::string* text = command::text_of(of.coordinates, name);
    return text == nullptr ? "" : *text;
  }

  /// The number that takes most values; of several bytes, as OSU's benchmarks have, then ranks.
  [[nodiscard]] std::string choose_swept() const {
    std::vector<std::string> order;
    for (const bench::axis& each : benchmark_->axes)
      if (each.unit == "B") order.push_back(each.name);
    order.emplace_back("ranks");
    std::map<std::string, std::set<std::string>> values;
    for (const osu_line& line : lines_)
      for (const coordinate& each : line.coordinates) {
        if (!each.is_number || is_effort(each.name)) continue;
        if (std::ranges::find(order, each.name) == order.end()) order.push_back(each.name);
        values[each.name].insert(each.text);
      }
    return *std::ranges::max_element(order, {}, [&](const std::string& each) { return values[each].size(); });
  }

  [[nodiscard]] bool is_effort(const std::string& name) const {
    return std::ranges::any_of(benchmark_->axes,
                               [&](const bench::axis& each) { return each.is_effort && each.name == name; });
  }

  [[nodiscard]] bool is_told(const std::string& name) const {
    if (name == swept_) return true;
    return (name == "nodes" || name == "ranks") && (swept_ == "nodes" || swept_ == "ranks") &&
           tells(swept_, name);
  }

  /// The coordinates that all lines of a block share.
  [[nodiscard]] std::vector<std::string> key_of(const osu_line& of) const {
    std::vector<std::string> key{of.of->object->name, of.scenario};
    for (const coordinate& each : of.coordinates)
      if (!is_told(each.name)) key.push_back(each.name + " " + each.text);
    return key;
  }

  [[nodiscard]] std::string block(const std::vector<const osu_line*>& lines) const {
    std::string text;
    std::set<const osu_line*> told;
    for (const operations& what : operations_of(*benchmark_)) {
      std::string rows;
      for (const osu_line* each : lines) {
        const std::string row = latencies_of(*each, what);
        if (!row.empty()) told.insert(each);
        rows += row;
      }
      if (!rows.empty()) text += heading(*lines.front(), what.words) + heads() + rows + "\n";
    }
    std::vector<const osu_line*> others;
    std::ranges::copy_if(lines, std::back_inserter(others),
                         [&](const auto* each) { return !told.contains(each); });
    return text + block_of_times(others);
  }

  /// Of lines without latencies.
  [[nodiscard]] std::string block_of_times(const std::vector<const osu_line*>& lines) const {
    const auto time = std::ranges::find_if(benchmark_->columns, [](const bench::column& each) {
      return each.unit == "ns" && each.how == bench::standing::judged;
    });
    if (lines.empty() || time == benchmark_->columns.end()) return "";
    std::string text = heading(*lines.front(), time->meaning);
    text += fmt::format("{:<{}}{:>{}}\n", first_head(), width_of_first, time->title + " (us)", width);
    for (const osu_line* each : lines) {
      std::vector<double> values;
      for (const bench::sample* sample : each->samples)
        if (const auto value = time->of(*sample)) values.push_back(*value);
      if (!values.empty())
        text += remark_on(*each) + first_of(*each) +
                fmt::format("{:>{}.{}f}\n", median(values) / ns_per_us, width, digits);
    }
    return text + "\n";
  }

  /// Nothing if none was measured.
  [[nodiscard]] std::string latencies_of(const osu_line& line, const operations& what) const {
    std::string text = remark_on(line) + first_of(line);
    for (const osu_column& each : columns) {
      const auto value = over(line, what.name + "_" + each.part, each.by);
      if (!value) return "";
      text += fmt::format("{:>{}.{}f}", *value / ns_per_us, width, digits);
    }
    std::int64_t timed = 0;
    for (const bench::sample* each : line.samples)
      timed += static_cast<std::int64_t>(each->count(what.name + "_timed").value_or(0));
    return text + fmt::format("{:>{}}\n", timed, width);
  }

  [[nodiscard]] std::string heading(const osu_line& of, const std::string& what) const {
    std::string text = fmt::format("# nearfar {} Latency Test v{}\n", benchmark_->name, version);
    text += fmt::format("# {} {}: {}\n", benchmark_->kind->title, of.of->object->name, what);
    text += fmt::format("# {} world", layout_->world);
    if (!of.scenario.empty()) text += ", scenario " + of.scenario;
    for (const coordinate& each : of.coordinates)
      if (!is_told(each.name)) text += fmt::format(", {} {}", each.name, each.text);
    text += "\n";
    if (!of.of->object->is_sound()) text += fmt::format("# unsound: {}\n", of.of->object->unsound);
    return text;
  }

  [[nodiscard]] std::string first_head() const {
    std::string name = swept_;
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return "# " + name;
  }

  [[nodiscard]] std::string heads() const {
    std::string text = fmt::format("{:<{}}", first_head(), width_of_first);
    for (const osu_column& each : columns) text += fmt::format("{:>{}}", each.head, width);
    return text + fmt::format("{:>{}}\n", "Iterations", width);
  }

  [[nodiscard]] std::string first_of(const osu_line& of) const {
    return fmt::format("{:<{}}", value_of(of, swept_), width_of_first);
  }

  /// The remarks that readers of the next line need.
  static std::string remark_on(const osu_line& of) {
    std::string text;
    if (!std::ranges::all_of(of.samples, &bench::sample::verified))
      text += "# VOID: the benchmark did not do its work correctly\n";
    if (!bench::is_steady(of.samples)) text += "# not steady\n";
    return text;
  }

  const bench::benchmark* benchmark_;
  const table_layout* layout_;
  std::vector<osu_line> lines_;
  std::string swept_;
};

}  // namespace

std::string osu_text(const std::vector<result>& results, const table_layout& layout) {
  std::string text;
  std::set<const bench::benchmark*> shown;
  for (const configuration& each : layout.configurations)
    if (shown.insert(each.benchmark).second) text += osu_benchmark(*each.benchmark, results, layout).text();
  return text;
}

}  // namespace nearfar::command
