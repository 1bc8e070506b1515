// nearfar figures stengel2007: measures the figures of a thesis on containers on this machine and draws them.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/nearfar/figures/driver.hpp"
#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/figures/stengel2007.hpp"
#include "apps/nearfar/figures/stengel_claims.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/container_options.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/free_memory.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/study/records.hpp"
#include "apps/nearfar/study/team_world.hpp"
#include "bench/kinds/containers/loop_benchmarks.hpp"
#include "bench/results/results.hpp"
#include "bench/results/statistics.hpp"
#include "bench/turns.hpp"
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
  bool full = false;
  bool list = false;
  bench::older_output older;
};

constexpr const char* name_of_world = "team";
constexpr const char* title = "H. Stengel, diploma thesis, Nürnberg 2007: its figures on this machine";

void print_list(const std::vector<const figure_definition*>& figures) {
  fmt::print("# {}\n", title);
  const std::vector<loop_claim> claims = stengel2007_claims({});
  for (const figure_definition* figure : figures) {
    const auto count = std::count_if(claims.begin(), claims.end(), [&](const loop_claim& each) {
      return each.what.analysis == figure->number;
    });
    fmt::print("{}  {}{}{}\n", figure->number, figure->title,
               figure->needs_domains ? " (needs several NUMA domains)" : "",
               count == 0 ? "" : fmt::format(" ({} claim{})", count, count == 1 ? "" : "s"));
  }
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

std::string file_name(const char* number) { return fmt::format("figure-{}", number); }

std::filesystem::path results_path(const figures_options& options, const char* number) {
  return results_folder{options.output}.file(file_name(number));
}

int repetitions_of(const figures_options& options) {
  constexpr int quick = 2;
  constexpr int fewest_with_interval = 6;
  return options.repetitions.value_or(options.quick ? quick : fewest_with_interval);
}

constexpr double quick_min_time = 0.0005;  ///< with --quick

/// The shortest duration of a repetition in seconds.
double min_time_of(const figures_options& options) {
  constexpr double seconds = 0.01;
  return options.min_time.value_or(options.quick ? quick_min_time : seconds);
}

/// Whether a sample is as short as those of --quick.
bool is_trial(const nlohmann::ordered_json& sample) {
  static const nlohmann::json::json_pointer place("/effort/min_time");
  return sample.value(place, 0.0) <= quick_min_time;
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
  machine.full = options.full;
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
  const std::optional<free_memory> memory = free_memory::now();
  if (!memory) return cases;
  std::set<std::size_t> left_out;
  std::erase_if(cases, [&](const figure_case& each) {
    const std::size_t needed = bench::bytes_of(each.what);
    if (needed <= memory->usable) return false;
    left_out.insert(needed);
    return true;
  });
  for (const std::size_t needed : left_out)
    remark("leaving out a case that needs {}", memory->text_for(needed));
  if (cases.empty()) throw usage_error("no case fits into the free memory; choose smaller ones");
  return cases;
}

/// The cases as points of their benchmarks. No thread is pinned if `is_pinned` is false.
std::vector<configuration> points_of(const std::vector<figure_case>& cases, double min_time, bool is_pinned) {
  std::vector<configuration> points;
  for (const figure_case& each : cases) {
    bench::loop_case played = each.what;
    if (!is_pinned) leave_unpinned(played);
    bench::loop_point at = bench::point_of(played, min_time);
    points.push_back({.benchmark = at.of,
                      .object = at.container,
                      .axes = std::move(at.axes),
                      .parameters = std::move(at.parameters),
                      .where = {.ranks = at.threads},
                      .is_named = true});
  }
  return points;
}

/// "triad array, 1 thread" and the like.
std::string step_of(const configuration& of) {
  return fmt::format("{} {}, {} thread{}", of.benchmark->name, of.object->name, of.where.ranks,
                     of.where.ranks == 1 ? "" : "s");
}

/// Calls `before(index)` and `after(index, sample)` for each repetition of each point.
template <typename Before, typename After>
void play_all(const std::vector<configuration>& points, team_stage& on, int repetitions, std::uint64_t seed,
              Before before, After after) {
  std::vector<std::size_t> indices(points.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  bench::turns turns(std::move(indices), seed);
  for (int repetition = 0; repetition < repetitions; ++repetition)
    for (const std::size_t index : turns.next()) {
      before(index);
      bench::sample sample = on.play(index, repetition).front();
      sample.world = name_of_world;
      sample.machine = on.machine();
      complete(sample, points[index], locality::single_node(points[index].where.ranks), repetition);
      after(index, sample);
    }
}

/// Marks a setting of a record as refused by the system, wherever the record has it.
void mark_refused(nlohmann::ordered_json& record, const char* coordinates, const char* name,
                  const std::string& asked) {
  record[name] = asked + " (refused)";
  record[coordinates][name] = record[name];
}

nlohmann::ordered_json record_of(const bench::sample& sample, const figure_definition& figure,
                                 const figure_case& of, bool is_pinned, bool is_emulated) {
  nlohmann::ordered_json record = sample;
  record["figure"] = figure.number;
  record["series"] = of.series;
  if (!is_pinned) mark_refused(record, "axes", "pinning", pinning_of(of.what));
  const std::string placement = record["placement"];
  if (is_emulated && placement.rfind("first-touch", 0) != 0)
    mark_refused(record, "parameters", "placement", placement);
  return record;
}

/// The first record of a file of points on this machine. The largest team stands for all.
nlohmann::ordered_json provenance_of(const std::vector<configuration>& points, team_stage& on,
                                     const figures_options& options, const std::string& start_time) {
  const shape most =
      std::ranges::max(points, {}, [](const configuration& each) { return each.where.ranks; }).where;
  std::vector<const configuration*> all;
  for (const configuration& each : points) all.push_back(&each);
  placement place = on.place(most);
  return provenance({.benchmark = points.front().benchmark->name,
                     .world = name_of_world,
                     .topology = std::move(place.topology),
                     .binding = std::move(place.binding),
                     .oversubscribed = place.oversubscribed,
                     .seed = options.seed,
                     .records_expected = points.size() * static_cast<std::size_t>(repetitions_of(options)),
                     .start_time = start_time,
                     .more = statements_of(all)});
}

/// Measures one figure and writes its results file. Returns the command's status.
int measure(const figure_definition& figure, const figures_options& options, int real_domains,
            const std::string& emulated) {
  const int repetitions = repetitions_of(options);
  const std::string start = utc_time();
  std::optional<bench::results_file> file;
  kept_work work([&](const std::string&) -> std::string {
    if (!file) return {};
    file->discard();
    return fmt::format("nothing of figure {} is kept", figure.number);
  });
  {
    const auto hold = work.hold();
    file.emplace(results_path(options, figure.number), bench::results_schema, options.older);
  }
  const std::string unpinned = pinning_problem();
  const std::vector<figure_case> cases = those_that_fit(figure.cases(machine_of(options, unpinned.empty())));
  const std::vector<configuration> points = points_of(cases, min_time_of(options), unpinned.empty());
  team_stage on(points);

  std::vector<nlohmann::ordered_json> records;
  bool all_verified = true;
  {
    progress_bar bar(points.size() * static_cast<std::size_t>(repetitions));
    play_all(
        points, on, repetitions, options.seed,
        [&](std::size_t next) {
          bar.step(fmt::format("figure {}: {}", figure.number, step_of(points[next])));
        },
        [&](std::size_t index, const bench::sample& sample) {
          records.push_back(record_of(sample, figure, cases[index], unpinned.empty(), !emulated.empty()));
          all_verified = all_verified && sample.verified;
        });
  }
  // Only now is it known what the system refused.
  nlohmann::ordered_json head = provenance_of(points, on, options, start);
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
      remark("{}", failed.what());
    }
    std::fflush(nullptr);
    _exit(status);
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) > of_signals)
    throw error(fmt::format("a signal ended the measurement of figure {}", figure.number));
  return WEXITSTATUS(ended);
}

using samples_of_figures = std::map<std::string, std::vector<nlohmann::ordered_json>>;

/// The verified samples of the folder's results files.
samples_of_figures samples_in(const figures_options& options) {
  samples_of_figures result;
  for (const figure_definition& figure : stengel2007()) {
    std::ifstream from(results_path(options, figure.number));
    for (std::string line; std::getline(from, line);)
      if (auto record = nlohmann::ordered_json::parse(line, nullptr, false);
          record.is_object() && record.value("record", "") == "sample" && record.value("verified", false))
        result[figure.number].push_back(std::move(record));
  }
  return result;
}

/// The claims, judged by what was measured. With one NUMA domain, those that need several are not judged. One
/// sample shows no spread, and those of a trial are short: they decide nothing.
std::vector<verdict_on_claim> verdicts_on(const figures_options& options, int domains,
                                          const samples_of_figures& samples) {
  bool decides = true;
  const finding_at found = [&](const place_found& where, const std::string& column) -> std::optional<double> {
    std::vector<double> values;
    const auto of_figure = samples.find(where.analysis);
    if (of_figure == samples.end()) return std::nullopt;
    for (const nlohmann::ordered_json& each : of_figure->second) {
      const bool is_there = each.value("series", "") == where.object &&
                            std::all_of(where.at.begin(), where.at.end(), [&](const auto& one) {
                              return each.value(one.first, nlohmann::ordered_json()) == one.second;
                            });
      const auto value = each.find(column);
      if (!is_there || value == each.end() || !value->is_number()) continue;
      values.push_back(value->get<double>());
      decides = decides && !is_trial(each);
    }
    if (values.empty()) return std::nullopt;
    decides = decides && values.size() > 1;
    return bench::median_of(std::move(values)).median;
  };
  std::vector<verdict_on_claim> all;
  for (const loop_claim& each : stengel2007_claims(machine_of(options, false))) {
    decides = true;
    all.push_back(each.needs_domains && domains == 1 ? verdict_on_claim{each.what.text, std::nullopt, ""}
                                                     : judge(each.what, found));
    if (!decides) all.back().holds.reset();
  }
  return all;
}

/// The numbers of the figures without a results file.
std::vector<std::string> left_to_measure(const figures_options& options,
                                         const std::vector<const figure_definition*>& figures) {
  std::vector<std::string> result;
  for (const figure_definition* each : figures) {
    std::error_code ignored;
    if (!std::filesystem::exists(results_path(options, each->number), ignored))
      result.emplace_back(each->number);
  }
  return result;
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
  for (const figure_definition* each : figures) {
    std::error_code ignored;
    const auto path = results_path(options, each->number);
    if (std::filesystem::exists(path, ignored) && !options.older.is_replaced) {
      const std::vector<std::string> left = left_to_measure(options, figures);
      throw usage_error(
          bench::refusal_of(path, options.older) +
          (left.empty() ? ""
                        : fmt::format("; or measure the others alone: --only {}", fmt::join(left, ","))));
    }
  }
  std::vector<std::string> names;
  for (const figure_definition& each : stengel2007()) names.push_back(file_name(each.number));
  if (const int status = folder.prepare(names, options.older.is_replaced); status != success) return status;

  const hardware here;
  if (!openmp_available()) remark("built without OpenMP: all loops run on one thread");
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
    status = worse(status, of_figure);
    fmt::print("{}  {}{}\n", figure.number, figure.title,
               emulate ? " (emulated: needs several NUMA domains)" : "");
    std::fflush(stdout);
  }
  if (status != success) remark("a loop computed a wrong result; its results are void");

  // Figures that were measured before are on the page too.
  std::vector<std::string> files;
  for (const figure_definition& figure : stengel2007())
    if (const auto path = results_path(options, figure.number); std::filesystem::exists(path))
      files.push_back(path.string());
  const samples_of_figures samples = samples_in(options);
  const std::string claims = folder.note_claims(verdicts_on(options, here.numa_domains(), samples));
  std::vector<std::string> report{"--claims", claims};
  std::vector<std::string> trials;
  for (const auto& [figure, all] : samples)
    if (std::ranges::any_of(all, is_trial)) trials.push_back(figure);
  if (options.quick)
    report.emplace_back(
        "--notice=This is a trial (--quick): few short vectors, each measured for a short time. "
        "A run without --quick measures what the thesis measured.");
  else if (!trials.empty())
    report.push_back(fmt::format(
        "--notice=A part is a trial (--quick), with short runs: {}. Measure it again with --overwrite.",
        fmt::join(trials, ", ")));
  return worse(status, folder.draw(title, std::move(report), files));
}

}  // namespace

void add_stengel2007(CLI::App& figures, int& status) {
  CLI::App* command = figures.add_subcommand("stengel2007", title);
  auto options = std::make_shared<figures_options>();
  command->add_option("--output", options->output, "Directory for results, pictures and index.html")
      ->check(directory_name())
      ->capture_default_str();
  add_only_option(*command, options->only, "Numbers of figures (default: all)", stengel2007(),
                  &figure_definition::number);
  command->add_flag("--list", options->list, "Print the figures and measure nothing");
  add_overwrite_option(*command, options->older);
  CLI::Option* const quick =
      command->add_flag("--quick", options->quick, "Measure a few short vectors only, as a trial of seconds");
  command->add_flag("--full", options->full, "Measure grids as large as published: 8000 x 8000 points, 1 GB")
      ->excludes(quick);
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
