#include "apps/nearfar/figures/paper.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "apps/nearfar/figures/driver.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "bench/axis.hpp"
#include "bench/results/output_file.hpp"
#include "bench/results/statistics.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::command {

namespace {

constexpr int most_ranks_ever = 1 << 16;

struct paper_options {
  std::string output;  ///< none: that of the paper and the world
  std::string world = "simulated";
  std::vector<std::string> only;
  std::string machine;
  int most_ranks = 0;
  int ranks_per_node = 0;
  int repetitions = 2;
  std::uint64_t seed = 1;
  bool quick = false;
  bool full = false;
  bool list = false;
  bool is_replaced = false;

  [[nodiscard]] bool on_mpi() const { return world == "mpi"; }
};

std::filesystem::path results_path(const paper_options& options, const std::string& name) {
  return results_folder{options.output}.file(name);
}

/// How many ranks a shape says, in either way.
int all_ranks(const shape& of) { return of.ranks != 0 ? of.ranks : of.nodes * of.ranks_per_node; }

/// The paper's shapes, for analyses without shapes of their own.
std::vector<shape> shapes_of(const paper& of, const paper_options& options) {
  const auto& shapes = options.full && of.full_shapes ? of.full_shapes : of.shapes;
  return shapes(options.most_ranks, options.ranks_per_node);
}

/// Only shapes of at most `most_ranks` ranks.
std::vector<shape> shapes_of(const paper& of, const analysis& what, const paper_options& options) {
  if (what.shapes.empty()) return shapes_of(of, options);
  std::vector<shape> result;
  for (const shape& each : what.shapes)
    if (all_ranks(each) <= options.most_ranks) result.push_back(each);
  return result;
}

/// In place of published locks that hang or worse on real MPI, the sound ones of their families.
std::vector<std::string> sound_ones(const bench::object_kind& of, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const bench::object* const found = of.find(name);
    std::string sound = found == nullptr || found->is_sound() ? name : found->family();
    if (std::find(result.begin(), result.end(), sound) == result.end()) result.push_back(std::move(sound));
  }
  return result;
}

/// Goes on from a file that an earlier run has left.
plan plan_of(const paper& of, const analysis& what, const paper_options& options) {
  plan result;
  result.world = of.machine.empty() ? "threads" : options.world;
  result.title = "sweep";
  result.mode = output_mode::growing;
  if (!options.on_mpi()) result.machine = options.machine;
  result.repetitions = options.repetitions;
  result.seed = options.seed;
  result.output = results_path(options, what.name).string();
  // A folder gathers the results of several runs, unless they are to be measured again.
  result.older = {.is_replaced = options.is_replaced, .is_extended = !options.is_replaced};
  benchmark_request asked{.benchmark = bench::find_benchmark(what.benchmark),
                          .objects = what.objects,
                          .values = what.values,
                          .shapes = shapes_of(of, what, options)};
  asked.values.insert(of.values.begin(), of.values.end());
  const auto put = [&asked](const auto& all) {
    for (const auto& [name, values] : all) asked.values[name] = values;
  };
  if (options.quick) put(of.quick_values);
  if (options.full) put(of.full_values);
  if (options.on_mpi()) {
    asked.objects = sound_ones(*asked.benchmark->kind, what.objects);
    asked.shapes.clear();  // all ranks that there are
    asked.leaves_out = true;
  }
  result.requests.push_back(std::move(asked));
  return result;
}

int measure(const paper& of, const analysis& what, const paper_options& options) {
  const plan result = plan_of(of, what, options);
  if (options.on_mpi() || !result.requests.front().shapes.empty()) return run(result);
  const auto fewest =
      std::min_element(what.shapes.begin(), what.shapes.end(),
                       [](const shape& a, const shape& b) { return all_ranks(a) < all_ranks(b); });
  fmt::print("not measured: takes {} ranks, and {} is {}\n",
             fewest == what.shapes.end() ? 0 : all_ranks(*fewest),
             options.quick ? "the most with --quick" : "--most-ranks", options.most_ranks);
  return success;
}

/// The lines of a results file. None of what is no regular file: reading a pipe would
/// wait for ever.
std::vector<nlohmann::ordered_json> records_of(const std::filesystem::path& path) {
  std::vector<nlohmann::ordered_json> result;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return result;
  std::ifstream from(path);
  // The last line of a run that was killed is cut off.
  for (std::string line; std::getline(from, line);)
    result.push_back(nlohmann::ordered_json::parse(line, nullptr, false));
  return result;
}

bool is_record(const nlohmann::ordered_json& line, const char* kind) {
  return line.is_object() && line.value("record", "") == kind;
}

/// The title, but on MPI without the number of ranks that the publication has: all ranks of mpirun take part.
std::string title_of(const analysis& what, const paper_options& options) {
  const std::size_t comma = what.title.rfind(", ");
  if (!options.on_mpi() || comma == std::string::npos || !what.title.ends_with(" ranks")) return what.title;
  return what.title.substr(0, comma);
}

/// Whether the results are of the world and the machine of this run. Others may have left their files in its
/// folder. A machine file may have changed under its name.
bool is_of_same(const std::vector<nlohmann::ordered_json>& lines, const plan& now) {
  if (lines.empty() || !is_record(lines.front(), "provenance")) return false;
  if (!now.machine.empty() &&
      lines.front().value("machine", nlohmann::ordered_json()) != to_json(find_machine(now.machine)))
    return false;
  const auto sample = std::ranges::find_if(lines, [](const auto& line) { return is_record(line, "sample"); });
  return sample != lines.end() && sample->value("world", "") == now.world;
}

/// The findings of a folder's results files on the analyses that are asked for now. An earlier run may have
/// left findings there from other places, for example with other numbers of messages.
class findings {
 public:
  findings(const paper& of, const paper_options& options) {
    for (const analysis& each : of.analyses) {
      const std::filesystem::path path = results_path(options, each.name);
      const std::vector<nlohmann::ordered_json> lines = records_of(path);
      if (!lines.empty() && !is_record(lines.front(), "provenance"))
        throw usage_error(fmt::format(
            "line 1 of '{}' holds no provenance of results; choose another --output", path.string()));
      if (!is_of_same(lines, plan_of(of, each, options))) continue;
      const asked_for asked(of, each, options);
      std::size_t number = 0;
      std::size_t samples = 0;
      std::size_t expected = 0;
      for (const nlohmann::ordered_json& line : lines) {
        ++number;
        try {
          if (line.is_object() && line.contains("records_expected"))
            expected = line.at("records_expected").get<std::size_t>();
          if (is_record(line, "sample")) {
            ++samples;
            note(each, asked, line);
          }
        } catch (const nlohmann::json::exception&) {
          throw usage_error(
              fmt::format("line {} of '{}' holds no sample of an analysis; choose another --output", number,
                          path.string()));
        }
      }
      if (samples < expected) unfinished_.insert(each.name);
    }
  }

  struct finding {
    double median;
    bool decides;  ///< whether a claim may be judged by it
  };

  /// One sample shows no spread, those of a trial are short, and an analysis that was interrupted may lack
  /// those that matter: such findings decide nothing.
  [[nodiscard]] std::optional<finding> median_of(const place_found& where, const std::string& column) const {
    std::vector<double> all;
    bool decides = !unfinished_.contains(where.analysis);
    for (const value_found& each : values_)
      if (each.is_at(where) && each.column == column) {
        all.push_back(each.value);
        decides = decides && !each.is_trial;
      }
    if (all.empty()) return std::nullopt;
    decides = decides && all.size() > 1;
    return finding{bench::median_of(all).median, decides};
  }

  /// Whether results of an analysis are those of a trial.
  [[nodiscard]] bool has_trial(const std::string& analysis) const {
    return std::ranges::any_of(
        values_, [&](const value_found& each) { return each.analysis == analysis && each.is_trial; });
  }

 private:
  /// Where something was measured, but for its ranks and nodes.
  static nlohmann::json place(const std::string& object, const nlohmann::json& axes,
                              const nlohmann::json& parameters) {
    return {object, axes, parameters};
  }
  /// By name: what is an effort, or what is none.
  static nlohmann::json object_of(const bench::point& at, const std::vector<bench::axis>* axes = nullptr,
                                  bool of_efforts = false) {
    nlohmann::json result = nlohmann::json::object();
    for (const auto& [name, value] : at.values())
      if (axes == nullptr || std::ranges::any_of(*axes, [&](const bench::axis& each) {
                               return each.is_effort && each.name == name;
                             }) == of_efforts)
        result[name] = bench::json_of(value);
    return result;
  }

  /// The places, efforts and shapes of an analysis.
  struct asked_for {
    asked_for(const paper& of, const analysis& what, const paper_options& options) {
      for (const bool quick : {options.quick, !options.quick})
        for (const bool full : {options.full, !options.full}) {
          if (quick && full) continue;
          paper_options all = options;
          all.quick = quick;
          all.full = full;
          all.most_ranks = most_ranks_ever;
          plan asked = plan_of(of, what, all);
          for (const shape& each : asked.requests.front().shapes)
            shapes.emplace(all_ranks(each), std::max(1, each.nodes));
          asked.requests.front().shapes = {
              {.ranks = 2, .nodes = 1, .ranks_per_node = 2}};  // places have none
          const bool is_now = quick == options.quick && full == options.full;
          for (const configuration& at : configurations_of(asked)) {
            (quick ? trials : efforts).insert(object_of(at.axes, &at.benchmark->axes, true));
            if (is_now)
              places.insert(
                  place(at.object->name, object_of(at.axes, &at.benchmark->axes), object_of(at.parameters)));
          }
        }
    }

    std::set<nlohmann::json> places;
    std::set<nlohmann::json> trials;       ///< the efforts of --quick
    std::set<nlohmann::json> efforts;      ///< without it
    std::set<std::pair<int, int>> shapes;  ///< ranks, nodes
  };

  void note(const analysis& of, const asked_for& asked, const nlohmann::ordered_json& record) {
    if (!record.value("verified", false)) return;
    // The parameter had another value than the one that the record names.
    if (record.value("raised", 0) != 0) return;
    const std::string kind = bench::find_benchmark(of.benchmark)->kind->name;
    if (!asked.places.contains(
            place(record.at(kind).get<std::string>(), record.at("axes"), record.at("parameters"))))
      return;
    if (!asked.shapes.contains({record.at("ranks").get<int>(), record.at("nodes").get<int>()})) return;
    const nlohmann::json effort = record.at("effort");
    const bool is_trial = asked.trials.contains(effort) && !asked.efforts.contains(effort);
    nlohmann::ordered_json at = record.at("axes");
    at.update(record.at("parameters"));
    for (const auto& [name, value] : record.at("measured").items())
      if (value.is_number())
        values_.push_back({.analysis = of.name,
                           .object = record.at(kind).get<std::string>(),
                           .ranks = record.at("ranks").get<int>(),
                           .scenario = record.value("scenario", ""),
                           .at = at,
                           .column = name,
                           .value = value.get<double>(),
                           .is_trial = is_trial});
  }

  struct value_found {
    std::string analysis;
    std::string object;
    int ranks;
    std::string scenario;
    nlohmann::ordered_json at;
    std::string column;
    double value;
    bool is_trial;

    [[nodiscard]] bool is_at(const place_found& where) const {
      return analysis == where.analysis && object == where.object && ranks == where.ranks &&
             scenario == where.scenario &&
             std::all_of(where.at.begin(), where.at.end(), [&](const auto& one) {
               const auto found = at.find(one.first);
               return found == at.end() || *found == one.second;
             });
    }
  };
  std::vector<value_found> values_;
  std::set<std::string> unfinished_;  ///< analyses
};

/// The effort behind the figures, beside that of the publication; empty if the publication does not say.
std::string effort_of(const paper& of, const paper_options& options) {
  if (of.procedure.empty()) return "";
  if (options.full) return fmt::format("as published: {}", of.procedure);
  return fmt::format("{} run{} of each point; less than published: {}", options.repetitions,
                     options.repetitions == 1 ? "" : "s", of.procedure);
}

/// A line of --list: name and title, and the number of claims that the analysis is judged by.
void print_listed(const paper& of, const analysis& what) {
  const std::vector<claim> all = of.claims ? of.claims() : std::vector<claim>{};
  const auto claims = std::ranges::count(all, what.name, &claim::analysis);
  const std::string counted = claims == 0 ? "" : fmt::format(" ({} claim{})", claims, claims == 1 ? "" : "s");
  fmt::print("{:<16}  {}{}\n", what.name, what.title, counted);
}

/// Prints what is claimed, and leaves it in a file for the page.
std::optional<std::string> judge_claims(const paper& of, const paper_options& options, const findings& all) {
  if (!of.claims) return std::nullopt;
  bool decides = true;
  const finding_at found = [&](const place_found& where, const std::string& column) -> std::optional<double> {
    const auto there = all.median_of(where, column);
    if (!there) return std::nullopt;
    decides = decides && there->decides;
    return there->median;
  };
  std::vector<verdict_on_claim> verdicts;
  for (const claim& each : of.claims()) {
    decides = true;
    verdicts.push_back(judge(each, found));
    if (!decides) verdicts.back().holds.reset();
  }
  return results_folder{options.output}.note_claims(verdicts);
}

/// The same on all ranks, where there are ranks.
int prepare_together(const paper& of, const paper_options& options) {
  results_folder folder{options.output};
  std::vector<std::string> names;
  for (const analysis& each : of.analyses) names.push_back(each.name);
  const bool is_first = launch::from_environment().rank == 0;
  if (!options.on_mpi()) return folder.prepare(names, options.is_replaced);
  int status = is_first ? folder.prepare(names, options.is_replaced) : success;
  mpi::check(MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return status;
}

/// Leaves what was published of the machine in a file for the page, if this is the machine.
std::optional<std::string> note_published(const paper& of, const paper_options& options) {
  if (!of.published || options.on_mpi() || options.machine != of.machine) return std::nullopt;
  const std::string path = results_path(options, "published").string();
  bench::output_file file(path, R"("ns")", "published", {.is_replaced = true});
  for (const measured_point& each : of.published()) {
    const nlohmann::ordered_json line{{"benchmark", each.benchmark},
                                      {"lock", each.lock},
                                      {"ranks", each.shape.nodes * each.shape.ranks_per_node},
                                      {"scenario", each.scenario},
                                      {"ns", each.ns}};
    file.write(line.dump() + "\n");
  }
  file.commit();
  return path;
}

int run_paper(const paper& of, paper_options options) {
  const launch how = launch::from_environment();
  if (how.rank != 0 && !options.on_mpi()) return success;
  if (options.output.empty())
    options.output = fmt::format("nearfar-{}{}", of.name, options.on_mpi() ? "-mpi" : "");
  if (options.most_ranks < 1 || options.most_ranks > most_ranks_ever)
    throw usage_error(
        fmt::format("--most-ranks must be 1 to {}, not {}", most_ranks_ever, options.most_ranks));
  if (options.repetitions < 1)
    throw usage_error(fmt::format("--repetitions must be 1 or more, not {}", options.repetitions));
  const std::vector<shape> shapes = shapes_of(of, options);
  const auto all = chosen_parts(of.analyses, options.only, "analysis", &analysis::name);
  if (options.list) {
    if (how.rank != 0) return success;
    fmt::print("# {}\n", of.title);
    for (const analysis* each : all) print_listed(of, *each);
    return success;
  }
  if (!options.machine.empty() && !options.on_mpi()) {
    const simulation::machine machine = find_machine(options.machine);
    for (const shape& each : shapes) try {
        static_cast<void>(locality_of(machine, {.nodes = each.nodes, .ranks_per_node = each.ranks_per_node}));
      } catch (const usage_error& why) {
        if (!of.has_fixed_shapes) throw;
        throw usage_error(
            fmt::format("the analyses have {} ranks on a node: {}", each.ranks_per_node, why.what()));
      }
  }
  std::optional<mpi_session> session;
  if (options.on_mpi()) session.emplace();
  if (const int status = prepare_together(of, options); status != success) return status;
  int status = success;
  for (const analysis* each : all) {
    if (how.rank == 0) fmt::print("\n# {}\n", title_of(*each, options));
    status = worse(status, measure(of, *each, options));
    std::fflush(stdout);
  }
  session.reset();
  if (how.rank != 0) return status;
  // A run on real ranks judges no claims, since its machine is not like the cluster of the claims.
  std::optional<std::string> claims;
  std::vector<std::string> trials;
  if (!options.on_mpi()) {
    const findings found(of, options);
    claims = judge_claims(of, options, found);
    for (const analysis& each : of.analyses)
      if (found.has_trial(each.name)) trials.push_back(each.name);
  }
  std::fflush(stdout);
  std::vector<std::string> report;
  if (options.quick)
    report.push_back(fmt::format(
        "--notice=This is a trial (--quick): short runs{}, {} of each point. "
        "A run without --quick measures what the publication measured.",
        options.on_mpi() ? "" : fmt::format(" of at most {} ranks", options.most_ranks),
        options.repetitions == 1 ? "1 repetition" : fmt::format("{} repetitions", options.repetitions)));
  else if (!trials.empty())
    report.push_back(
        fmt::format("--notice=A part is a trial (--quick), with short runs: {}. Measure it again "
                    "with --overwrite.",
                    fmt::join(trials, ", ")));
  if (claims) report.insert(report.end(), {"--claims", *claims});
  if (const auto points = note_published(of, options)) report.insert(report.end(), {"--published", *points});
  std::vector<std::string> files;
  for (const analysis& each : of.analyses)
    if (const auto path = results_path(options, each.name);
        is_of_same(records_of(path), plan_of(of, each, options))) {
      report.insert(report.end(), {"--section", title_of(each, options)});
      files.push_back(path.string());
    }
  if (files.empty())
    throw usage_error("nothing was measured; raise --most-ranks, or choose other analyses with --only");
  std::string title = options.on_mpi() ? of.title_on_mpi : of.title;
  if (const std::string effort = effort_of(of, options); !effort.empty())
    title += fmt::format(" ({})", effort);
  return worse(status, results_folder{options.output}.draw(title, std::move(report), files));
}

}  // namespace

void add_paper(CLI::App& figures, const paper& of, int& status) {
  CLI::App* command = figures.add_subcommand(of.name, of.title);
  auto options = std::make_shared<paper_options>(paper_options{.output = "",
                                                               .only = {},
                                                               .machine = of.machine,
                                                               .most_ranks = of.most_ranks,
                                                               .ranks_per_node = of.ranks_per_node,
                                                               .repetitions = of.repetitions});
  command
      ->add_option("--output", options->output,
                   fmt::format("Directory for results, pictures and index.html (default: nearfar-{}{})",
                               of.name, of.title_on_mpi.empty() ? "" : ", with -mpi on MPI"))
      ->check(directory_name());
  add_only_option(*command, options->only, "Names of analyses (default: all)", of.analyses, &analysis::name);
  command->add_flag("--list", options->list, "Print the analyses and measure nothing");
  command->add_flag("--overwrite", options->is_replaced,
                    "Measure again what the directory holds (default: continue from its files)");
  CLI::Option* const quick = command->add_flag(
      "--quick", options->quick,
      fmt::format("Make short runs of at most {} ranks, as a trial of seconds", of.most_ranks_quick));
  if (!of.procedure.empty())
    command
        ->add_flag("--full", options->full, fmt::format("Measure each point as published: {}", of.procedure))
        ->excludes(quick);
  command
      ->add_option("--most-ranks", options->most_ranks,
                   fmt::format("Largest number of ranks: {}", of.ranks_text))
      ->capture_default_str();
  if (!of.machine.empty()) {
    if (!of.has_fixed_shapes)
      command->add_option("--ranks-per-node", options->ranks_per_node, "Number of ranks per node")
          ->capture_default_str();
    command->add_option("--machine", options->machine, "Machine to simulate, as for 'nearfar sim'")
        ->capture_default_str();
  }
  if (!of.title_on_mpi.empty()) {
    command
        ->add_option("--world", options->world,
                     "World: simulated, or mpi with all ranks of mpirun and with sound locks only")
        ->check(one_of({"simulated", "mpi"}))
        ->capture_default_str();
  }
  command->add_option("--repetitions", options->repetitions,
                      fmt::format("Repetitions of each point{} (default: {}, with --quick 1)",
                                  of.machine.empty() ? "" : ", each with its own seed", of.repetitions));
  command
      ->add_option("--seed", options->seed,
                   of.machine.empty() ? "Seed of the random order of points"
                                      : "Seed of the simulation and of the random order of points")
      ->capture_default_str();
  command->footer(
      fmt::format("Takes minutes. An interrupted run continues from its files. The last line of output is "
                  "the path of the "
                  "page. {} tells what was found.",
                  of.document));
  command->callback([of, options, command, &status] {
    if (command->count("--repetitions") == 0) {
      if (options->quick) options->repetitions = 1;
      if (options->full && of.full_repetitions != 0) options->repetitions = of.full_repetitions;
    }
    if (options->quick && command->count("--most-ranks") == 0)
      options->most_ranks = std::min(options->most_ranks, of.most_ranks_quick);
    for (const char* simulated : {"--machine", "--most-ranks"})
      if (options->on_mpi() && command->count(simulated) != 0)
        throw usage_error(fmt::format(
            "{} belongs to the simulation; leave it out, as --world mpi takes the ranks of mpirun",
            simulated));
    status = run_paper(of, *options);
  });
}

}  // namespace nearfar::command
