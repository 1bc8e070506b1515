#include "apps/nearfar/study/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"

namespace nearfar::command {

namespace {

/// Whole numbers from 1 to `most`. Throws `usage_error`.
std::vector<int> counts_of(const char* name, double most, const std::vector<std::string>& texts) {
  const bench::axis along{.name = name, .meaning = "", .standard = std::int64_t{1}, .least = 1, .most = most};
  std::vector<int> counts;
  for (const std::string& text : texts) {
    try {
      counts.push_back(static_cast<int>(std::get<std::int64_t>(along.parse(text))));
    } catch (const error& wrong) {
      throw usage_error(wrong.what());
    }
  }
  return counts;
}

/// Two options, of which both may be given.
void add_flag_axis(CLI::App& command, const bench::axis& of, const bench::axis_value& standard,
                   std::vector<std::string>& values) {
  for (const bool value : {true, false}) {
    const bool is_standard = bench::axis_value(value) == standard;
    const std::string meaning = value ? of.meaning : fmt::format("Opposite of {}", of.option());
    command.add_flag_callback(
        value ? of.option() : of.negated_option(),
        [&values, value] { values.push_back(bench::text_of(value)); },
        is_standard ? meaning + " (default)" : meaning);
  }
}

}  // namespace

std::vector<shape> shape_options::on_hardware(const std::string& world) const {
  const bool is_of_threads = world == "threads" || world == "team";
  const double most = is_of_threads ? most_threads : 1e6;
  std::vector<shape> shapes;
  for (const int count : counts_of(world == "team" ? "threads" : "ranks", most, ranks))
    shapes.push_back({.ranks = count});
  return shapes;
}

std::vector<shape> shape_options::on_clusters() const {
  constexpr double most = 1 << 20;
  std::vector<shape> shapes;
  for (const int count : counts_of("nodes", most, nodes))
    for (const int each : counts_of("ranks_per_node", most, ranks_per_node))
      shapes.push_back({.nodes = count, .ranks_per_node = each});
  return shapes;
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& help) {
  return command.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
}

void add_request_options(CLI::App& command, benchmark_request& asked, bool is_simulated) {
  const bench::benchmark& benchmark = *asked.benchmark;
  const bench::object_kind& kind = *benchmark.kind;
  add_list(command, "--" + kind.plural, asked.objects,
           fmt::format("Names from 'nearfar list', or 'all' for every sound one (default: {})",
                       benchmark.usual.empty() ? "each family's recommended setting"
                                               : fmt::format("{}", fmt::join(benchmark.usual, ","))))
      ->type_name("NAME");
  const std::vector<bench::axis> parameters = benchmark.parameters();
  for (const auto* axes : {&benchmark.axes, &parameters})
    for (const bench::axis& each : *axes) {
      std::vector<std::string>& values = asked.values[each.name];
      const bench::axis_value standard =
          is_simulated ? each.simulated.value_or(each.standard) : each.standard;
      const std::string names = each.option() + (each.alias.empty() ? "" : "," + each.alias);
      if (each.is_flag())
        add_flag_axis(command, each, standard, values);
      else if (each.is_single)
        command.add_option_function<std::string>(
            names, [&values](const std::string& text) { values = {text}; },
            description_of(each, is_simulated));
      else
        add_list(command, names, values, description_of(each, is_simulated))
            ->type_name(each.choices.empty() ? "N" : "NAME");
    }
}

void add_plan_options(CLI::App& command, plan& what, const std::string& seeds) {
  command.add_option("--repetitions", what.repetitions, "Repetitions of each point")->capture_default_str();
  command
      .add_option("--precision", what.precision,
                  "Stop a point once its 95 % interval is within this share of its median; 0: never")
      ->capture_default_str();
  command.add_option("--seed", what.seed, seeds)->capture_default_str();
  CLI::Option* const output = command.add_option(
      "--output", what.output, "Results file (JSON Lines) for 'nearfar report'; -: standard output");
  add_older_options(command, output, what.older,
                    "Add to an existing file; repetitions that it holds are not run again");
  command
      .add_option_function<std::string>(
          "--format",
          [&what](const std::string& text) {
            what.format = text == "osu" ? table_format::osu : table_format::table;
          },
          "Output: table, or osu for the columns of the OSU micro-benchmarks")
      ->check(one_of({"table", "osu"}))
      ->default_str("table");
  add_verbose_option(command, what);
}

void add_verbose_option(CLI::App& command, plan& what) {
  command.add_flag("--verbose", what.verbose, "Say of each object that is left out why");
}

void choose_mode(plan& what) {
  if (what.older.is_extended) what.mode = output_mode::growing;
}

void add_hardware_options(CLI::App& command, plan& what) {
  hardware_options& options = what.hardware;
  command.add_option("--topology", options.topology,
                     "Tree in place of the machine's, such as 'node:2 numa:2 core:4'");
  command
      .add_option("--polls-per-progress", options.ratios.polls_per_progress,
                  "Polls of a waiting rank between two calls that drive MPI's progress")
      ->capture_default_str();
  command
      .add_option("--polls-per-yield", options.ratios.polls_per_yield,
                  "Polls between two such calls while oversubscribed; a yield follows each call")
      ->capture_default_str();
  command.add_option("--stall-limit", options.stall_limit,
                     "Seconds that a rank may wait before the benchmark ends as stalled; 0: no limit "
                     "(default: 60 more than a repetition takes)");
  command.add_flag("--no-bind", options.no_bind, "Leave the threads of the threads world unbound");
}

std::string default_world() { return launch::from_environment().under_mpi ? "mpi" : "threads"; }

}  // namespace nearfar::command
