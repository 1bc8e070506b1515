#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "apps/nearfar/loops/loops.hpp"
#include "bench/statistics.hpp"

namespace nearfar::command {

namespace {

using bench::loop_case;
using bench::loop_sample;
using bench::relax_case;
using bench::triad_case;

/// How well a case suits as the reference of another: more is better, nothing if not at all.
std::optional<int> fit_of(const triad_case& reference, const triad_case& of) {
  if (reference.kernel != of.kernel || reference.length != of.length || reference.threads != of.threads)
    return std::nullopt;
  const bool same_chunk = reference.chunk == of.chunk;
  const bool same_stores = reference.stores == of.stores;
  const bool same_pages = reference.placement == of.placement;
  const bool parallel = reference.initialisation == bench::loop_initialisation::parallel;
  return 8 * static_cast<int>(same_stores) + 4 * static_cast<int>(same_chunk) +
         2 * static_cast<int>(same_pages) + static_cast<int>(parallel);
}

std::optional<int> fit_of(const relax_case& reference, const relax_case& of) {
  if (reference.rows != of.rows || reference.columns != of.columns || reference.threads != of.threads ||
      reference.decomposition != of.decomposition)
    return std::nullopt;
  return static_cast<int>(reference.initialisation == bench::loop_initialisation::parallel);
}

bench::loop_container container_of(const loop_case& of) {
  return std::visit([](const auto& each) { return each.container; }, of);
}

std::optional<int> fit_of(const loop_case& reference, const loop_case& of) {
  return std::visit(
      [](const auto& a, const auto& b) -> std::optional<int> {
        if constexpr (std::is_same_v<decltype(a), decltype(b)>)
          return fit_of(a, b);
        else
          return std::nullopt;
      },
      reference, of);
}

bench::median_interval over(const std::vector<loop_sample>& samples,
                            const std::function<std::optional<double>(const loop_sample&)>& value) {
  std::vector<double> values;
  for (const loop_sample& sample : samples) values.push_back(value(sample).value_or(0));
  return bench::median_of(std::move(values));
}

/// The rate that the benchmark reports as its speed.
struct rate {
  const char* name;
  std::optional<double> (*of)(const loop_sample&);
};

rate rate_of(const std::string& benchmark) {
  if (benchmark == "relax") return {"MLup/s", [](const loop_sample& s) { return s.mlups(); }};
  if (benchmark == "stream") {
    return {"MB/s", [](const loop_sample& s) -> std::optional<double> {
              constexpr double mega_per_giga = 1e3;
              return s.gbytes_per_s().value_or(0) * mega_per_giga;
            }};
  }
  return {"MFlop/s", [](const loop_sample& s) { return s.mflops(); }};
}

/// Columns that tell cases from each other.
std::vector<std::string> titles_of(const std::string& benchmark) {
  if (benchmark == "relax") return {"threads", "rows", "columns", "split"};
  std::vector<std::string> titles{"threads", "length", "chunk", "segs", "stores"};
  if (benchmark == "stream") titles.insert(titles.begin(), "loop");
  return titles;
}

std::vector<std::string> cells_of(const std::string& benchmark, const loop_sample& of) {
  const auto number = [](const std::optional<std::size_t>& value) {
    return value && *value != 0 ? fmt::format("{}", *value) : std::string("-");
  };
  if (benchmark == "relax")
    return {fmt::format("{}", of.threads), number(of.rows), number(of.columns),
            of.decomposition->substr(0, 10)};
  std::vector<std::string> cells{fmt::format("{}", of.threads), number(of.length), number(of.chunk),
                                 number(of.segments), *of.stores};
  if (benchmark == "stream") cells.insert(cells.begin(), of.benchmark);
  return cells;
}

}  // namespace

int loop_results::reference_of(std::size_t index) const {
  int best = -1;
  std::optional<int> best_fit;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (container_of(cases[i]) != bench::loop_container::array) continue;
    if (container_of(cases[index]) == bench::loop_container::array && i != index) continue;
    const std::optional<int> fit = fit_of(cases[i], cases[index]);
    if (!fit || (best_fit && *fit <= *best_fit)) continue;
    best = static_cast<int>(i);
    best_fit = fit;
  }
  return best;
}

std::vector<double> loop_results::times_of_reference(std::size_t index) const {
  const int reference = reference_of(index);
  if (reference < 0) return {};
  const std::vector<loop_sample>& base = samples[static_cast<std::size_t>(reference)];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < samples[index].size(); ++i)
    ratios.push_back(samples[index][i].ns_per_iteration() / base[i].ns_per_iteration());
  return ratios;
}

bool loop_results::all_verified() const {
  for (const auto& of_case : samples)
    for (const loop_sample& sample : of_case)
      if (!sample.verified) return false;
  return true;
}

void print_loop_table(const loop_results& results, const loop_heading& heading) {
  const rate fast = rate_of(heading.benchmark);
  const bool has_bytes = heading.benchmark != "relax";
  const std::vector<loop_sample>& first = results.samples.front();
  fmt::print("# nearfar {}, {} repetition{} of {:g} s or more, pinning {}\n", heading.benchmark, first.size(),
             first.size() == 1 ? "" : "s", heading.min_time, heading.pinning);
  fmt::print("# {}: median of the repetitions; low, high: {}; best\n", fast.name,
             over(first, fast.of).is_confidence ? "95 % interval of the median"
                                                : "range, as fewer than 6 repetitions give no 95 % interval");
  if (has_bytes)
    fmt::print(
        "# GB/s: bytes that the program reads and writes; +rfo: also bytes read before they are "
        "overwritten\n");
  fmt::print("# x array: time over that of array in the same repetition, median\n");
  const std::vector<std::string> titles = titles_of(heading.benchmark);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::size_t width = titles[i].size();
    for (const auto& samples : results.samples)
      width = std::max(width, cells_of(heading.benchmark, samples.front())[i].size());
    widths.push_back(width + 2);
  }
  const auto line_of = [&](const std::string& container, const std::string& initialisation,
                           const std::vector<std::string>& cells) {
    std::string line = fmt::format("{:<19}{:<9}", container, initialisation);
    for (std::size_t i = 0; i < cells.size(); ++i) line += fmt::format("{:>{}}", cells[i], widths[i]);
    return line;
  };
  fmt::print("{}{:>11}{:>11}{:>11}{:>11}{}{:>9}\n", line_of("# container", "init", titles), fast.name, "low",
             "high", "best", has_bytes ? fmt::format("{:>9}{:>9}", "GB/s", "+rfo") : "", "x array");
  for (std::size_t i = 0; i < results.samples.size(); ++i) {
    const std::vector<loop_sample>& samples = results.samples[i];
    const bench::median_interval speed = over(samples, fast.of);
    double best = 0;
    for (const loop_sample& sample : samples) best = std::max(best, fast.of(sample).value_or(0));
    std::string line = line_of(samples.front().container, samples.front().initialisation,
                               cells_of(heading.benchmark, samples.front()));
    line += fmt::format("{:>11.1f}{:>11.1f}{:>11.1f}{:>11.1f}", speed.median, speed.low, speed.high, best);
    if (has_bytes)
      line += fmt::format("{:>9.2f}{:>9.2f}",
                          over(samples, [](const auto& s) { return s.gbytes_per_s(); }).median,
                          over(samples, [](const auto& s) { return s.gbytes_per_s_with_rfo(); }).median);
    const std::vector<double> ratios = results.times_of_reference(i);
    line +=
        ratios.empty() ? fmt::format("{:>9}", "-") : fmt::format("{:>9.3f}", bench::median_of(ratios).median);
    const bool verified =
        std::all_of(samples.begin(), samples.end(), [](const auto& s) { return s.verified; });
    fmt::print("{}{}\n", line, verified ? "" : "  VOID");
  }
}

}  // namespace nearfar::command
