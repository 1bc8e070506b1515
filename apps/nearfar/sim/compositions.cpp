#include "apps/nearfar/sim/compositions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "apps/nearfar/study/hardware.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "bench/results/statistics.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/simulation/cluster.hpp"

namespace nearfar::command {

namespace {

constexpr const char* levels_parameter = "levels";

std::string levels_of(const configuration& of) {
  return of.parameters.has(levels_parameter) ? of.parameters.text(levels_parameter) : "";
}

bench::sample sample_of(const simulation::machine& machine, const configuration& of, std::uint64_t seed) {
  std::vector<bench::sample> samples;
  simulation::run(machine,
                  locality_of(machine, {.nodes = of.where.nodes, .ranks_per_node = of.where.ranks_per_node}),
                  [&](engine::world& w) {
                    auto mine = play_in(w, of, [] {});
                    if (w.rank() == 0) samples = std::move(mine);
                  },
                  // As the first repetition of `nearfar sim ecsb`.
                  {.seed = seed_of(seed, 0), .bytes = bytes_for_locks(1)});
  return std::move(samples.front());
}

contention_point point_of(const simulation::machine& machine, const configuration& of, std::uint64_t seed) {
  const bench::sample sample = sample_of(machine, of, seed);
  if (!sample.verified) throw error(fmt::format("two ranks were in lock '{}' at once", of.object->name));
  const std::array repetitions{&sample};
  return {.ranks_per_node = of.where.ranks_per_node,
          .ranks = of.where.nodes * of.where.ranks_per_node,
          .ns = sample.ns_per_acquisition(),
          .cv = bench::coefficient_of_variation(sample.iterations_per_rank),
          .followed_other = sample.count("followed_other_share").value_or(1),
          .is_steady = bench::is_steady(repetitions)};
}

bool is_any_fair(const std::vector<composition>& all) {
  return std::ranges::any_of(all, [](const composition& one) { return one.is_fair(); });
}

/// The shortest time among the fair with that number of ranks, or among all.
double best_time(const std::vector<composition>& all, std::size_t point, bool only_fair) {
  double best = std::numeric_limits<double>::infinity();
  for (const composition& one : all)
    if (!only_fair || one.is_fair()) best = std::min(best, one.at[point].ns);
  return best;
}

std::string name_of(const composition& one) {
  return one.levels.empty() ? one.lock : fmt::format("{} --levels {}", one.lock, one.levels);
}

nlohmann::ordered_json named(const composition* one) {
  using json = nlohmann::ordered_json;
  if (one == nullptr) return nullptr;
  return {{"lock", one->lock}, {"levels", one->levels.empty() ? json(nullptr) : json(one->levels)}};
}

}  // namespace

bool contention_point::is_fair() const noexcept {
  constexpr double even = 0.1;
  constexpr double changes = 0.5;
  if (ranks < 2) return true;
  return cv <= even && followed_other >= changes * (1 - 1.0 / ranks);
}

bool composition::is_steady() const noexcept {
  return std::ranges::all_of(at, [](const contention_point& one) { return one.is_steady; });
}

void simulate_compositions(const simulation::machine& machine, const std::vector<configuration>& all,
                           std::uint64_t seed, const std::function<void(const configuration&)>& step,
                           const std::function<void(composition)>& complete) {
  std::vector<std::pair<composition, std::vector<const configuration*>>> runs;
  for (const configuration& each : all) {
    const std::string levels = levels_of(each);
    auto same = std::ranges::find_if(runs, [&](const auto& one) {
      return one.first.lock == each.object->name && one.first.levels == levels;
    });
    if (same == runs.end())
      same = runs.insert(same, {{.lock = each.object->name, .levels = levels, .at = {}}, {}});
    same->second.push_back(&each);
  }
  for (auto& [made, of] : runs) {
    for (const configuration* each : of) {
      step(*each);
      made.at.push_back(point_of(machine, *each, seed));
    }
    std::ranges::sort(made.at, {}, &contention_point::ranks);
    complete(std::move(made));
  }
}

void judge(std::vector<composition>& all) {
  std::vector<double> best;
  for (std::size_t i = 0; i < all.front().at.size(); ++i) best.push_back(best_time(all, i, is_any_fair(all)));
  for (composition& one : all) {
    one.low = one.high = 0;
    double low_weights = 0;
    double high_weights = 0;
    for (std::size_t i = 0; i < one.at.size(); ++i) {
      const double ranks = one.at[i].ranks;
      const double share = best[i] / one.at[i].ns;
      one.low += share / ranks;
      one.high += share * ranks;
      low_weights += 1 / ranks;
      high_weights += ranks;
    }
    one.low /= low_weights;
    one.high /= high_weights;
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const composition& one) { return std::pair(one.is_fair(), one.high); });
}

const composition* best_of(const std::vector<composition>& all, double composition::*score) {
  const composition* best = nullptr;
  for (const composition& one : all)
    if (one.is_fair() && one.is_steady() && (best == nullptr || one.*score > best->*score)) best = &one;
  return best;
}

std::string table_of(const std::vector<composition>& all) {
  std::size_t width = 12;
  for (const composition& one : all) width = std::max(width, name_of(one).size() + 2);
  std::string text = fmt::format("{:<{}}", "# lock", width);
  for (const contention_point& each : all.front().at) text += fmt::format("{:>10}", each.ranks_per_node);
  text += fmt::format("{:>9}{:>7}{:>7}\n", "cv", "low", "high");
  for (const composition& one : all) {
    text += fmt::format("{:<{}}", name_of(one), width);
    for (const contention_point& each : one.at) text += fmt::format("{:>10.1f}", each.ns);
    text += fmt::format("{:>9.4f}{:>7.3f}{:>7.3f}{}{}\n", one.at.back().cv, one.low, one.high,
                        one.is_fair() ? "" : "  unfair", one.is_steady() ? "" : "  not steady");
  }
  for (const auto& [contention, score] :
       {std::pair("low", &composition::low), std::pair("high", &composition::high)}) {
    const composition* const best = best_of(all, score);
    text += fmt::format("best at {} contention: {}\n", contention,
                        best != nullptr    ? name_of(*best)
                        : is_any_fair(all) ? "none, as no fair one is steady: give a longer --duration"
                                           : "none is fair with the most ranks");
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<composition>& all) {
  using json = nlohmann::ordered_json;
  json compositions = json::array();
  for (const composition& one : all) {
    json one_of = named(&one);
    json points = json::array();
    for (const contention_point& each : one.at)
      points.push_back({{"ranks_per_node", each.ranks_per_node},
                        {"ranks", each.ranks},
                        {"ns", each.ns},
                        {"cv", each.cv},
                        {"followed_other", each.followed_other},
                        {"fair", each.is_fair()},
                        {"steady", each.is_steady}});
    one_of.update({{"points", points}, {"fair", one.is_fair()}, {"low", one.low}, {"high", one.high}});
    compositions.push_back(std::move(one_of));
  }
  return {
      {"compositions", compositions},
      {"best",
       {{"low", named(best_of(all, &composition::low))}, {"high", named(best_of(all, &composition::high))}}}};
}

}  // namespace nearfar::command
