#include "apps/nearfar/study/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "apps/nearfar/study/coordinates.hpp"
#include "apps/nearfar/study/osu.hpp"
#include "bench/statistics.hpp"

namespace nearfar::command {

namespace {

/// Samples of one line of the table.
using group = std::vector<const bench::sample*>;

std::optional<bench::median_interval> over(const group& samples, const bench::column& what) {
  std::vector<double> values;
  for (const bench::sample* sample : samples)
    if (const std::optional<double> value = what.of(*sample)) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  return bench::median_of(std::move(values));
}

/// "1 node", "1 to 4 nodes".
std::string count_of(const std::set<int>& numbers, const char* what) {
  if (numbers.size() == 1)
    return fmt::format("{} {}{}", *numbers.begin(), what, *numbers.begin() == 1 ? "" : "s");
  return fmt::format("{} to {} {}s", *numbers.begin(), *numbers.rbegin(), what);
}

/// Lines of a comment, none of which is long.
void print_comment(const std::vector<std::string>& phrases) {
  constexpr std::size_t width = 118;
  std::string line = "#";
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    const std::string phrase = phrases[i] + (i + 1 < phrases.size() ? ";" : "");
    if (line.size() + 1 + phrase.size() > width && line.size() > 1) {
      fmt::print("{}\n", line);
      line = "#  ";
    }
    line += " " + phrase;
  }
  fmt::print("{}\n", line);
}

/// The table of one benchmark.
class benchmark_table {
 public:
  benchmark_table(const bench::benchmark& of, const std::vector<result>& results, const table_layout& layout)
      : benchmark_(&of), layout_(&layout) {
    // Sorted by place in the user's order, then by scenario.
    for (const result& each : results)
      if (configuration_of(each.configuration).benchmark == &of)
        lines_[{each.configuration, each.sample.scenario.value_or("")}].push_back(&each.sample);
    find_coordinates();
    for (const bench::column& each : of.columns)
      if (each.how != bench::standing::recorded) columns_.push_back(&each);
  }

  void print() const {
    if (lines_.empty()) return;
    print_heading();
    print_legend();
    print_heads();
    bool all_steady = true;
    for (const auto& [key, samples] : lines_) {
      print_line(key.first, key.second, samples);
      all_steady = all_steady && bench::is_steady(samples);
    }
    if (!all_steady)
      fmt::print(
          "# not steady: from the first to the second half of the measured time the throughput changes by "
          "more than {:.0f} %, or a rank has fewer than {} turns on average{}\n",
          bench::steady_drift * 100, bench::steady_turns, cure());
    for (const bench::remark& each : benchmark_->remarks) {
      double sum = 0;
      for (const auto& [key, samples] : lines_) sum += total(samples, each);
      if (sum > 0) fmt::print("# {}: {:.0f} {}\n", each.name, sum, each.meaning);
    }
  }

 private:
  static constexpr std::size_t width_of_short_names = 24;
  static constexpr std::size_t width_of_scenario = 9;
  static constexpr std::size_t width_of_interval = 11;
  static constexpr std::size_t width_of_figure = 9;

  [[nodiscard]] const configuration& configuration_of(std::size_t index) const {
    return layout_->configurations[index];
  }

  /// Those that are not the same in all lines.
  void find_coordinates() {
    std::map<std::string, std::set<std::string>> texts;
    std::vector<std::string> order;
    for (const auto& [key, samples] : lines_)
      for (const coordinate& each : coordinates_of(configuration_of(key.first), *samples.front())) {
        if (!texts.contains(each.name)) order.push_back(each.name);
        texts[each.name].insert(each.text);
      }
    for (const std::string& name : order) {
      if (texts[name].size() < 2) continue;
      std::size_t width = name.size();
      for (const std::string& text : texts[name]) width = std::max(width, text.size());
      coordinates_.emplace_back(name, width + 2);
    }
  }

  void print_heading() const {
    std::set<int> ranks;
    std::set<int> nodes;
    std::set<int> repetitions;
    for (const auto& [key, samples] : lines_) {
      ranks.insert(samples.front()->ranks);
      nodes.insert(samples.front()->nodes);
      repetitions.insert(static_cast<int>(samples.size()));
    }
    fmt::print("# nearfar {}, {} world, {} on {}, {}\n", benchmark_->name, layout_->world,
               count_of(ranks, "rank"), count_of(nodes, "node"), count_of(repetitions, "repetition"));
  }

  void print_legend() const {
    std::vector<std::string> others;
    for (const bench::column* shown : columns_) {
      const bench::column& each = *shown;
      if (!each.has_interval) {
        others.push_back(fmt::format("{}: {}", each.head, each.meaning));
        continue;
      }
      fmt::print("# {}: {}; low, high: {}\n", each.head, each.meaning, kind_of_interval(each));
    }
    if (!others.empty()) print_comment(others);
    if (layout_->oversubscribed)
      fmt::print("# more ranks than processors: times include waiting for the scheduler\n");
    if (benchmark_->scenarios) print_comment({"scenario: " + benchmark_->scenarios->meaning});
  }

  [[nodiscard]] const char* kind_of_interval(const bench::column& of) const {
    std::set<bool> kinds;
    for (const auto& [key, samples] : lines_) {
      const auto value = over(samples, of);
      kinds.insert(value && value->is_confidence);
    }
    if (kinds.size() == 2) return "95 % interval of the median, or the range of fewer than 6 repetitions";
    return *kinds.begin() ? "95 % interval of the median"
                          : "range, as fewer than 6 repetitions give no 95 % interval";
  }

  /// The advice that makes figures steady.
  [[nodiscard]] std::string cure() const {
    const auto effort = std::find_if(benchmark_->axes.begin(), benchmark_->axes.end(),
                                     [](const bench::axis& each) { return each.is_effort; });
    return effort == benchmark_->axes.end() ? "" : fmt::format("; raise {}", effort->option());
  }

  [[nodiscard]] std::size_t width_of_names() const {
    std::size_t width = width_of_short_names;
    for (const auto& [key, samples] : lines_)
      width = std::max(width, configuration_of(key.first).object->name.size() + 1);
    return width;
  }

  void print_heads() const {
    std::string line = fmt::format("{:<{}}", "# " + benchmark_->kind->name, width_of_names());
    if (benchmark_->scenarios) line += fmt::format("{:>{}}", "scenario", width_of_scenario);
    for (const auto& [name, width] : coordinates_) line += fmt::format("{:>{}}", name, width);
    for (const bench::column* shown : columns_) {
      const bench::column& each = *shown;
      if (each.has_interval)
        line += fmt::format("{0:>{3}}{1:>{3}}{2:>{3}}", each.head, "low", "high", width_of_interval);
      else
        line += fmt::format("{:>{}}", each.head, width_of_figure);
    }
    fmt::print("{}\n", line);
  }

  void print_line(std::size_t index, const std::string& scenario, const group& samples) const {
    const configuration& of = configuration_of(index);
    std::string line = fmt::format("{:<{}}", of.object->name, width_of_names());
    if (benchmark_->scenarios) line += fmt::format("{:>{}}", scenario, width_of_scenario);
    const std::vector<coordinate> here = coordinates_of(of, *samples.front());
    for (const auto& [name, width] : coordinates_) {
      const std::string* mine = command::text_of(here, name);
      line += fmt::format("{:>{}}", mine == nullptr ? "-" : *mine, width);
    }
    for (const bench::column* shown : columns_) {
      const bench::column& each = *shown;
      const auto value = over(samples, each);
      const auto cell = [&](double bench::median_interval::*part, std::size_t width) {
        // The space keeps a figure that is wider than its column apart from its neighbour.
        line += value ? fmt::format(" {:>{}.{}f}", (*value).*part, width - 1, each.digits)
                      : fmt::format("{:>{}}", "-", width);
      };
      cell(&bench::median_interval::median, each.has_interval ? width_of_interval : width_of_figure);
      if (!each.has_interval) continue;
      cell(&bench::median_interval::low, width_of_interval);
      cell(&bench::median_interval::high, width_of_interval);
    }
    fmt::print("{}{}\n", line, remark_on(samples));
  }

  static double total(const group& samples, const bench::remark& what) {
    return std::accumulate(samples.begin(), samples.end(), 0.0, [&](double sum, const bench::sample* each) {
      return sum + each->count(what.name).value_or(0);
    });
  }

  /// The remarks on a line's figures that readers must know.
  [[nodiscard]] std::string remark_on(const group& samples) const {
    std::string counted;
    for (const bench::remark& each : benchmark_->remarks)
      if (total(samples, each) > 0) counted += "  " + each.name;
    const bool verified =
        std::all_of(samples.begin(), samples.end(), [](const auto* s) { return s->verified; });
    return fmt::format("{}{}{}{}", bench::is_steady(samples) ? "" : "  not steady", counted,
                       samples.front()->sound ? "" : "  unsound", verified ? "" : "  VOID");
  }

  const bench::benchmark* benchmark_;
  const table_layout* layout_;
  std::map<std::pair<std::size_t, std::string>, group> lines_;
  std::vector<std::pair<std::string, std::size_t>> coordinates_;  // names and widths
  std::vector<const bench::column*> columns_;
};

}  // namespace

void print_tables(const std::vector<result>& results, const table_layout& layout) {
  if (layout.format == table_format::osu) {
    fmt::print("{}", osu_text(results, layout));
    return;
  }
  std::vector<const bench::benchmark*> shown;
  for (const configuration& each : layout.configurations) {
    if (std::find(shown.begin(), shown.end(), each.benchmark) != shown.end()) continue;
    shown.push_back(each.benchmark);
    benchmark_table(*each.benchmark, results, layout).print();
  }
}

}  // namespace nearfar::command
