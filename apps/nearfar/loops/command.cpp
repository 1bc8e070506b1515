// nearfar bench triad, stream, relax: loops over containers.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/loops/loops.hpp"
#include "apps/nearfar/loops/options.hpp"
#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/free_memory.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/shared/results_name.hpp"
#include "bench/results.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/pinning.hpp"

namespace nearfar::command {

namespace {

using bench::loop_case;
using bench::loop_sample;
using bench::relax_case;
using bench::triad_case;

struct loop_options {
  std::string benchmark;
  std::vector<std::string> containers{"all"};
  std::vector<std::string> initialisations{"best"};
  std::vector<std::string> kernels;
  std::vector<int> threads;
  std::vector<std::string> lengths;
  std::vector<std::string> chunks{"0"};
  std::vector<std::string> stores{"regular"};
  std::vector<std::string> decompositions{"horizontal", "vertical"};
  std::string segments;
  std::string padding = "0";
  std::string rows = "2000";
  std::string columns = "2000";
  std::string pin = "scatter";
  std::string placement = "first-touch";
  bool huge_pages = false;
  int repetitions = 6;
  double min_time = 0.02;  ///< seconds
  std::uint64_t seed = 1;
  std::string output;

  [[nodiscard]] bool is_relax() const { return benchmark == "relax"; }
};

/// The lengths that --lengths names.
std::vector<std::size_t> lengths_of(const std::vector<std::string>& texts) {
  std::vector<std::size_t> lengths;
  for (const std::string& text : texts) {
    if (text != "all") {
      lengths.push_back(parse_length("--lengths", text));
      continue;
    }
    constexpr std::size_t longest = 100'000'000;
    for (std::size_t decade = 10; decade <= longest; decade *= 10)
      for (const std::size_t step : {1U, 2U, 5U})
        if (decade * step <= longest) lengths.push_back(decade * step);
  }
  return without_repeats(lengths);
}

void check(const loop_options& options) {
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw usage_error(text);
  };
  constexpr double longest = 3600;
  require(options.min_time > 0 && options.min_time <= longest,
          fmt::format("--min-time must be a positive number of seconds, at most {}, not {}", longest,
                      options.min_time));
  require(options.repetitions > 0,
          fmt::format("--repetitions must be 1 or more, not {}", options.repetitions));
  for (const int threads : options.threads) check_threads(threads);
  check_results_name(options.output);
}

std::vector<int> threads_of(const loop_options& options) {
  const int all = this_machine().allowed_cpus();
  std::vector<int> threads = without_repeats(options.threads);
  if (threads.empty()) threads = all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
  if (!openmp_available() && threads != std::vector<int>{1}) {
    fmt::print(stderr, "nearfar: built without OpenMP: all loops run on one thread\n");
    threads = {1};
  }
  return threads;
}

/// All combinations of what is asked for; those that do not exist are left out, and said to be unless it is
/// for a value that 'all' stands for.
class case_maker {
 public:
  explicit case_maker(const loop_options& options)
      : options_(&options),
        containers_(values_of(options.containers, bench::loop_containers, "container")),
        threads_(threads_of(options)),
        pin_(pinning::parse(options.pin)),
        placement_(parse_placement(options.placement, options.huge_pages)) {
    if (!this_machine().is_this_system() && !pin_.is_none())
      fmt::print(stderr, "nearfar: threads are not pinned: {}\n", other_machine_text());
    if (options.initialisations != std::vector<std::string>{"best"})
      initialisations_ = values_of(options.initialisations, bench::loop_initialisations, "initialisation");
  }

  [[nodiscard]] std::vector<loop_case> make() {
    options_->is_relax() ? make_relax() : make_vectors();
    for (const std::string& reason : left_out_) fmt::print(stderr, "nearfar: leaving out: {}\n", reason);
    if (cases_.empty())
      throw usage_error(
          "no combination of the given values exists; leave out an option, or give other values");
    return std::move(cases_);
  }

 private:
  void make_vectors() {
    const auto kernels = values_of(options_->kernels, bench::vector_kernels, "loop");
    const auto stores = values_of(options_->stores, bench::store_kinds, "kind of stores");
    const std::vector<std::size_t> lengths = lengths_of(options_->lengths);
    const std::vector<std::size_t> chunks = parse_lengths("--chunk", options_->chunks, chunks_of_loops);
    const std::size_t segments =
        options_->segments.empty() ? 0 : parse_length("--segments", options_->segments, counts_of_segments);
    const std::size_t padding = parse_length("--padding", options_->padding, bytes_of_padding);
    for (const auto kernel : kernels)
      for (const std::size_t length : lengths)
        for (const int threads : threads_)
          for (const auto store : stores)
            for (const std::size_t chunk : chunks)
              for (const auto container : containers_) {
                triad_case made;
                made.container = container;
                made.kernel = kernel;
                made.length = length;
                made.threads = threads;
                made.stores = store;
                made.chunk = chunk;
                if (made.is_segmented()) {
                  made.segments = segments;
                  made.padding = padding;
                }
                add(made);
              }
  }

  void make_relax() {
    const std::size_t rows = parse_length("--rows", options_->rows, lengths_of_grids);
    const std::size_t columns = parse_length("--columns", options_->columns, lengths_of_grids);
    for (const auto decomposition :
         values_of(options_->decompositions, bench::loop_decompositions, "decomposition"))
      for (const int threads : threads_)
        for (const auto container : containers_) {
          relax_case made;
          made.container = container;
          made.rows = rows;
          made.columns = columns;
          made.decomposition = decomposition;
          made.threads = threads;
          add(made);
        }
  }

  template <typename Case>
  void add(Case made) {
    made.pin = pin_;
    const bool has_own_pages = made.container != bench::loop_container::vector &&
                               made.container != bench::loop_container::object_array;
    if (has_own_pages) made.placement = placement_;
    if (initialisations_.empty()) {
      made.initialisation = bench::best_initialisation(made);
      keep_or_leave_out(made);
      return;
    }
    for (const auto initialisation : initialisations_) {
      made.initialisation = initialisation;
      keep_or_leave_out(made);
    }
  }

  template <typename Case>
  void keep_or_leave_out(const Case& made) {
    const std::string why = bench::obstacle(made);
    if (why.empty()) {
      cases_.emplace_back(made);
      return;
    }
    if (bench::obstacle(without_what_all_stands_for(made)).empty()) return;
    if (std::find(left_out_.begin(), left_out_.end(), why) == left_out_.end()) left_out_.push_back(why);
  }

  /// The case with values that always exist in place of those that nobody asked for by name.
  [[nodiscard]] triad_case without_what_all_stands_for(triad_case of) const {
    if (asks_for_all(options_->stores)) of.stores = store_kind::regular;
    if (asks_for_all(options_->initialisations)) of.initialisation = bench::best_initialisation(of);
    return of;
  }
  [[nodiscard]] relax_case without_what_all_stands_for(relax_case of) const {
    if (asks_for_all(options_->containers)) of.container = bench::loop_container::array;
    if (asks_for_all(options_->decompositions)) of.decomposition = bench::loop_decomposition::horizontal;
    if (asks_for_all(options_->initialisations)) of.initialisation = bench::best_initialisation(of);
    return of;
  }

  const loop_options* options_;
  std::vector<bench::loop_container> containers_;
  std::vector<bench::loop_initialisation> initialisations_;  // empty: the one that suits each container best
  std::vector<int> threads_;
  pinning pin_;
  page_placement placement_;
  std::vector<loop_case> cases_;
  std::vector<std::string> left_out_;
};

int run_loops(const loop_options& options) {
  if (const launch how = launch::from_environment(); how.under_mpi) {
    if (how.rank != 0) return success;
    fmt::print(stderr, "nearfar: loops run in the threads of one process: only rank 0 measures\n");
  }
  say_ignored_variables();
  std::optional<bench::results_file> file;
  loop_results results;
  const auto have_ended = [&] {
    return std::ranges::any_of(results.samples, [](const auto& each) { return !each.empty(); });
  };
  kept_work work([&](const std::string& why) -> std::string {
    if (!file) return {};
    if (!have_ended()) {
      file->discard();
      return {};
    }
    try {
      file->write({{"schema", bench::loops_schema}, {"record", "interrupted"}, {"why", why}});
      return fmt::format("the completed repetitions are in '{}'", file->keep());
    } catch (const error&) {  // a full disk, most likely what has ended it
      return fmt::format("'{}' has the part that could be written", file->leave());
    }
  });
  check(options);
  results.cases = case_maker(options).make();
  leave_out_what_does_not_fit(results.cases);
  results.samples.resize(results.cases.size());

  const bench::loop_turns turns{.repetitions = options.repetitions,
                                .seed = options.seed,
                                .shortest = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                    std::chrono::duration<double>(options.min_time))};
  if (!options.output.empty()) {
    const auto hold = work.hold();
    file.emplace(options.output, bench::loops_schema);
    file->write(loop_provenance(options.benchmark, results, turns, utc_time()));
  }
  work.run([&] {
    progress_bar bar(results.cases.size() * static_cast<std::size_t>(options.repetitions));
    bench::run_in_turns(
        results.cases, turns, [&](const loop_case& next) { bar.step(text_of(next)); },
        [&](std::size_t index, const loop_sample& sample) {
          const auto hold = work.hold();
          results.samples[index].push_back(sample);
          if (file) file->write(sample);
        });
  });
  work.finish([&] {
    if (file) file->commit();
  });
  print_loop_table(results, {options.benchmark, options.pin, options.min_time});
  report_placement_problems();
  if (results.all_verified()) return success;
  fmt::print(stderr, "nearfar: a loop computed a wrong result; the table marks its results VOID\n");
  return failure;
}

void add_common_options(CLI::App& command, loop_options& options) {
  command
      .add_option("--containers", options.containers,
                  "Containers, or 'all':" + help_of(bench::loop_containers))
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--init", options.initialisations,
                  "First writers of the pages, 'best' for each container, or 'all':" +
                      help_of(bench::loop_initialisations))
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--threads", options.threads, "Numbers of threads (default: 1, and one per allowed CPU)")
      ->delimiter(',');
  command.add_option("--pin", options.pin, pin_help)->capture_default_str();
  command.add_option("--placement", options.placement, placement_help)->capture_default_str();
  command.add_flag("--huge-pages", options.huge_pages, "Request pages of 2 MiB");
  command.add_option("--repetitions", options.repetitions, "Repetitions of each case")->capture_default_str();
  command
      .add_option("--min-time", options.min_time,
                  "Shortest duration of a repetition, in seconds; iterations double until then")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the random order of cases")->capture_default_str();
  command.add_option("--output", options.output, "Results file (JSON Lines) for 'nearfar report'");
}

void add_vector_options(CLI::App& command, loop_options& options) {
  command
      .add_option("--lengths", options.lengths,
                  "Elements per vector, such as 2e7; 'all': 10 to 1e8 in steps of 1, 2, 5")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--stores", options.stores,
                  "Stores of the results, or 'all':" + help_of(bench::store_kinds))
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--segments", options.segments,
                     "Number of segments of segmented arrays (default: one per thread)");
  command.add_option("--padding", options.padding,
                     "Bytes between segments of padded arrays, which then share pages");
}

void add_triad(CLI::App& command, loop_options& options) {
  options.kernels = {"triad"};
  options.lengths = {"1000", "10000", "100000", "1000000", "10000000"};
  add_vector_options(command, options);
  command
      .add_option("--chunk", options.chunks,
                  fmt::format("Elements that a thread takes at a time, 0 for one block per thread:\n"
                              "  allocators take one of {}",
                              fmt::join(bench::allocator_chunks, ", ")))
      ->delimiter(',')
      ->capture_default_str();
}

void add_stream(CLI::App& command, loop_options& options) {
  options.kernels = {"copy", "scale", "add", "stream-triad"};
  options.lengths = {"10000000"};
  options.containers = {"array", "vector-numa", "numa_vector", "numa_vector-expression", "segmented"};
  add_vector_options(command, options);
  command.footer(
      "Bytes count as in STREAM: those that the loop reads and writes, without reads for ownership. The "
      "triad "
      "a = b + s * c has two input vectors; that of 'nearfar bench triad' has three. docs/numa.md explains "
      "the options.");
}

void add_relax(CLI::App& command, loop_options& options) {
  options.containers = {"array", "vector", "vector-numa", "numa_vector", "segmented"};
  command.add_option("--rows", options.rows, "Rows of the grid")->capture_default_str();
  command.add_option("--columns", options.columns, "Columns of the grid")->capture_default_str();
  command
      .add_option("--decomposition", options.decompositions,
                  "Division of the grid among threads, or 'all':" + help_of(bench::loop_decompositions))
      ->delimiter(',')
      ->capture_default_str();
}

}  // namespace

nlohmann::ordered_json loop_provenance(const std::string& benchmark, const loop_results& of,
                                       const bench::loop_turns& how, const std::string& start_time) {
  int most = 1;
  std::optional<pinning> pin;
  for (const loop_case& each : of.cases)
    std::visit(
        [&](const auto& each_case) {
          if (each_case.threads >= most) pin = bench::pinning_used(each_case);
          most = std::max(most, each_case.threads);
        },
        each);
  std::vector<std::string> binding;
  if (pin) {
    for (const std::vector<int>& cpus : pin->cpus(this_machine(), most))
      binding.push_back(cpus.empty() ? "none" : fmt::format("CPU {}", fmt::join(cpus, ",")));
  }
  return provenance({.schema = bench::loops_schema,
                     .benchmark = benchmark,
                     .world = "threads",
                     .topology = this_machine().tree_text(),
                     .binding = binding,
                     .oversubscribed = most > this_machine().allowed_cpus(),
                     .seed = how.seed,
                     .records_expected = of.cases.size() * static_cast<std::size_t>(how.repetitions),
                     .start_time = start_time});
}

void leave_out_what_does_not_fit(std::vector<loop_case>& cases) {
  const std::optional<free_memory> memory = free_memory::now();
  if (!memory) return;
  std::set<std::size_t> left_out;
  std::erase_if(cases, [&](const loop_case& of) {
    const std::size_t needed = bench::bytes_of(of);
    if (needed <= memory->usable) return false;
    left_out.insert(needed);
    return true;
  });
  for (const std::size_t needed : left_out)
    fmt::print(stderr, "nearfar: leaving out a case that needs {}\n", memory->text_for(needed));
  if (cases.empty()) throw usage_error("no case fits into the free memory; choose smaller ones");
}

std::string text_of(const loop_case& of) {
  if (const auto* grid = std::get_if<relax_case>(&of))
    return fmt::format("relax {}, {} x {}, {} thread{}",
                       bench::name_of(bench::loop_containers, grid->container), grid->rows, grid->columns,
                       grid->threads, grid->threads == 1 ? "" : "s");
  const auto& loop = std::get<triad_case>(of);
  return fmt::format("{} {}, length {}, {} thread{}", bench::name_of(bench::vector_kernels, loop.kernel),
                     bench::name_of(bench::loop_containers, loop.container), loop.length, loop.threads,
                     loop.threads == 1 ? "" : "s");
}

const std::vector<benchmark_info>& loop_benchmarks() {
  static const std::vector<benchmark_info> all{
      {"triad", "vector triad a = b + c * d over arrays and containers, from cache to memory"},
      {"stream", "copy, scale, add and triad (a = b + s * c) as STREAM names and counts them"},
      {"relax", "relaxation: sweeps of the four-point mean over a grid of rows"}};
  return all;
}

void add_loop_benchmarks(CLI::App& bench, int& status) {
  for (const benchmark_info& benchmark : loop_benchmarks()) {
    CLI::App* command = bench.add_subcommand(benchmark.name, benchmark.summary);
    auto options = std::make_shared<loop_options>();
    options->benchmark = benchmark.name;
    command->footer("docs/numa.md explains the options.");
    if (options->benchmark == "triad") add_triad(*command, *options);
    if (options->benchmark == "stream") add_stream(*command, *options);
    if (options->benchmark == "relax") add_relax(*command, *options);
    add_common_options(*command, *options);
    command->callback([options, &status] { status = run_loops(*options); });
  }
}

}  // namespace nearfar::command
