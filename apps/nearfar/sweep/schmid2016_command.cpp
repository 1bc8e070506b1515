// nearfar figures schmid2016: the analyses of a publication on reader-writer locks, in a simulated cluster.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/report_package.hpp"
#include "apps/nearfar/sim/simulated.hpp"
#include "apps/nearfar/study/plan.hpp"

namespace nearfar::command {

namespace {

constexpr const char* title =
    "P. Schmid, M. Besta, T. Hoefler, HPDC 2016: its analyses, in the simulated cluster";

struct schmid2016_options {
  std::string output = "nearfar-schmid2016";
  std::vector<std::string> only;
  std::string machine = "piz-daint-xc30";
  int most_ranks = 1024;
  int ranks_per_node = 8;
  int repetitions = 2;
  std::uint64_t seed = 1;
  bool quick = false;
  bool list = false;
};

/// One analysis: a benchmark with the values of its axes and of the locks' parameters.
struct analysis {
  const char* name;
  const char* title;
  const char* benchmark;
  std::vector<std::string> locks;
  std::map<std::string, std::vector<std::string>> values;
};

/// In the order of the slides.
const std::vector<analysis>& analyses() {
  static const std::vector<analysis> all{
      {"counter",
       "Distributed counter (T_DC): single operation, 2 % writers",
       "rw_sob",
       {"rma_rw"},
       {{"writers", {"2"}}, {"nodes_per_counter", {"1", "2", "4", "16"}}}},
      {"readers",
       "Reader threshold (T_R): empty critical section, turns of two nodes, 2, 5 and 25 % writers",
       "rw_ecsb",
       {"rma_rw"},
       {{"writers", {"2", "5", "25"}},
        {"max_writer_passes", {"1"}},
        {"max_readers", {"8", "32", "128", "512"}}}},
      {"writers",
       "Writer threshold (T_L of the root): single operation, 25 % writers",
       "rw_sob",
       {"rma_rw"},
       {{"writers", {"25"}}, {"max_writer_passes", {"0", "10", "100", "1000"}}}},
      {"fairness",
       "Fairness against throughput (T_L of nodes): single operation, 25 % writers",
       "rw_sob",
       {"rma_rw"},
       {{"writers", {"25"}}, {"max_local_passes", {"0", "5", "50"}}}},
      {"comparison-ecsb",
       "Comparison: empty critical section",
       "rw_ecsb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"0.2", "2", "25"}}}},
      {"comparison-sob",
       "Comparison: single operation",
       "rw_sob",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"0.2", "2", "5"}}}},
      {"work-inside",
       "Comparison: work inside",
       "rw_wcsb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"2"}}}},
      {"wait-after",
       "Comparison: wait after release",
       "rw_warb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"2"}}}},
      {"latency",
       "Latency of writers alone (LB)",
       "rw_lb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"100"}}}},
      {"exclusive",
       "Exclusive locks: empty critical section",
       "ecsb",
       {"d_mcs", "rma_mcs", "cohort", "mpi_win"},
       {}},
  };
  return all;
}

std::vector<const analysis*> chosen(const schmid2016_options& options) {
  std::vector<std::string> known;
  for (const analysis& each : analyses()) known.emplace_back(each.name);
  for (const std::string& name : options.only)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error(fmt::format("there is no analysis '{}'{}; there are: {}", name,
                                    suggestion(name, known), fmt::join(known, ", ")));
  std::vector<const analysis*> result;
  for (const analysis& each : analyses())
    if (options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), each.name) != options.only.end())
      result.push_back(&each);
  return result;
}

/// 16 ranks and four times as many each time, as far as is asked for.
std::vector<shape> shapes(const schmid2016_options& options) {
  constexpr int fewest = 16;
  std::vector<shape> all;
  for (int ranks = fewest; ranks <= options.most_ranks; ranks *= 4)
    all.push_back({.nodes = ranks / options.ranks_per_node, .ranks_per_node = options.ranks_per_node});
  return all;
}

std::filesystem::path results_path(const schmid2016_options& options, const char* name) {
  return std::filesystem::path(options.output) / fmt::format("{}.jsonl", name);
}

/// Goes on from a file that an earlier run has left.
int simulate(const analysis& what, const schmid2016_options& options) {
  plan of;
  of.world = "simulated";
  of.title = "sweep";
  of.mode = output_mode::growing;
  of.machine = options.machine;
  of.repetitions = options.quick ? 1 : options.repetitions;
  of.seed = options.seed;
  of.output = results_path(options, what.name).string();
  request asked{.benchmark = bench::find_benchmark(what.benchmark),
                .objects = what.locks,
                .values = what.values,
                .shapes = shapes(options)};
  asked.values["duration"] = {options.quick ? "0.0005" : "0.005"};
  of.requests.push_back(std::move(asked));
  return run(of);
}

int run_schmid2016(schmid2016_options options) {
  if (launch::from_environment().rank != 0) return success;
  constexpr int fewest = 16;
  constexpr int most = 1 << 16;
  if (options.most_ranks < fewest || options.most_ranks > most)
    throw usage_error(fmt::format("--most-ranks must be {} to {}, not {}", fewest, most, options.most_ranks));
  if (options.ranks_per_node < 1 || fewest % options.ranks_per_node != 0)
    throw usage_error(
        fmt::format("--ranks-per-node must divide {}, not be {}", fewest, options.ranks_per_node));
  if (options.repetitions < 1)
    throw usage_error(fmt::format("--repetitions must be 1 or more, not {}", options.repetitions));
  if (options.quick) options.most_ranks = std::min(options.most_ranks, 64);
  const std::vector<const analysis*> all = chosen(options);
  if (options.list) {
    fmt::print("# {}\n", title);
    for (const analysis* each : all) fmt::print("{:<16}  {}\n", each->name, each->title);
    return success;
  }
  const simulation::machine machine = find_machine(options.machine);
  for (const shape& each : shapes(options))
    static_cast<void>(locality_of(machine, {.nodes = each.nodes, .ranks_per_node = each.ranks_per_node}));
  if (const int status = run_report_package({"--check", "--output", options.output}); status != success)
    return status;
  std::error_code failed;
  std::filesystem::create_directories(options.output, failed);
  if (failed) throw usage_error(fmt::format("{}: {}", options.output, failed.message()));
  int status = success;
  for (const analysis* each : all) {
    fmt::print("\n# {}\n", each->title);
    status = std::max(status, simulate(*each, options));
    std::fflush(stdout);
  }
  std::vector<std::string> report{"--output", options.output, "--title", title, "--"};
  for (const analysis& each : analyses())
    if (const auto path = results_path(options, each.name); std::filesystem::exists(path))
      report.push_back(path.string());
  return std::max(status, run_report_package(report));
}

}  // namespace

void add_schmid2016(CLI::App& figures, int& status) {
  CLI::App* command = figures.add_subcommand("schmid2016", title);
  auto options = std::make_shared<schmid2016_options>();
  command->add_option("--output", options->output, "Directory for results, pictures and index.html")
      ->capture_default_str();
  command->add_option("--only", options->only, "Names of analyses, separated by commas; default: all")
      ->delimiter(',');
  command->add_flag("--list", options->list, "Print the analyses and simulate nothing");
  command->add_flag("--quick", options->quick,
                    "64 ranks at most and short runs, to see that it works: seconds");
  command
      ->add_option("--most-ranks", options->most_ranks,
                   "Simulate 16 ranks, four times as many, and so on up to this")
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
  command->callback([options, &status] { status = run_schmid2016(*options); });
}

}  // namespace nearfar::command
