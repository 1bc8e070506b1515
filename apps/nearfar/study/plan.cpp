#include "apps/nearfar/study/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/study/worlds.hpp"

namespace nearfar::command {

namespace {

struct chosen_object {
  const bench::object* what;
  bool is_named;
};

/// "all" stands for all that are sound, none for each family's recommended setting.
std::vector<chosen_object> objects_of(const request& asked) {
  const bench::object_kind& kind = *asked.benchmark->kind;
  std::vector<chosen_object> chosen;
  const auto choose = [&](const bench::object& each, bool is_named) {
    const auto same =
        std::find_if(chosen.begin(), chosen.end(), [&](const auto& one) { return one.what == &each; });
    if (same == chosen.end())
      chosen.push_back({&each, is_named});
    else
      same->is_named = same->is_named || is_named;
  };
  for (const bench::object& each : kind.objects)
    if (asked.objects.empty() && each.is_sound() && each.name == each.family()) choose(each, false);
  for (const std::string& name : asked.objects) {
    if (name == "all") {
      for (const bench::object& each : kind.objects)
        if (each.is_sound()) choose(each, false);
      continue;
    }
    const bench::object* const found = kind.find(name);
    if (found == nullptr)
      throw usage_error(fmt::format("unknown {} '{}'{}; 'nearfar list' shows all", kind.name, name,
                                    suggestion(name, kind.names())));
    choose(*found, true);
  }
  return chosen;
}

std::vector<bench::axis_value> values_on(const bench::axis& of, const request& asked, bool is_simulated) {
  const auto given = asked.values.find(of.name);
  if (given == asked.values.end() || given->second.empty())
    return {is_simulated ? of.simulated.value_or(of.standard) : of.standard};
  std::vector<bench::axis_value> values;
  for (const std::string& text : given->second) {
    bench::axis_value value;
    try {
      value = of.parse(text);
    } catch (const error& wrong) {
      throw usage_error(wrong.what());
    }
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
  }
  return values;
}

std::vector<bench::point> points_on(const std::vector<bench::axis>& axes, const request& asked,
                                    bool is_simulated) {
  std::vector<bench::values_on_axis> along;
  for (const bench::axis& each : axes) along.push_back({&each, values_on(each, asked, is_simulated)});
  return bench::points_of(along);
}

/// What the object takes of each, every combination once.
std::vector<bench::point> parameters_of(const bench::object& of, const std::vector<bench::point>& all) {
  std::vector<bench::point> result;
  for (const bench::point& each : all) {
    bench::point taken;
    for (const auto& [name, value] : each.values())
      if (of.takes(name)) taken.set(name, value);
    if (std::find(result.begin(), result.end(), taken) == result.end()) result.push_back(std::move(taken));
  }
  return result;
}

}  // namespace

bench::point configuration::at() const {
  bench::point all = axes;
  for (const auto& [name, value] : parameters.values()) all.set(name, value);
  return all;
}

double configuration::seconds() const { return benchmark->seconds == nullptr ? 0 : benchmark->seconds(axes); }

std::vector<configuration> configurations_of(const plan& what) {
  const bool is_simulated = what.world == "simulated";
  std::vector<configuration> result;
  for (const request& asked : what.requests) {
    const bench::benchmark& benchmark = *asked.benchmark;
    const auto points = points_on(benchmark.axes, asked, is_simulated);
    const auto parameters = points_on(benchmark.kind->parameters, asked, is_simulated);
    for (const bench::point& each : parameters)
      if (const std::string why = benchmark.kind->refuse(each); !why.empty()) throw usage_error(why);
    for (const chosen_object& object : objects_of(asked))
      for (const shape& where : asked.shapes)
        for (const bench::point& at : points)
          for (const bench::point& taken : parameters_of(*object.what, parameters))
            result.push_back({&benchmark, object.what, at, taken, where, object.is_named});
  }
  return result;
}

void check(const plan& what) {
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw usage_error(text);
  };
  constexpr int most_repetitions = 1'000'000;
  require(what.repetitions > 0 && what.repetitions <= most_repetitions,
          fmt::format("--repetitions must be 1 to {}, not {}", most_repetitions, what.repetitions));
  require(what.precision >= 0 && what.precision < 1,
          fmt::format("--precision must be a share of the median from 0 (none) to 1, such as 0.02, not {}",
                      what.precision));
  const std::vector<std::string> worlds{"mpi", "threads", "simulated"};
  require(std::find(worlds.begin(), worlds.end(), what.world) != worlds.end(),
          fmt::format("unknown world '{}'{}; there are: mpi, threads, simulated", what.world,
                      suggestion(what.world, worlds)));
  const hardware_options& hardware = what.hardware;
  require(hardware.ratios.polls_per_progress > 0 && hardware.ratios.polls_per_yield > 0,
          "--polls-per-progress and --polls-per-yield must be 1 or more");
  constexpr double longest = 86400;
  // Written so that NaN is refused too.
  const bool has_limit_that_fits = hardware.stall_limit >= 0.0 && hardware.stall_limit <= longest;
  require(!hardware.stall_limit || has_limit_that_fits,
          fmt::format("--stall-limit must be a number of seconds, 0 (none) to {}, not {}", longest,
                      hardware.stall_limit.value_or(0)));
}

int run(const plan& what) {
  check(what);
  if (what.world == "mpi") return run_in_mpi(what);
  const launch how = launch::from_environment();
  if (how.under_mpi && how.rank != 0) return success;
  return what.world == "threads" ? run_in_threads(what) : run_simulated(what);
}

}  // namespace nearfar::command
