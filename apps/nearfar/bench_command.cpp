// nearfar bench: the benchmark suite in the worlds of real hardware.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "apps/nearfar/benchmarks.hpp"
#include "apps/nearfar/command.hpp"
#include "apps/nearfar/launch.hpp"
#include "apps/nearfar/provenance.hpp"
#include "apps/nearfar/result_table.hpp"
#include "bench/catalogue.hpp"
#include "bench/ecsb.hpp"
#include "bench/results.hpp"
#include "bench/upb.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

struct bench_options {
  std::string benchmark;
  std::vector<std::string> locks;
  std::string world;
  int ranks = 0;
  double duration = 1.0;
  int repetitions = 8;
  std::uint64_t seed = 1;
  std::string topology;
  std::string output;
  int lock_count = 1000;
  bool no_bind = false;
  bench::lock_parameters parameters;
  std::int64_t backoff_min_ns = bench::lock_parameters{}.pause.shortest.count();
  std::int64_t backoff_max_ns = bench::lock_parameters{}.pause.longest.count();
  wait_ratios ratios;
};

void validate(const bench_options& options) {
  std::vector<std::string> known;
  for (const benchmark_info& benchmark : benchmarks) known.emplace_back(benchmark.name);
  if (std::find(known.begin(), known.end(), options.benchmark) == known.end())
    throw usage_error(fmt::format("unknown benchmark '{}'{}; there are: {}", options.benchmark,
                                  suggestion(options.benchmark, known), fmt::join(known, ", ")));
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw usage_error(text);
  };
  constexpr double longest = 86400;
  require(options.duration > 0 && options.duration <= longest,
          fmt::format("--duration must be a positive number of seconds, at most {}, not {}", longest,
                      options.duration));
  require(options.repetitions > 0,
          fmt::format("--repetitions must be 1 or more, not {}", options.repetitions));
  require(options.lock_count > 0, fmt::format("--lock-count must be 1 or more, not {}", options.lock_count));
  require(options.ratios.polls_per_progress > 0 && options.ratios.polls_per_yield > 0,
          "--polls-per-progress and --polls-per-yield must be 1 or more");
  require(options.backoff_min_ns > 0 && options.backoff_min_ns <= options.backoff_max_ns,
          "--backoff-min-ns must be 1 or more and at most --backoff-max-ns");
}

/// A lock that cannot run in this world, and why.
template <world W>
std::optional<std::string> obstacle(const bench::lock_entry& entry, const W& w) {
  if (!entry.exists_in<W>()) return "it does not exist in this world";
  const int nodes = w.locality().groups(level::node);
  if (entry.one_node_only && nodes > 1)
    return fmt::format("it works on one node only, and there are {}", nodes);
  return std::nullopt;
}

/// The asked-for locks that can run. What was named must run; of "all" and of the default what can.
template <world W>
std::vector<const bench::lock_entry*> choose_locks(const bench_options& options, const W& w) {
  const bench::catalogue& all = bench::catalogue::instance();
  const bool named = !options.locks.empty() && options.locks != std::vector<std::string>{"all"};
  std::vector<const bench::lock_entry*> chosen;
  if (named) {
    for (const std::string& name : options.locks) {
      const bench::lock_entry* entry = all.find(name);
      if (entry == nullptr)
        throw usage_error(fmt::format("unknown lock '{}'{}; 'nearfar list' shows all", name,
                                      suggestion(name, all.names())));
      if (const auto why = obstacle(*entry, w))
        throw usage_error(fmt::format("cannot run lock '{}': {}", name, *why));
      if (std::find(chosen.begin(), chosen.end(), entry) == chosen.end()) chosen.push_back(entry);
    }
    return chosen;
  }
  for (const bench::lock_entry& entry : all.entries()) {
    if (options.locks.empty() && entry.name != entry.family()) continue;
    if (const auto why = obstacle(entry, w)) {
      if (w.rank() == 0) fmt::print(stderr, "nearfar: leaving out lock '{}': {}\n", entry.name, *why);
      continue;
    }
    chosen.push_back(&entry);
  }
  return chosen;
}

nlohmann::ordered_json parameters_of(const bench::lock_entry& entry, const bench_options& options) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const std::string& name : entry.parameters) {
    if (name == "max_local_passes") result[name] = options.parameters.max_local_passes;
    if (name == "backoff_min_ns") result[name] = options.backoff_min_ns;
    if (name == "backoff_max_ns") result[name] = options.backoff_max_ns;
  }
  return result;
}

/// A bar on a terminal's stderr, and nothing elsewhere.
class progress_bar {
 public:
  progress_bar(bool shown, std::size_t steps) : shown_(shown && isatty(STDERR_FILENO) != 0), steps_(steps) {}
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void step(const std::string& text) {
    if (!shown_) return;
    constexpr std::size_t width = 30;
    const std::size_t filled = steps_ == 0 ? width : width * done_ / steps_;
    fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}/{} {}", "", filled, "", width - filled, done_ + 1, steps_,
               text);
    std::fflush(stderr);
    ++done_;
  }

 private:
  bool shown_;
  std::size_t steps_;
  std::size_t done_ = 0;
};

/// One rank's part in running the suite in a world.
template <world W>
class suite {
 public:
  suite(W& w, const bench_options& options, const char* world_name, std::vector<std::string> bindings)
      : world_(&w),
        options_(&options),
        world_name_(world_name),
        bindings_(std::move(bindings)),
        locks_(choose_locks(options, w)) {}

  /// Collective. Every rank gets the same status.
  int run() {
    if (locks_.empty())
      throw usage_error("none of the locks can run here; 'nearfar list' says where each can");
    open_output();
    if (options_->benchmark == "ecsb")
      run_all_ecsb();
    else
      run_all_upb();
    if (file_) on_output([&] { file_->commit(); });
    agree_on_output();
    if (is_first()) print_table(samples_, options_->benchmark, world_->locality());
    const bool all_verified =
        std::all_of(samples_.begin(), samples_.end(), [](const auto& s) { return s.verified; });
    if (!all_verified && is_first())
      fmt::print(stderr, "nearfar: a lock did not exclude: its results are void (marked in the table)\n");
    return all_verified ? success : failure;
  }

 private:
  [[nodiscard]] bool is_first() const { return world_->rank() == 0; }

  void open_output() {
    if (is_first() && !options_->output.empty()) on_output([&] { file_.emplace(options_->output); });
    write(provenance({.benchmark = options_->benchmark,
                      .world = world_name_,
                      .topology = world_->locality().tree_text(),
                      .binding = bindings_,
                      .oversubscribed = world_->oversubscribed(),
                      .seed = options_->seed,
                      .records_expected = records_expected(),
                      .start_time = utc_time()}));
    agree_on_output();
  }

  void write(const nlohmann::ordered_json& record) {
    if (file_) on_output([&] { file_->write(record); });
  }

  /// Keeps what went wrong until all ranks can be told.
  template <typename Action>
  void on_output(Action action) {
    try {
      action();
    } catch (const std::exception& failed) {
      problem_ = failed.what();
      file_.reset();
    }
  }

  /// The others must not go on, nor wait, without the first, which is the one that writes. Collective.
  void agree_on_output() {
    if (world_->sum_over_ranks({problem_.empty() ? 0 : 1})[0] != 0) throw usage_error(problem_);
  }

  [[nodiscard]] std::size_t records_expected() const {
    const std::size_t configurations = locks_.size() * static_cast<std::size_t>(options_->repetitions);
    return options_->benchmark == "ecsb"
               ? configurations
               : configurations * bench::upb_cast(world_->locality()).scenarios().size();
  }

  /// Repetitions of different locks take turns in a random order, so that a drift of the machine hits all
  /// alike.
  void run_all_ecsb() {
    std::mt19937_64 random(options_->seed);
    progress_bar bar(is_first(), records_expected());
    for (int repetition = 0; repetition < options_->repetitions; ++repetition) {
      std::vector<const bench::lock_entry*> order = locks_;
      std::shuffle(order.begin(), order.end(), random);
      for (const bench::lock_entry* entry : order) {
        bar.step(fmt::format("ecsb {}", entry->name));
        record(bench::run_ecsb(*world_, *entry, options_->parameters,
                               std::chrono::duration<double>(options_->duration)),
               *entry, repetition);
      }
      agree_on_output();
    }
  }

  void run_all_upb() {
    std::mt19937_64 random(options_->seed);
    const bench::upb_cast cast(world_->locality());
    if (is_first() && cast.scenarios().size() < bench::upb_scenarios.size())
      fmt::print(stderr,
                 "nearfar: {} of the nine scenarios can be played here; all need two nodes of two ranks\n",
                 cast.scenarios().size());
    std::vector<const bench::lock_entry*> order = locks_;
    std::shuffle(order.begin(), order.end(), random);
    progress_bar bar(is_first(), locks_.size() * static_cast<std::size_t>(options_->repetitions));
    for (const bench::lock_entry* entry : order) {
      bench::upb<W> benchmark(*world_, *entry, options_->parameters, options_->lock_count);
      for (int repetition = 0; repetition < options_->repetitions; ++repetition) {
        bar.step(fmt::format("upb {}", entry->name));
        for (bench::sample& sample : benchmark.run()) record(std::move(sample), *entry, repetition);
      }
      agree_on_output();
    }
  }

  void record(bench::sample sample, const bench::lock_entry& entry, int repetition) {
    sample.parameters = parameters_of(entry, *options_);
    sample.world = world_name_;
    sample.machine = host_name();
    sample.nodes = world_->locality().groups(level::node);
    sample.ranks = world_->size();
    sample.repetition = repetition;
    write(sample);
    samples_.push_back(std::move(sample));
  }

  W* world_;
  const bench_options* options_;
  const char* world_name_;
  std::vector<std::string> bindings_;
  std::vector<const bench::lock_entry*> locks_;
  std::optional<bench::results_file> file_;
  std::string problem_;
  std::vector<bench::sample> samples_;
};

std::optional<topology_spec> topology_of(const bench_options& options) {
  if (options.topology.empty()) return std::nullopt;
  return topology_spec::parse(options.topology);
}

/// Every rank's binding, on every rank.
std::vector<std::string> gather_bindings(MPI_Comm comm) {
  constexpr std::size_t width = 64;
  std::string mine = hardware().binding_text();
  mine.resize(width);
  int ranks = 1;
  mpi::check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::string all(width * static_cast<std::size_t>(ranks), '\0');
  mpi::check(MPI_Allgather(mine.data(), width, MPI_CHAR, all.data(), width, MPI_CHAR, comm), "MPI_Allgather");
  std::vector<std::string> result;
  for (std::size_t at = 0; at < all.size(); at += width) result.emplace_back(all.substr(at, width).c_str());
  return result;
}

int run_in_mpi(const bench_options& options) {
  const std::optional<topology_spec> topology = topology_of(options);
  const mpi_session session;
  std::optional<usage_error> refused;
  int status = success;
  {
    mpi::world w(MPI_COMM_WORLD, {.ratios = options.ratios, .topology = topology});
    try {
      if (options.ranks != 0 && options.ranks != w.size())
        throw usage_error(
            fmt::format("--ranks {} does not fit the {} ranks that MPI started: give it to mpirun (-n {})",
                        options.ranks, w.size(), options.ranks));
      status = suite(w, options, "mpi", gather_bindings(MPI_COMM_WORLD)).run();
    } catch (const usage_error& error) {
      // All ranks are refused alike, so that the world can end as it should.
      refused = error;
    }
  }
  if (refused) throw usage_error(*refused);
  return status;
}

int run_in_threads(const bench_options& options) {
  const std::optional<topology_spec> topology = topology_of(options);
  const hardware here;
  const int ranks = options.ranks != 0 ? options.ranks : here.allowed_cpus();
  const bool bind = !options.no_bind && here.is_this_system() && ranks <= here.allowed_cores();
  std::vector<std::string> bindings(static_cast<std::size_t>(ranks));
  int status = success;
  threads::run(ranks,
               [&](threads::world& w) {
                 bindings[static_cast<std::size_t>(w.rank())] = hardware().binding_text();
                 w.barrier();
                 const int mine = suite(w, options, "threads", bindings).run();
                 if (w.rank() == 0) status = mine;
               },
               {.ratios = options.ratios, .topology = topology, .bind = bind});
  return status;
}

int run_bench(bench_options options) {
  validate(options);
  options.parameters.pause = {std::chrono::nanoseconds(options.backoff_min_ns),
                              std::chrono::nanoseconds(options.backoff_max_ns)};
  const launch how = launch::from_environment();
  if (options.world.empty()) options.world = how.under_mpi ? "mpi" : "threads";
  if (options.world == "mpi") return run_in_mpi(options);
  if (options.world != "threads")
    throw usage_error(fmt::format("unknown world '{}'{}; there are: mpi, threads", options.world,
                                  suggestion(options.world, {"mpi", "threads"})));
  if (how.under_mpi && how.rank != 0) return success;
  return run_in_threads(options);
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench", "Measure locks: in threads, or on MPI under mpirun");
  auto options = std::make_shared<bench_options>();
  command
      ->add_option("benchmark", options->benchmark,
                   "ecsb: empty critical section; upb: uncontested performance")
      ->required();
  command
      ->add_option("--locks", options->locks,
                   "Names as 'nearfar list' shows, separated by commas, or 'all'; "
                   "default: each family's recommended setting")
      ->delimiter(',');
  command->add_option("--world", options->world, "mpi or threads; default: mpi under mpirun, else threads");
  command
      ->add_option("--ranks", options->ranks,
                   "Threads of the threads world; default: one for each allowed processor")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--duration", options->duration, "Seconds of one ECSB repetition, of which 10 % warm up")
      ->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "Repetitions of each configuration")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the order in which locks take turns")
      ->capture_default_str();
  command->add_option("--topology", options->topology,
                      "Tree to use in place of the machine's: 'node:2 numa:2 core:4'");
  command->add_option("--output", options->output, "Results file (JSON Lines) for 'nearfar report'");
  command->add_option("--lock-count", options->lock_count, "Locks of the UPB")->capture_default_str();
  command
      ->add_option("--max-local-passes", options->parameters.max_local_passes,
                   "Passes within a node before another node's turn (cohort, rma_mcs)")
      ->check(CLI::Range(0, 254))
      ->capture_default_str();
  command->add_option("--backoff-min-ns", options->backoff_min_ns, "First pause of tas")
      ->capture_default_str();
  command->add_option("--backoff-max-ns", options->backoff_max_ns, "Longest pause of tas")
      ->capture_default_str();
  command
      ->add_option("--polls-per-progress", options->ratios.polls_per_progress,
                   "Polls of a waiting rank between two calls that drive MPI's progress")
      ->capture_default_str();
  command
      ->add_option("--polls-per-yield", options->ratios.polls_per_yield,
                   "The same while oversubscribed, where each such call is followed by a yield")
      ->capture_default_str();
  command->add_flag("--no-bind", options->no_bind, "Threads world: leave threads unbound");
  command->callback([options, &status] { status = run_bench(*options); });
}

}  // namespace nearfar::command
