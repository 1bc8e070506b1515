#include "apps/nearfar/shared/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bench/statistics.hpp"

namespace nearfar::command {

namespace {

/// Samples of one line of the table.
using group = std::vector<const bench::sample*>;

template <typename Value>
bench::median_interval over(const group& samples, Value value) {
  std::vector<double> values;
  for (const bench::sample* sample : samples) values.push_back(value(*sample));
  return bench::median_of(std::move(values));
}

/// Median share in percent, or a dash where the lock cannot tell.
template <typename Share>
std::string percent(const group& samples, Share share) {
  std::vector<double> values;
  for (const bench::sample* sample : samples)
    if (const std::optional<double> value = share(*sample)) values.push_back(*value * 100);
  return values.empty() ? "-" : fmt::format("{:.1f}", bench::median_of(std::move(values)).median);
}

std::optional<double> share_of(const std::optional<std::int64_t>& count, std::int64_t all) {
  if (!count || all == 0) return std::nullopt;
  return static_cast<double>(*count) / static_cast<double>(all);
}

/// Median in million acquisitions a second. Not the inverse of the median time where that is a mean of two.
double throughput(const group& samples) {
  return over(samples,
              [](const auto& s) {
                const double time = s.ns_per_acquisition();
                return time > 0 ? 1000 / time : 0;
              })
      .median;
}

std::string interval_note(const group& samples) {
  return over(samples, [](const auto& s) { return s.ns_per_acquisition(); }).is_confidence
             ? "95 % interval of the median"
             : "range, as fewer than 6 repetitions give no 95 % interval";
}

/// What readers must know of a line's figures.
std::string remark_on(const group& samples) {
  const bool verified =
      std::all_of(samples.begin(), samples.end(), [](const auto* s) { return s->verified; });
  return fmt::format("{}{}{}", bench::is_steady(samples) ? "" : "  not steady",
                     samples.front()->sound ? "" : "  unsound", verified ? "" : "  VOID");
}

void print_ecsb_line(const std::string& lock, const group& samples) {
  const auto time = over(samples, [](const auto& s) { return s.ns_per_acquisition(); });
  const auto cv =
      over(samples, [](const auto& s) { return bench::coefficient_of_variation(s.iterations_per_rank); });
  fmt::print("{:<24}{:>11.1f}{:>11.1f}{:>11.1f}{:>9.3f}{:>8.4f}{:>8}{:>8}{:>8}{}\n", lock, time.median,
             time.low, time.high, throughput(samples), cv.median,
             percent(samples, [](const auto& s) { return share_of(s.contended, s.iterations); }),
             percent(samples, [](const auto& s) { return share_of(s.local_handovers, s.iterations); }),
             percent(samples, [](const auto& s) { return s.followed_other_share; }), remark_on(samples));
}

void print_upb_line(const std::string& lock, const std::string& scenario, const group& samples) {
  const auto time = over(samples, [](const auto& s) { return s.ns_per_acquisition(); });
  fmt::print("{:<24}{:>9}{:>11.1f}{:>11.1f}{:>11.1f}{:>9.3f}{}\n", lock, scenario, time.median, time.low,
             time.high, throughput(samples), remark_on(samples));
}

}  // namespace

void print_table(const std::vector<bench::sample>& samples, const measurement& of, const locality& where) {
  if (samples.empty()) return;
  // Sorted by place in the user's order, then by scenario.
  std::map<std::pair<std::size_t, std::string>, group> lines;
  for (const bench::sample& sample : samples) {
    const auto place =
        static_cast<std::size_t>(std::find(of.locks.begin(), of.locks.end(), sample.lock) - of.locks.begin());
    lines[{place, sample.scenario.value_or("")}].push_back(&sample);
  }
  const bool is_upb = of.benchmark == "upb";
  fmt::print("# nearfar {}, {} world, {} rank{} on {} node{}, {} repetitions\n", of.benchmark,
             samples.front().world, where.size(), where.size() == 1 ? "" : "s", where.groups(level::node),
             where.groups(level::node) == 1 ? "" : "s", lines.begin()->second.size());
  fmt::print("# ns: median time from one acquisition to the next over all ranks; low, high: {}\n",
             interval_note(lines.begin()->second));
  if (of.oversubscribed)
    fmt::print("# more ranks than processors: times include waiting for the scheduler\n");
  if (is_upb) {
    fmt::print(
        "# scenario: last holder was 1 the same rank, 2 on the same node, 3 on another; the lock's home is a "
        "here, b on "
        "this node, c on another\n");
    fmt::print("{:<24}{:>9}{:>11}{:>11}{:>11}{:>9}\n", "# lock", "scenario", "ns", "low", "high", "Mio/s");
  } else {
    fmt::print(
        "# cv: variation of the ranks' progress; wait, local, other: % of acquisitions that waited, were "
        "handed over "
        "within the node, followed another rank's (warm-up)\n");
    fmt::print("{:<24}{:>11}{:>11}{:>11}{:>9}{:>8}{:>8}{:>8}{:>8}\n", "# lock", "ns", "low", "high", "Mio/s",
               "cv", "wait", "local", "other");
  }
  bool all_steady = true;
  for (const auto& [key, line] : lines) {
    const std::string& lock = line.front()->lock;
    is_upb ? print_upb_line(lock, key.second, line) : print_ecsb_line(lock, line);
    all_steady = all_steady && bench::is_steady(line);
  }
  if (!all_steady)
    fmt::print(
        "# not steady: from the first to the second half of the measured time the throughput changes by more "
        "than {:.0f} %, or a rank has fewer than {} turns on average; take a longer --duration\n",
        bench::steady_drift * 100, bench::steady_turns);
}

}  // namespace nearfar::command
