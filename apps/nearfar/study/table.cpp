#include "apps/nearfar/study/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "apps/nearfar/shared/prediction_scope.hpp"
#include "apps/nearfar/study/coordinates.hpp"
#include "apps/nearfar/study/osu.hpp"
#include "apps/nearfar/study/reference.hpp"
#include "bench/results/statistics.hpp"

namespace nearfar::command {

namespace {

/// Samples of one line of the table.
using group = std::vector<const bench::sample*>;

std::optional<bench::median_interval> over(const group& samples, const bench::column& what) {
  std::vector<double> values;
  for (const bench::sample* sample : samples)
    if (const std::optional<double> value = what.value_of(*sample)) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  return bench::median_of(std::move(values));
}

/// Times of a group over those of another in the same repetition.
std::optional<bench::median_interval> ratio(const group& samples, const group& references) {
  std::vector<double> values;
  for (const bench::sample* sample : samples)
    for (const bench::sample* reference : references)
      if (reference->repetition == sample->repetition)
        values.push_back(sample->ns_per_acquisition() / reference->ns_per_acquisition());
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
std::string comment(const std::vector<std::string>& phrases) {
  constexpr std::size_t width = 118;
  std::string text;
  std::string line = "#";
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    const std::string phrase = phrases[i] + (i + 1 < phrases.size() ? ";" : "");
    if (line.size() + 1 + phrase.size() > width && line.size() > 1) {
      text += line + "\n";
      line = "#  ";
    }
    line += " " + phrase;
  }
  return text + line + "\n";
}

using line_key = growing_tables::line_key;

/// Sorted by place in the user's order, then by scenario.
using lines_of_table = std::map<line_key, group>;

/// The samples of a line so far.
using samples_at = std::function<group(const line_key&)>;

line_key key_of(const result& of) { return {of.configuration, of.sample.scenario.value_or("")}; }

}  // namespace

/// The table of one benchmark.
class benchmark_table {
 public:
  /// `results` has a sample for each line at least. `repetitions` is their number in the end, if it is known.
  benchmark_table(const bench::benchmark& of, const std::vector<result>& results, const table_layout& layout,
                  std::optional<std::size_t> repetitions = std::nullopt)
      : benchmark_(&of), layout_(&layout), repetitions_(repetitions) {
    for (const result& each : results)
      if (configuration_of(each.configuration).benchmark == &of) lines_[key_of(each)].push_back(&each.sample);
    find_coordinates();
    for (const bench::column& each : of.columns)
      if (each.how != bench::standing::recorded) columns_.push_back(&each);
    for (const auto& [key, samples] : lines_)
      width_of_names_ = std::max(width_of_names_, configuration_of(key.first).object->name.size() + 1);
  }

  [[nodiscard]] const lines_of_table& lines() const { return lines_; }

  /// All of it.
  [[nodiscard]] std::string text() const {
    if (lines_.empty()) return "";
    std::string text = head();
    const samples_at here = [this](const line_key& key) { return lines_.at(key); };
    for (const auto& [key, samples] : lines_) text += line(key, here);
    return text + foot(lines_);
  }

  /// The lines before the first one with figures.
  [[nodiscard]] std::string head() const { return heading() + legend() + heads(); }

  /// The lines that a line's ratios refer to.
  [[nodiscard]] std::set<line_key> references_of(const line_key& key) const {
    std::set<line_key> all;
    for (const bench::column* each : columns_)
      if (each->relative)
        if (const auto reference = reference_at(key, *each->relative)) all.insert(*reference);
    return all;
  }

  [[nodiscard]] std::string line(const line_key& key, const samples_at& samples_of) const {
    const group samples = samples_of(key);
    const configuration& of = configuration_of(key.first);
    std::string line = fmt::format("{:<{}}", of.object->name, width_of_names_);
    if (benchmark_->scenarios) line += fmt::format("{:>{}}", key.second, width_of_scenario);
    const std::vector<coordinate> here = coordinates_of(of, *samples.front());
    for (const auto& [name, width] : coordinates_) {
      const std::string* mine = command::text_of(here, name);
      line += fmt::format("{:>{}}", mine == nullptr ? "-" : *mine, width);
    }
    for (const bench::column* shown : columns_) {
      const bench::column& each = *shown;
      const auto value =
          each.relative ? ratio_of(key, samples, *each.relative, samples_of) : over(samples, each);
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
    return fmt::format("{}{}\n", line, remark_on(samples));
  }

  /// The notes on the lines.
  [[nodiscard]] std::string foot(const lines_of_table& all) const {
    std::string text;
    if (!std::ranges::all_of(all, [](const auto& one) { return bench::is_steady(one.second); }))
      text += fmt::format(
          "# not steady: from the first to the second half of the measured time the throughput changes by "
          "more than {:.0f} %, or a rank has fewer than {} turns or {:.0f} % of the ranks' median{}\n",
          bench::steady_drift * 100, bench::steady_turns, bench::steady_share * 100, cure());
    std::map<prediction_scope, std::set<std::string>> predictions;
    bool has_work_or_waits = false;
    for (const auto& [key, samples] : all)
      for (const bench::sample* one : samples) {
        const auto low = one->count("predicted_low");
        const auto high = one->count("predicted_high");
        if (!low || !high || one->iterations == 0) continue;
        const double beside = time_beside_lock(*one).value_or(0);
        const double of_lock = one->ns_per_acquisition() - beside;
        has_work_or_waits = has_work_or_waits || one->count("optimum_ns").value_or(0) > 0;
        const prediction_scope where = scope_of(one->nodes, one->scenario.value_or(""));
        predictions[where].insert(fmt::format("{} to {} times as long {}",
                                              factor_text((*low - beside) / of_lock),
                                              factor_text((*high - beside) / of_lock), text_of(where)));
      }
    std::vector<std::string> in_order;
    for (const auto& [where, texts] : predictions)
      in_order.insert(in_order.end(), texts.begin(), texts.end());
    if (!in_order.empty())
      text += fmt::format("# in 90 of 100 cases the real machine takes {}{}\n{}",
                          has_work_or_waits ? "beyond work and waits " : "", fmt::join(in_order, "; "),
                          without_prediction(all));
    for (const bench::remark& each : benchmark_->remarks) {
      double sum = 0;
      for (const auto& [key, samples] : all) sum += total(samples, each);
      if (sum > 0) text += fmt::format("# {}: {:.0f} {}\n", each.name, sum, each.meaning);
    }
    return text;
  }

 private:
  /// With two digits behind the point, or with two that are not 0.
  static std::string factor_text(double factor) {
    constexpr double small = 0.1;
    return factor < small ? fmt::format("{:.2g}", factor) : fmt::format("{:.2f}", factor);
  }

  /// Names the locks for which the interval of the other lines does not hold.
  [[nodiscard]] std::string without_prediction(const lines_of_table& all) const {
    std::vector<std::string> names;
    for (const auto& [key, samples] : all) {
      const bench::object& of = *configuration_of(key.first).object;
      if (has_no_prediction(*benchmark_, of) && std::ranges::find(names, of.name) == names.end())
        names.push_back(of.name);
    }
    if (names.empty()) return "";
    return fmt::format(
        "# how long the real machine takes is not known of {}: ranks that wait there poll words of other "
        "ranks, "
        "which the simulation makes too cheap\n",
        fmt::join(names, ", "));
  }

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

  [[nodiscard]] std::string heading() const {
    std::set<int> ranks;
    std::set<int> nodes;
    std::set<int> repetitions;
    for (const auto& [key, samples] : lines_) {
      ranks.insert(samples.front()->ranks);
      nodes.insert(samples.front()->nodes);
      repetitions.insert(static_cast<int>(repetitions_.value_or(samples.size())));
    }
    const std::string repeated = count_of(repetitions, "repetition");
    if (benchmark_->is_of_teams())
      return fmt::format("# nearfar {}, a team of {}, {}\n", benchmark_->name, count_of(ranks, "thread"),
                         repeated);
    return fmt::format("# nearfar {}, {} world, {} on {}, {}\n", benchmark_->name, layout_->world,
                       count_of(ranks, "rank"), count_of(nodes, "node"), repeated);
  }

  [[nodiscard]] std::string legend() const {
    std::string text;
    std::vector<std::string> others;
    for (const bench::column* shown : columns_) {
      const bench::column& each = *shown;
      if (!each.has_interval) {
        others.push_back(fmt::format("{}: {}", each.head, each.meaning));
        continue;
      }
      text += fmt::format("# {}: {}; low, high: {}\n", each.head, each.meaning, kind_of_interval(each));
    }
    if (!others.empty()) text += comment(others);
    if (layout_->oversubscribed)
      text += "# more ranks than processors: times include waiting for the scheduler\n";
    if (benchmark_->scenarios) text += comment({"scenario: " + benchmark_->scenarios->meaning});
    return text;
  }

  [[nodiscard]] const char* kind_of_interval(const bench::column& of) const {
    constexpr std::size_t least_for_confidence = 6;
    std::set<bool> kinds;
    if (repetitions_) {
      kinds.insert(*repetitions_ >= least_for_confidence);
    } else {
      for (const auto& [key, samples] : lines_) {
        const auto value = over(samples, of);
        kinds.insert(value && value->is_confidence);
      }
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

  [[nodiscard]] std::string heads() const {
    std::string line = fmt::format("{:<{}}", "# " + benchmark_->kind->name, width_of_names_);
    if (benchmark_->scenarios) line += fmt::format("{:>{}}", "scenario", width_of_scenario);
    for (const auto& [name, width] : coordinates_) line += fmt::format("{:>{}}", name, width);
    for (const bench::column* shown : columns_) {
      const bench::column& each = *shown;
      if (each.has_interval)
        line += fmt::format("{0:>{3}}{1:>{3}}{2:>{3}}", each.head, "low", "high", width_of_interval);
      else
        line += fmt::format("{:>{}}", each.head, width_of_figure);
    }
    return line + "\n";
  }

  [[nodiscard]] std::optional<line_key> reference_at(const line_key& key, const bench::relation& by) const {
    std::vector<std::size_t> measured;
    for (const auto& [other, group_of_line] : lines_)
      if (other.second == key.second) measured.push_back(other.first);
    const auto reference = reference_of(key.first, by, layout_->configurations, measured);
    if (!reference) return std::nullopt;
    return line_key(*reference, key.second);
  }

  [[nodiscard]] std::optional<bench::median_interval> ratio_of(const line_key& key, const group& samples,
                                                               const bench::relation& by,
                                                               const samples_at& samples_of) const {
    const auto reference = reference_at(key, by);
    if (!reference) return std::nullopt;
    const group others = samples_of(*reference);
    return others.empty() ? std::nullopt : std::optional(ratio(samples, others));
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
  std::optional<std::size_t> repetitions_;
  lines_of_table lines_;
  std::size_t width_of_names_ = width_of_short_names;
  std::vector<std::pair<std::string, std::size_t>> coordinates_;  // names and widths
  std::vector<const bench::column*> columns_;
};

namespace {

/// Each once, in the order of the configurations.
std::vector<const bench::benchmark*> benchmarks_of(const table_layout& layout) {
  std::vector<const bench::benchmark*> all;
  for (const configuration& each : layout.configurations)
    if (std::find(all.begin(), all.end(), each.benchmark) == all.end()) all.push_back(each.benchmark);
  return all;
}

}  // namespace

std::string tables_text(const std::vector<result>& results, const table_layout& layout) {
  if (layout.format == table_format::osu) return osu_text(results, layout);
  std::string text;
  for (const bench::benchmark* each : benchmarks_of(layout))
    text += benchmark_table(*each, results, layout).text();
  return text;
}

struct growing_tables::parts {
  parts(std::vector<result> of_all, table_layout of, std::size_t count)
      : lines(std::move(of_all)), layout(std::move(of)), repetitions(count) {
    if (layout.format == table_format::osu) return;
    for (const bench::benchmark* each : benchmarks_of(layout)) {
      benchmark_table made(*each, lines, layout, repetitions);
      for (const auto& [key, samples] : made.lines()) order.push_back({tables.size(), key});
      tables.push_back(std::move(made));
    }
  }

  struct place {
    std::size_t table;
    line_key key;
  };

  /// Takes the results that are new.
  void take(const std::vector<result>& results) {
    for (; taken < results.size(); ++taken) found[key_of(results[taken])].push_back(taken);
  }

  [[nodiscard]] group samples_of(const line_key& key, const std::vector<result>& results) const {
    group samples;
    if (const auto here = found.find(key); here != found.end())
      for (const std::size_t index : here->second) samples.push_back(&results[index].sample);
    return samples;
  }

  /// The line, with the head or the notes of its table if it is the first or the last.
  [[nodiscard]] std::string text_at(std::size_t position, const group& samples,
                                    const std::vector<result>& results) const {
    const place& at = order[position];
    const benchmark_table& table = tables[at.table];
    std::string text;
    if (position == 0 || order[position - 1].table != at.table) text += table.head();
    if (!samples.empty())
      text += table.line(at.key, [&](const line_key& key) { return samples_of(key, results); });
    if (position + 1 < order.size() && order[position + 1].table == at.table) return text;
    lines_of_table all;
    for (const auto& [key, line] : table.lines())
      if (group of_line = samples_of(key, results); !of_line.empty()) all[key] = std::move(of_line);
    return text + table.foot(all);
  }

  /// Whether a line has all its figures, the ratios among them.
  [[nodiscard]] bool is_ready(const place& at, const std::vector<result>& results) const {
    const auto has_all = [&](const line_key& key) { return samples_of(key, results).size() >= repetitions; };
    const std::set<line_key> others = tables[at.table].references_of(at.key);
    return has_all(at.key) && std::ranges::all_of(others, has_all);
  }

  [[nodiscard]] bool has_results(std::size_t table) const {
    return std::ranges::any_of(tables[table].lines(),
                               [&](const auto& line) { return found.contains(line.first); });
  }

  std::vector<result> lines;  // a sample of each, without figures
  table_layout layout;
  std::size_t repetitions;
  std::vector<benchmark_table> tables;
  std::vector<place> order;
  std::map<line_key, std::vector<std::size_t>> found;  // indices of results
  std::size_t taken = 0;
  std::size_t printed = 0;
};

growing_tables::growing_tables(const std::vector<result>& lines, const table_layout& layout,
                               std::size_t repetitions)
    : parts_(std::make_unique<parts>(lines, layout, repetitions)) {}

growing_tables::~growing_tables() = default;
growing_tables::growing_tables(growing_tables&&) noexcept = default;
growing_tables& growing_tables::operator=(growing_tables&&) noexcept = default;

std::string growing_tables::ready_lines(const std::vector<result>& results) {
  parts_->take(results);
  std::string text;
  for (; parts_->printed < parts_->order.size(); ++parts_->printed) {
    const parts::place& at = parts_->order[parts_->printed];
    if (!parts_->is_ready(at, results)) break;
    const group samples = parts_->samples_of(at.key, results);
    text += parts_->text_at(parts_->printed, samples, results);
  }
  return text;
}

std::string growing_tables::rest(const std::vector<result>& results) {
  if (parts_->printed == 0) return tables_text(results, parts_->layout);
  std::string text = ready_lines(results);
  if (parts_->printed < parts_->order.size())
    text += "# ended early: the lines below have fewer repetitions\n";
  for (; parts_->printed < parts_->order.size(); ++parts_->printed) {
    const parts::place& at = parts_->order[parts_->printed];
    if (parts_->has_results(at.table))
      text += parts_->text_at(parts_->printed, parts_->samples_of(at.key, results), results);
  }
  return text;
}

}  // namespace nearfar::command
