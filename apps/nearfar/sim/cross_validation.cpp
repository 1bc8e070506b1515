#include "apps/nearfar/sim/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/machine_fields.hpp"
#include "apps/nearfar/shared/prediction_scope.hpp"

namespace nearfar::command {

namespace {

template <typename Predicate>
published_data only(published_data data, Predicate is_chosen) {
  const auto other = [&](const measured_point& point) { return !is_chosen(point); };
  std::erase_if(data.ecsb, other);
  std::erase_if(data.upb, other);
  return data;
}

/// Calls `use` for each point of the benchmarks.
template <typename Points, typename Use>
void for_each_point(Points& of, Use use) {
  for (auto* points : {&of.ecsb, &of.upb})
    for (auto& point : *points) use(point);
}

prediction_scope scope_of(const measured_point& point) {
  return command::scope_of(point.shape.nodes, point.scenario);
}

/// The deviations of all points of a scope, except those of one fold.
std::vector<double> deviations_of(const std::vector<fold>& folds, prediction_scope of, const fold* without) {
  std::vector<double> result;
  for (const fold& one : folds) {
    if (&one == without || (without != nullptr && one.by != without->by)) continue;
    for_each_point(one.blind, [&](const judged_point& point) {
      if (scope_of(point.measured) == of) result.push_back(point.deviation());
    });
  }
  return result;
}

/// With fewer in the interval of 90 %, the wholes differ so much that the next may lie outside.
constexpr double few = 0.75;

std::string text_of(const simulation::prediction_interval& of) {
  return of.is_known() ? fmt::format("{:.2f} to {:.2f}", of.low, of.high) : "not known";
}

std::string median_text(const std::vector<judged_point>& points) {
  return points.empty() ? "-" : fmt::format("{:.3f}", comparison::median_deviation(points));
}

/// Of one node and of four, all of whose cores are taken.
std::vector<judged_point> full(const std::vector<judged_point>& points, int nodes) {
  std::vector<judged_point> result;
  constexpr int cores = 28;
  for (const judged_point& point : points)
    if (point.measured.shape.nodes == nodes && point.measured.shape.ranks_per_node == cores)
      result.push_back(point);
  return result;
}

void print_all(const std::vector<fold>& folds, const std::string& by) {
  comparison all;
  int within = 0;
  int judged = 0;
  for (const fold& one : folds) {
    if (one.by != by) continue;
    all.ecsb.insert(all.ecsb.end(), one.judged.ecsb.begin(), one.judged.ecsb.end());
    all.upb.insert(all.upb.end(), one.judged.upb.begin(), one.judged.upb.end());
    for (const prediction_scope where : prediction_scopes) {
      const simulation::prediction_interval of = ratios_of(deviations_of(folds, where, &one));
      for_each_point(one.blind, [&](const judged_point& point) {
        if (scope_of(point.measured) != where) return;
        const double ratio = std::exp(-point.deviation());
        ++judged;
        within += static_cast<int>(of.low <= ratio && ratio <= of.high);
      });
    }
  }
  if (judged == 0) return;
  fmt::print("all, left out by {}: ECSB {}, with 28 ranks {}, with 112 {}; UPB {}; tau within sessions {}\n",
             by, median_text(all.ecsb), median_text(full(all.ecsb, 1)), median_text(full(all.ecsb, 4)),
             median_text(all.upb), all.rank_correlation_text());
  fmt::print("  {} of {} points ({:.0f} %) are in the interval of 90 % that the other folds give\n", within,
             judged, 100.0 * within / judged);
  if (within < few * judged)
    fmt::print("  These are few, so do not rely on the interval; measure more {}s.\n", by);
}

}  // namespace

std::vector<fold> cross_validate(const simulation::machine& start, const fit_plan& plan,
                                 const published_data& data, const fit_effort& effort,
                                 const fit_progress& progress) {
  using name_of_whole = std::function<std::string(const measured_point&)>;
  const std::vector<std::pair<std::string, name_of_whole>> ways{
      {"session", [](const measured_point& point) { return point.session; }},
      {"kind", [&](const measured_point& point) { return plan.kind_of(point.lock); }}};
  std::vector<fold> result;
  for (const auto& way : ways) {
    const name_of_whole& whole_of = way.second;
    std::set<std::string> wholes;
    for_each_point(data, [&](const measured_point& point) { wholes.insert(whole_of(point)); });
    for (const std::string& whole : wholes) {
      const published_data rest = only(data, [&](const auto& point) { return whole_of(point) != whole; });
      const published_data held = only(data, [&](const auto& point) { return whole_of(point) == whole; });
      if (rest.ecsb.empty() && rest.upb.empty()) continue;
      const fitted_machine fitted = fit_machine(start, plan.free, rest, effort, progress);
      network_factors factors = factors_of(networks_of(fitted.machine, held, effort.simulation));
      for (const auto& [job, its] : fitted.networks) factors[job] = its.factor;
      result.push_back({way.first, whole, compare(fitted.machine, held, effort.simulation, factors),
                        compare(fitted.machine, held, effort.simulation)});
    }
  }
  return result;
}

simulation::prediction_interval ratios_of(std::vector<double> deviations) {
  if (deviations.empty()) return {};
  std::ranges::sort(deviations);
  constexpr double outside = 0.05;
  // A next point falls with equal chance between any two of these n. So each end of the interval leaves out
  // 5 % of n + 1 points, rounded down.
  const auto least = static_cast<std::size_t>(outside * static_cast<double>(deviations.size() + 1));
  const std::size_t left_out = least > 0 ? least - 1 : 0;
  return {std::exp(-deviations[deviations.size() - 1 - left_out]), std::exp(-deviations[left_out])};
}

intervals intervals_of(const std::vector<fold>& folds) {
  std::map<prediction_scope, std::size_t> points;
  for (const fold& one : folds) {
    if (one.by != "session") continue;
    for_each_point(one.blind, [&](const judged_point& point) { ++points[scope_of(point.measured)]; });
  }
  intervals result;
  for (const prediction_scope where : prediction_scopes)
    if (points[where] >= fewest_points) result[where] = ratios_of(deviations_of(folds, where, nullptr));
  return result;
}

void require_enough_for_intervals(const published_data& data) {
  std::set<std::string> sessions;
  std::map<prediction_scope, std::size_t> count;
  for_each_point(data, [&](const measured_point& point) {
    sessions.insert(point.session);
    ++count[scope_of(point)];
  });
  if (sessions.size() < 2)
    throw usage_error(
        "intervals need 2 sessions or more (column 'suite'), but the measurements that are compared have 1; "
        "add a session, or leave --output out");
  std::vector<std::string> texts;
  for (const auto& [where, points] : count) {
    if (points >= fewest_points) return;
    texts.push_back(fmt::format("{} {}", points, text_of(where)));
  }
  throw usage_error(fmt::format(
      "an interval of 90 % needs {} points, but the measurements that are compared have {}; add points, or "
      "leave --output out",
      fewest_points, fmt::join(texts, ", ")));
}

void require_plausible(const intervals& of) {
  for (const auto& [where, interval] : of)
    for (const double factor : {interval.low, interval.high}) {
      // Written so that NaN is refused too.
      const bool fits = factor >= a_newer_ratio.low && factor <= a_newer_ratio.high;
      if (!fits)
        throw usage_error(
            fmt::format("measured times {} are {:.4g} times the simulated ones, which is outside {} to {}: "
                        "no interval is written; are the measurements in nanoseconds?",
                        text_of(where), factor, a_newer_ratio.low, a_newer_ratio.high));
    }
}

void print_folds(const std::vector<fold>& folds) {
  if (folds.empty()) return;
  fmt::print(
      "\n# cross-validation: median |ln(simulated / measured)| of what each fit did not know\n"
      "{:<44}{:>10}{:>10}{:>8}\n",
      "# left out", "ECSB", "UPB", "points");
  for (const fold& one : folds)
    fmt::print("{:<44}{:>10}{:>10}{:>8}\n", one.by + " " + one.left_out, median_text(one.judged.ecsb),
               median_text(one.judged.upb), one.judged.ecsb.size() + one.judged.upb.size());
  print_all(folds, "session");
  print_all(folds, "kind");
  intervals of = intervals_of(folds);
  std::vector<std::string> texts;
  for (const prediction_scope where : prediction_scopes)
    texts.push_back(fmt::format("{} {}", text_of(where), text_of(of[where])));
  fmt::print("90 % of measured / simulated, network unknown: {}\n", fmt::join(texts, ", "));
}

}  // namespace nearfar::command
