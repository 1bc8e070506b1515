// nearfar bench: the benchmark suite in the worlds of real hardware.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/loops/loops.hpp"
#include "apps/nearfar/loops/options.hpp"
#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/shared/stall_guard.hpp"
#include "apps/nearfar/shared/suite.hpp"
#include "bench/output_file.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

struct bench_options : suite_options {
  std::string world;
  int ranks = 0;
  std::string topology;
  bool no_bind = false;
  wait_ratios ratios;
  std::optional<double> stall_limit;  ///< seconds, 0 for none

  /// Under a lock that is not fair a rank may wait for as long as the others go on.
  [[nodiscard]] std::optional<stall_limits> limits() const {
    constexpr double beyond_duration = 60;
    const auto span = [](double seconds) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
    };
    if (stall_limit == 0.0) return std::nullopt;
    return stall_limits{.wait = span(stall_limit.value_or(duration + beyond_duration)),
                        .step = is_ecsb() ? span(duration) : std::chrono::nanoseconds(0)};
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> longest_wait() const {
    const auto all = limits();
    return all ? std::optional(all->wait) : std::nullopt;
  }
};

/// Rank 0 has the results. Where it is the one that hangs in a call, another rank ends the job.
stall_guard guard_over(suite_output& output, const bench_options& options, int rank) {
  const auto keep = [&output, &options, rank](const std::string& what,
                                              const std::string& why) -> std::string {
    if (rank == 0) return output.stop(what, why);
    if (options.output.empty()) return {};
    return fmt::format("what was measured is in '{}'", bench::output_file::partial_name(options.output, "*"));
  };
  return {rank, options.limits(), keep};
}

template <world W>
int run_suite(W& w, const bench_options& options, const char* world_name,
              const std::vector<std::string>& bindings, suite_output* output, stall_guard* guard) {
  return suite<W>(w, options, output, guard)
      .run({.benchmark = options.benchmark,
            .world = world_name,
            .topology = w.locality().tree_text(),
            .binding = bindings,
            .oversubscribed = w.oversubscribed(),
            .seed = options.seed,
            .start_time = utc_time()},
           host_name());
}

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
  suite_output output(options);
  stall_guard guard = guard_over(output, options, launch::from_environment().rank);
  guard.begin("starting MPI");
  const mpi_session session;
  const mpi::communicator of_stalls = mpi::communicator::duplicate(MPI_COMM_WORLD);
  std::optional<usage_error> refused;
  int status = success;
  {
    mpi::world w(MPI_COMM_WORLD,
                 {.ratios = options.ratios, .topology = topology, .stall_limit = options.longest_wait()});
    try {
      if (options.ranks != 0 && options.ranks != w.size())
        throw usage_error(
            fmt::format("--ranks {} does not fit the {} ranks that MPI started: give it to mpirun (-n {})",
                        options.ranks, w.size(), options.ranks));
      status = run_suite(w, options, "mpi", gather_bindings(MPI_COMM_WORLD),
                         w.rank() == 0 ? &output : nullptr, &guard);
    } catch (const usage_error& error) {
      // All ranks are refused alike, so that the world can end as it should.
      refused = error;
    } catch (const stalled& stall) {
      guard.end(stall, of_stalls);
    }
    guard.begin("ending MPI");
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
  suite_output output(options);
  stall_guard guard = guard_over(output, options, 0);
  int status = success;
  const auto body = [&](threads::world& w) {
    bindings[static_cast<std::size_t>(w.rank())] = hardware().binding_text();
    try {
      w.barrier();
      if (w.rank() == 0)
        status = run_suite(w, options, "threads", bindings, &output, &guard);
      else
        run_suite(w, options, "threads", bindings, nullptr, nullptr);
    } catch (const stalled& stall) {
      guard.end(stall, w.size());
    }
  };
  threads::run(
      ranks, body,
      {.ratios = options.ratios, .topology = topology, .bind = bind, .stall_limit = options.longest_wait()});
  return status;
}

int run_bench(bench_options options) {
  complete(options);
  if (options.ratios.polls_per_progress == 0 || options.ratios.polls_per_yield == 0)
    throw usage_error("--polls-per-progress and --polls-per-yield must be 1 or more");
  constexpr double longest = 86400;
  // Written so that NaN is refused too.
  const bool has_limit_that_fits = options.stall_limit >= 0.0 && options.stall_limit <= longest;
  if (options.stall_limit && !has_limit_that_fits)
    throw usage_error(fmt::format("--stall-limit must be a number of seconds, 0 (none) to {}, not {}",
                                  longest, *options.stall_limit));
  const launch how = launch::from_environment();
  if (options.world.empty()) options.world = how.under_mpi ? "mpi" : "threads";
  if (options.world == "mpi") return run_in_mpi(options);
  if (options.world != "threads")
    throw usage_error(fmt::format("unknown world '{}'{}; there are: mpi, threads", options.world,
                                  suggestion(options.world, {"mpi", "threads"})));
  if (how.under_mpi && how.rank != 0) return success;
  if (options.ranks != 0) check_threads(options.ranks, "--ranks");
  return run_in_threads(options);
}

void add_lock_benchmark(CLI::App& bench, int& status, const benchmark_info& benchmark) {
  CLI::App* command = bench.add_subcommand(benchmark.name, benchmark.summary);
  auto options = std::make_shared<bench_options>();
  options->benchmark = benchmark.name;
  command->add_option("--world", options->world, "mpi or threads; default: mpi under mpirun, else threads");
  command
      ->add_option("--ranks", options->ranks,
                   "Threads of the threads world, up to 4096; default: one for each allowed processor")
      ->check(at_least_one());
  add_suite_options(*command, *options, "Seed of the order in which locks take turns");
  command->add_option("--topology", options->topology,
                      "Tree to use in place of the machine's: 'node:2 numa:2 core:4'");
  command
      ->add_option("--polls-per-progress", options->ratios.polls_per_progress,
                   "Polls of a waiting rank between two calls that drive MPI's progress")
      ->capture_default_str();
  command
      ->add_option("--polls-per-yield", options->ratios.polls_per_yield,
                   "The same while oversubscribed, where each such call is followed by a yield")
      ->capture_default_str();
  command->add_option("--stall-limit", options->stall_limit,
                      "Seconds after which a rank that still waits ends the benchmark, which keeps what was "
                      "measured, says who waits for what, and ends with 1; 0: never; default: 60 more than "
                      "--duration");
  command->add_flag("--no-bind", options->no_bind, "Threads world: leave threads unbound");
  command->callback([options, &status] { status = run_bench(*options); });
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand(
      "bench", "Measure locks (in threads, or on MPI under mpirun) and loops over containers (in threads)");
  for (const benchmark_info& benchmark : lock_benchmarks) add_lock_benchmark(*bench, status, benchmark);
  add_loop_benchmarks(*bench, status);
  bench->require_subcommand(0, 1);
  bench->callback([bench] {
    if (bench->get_subcommands().empty())
      throw usage_error("'nearfar bench' needs the name of a benchmark; 'nearfar bench --help' lists them");
  });
}

}  // namespace nearfar::command
