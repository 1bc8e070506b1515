#include "apps/nearfar/sweep/paper_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/report_package.hpp"
#include "apps/nearfar/sim/simulated.hpp"
#include "bench/statistics.hpp"

namespace nearfar::command {

namespace {

constexpr int most_ranks_ever = 1 << 16;

struct paper_options {
  std::string output;
  std::vector<std::string> only;
  std::string machine;
  int most_ranks = 0;
  int ranks_per_node = 0;
  int repetitions = 2;
  std::uint64_t seed = 1;
  bool quick = false;
  bool list = false;
};

std::vector<const analysis*> chosen(const paper& of, const paper_options& options) {
  std::vector<std::string> known;
  for (const analysis& each : of.analyses) known.push_back(each.name);
  for (const std::string& name : options.only)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error(fmt::format("there is no analysis '{}'{}; there are: {}", name,
                                    suggestion(name, known), fmt::join(known, ", ")));
  std::vector<const analysis*> result;
  for (const analysis& each : of.analyses)
    if (options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), each.name) != options.only.end())
      result.push_back(&each);
  return result;
}

std::filesystem::path results_path(const paper_options& options, const std::string& name) {
  return std::filesystem::path(options.output) / fmt::format("{}.jsonl", name);
}

/// Goes on from a file that an earlier run has left.
int simulate(const paper& of, const analysis& what, const paper_options& options) {
  plan result;
  result.world = "simulated";
  result.title = "sweep";
  result.mode = output_mode::growing;
  result.machine = options.machine;
  result.repetitions = options.quick ? 1 : options.repetitions;
  result.seed = options.seed;
  result.output = results_path(options, what.name).string();
  request asked{.benchmark = bench::find_benchmark(what.benchmark),
                .objects = what.objects,
                .values = what.values,
                .shapes = of.shapes(options.most_ranks, options.ranks_per_node)};
  asked.values["duration"] = {options.quick ? "0.0005" : "0.005"};
  result.requests.push_back(std::move(asked));
  return run(result);
}

/// What the results files of a folder say.
class findings {
 public:
  findings(const paper& of, const paper_options& options) {
    for (const analysis& each : of.analyses) {
      std::ifstream from(results_path(options, each.name));
      for (std::string line; std::getline(from, line);) note(each, line);
    }
  }

  [[nodiscard]] std::optional<double> median_of(const std::string& analysis, const std::string& object,
                                                int ranks, const std::string& column) const {
    const auto found = values_.find({analysis, object, ranks, column});
    if (found == values_.end()) return std::nullopt;
    return bench::median_of(found->second).median;
  }

 private:
  void note(const analysis& of, const std::string& line) {
    const auto record = nlohmann::ordered_json::parse(line, nullptr, false);
    if (record.is_discarded() || record.value("record", "") != "sample" || !record.value("verified", false))
      return;
    const std::string kind = bench::find_benchmark(of.benchmark)->kind->name;
    for (const auto& [name, value] : record.at("measured").items())
      if (value.is_number())
        values_[{of.name, record.at(kind).get<std::string>(), record.at("ranks").get<int>(), name}].push_back(
            value.get<double>());
  }

  std::map<std::tuple<std::string, std::string, int, std::string>, std::vector<double>> values_;
};

void judge(const paper& of, const paper_options& options) {
  if (!of.judge) return;
  const findings all(of, options);
  fmt::print("\n# what is claimed, and what was found\n");
  const auto find = [&](const std::string& analysis, const std::string& object, int ranks,
                        const std::string& column) { return all.median_of(analysis, object, ranks, column); };
  for (const verdict_on_claim& each : of.judge(find))
    fmt::print("{:<14} {}{}\n", each.holds ? (*each.holds ? "holds" : "does not hold") : "not simulated",
               each.claim, each.found.empty() ? "" : fmt::format(": {}", each.found));
}

int run_paper(const paper& of, paper_options options) {
  if (launch::from_environment().rank != 0) return success;
  if (options.quick) options.most_ranks = std::min(options.most_ranks, of.most_ranks_quick);
  if (options.most_ranks > most_ranks_ever)
    throw usage_error(
        fmt::format("--most-ranks must be {} at most, not {}", most_ranks_ever, options.most_ranks));
  if (options.repetitions < 1)
    throw usage_error(fmt::format("--repetitions must be 1 or more, not {}", options.repetitions));
  const std::vector<shape> shapes = of.shapes(options.most_ranks, options.ranks_per_node);
  const std::vector<const analysis*> all = chosen(of, options);
  if (options.list) {
    fmt::print("# {}\n", of.title);
    for (const analysis* each : all) fmt::print("{:<16}  {}\n", each->name, each->title);
    return success;
  }
  const simulation::machine machine = find_machine(options.machine);
  for (const shape& each : shapes)
    static_cast<void>(locality_of(machine, {.nodes = each.nodes, .ranks_per_node = each.ranks_per_node}));
  if (const int status = run_report_package({"--check", "--output", options.output}); status != success)
    return status;
  std::error_code failed;
  std::filesystem::create_directories(options.output, failed);
  if (failed) throw usage_error(fmt::format("{}: {}", options.output, failed.message()));
  int status = success;
  for (const analysis* each : all) {
    fmt::print("\n# {}\n", each->title);
    status = std::max(status, simulate(of, *each, options));
    std::fflush(stdout);
  }
  judge(of, options);
  std::fflush(stdout);
  std::vector<std::string> report{"--output", options.output, "--title", of.title, "--"};
  for (const analysis& each : of.analyses)
    if (const auto path = results_path(options, each.name); std::filesystem::exists(path))
      report.push_back(path.string());
  return std::max(status, run_report_package(report));
}

}  // namespace

void add_paper(CLI::App& figures, const paper& of, int& status) {
  CLI::App* command = figures.add_subcommand(of.name, of.title);
  auto options = std::make_shared<paper_options>(paper_options{.output = "nearfar-" + of.name,
                                                               .only = {},
                                                               .machine = of.machine,
                                                               .most_ranks = of.most_ranks,
                                                               .ranks_per_node = of.ranks_per_node});
  command->add_option("--output", options->output, "Directory for results, pictures and index.html")
      ->capture_default_str();
  command->add_option("--only", options->only, "Names of analyses, separated by commas; default: all")
      ->delimiter(',');
  command->add_flag("--list", options->list, "Print the analyses and simulate nothing");
  command->add_flag(
      "--quick", options->quick,
      fmt::format("{} ranks at most and short runs, to see that it works: seconds", of.most_ranks_quick));
  command
      ->add_option("--most-ranks", options->most_ranks, fmt::format("Simulate {} up to this", of.ranks_text))
      ->capture_default_str();
  command->add_option("--ranks-per-node", options->ranks_per_node, "Ranks on each node")
      ->capture_default_str();
  command->add_option("--machine", options->machine, "As for 'nearfar sim'")->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "Repetitions of each point, each its own seed")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the simulation and of the order of points")
      ->capture_default_str();
  command->footer(
      "Takes minutes; a run that was ended goes on from its files. The last line of output is the path of "
      "the "
      "page.");
  command->callback([of, options, &status] { status = run_paper(of, *options); });
}

}  // namespace nearfar::command
