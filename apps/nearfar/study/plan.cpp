#include "apps/nearfar/study/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/results_name.hpp"
#include "apps/nearfar/study/worlds.hpp"

namespace nearfar::command {

namespace {

/// Beyond what anybody waits for.
constexpr std::size_t most_points = 100'000;

[[noreturn]] void refuse_so_many() {
  throw usage_error(fmt::format("the options span more than {} points; give fewer values", most_points));
}

struct chosen_object {
  const bench::object* what;
  bool is_named;
};

/// The error about a name that no object of the kind has.
std::string unknown_object(const std::string& name, const bench::object_kind& kind) {
  for (const bench::object_kind* other : bench::object_kinds())
    if (other->find(name) != nullptr)
      return fmt::format("'{}' is a {}, not a {}; 'nearfar list {}' shows what this benchmark measures", name,
                         other->title, kind.title, kind.plural);
  return unknown_name(kind.title, name, kind.names(), "'nearfar list' shows all");
}

/// "all" stands for all that are sound, none for the benchmark's usual ones, or for each family's recommended
/// setting.
std::vector<chosen_object> objects_of(const benchmark_request& asked) {
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
  const std::vector<std::string>& usual = asked.benchmark->usual;
  for (const bench::object& each : kind.objects)
    if (asked.objects.empty() && each.is_sound() &&
        (usual.empty() ? each.name == each.family()
                       : std::find(usual.begin(), usual.end(), each.name) != usual.end()))
      choose(each, false);
  for (const std::string& name : asked.objects) {
    if (name == "all") {
      for (const bench::object& each : kind.objects)
        if (each.is_sound()) choose(each, false);
      continue;
    }
    const bench::object* const found = kind.find(name);
    if (found == nullptr) throw usage_error(unknown_object(name, kind));
    choose(*found, !asked.leaves_out);
  }
  return chosen;
}

std::vector<bench::axis_value> values_on(const bench::axis& of, const benchmark_request& asked,
                                         bool is_simulated) {
  const auto given = asked.values.find(of.name);
  if (given == asked.values.end() || given->second.empty()) return of.defaults(is_simulated);
  std::vector<bench::axis_value> values;
  const auto add = [&](const bench::axis_value& value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  for (const std::string& text : given->second) {
    if (text == "all" && !of.all.empty()) {
      std::for_each(of.all.begin(), of.all.end(), add);
      continue;
    }
    bench::axis_value value;
    try {
      value = of.parse(text);
    } catch (const error& wrong) {
      throw usage_error(wrong.what());
    }
    add(value);
  }
  return values;
}

std::vector<bench::point> points_on(const std::vector<bench::axis>& axes, const benchmark_request& asked,
                                    bool is_simulated) {
  std::vector<bench::values_on_axis> along;
  std::size_t count = 1;
  for (const bench::axis& each : axes) {
    along.push_back({&each, values_on(each, asked, is_simulated)});
    if (each.is_effort && along.back().values.size() > 1)
      throw usage_error(fmt::format("{} takes one value: it sets the effort, and does not tell points apart",
                                    each.option()));
    count *= along.back().values.size();
    if (count > most_points) refuse_so_many();
  }
  return bench::points_of(along);
}

/// The coordinates that tell points from each other: all except efforts.
std::string identity_of(const configuration& of) {
  std::string text = fmt::format("{} {} {} {} {}", of.benchmark->name, of.object->name, of.where.ranks,
                                 of.where.nodes, of.where.ranks_per_node);
  for (const auto& [name, value] : of.parameters.values())
    text += fmt::format(" {} {}", name, bench::text_of(value));
  for (const bench::axis& each : of.benchmark->axes)
    if (!each.is_effort && of.axes.has(each.name))
      text += fmt::format(" {} {}", each.name, bench::text_of(of.axes.at(each.name)));
  return text;
}

/// The parameters that the object takes of each point, every combination once.
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
double configuration::pauses() const { return benchmark->pauses == nullptr ? 0 : benchmark->pauses(axes); }

std::vector<configuration> without_repeats(const std::vector<configuration>& all) {
  std::vector<configuration> result;
  std::map<std::string, std::size_t> places;
  for (const configuration& each : all) {
    const auto [place, is_new] = places.try_emplace(identity_of(each), result.size());
    if (is_new) {
      result.push_back(each);
      continue;
    }
    configuration& same = result[place->second];
    if (same.axes != each.axes)
      throw usage_error(fmt::format("{} {} has different efforts in two studies, such as durations; give one",
                                    each.benchmark->name, each.object->name));
    same.is_named = same.is_named || each.is_named;
  }
  return result;
}

std::vector<configuration> configurations_of(const plan& what) {
  const bool is_simulated = what.world == "simulated";
  std::vector<configuration> result;
  for (const benchmark_request& asked : what.requests) {
    const bench::benchmark& benchmark = *asked.benchmark;
    const auto points = points_on(benchmark.axes, asked, is_simulated);
    const std::vector<bench::axis> used = benchmark.parameters();
    const auto parameters = points_on(used, asked, is_simulated);
    for (const bench::point& each : parameters)
      if (const std::string why = benchmark.kind->refuse(each); !why.empty()) throw usage_error(why);
    const std::vector<chosen_object> objects = objects_of(asked);
    if (points.size() * parameters.size() * objects.size() * asked.shapes.size() > most_points)
      refuse_so_many();
    for (const chosen_object& object : objects)
      for (const shape& where : asked.shapes)
        for (const bench::point& at : points)
          for (const bench::point& taken : parameters_of(*object.what, parameters)) {
            result.push_back({&benchmark, object.what, at, taken, where, object.is_named});
            configuration& added = result.back();
            if (benchmark.settle != nullptr)
              benchmark.settle(*added.object, where.ranks, added.axes, added.parameters);
          }
  }
  return without_repeats(result);
}

void check(const plan& what) {
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw usage_error(text);
  };
  constexpr int most_repetitions = 1'000'000;
  require(what.repetitions > 0 && what.repetitions <= most_repetitions,
          fmt::format("--repetitions must be 1 to {}, not {}", most_repetitions, what.repetitions));
  require(
      what.precision >= 0 && what.precision < 1,
      fmt::format("--precision must be a share of the median from 0 (none) to below 1, such as 0.02, not {}",
                  what.precision));
  check_results_name(what.output);
  require(!what.prints_records() || what.mode == output_mode::whole,
          "--output -: standard output cannot be read again; name a file");
  const std::vector<std::string> worlds{"mpi", "threads", "simulated", "team"};
  require(std::find(worlds.begin(), worlds.end(), what.world) != worlds.end(),
          unknown_name("world", what.world, worlds));
  require(what.world == "simulated" || what.machine.empty(),
          "--machine belongs to world 'simulated'; leave it out, or choose that world");
  require(what.world != "simulated" || what.hardware.topology.empty(),
          "--topology is for real hardware; leave it out, as the simulated machine has its own");
  require(
      what.world != "team" || what.hardware.topology.empty(),
      "--topology is for ranks; leave it out, as HWLOC_SYNTHETIC describes another machine to containers");
  if (what.world == "threads" || what.world == "team")
    for (const benchmark_request& each : what.requests)
      for (const shape& where : each.shapes)
        check_threads(where.ranks, what.world == "team" ? "--threads" : "--ranks");
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
  if (what.world == "team") return run_in_team(what);
  return what.world == "threads" ? run_in_threads(what) : run_simulated(what);
}

}  // namespace nearfar::command
