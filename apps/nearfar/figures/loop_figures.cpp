// nearfar figures stengel2007: measures the figures of a thesis on containers on this machine and draws them.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/driver.hpp"
#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/figures/stengel2007.hpp"
#include "apps/nearfar/loops/loops.hpp"
#include "apps/nearfar/loops/options.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "bench/results.hpp"
#include "nearfar/container/pin_team.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

struct figures_options {
  std::string output = "nearfar-figures";
  std::vector<std::string> only;
  std::vector<int> threads;
  std::optional<int> repetitions;
  std::optional<double> min_time;  ///< seconds
  std::string emulate;
  std::uint64_t seed = 1;
  bool quick = false;
  bool list = false;
};

constexpr const char* title = "H. Stengel, diploma thesis, Nürnberg 2007: its figures on this machine";

void print_list(const std::vector<const figure_definition*>& figures) {
  fmt::print("# {}\n", title);
  for (const figure_definition* figure : figures)
    fmt::print("{}  {}{}\n", figure->number, figure->title,
               figure->needs_domains ? " (needs several NUMA domains)" : "");
}

/// Throws `usage_error` for numbers that cannot be.
void check(const figures_options& options) {
  constexpr double longest = 3600;
  const double seconds = options.min_time.value_or(longest);
  const bool can_be = seconds > 0 && seconds <= longest;  // false for NaN, too
  if (!can_be)
    throw usage_error(
        fmt::format("--min-time must be a positive number of seconds, at most {}, not {}", longest, seconds));
  if (options.repetitions && *options.repetitions < 1)
    throw usage_error(fmt::format("--repetitions must be 1 or more, not {}", *options.repetitions));
  for (const int threads : options.threads) check_threads(threads);
}

std::filesystem::path results_path(const figures_options& options, const char* number) {
  return results_folder{options.output}.file(fmt::format("figure-{}", number));
}

bench::loop_turns turns_of(const figures_options& options) {
  constexpr double quick_seconds = 0.0005;
  constexpr double seconds = 0.01;
  constexpr int quick_repetitions = 2;
  constexpr int repetitions = 6;  // the fewest that give an interval
  return {.repetitions = options.repetitions.value_or(options.quick ? quick_repetitions : repetitions),
          .seed = options.seed,
          .shortest = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(
              options.min_time.value_or(options.quick ? quick_seconds : seconds)))};
}

/// 1, 2, 4 and 8 threads, as far as there are CPUs for them.
std::vector<int> threads_of(const figures_options& options) {
  if (!openmp_available()) return {1};
  std::vector<int> threads = options.threads;
  if (threads.empty())
    for (const int count : {1, 2, 4, 8})
      if (count <= this_machine().allowed_cpus()) threads.push_back(count);
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

/// Why threads cannot be pinned; empty if they can.
std::string pinning_problem() {
  try {
    pin_team(team::serial(), pinning::parse("compact"));
    return "";
  } catch (const topology_error& refused) {
    return refused.what();
  }
}

figure_machine machine_of(const figures_options& options, bool pinned) {
  const hardware& here = this_machine();
  figure_machine machine;
  machine.threads = threads_of(options);
  machine.domains = here.numa_domains();
  machine.quick = options.quick;
  if (pinned) machine.domain = std::max(0, this_thread_domain());
  machine.cpus.clear();
  for (const std::vector<int>& cpus : pinning::parse("compact").cpus(here, here.allowed_cpus()))
    machine.cpus.insert(machine.cpus.end(), cpus.begin(), cpus.end());
  std::sort(machine.cpus.begin(), machine.cpus.end());
  machine.cpus.erase(std::unique(machine.cpus.begin(), machine.cpus.end()), machine.cpus.end());
  return machine;
}

/// Notes on the machine that readers of a figure must know.
std::vector<std::string> notes_on(const figure_definition& figure, int real_domains,
                                  const std::string& emulated, const std::string& unpinned) {
  std::vector<std::string> notes;
  if (real_domains == 1 && *figure.with_one_domain != '\0')
    notes.push_back(fmt::format("This machine has one NUMA domain: {}.", figure.with_one_domain));
  if (!emulated.empty())
    notes.push_back(fmt::format(
        "Run under the emulated topology '{}', to try the code for several domains: neither memory nor "
        "threads can be bound there, so that the curves measure no placement.",
        emulated));
  std::vector<std::string> refused = placement_problems();
  if (!unpinned.empty()) refused.push_back(unpinned);
  if (!refused.empty()) notes.push_back(fmt::format("Asked for and not had: {}.", fmt::join(refused, "; ")));
  return notes;
}

void leave_unpinned(bench::loop_case& of) {
  std::visit([](auto& each) { each.pin = pinning(); }, of);
}

std::string pinning_of(const bench::loop_case& of) {
  return std::visit([](const auto& each) { return each.pin.to_string(); }, of);
}

/// Leaves out what needs more memory than there is, and says so on stderr.
std::vector<figure_case> those_that_fit(std::vector<figure_case> cases) {
  std::vector<bench::loop_case> fit;
  for (const figure_case& each : cases) fit.push_back(each.what);
  leave_out_what_does_not_fit(fit);
  std::size_t most = 0;
  for (const bench::loop_case& each : fit) most = std::max(most, bench::bytes_of(each));
  std::erase_if(cases, [&](const figure_case& each) { return bench::bytes_of(each.what) > most; });
  return cases;
}

/// Measures one figure and writes its results file. Returns the command's status.
int measure(const figure_definition& figure, const figures_options& options, int real_domains,
            const std::string& emulated) {
  const bench::loop_turns turns = turns_of(options);
  const std::string start = utc_time();
  std::optional<bench::results_file> file;
  kept_work work([&](const std::string&) -> std::string {
    if (!file) return {};
    file->discard();
    return fmt::format("nothing of figure {} is kept", figure.number);
  });
  {
    const auto hold = work.hold();
    file.emplace(results_path(options, figure.number), bench::loops_schema);
  }
  const std::string unpinned = pinning_problem();
  const std::vector<figure_case> cases = those_that_fit(figure.cases(machine_of(options, unpinned.empty())));
  loop_results results;
  for (const figure_case& each : cases) {
    results.cases.push_back(each.what);
    if (!unpinned.empty()) leave_unpinned(results.cases.back());
  }

  std::vector<nlohmann::ordered_json> records;
  bool all_verified = true;
  {
    progress_bar bar(cases.size() * static_cast<std::size_t>(turns.repetitions));
    bench::run_in_turns(
        results.cases, turns,
        [&](const bench::loop_case& next) {
          bar.step(fmt::format("figure {}: {}", figure.number, text_of(next)));
        },
        [&](std::size_t index, const bench::loop_sample& sample) {
          nlohmann::ordered_json record = sample;
          record["figure"] = figure.number;
          record["series"] = cases[index].series;
          if (!unpinned.empty()) record["pinning"] = pinning_of(cases[index].what) + " (refused)";
          if (!emulated.empty() && sample.placement.rfind("first-touch", 0) != 0)
            record["placement"] = sample.placement + " (refused)";
          records.push_back(std::move(record));
          all_verified = all_verified && sample.verified;
        });
  }
  // Only now is it known what the system refused.
  const std::string benchmark = records.front()["benchmark"];
  nlohmann::ordered_json head = loop_provenance(benchmark, results, turns, start);
  head["figure"] = {{"publication", "stengel2007"},
                    {"number", figure.number},
                    {"title", figure.title},
                    {"axis", name_of(figure.axis)},
                    {"notes", notes_on(figure, real_domains, emulated, unpinned)}};
  work.finish([&] {
    file->write(head);
    for (const nlohmann::ordered_json& record : records) file->write(record);
    file->commit();
  });
  return all_verified ? success : failure;
}

/// Measures a figure in a process of its own: the machine that the environment describes, and OpenMP's
/// threads with their places, are a process's once and for all.
int measure_apart(const figure_definition& figure, const figures_options& options, int real_domains,
                  const std::string& emulated) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(failure);
    int status = bad_input;
    try {
      if (!emulated.empty()) setenv("HWLOC_SYNTHETIC", emulated.c_str(), 1);
      status = measure(figure, options, real_domains, emulated);
    } catch (const std::exception& failed) {
      fmt::print(stderr, "nearfar: {}\n", failed.what());
    }
    std::fflush(nullptr);
    _exit(status);
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  constexpr int of_signals = 128;
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) > of_signals)
    throw error(fmt::format("a signal ended the measurement of figure {}", figure.number));
  return WEXITSTATUS(ended);
}

int run_figures(const figures_options& options) {
  if (launch::from_environment().rank != 0) return success;
  say_ignored_variables();
  check(options);
  const auto figures = chosen_parts(stengel2007(), options.only, "figure", &figure_definition::number);
  if (options.list) {
    print_list(figures);
    return success;
  }
  results_folder folder{options.output};
  if (const int status = folder.prepare(); status != success) return status;

  const hardware here;
  if (!openmp_available()) fmt::print(stderr, "nearfar: built without OpenMP: all loops run on one thread\n");
  const int cores = std::max(1, (here.allowed_cpus() + 1) / 2);
  const std::string shape =
      options.emulate.empty() ? fmt::format("pack:2 [numa] l3:1 core:{} pu:1", cores) : options.emulate;
  int status = success;
  for (const figure_definition* each : figures) {
    const figure_definition& figure = *each;
    const bool emulate = figure.needs_domains && (here.numa_domains() == 1 || !options.emulate.empty());
    const int of_figure = measure_apart(figure, options, here.numa_domains(), emulate ? shape : "");
    if (of_figure == bad_input) {
      folder.give_up();
      return bad_input;
    }
    status = std::max(status, of_figure);
    fmt::print("{}  {}{}\n", figure.number, figure.title,
               emulate ? " (emulated: needs several NUMA domains)" : "");
    std::fflush(stdout);
  }
  if (status != success)
    fmt::print(stderr, "nearfar: a loop computed a wrong result; its results are void\n");

  // Figures that were measured before are on the page too.
  std::vector<std::string> files;
  for (const figure_definition& figure : stengel2007())
    if (const auto path = results_path(options, figure.number); std::filesystem::exists(path))
      files.push_back(path.string());
  return std::max(status, folder.draw(title, {}, files));
}

}  // namespace

void add_stengel2007(CLI::App& figures, int& status) {
  CLI::App* command = figures.add_subcommand("stengel2007", title);
  auto options = std::make_shared<figures_options>();
  command->add_option("--output", options->output, "Directory for results, pictures and index.html")
      ->capture_default_str();
  command->add_option("--only", options->only, "Numbers of figures (default: all)")->delimiter(',');
  command->add_flag("--list", options->list, "Print the figures and measure nothing");
  command->add_flag("--quick", options->quick, "Measure a few short vectors only, as a trial of seconds");
  command
      ->add_option("--threads", options->threads,
                   "Numbers of threads (default: 1, 2, 4, 8 up to the allowed CPUs)")
      ->delimiter(',');
  command->add_option("--repetitions", options->repetitions,
                      "Repetitions of each point (default: 6, with --quick 2)");
  command->add_option("--min-time", options->min_time,
                      "Shortest duration of a repetition, in seconds (default: 0.01, with --quick 0.0005)");
  command->add_option("--emulate", options->emulate,
                      "Emulated machine, as hwloc reads it, for figures of several NUMA domains (default: "
                      "two domains, if this machine has one)");
  command->add_option("--seed", options->seed, "Seed of the random order of points")->capture_default_str();
  command->footer(
      "Takes minutes; --quick takes seconds. Each figure says what a machine with one NUMA domain cannot "
      "show. The last line of output is the path of the page. 'nearfar report --text DIR/figure-*.jsonl' "
      "prints the tables. docs/numa.md tells what was found.");
  command->callback([options, &status] { status = run_figures(*options); });
}

}  // namespace nearfar::command
