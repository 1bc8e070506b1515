// Acquires locks very often, counts every acquisition under the lock, and says whether one was lost or the
// lock stopped: what scripts/soak runs for long, and the tests with a memcpy that stores twice for a moment.
//
//   nearfar_soak --world threads --ranks 2 --seconds 10
//   scripts/run-mpi --mpi openmpi --ranks 2 -- build/release-openmpi/bench/nearfar_soak --locks dash,tas
//   NEARFAR_TWO_STORES=1 scripts/two-nodes run --mpi mpich --ranks 4 -- ...
//
// One JSON line for each lock. Exit status: 0 if none was lost and no lock stopped, else 1.

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/catalogue.hpp"
#include "bench/exclusion_check.hpp"
#include "bench/rw_catalogue.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::bench {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

struct soak_options {
  std::vector<std::string> locks{"sound"};
  std::string world = "mpi";
  int ranks = 2;
  std::uint64_t acquisitions = 0;
  double time = 0;
  std::string topology;
  int stall_limit = 300;
  std::uint32_t seed = 1;
};

// ---- which locks ------------------------------------------------------------------------------------------

/// Throws `std::invalid_argument` for a name that no lock has.
void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known{"sound", "unsound", "all"};
  for (const auto& all : {catalogue::instance().names(), rw_catalogue::instance().names()})
    known.insert(known.end(), all.begin(), all.end());
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(
          fmt::format("unknown lock '{}'; there are: {}", name, fmt::join(known, ", ")));
}

/// The locks of one kind, of that world and tree, that were asked for: by name, or as "sound", "unsound" and
/// "all".
template <world W, typename Entry>
std::vector<const Entry*> chosen_of(const W& w, const registry<Entry>& from,
                                    const std::vector<std::string>& names) {
  std::vector<const Entry*> result;
  const bool one_node = w.locality().groups(level::node) == 1;
  for (const std::string& name : names)
    for (const Entry& each : from.entries()) {
      const bool is_group = name == "sound" || name == "unsound" || name == "all";
      const bool wanted =
          is_group ? name == "all" || each.is_sound() == (name == "sound") : each.name == name;
      if (wanted && each.template exists_in<W>() && (one_node || !each.one_node_only))
        result.push_back(&each);
    }
  return result;
}

// ---- what is printed --------------------------------------------------------------------------------------

/// What runs, and how far this rank has got.
struct run_record {
  std::string lock;
  std::string library;
  std::string world;
  std::string tree;
  int ranks = 1;
  int nodes = 1;

  void print(std::uint64_t acquisitions, std::int64_t lost, std::optional<int> stalled_rank,
             double duration) const {
    nlohmann::ordered_json line{{"lock", lock},
                                {"library", library},
                                {"world", world},
                                {"topology", tree},
                                {"ranks", ranks},
                                {"nodes", nodes},
                                {"acquisitions", acquisitions},
                                {"lost", lost},
                                {"stalled", stalled_rank.has_value()},
                                {"seconds", duration}};
    if (stalled_rank) line["rank"] = *stalled_rank;
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }
};

// ---- stalls -----------------------------------------------------------------------------------------------

/// Ends the process, with a line, when a rank does not get on for long. Its thread calls no MPI; the launcher
/// ends the other ranks.
class stall_watch {
 public:
  stall_watch(int rank, int limit_seconds)
      : rank_(rank),
        limit_(limit_seconds),
        thread_([this](const std::stop_token& stopped) { watch(stopped); }) {}

  /// The rank begins something else.
  void begin(const run_record& running) {
    const std::scoped_lock hold(guard_);
    running_ = running;
    acquired_.store(0, std::memory_order_relaxed);
  }
  /// The rank has done its share, and waits for others.
  void end() {
    const std::scoped_lock hold(guard_);
    running_.lock.clear();
  }
  /// The rank has acquired that often by now. Costs a store.
  void acquired(std::uint64_t count) { acquired_.store(count, std::memory_order_relaxed); }

 private:
  void watch(const std::stop_token& stopped) {
    using clock = std::chrono::steady_clock;
    std::unique_lock hold(guard_);
    const auto first = clock::now();
    auto since = first;
    std::pair<std::string, std::uint64_t> seen;
    while (!changed_.wait_for(hold, stopped, seconds(1), [&] { return stopped.stop_requested(); })) {
      std::pair now(running_.lock, acquired_.load(std::memory_order_relaxed));
      if (now != seen || now.first.empty()) {
        seen = std::move(now);
        since = clock::now();
      }
      // One rank after the other, so that mostly one of those that wait for each other says it.
      if (clock::now() - since < limit_ + seconds(rank_)) continue;
      running_.print(seen.second, 0, rank_, std::chrono::duration<double>(since - first).count());
      std::_Exit(EXIT_FAILURE);
    }
  }

  int rank_;
  seconds limit_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  run_record running_;
  // Beside nothing that other ranks touch.
  alignas(cache_line) std::atomic<std::uint64_t> acquired_ = 0;
  alignas(cache_line) std::jthread thread_;
};

// ---- the run ----------------------------------------------------------------------------------------------

/// One acquisition of an exclusive lock, now and then by try_lock; it counts under the lock.
template <world W>
void acquire_once(any_lock<W>& lock, exclusion_check<W>& check, std::uint32_t dice) {
  const bool tries = lock.has_try_lock() && dice % 8 == 0;
  if (!tries || !lock.try_lock()) lock.lock();
  check.count_everywhere();
  lock.unlock();
}

/// The same of a reader-writer lock, one in four as a writer, now and then in another way that it has.
template <world W>
void acquire_once(any_rw_lock<W>& lock, rw_check<W>& check, std::uint32_t dice) {
  const auto can = lock.can();
  const bool differs = dice / 4 % 4 == 0;
  if (dice % 4 == 0) {
    if (!(differs && can.tries && lock.try_lock())) lock.lock();
    check.write();
    if (!differs || !can.downgrades) return lock.unlock();
    lock.unlock_and_lock_shared();
    check.read();
    return lock.unlock_shared();
  }
  if (!(differs && can.tries_shared && lock.try_lock_shared())) lock.lock_shared();
  check.read();
  if (!differs || !can.upgrades || !lock.try_unlock_shared_and_lock()) return lock.unlock_shared();
  check.write();
  lock.unlock();
}

/// Acquires this rank's share, or until `limit` has passed, unless that is 0, with a pause now and then, so
/// that queues are left empty, too. Returns how many there were.
template <world W, typename Lock, typename Check>
std::uint64_t acquire_often(W& w, Lock& lock, Check& check, const soak_options& options, nanoseconds limit,
                            stall_watch& watch) {
  constexpr std::uint64_t between_looks = 16;
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const std::uint64_t share =
      options.acquisitions == 0 ? ~std::uint64_t{0} : (options.acquisitions + ranks - 1) / ranks;
  std::minstd_rand random(options.seed * 7919U + static_cast<std::uint32_t>(w.rank()) + 1U);
  const nanoseconds start = w.now();
  std::uint64_t done = 0;
  while (done < share) {
    const auto dice = static_cast<std::uint32_t>(random());
    acquire_once(lock, check, dice / 8);
    watch.acquired(++done);
    if (dice % 8 == 0)
      for (auto turns = dice / 64 % 256; turns != 0; --turns)
        std::atomic_signal_fence(std::memory_order_seq_cst);
    if (limit != nanoseconds::zero() && done % between_looks == 0 && w.now() - start >= limit) break;
  }
  return done;
}

template <world W>
std::int64_t lost_by(exclusion_check<W>& check) {
  return check.lost();
}
template <world W>
std::int64_t lost_by(rw_check<W>& check) {
  return check.faults();
}

/// Collective. Returns whether all was well.
template <typename Check, world W, typename Entry>
bool soak_each(W& w, const std::vector<const Entry*>& locks, const soak_options& options,
               const std::string& library, nanoseconds limit, stall_watch& watch) {
  bool well = true;
  for (const Entry* each : locks) {
    const run_record running{.lock = each->name,
                             .library = library,
                             .world = options.world,
                             .tree = w.locality().tree_text(),
                             .ranks = w.size(),
                             .nodes = w.locality().groups(level::node)};
    watch.begin(running);
    Check check(w);
    const auto lock = each->template factory<W>()(w, 0, {});
    w.barrier();
    const nanoseconds start = w.now();
    const std::uint64_t mine = acquire_often(w, *lock, check, options, limit, watch);
    watch.end();
    const std::int64_t lost = lost_by(check);
    const std::int64_t all = w.sum_over_ranks({static_cast<std::int64_t>(mine)})[0];
    const double duration = std::chrono::duration<double>(w.now() - start).count();
    if (w.rank() == 0) running.print(static_cast<std::uint64_t>(all), lost, std::nullopt, duration);
    well = well && lost == 0 && all != 0;
  }
  return well;
}

/// Collective. Returns whether all was well.
template <world W>
bool soak(W& w, const soak_options& options, const std::string& library) {
  check_names(options.locks);
  stall_watch watch(w.rank(), options.stall_limit);
  const auto exclusive = chosen_of(w, catalogue::instance(), options.locks);
  const auto shared = chosen_of(w, rw_catalogue::instance(), options.locks);
  const std::size_t count = exclusive.size() + shared.size();
  const auto limit = std::chrono::duration_cast<nanoseconds>(
      std::chrono::duration<double>(options.time) / static_cast<double>(std::max<std::size_t>(count, 1)));
  if (count == 0)
    throw std::invalid_argument(fmt::format("none of the locks {} exists in this world and on this topology",
                                            fmt::join(options.locks, ", ")));
  const bool excluded = soak_each<exclusion_check<W>>(w, exclusive, options, library, limit, watch);
  return soak_each<rw_check<W>>(w, shared, options, library, limit, watch) && excluded;
}

int run(const soak_options& options) {
  std::optional<topology_spec> topology;
  if (!options.topology.empty()) topology = topology_spec::parse(options.topology);
  if (options.world == "threads") {
    std::atomic<bool> well = true;
    threads::run(options.ranks,
                 [&](threads::world& w) {
                   if (!soak(w, options, "none")) well = false;
                 },
                 {.topology = topology});
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  int provided = MPI_THREAD_SINGLE;
  mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  bool well = false;
  {
    mpi::world w(MPI_COMM_WORLD, {.topology = topology});
    well = soak(w, options, mpi::library_version());
  }
  MPI_Finalize();
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace nearfar::bench

int main(int argc, char** argv) {
  constexpr double longest = 1e7;
  CLI::App app("Acquires locks very often and says whether one let two in, or stopped.");
  nearfar::bench::soak_options options;
  app.add_option("--locks", options.locks, "Names; or sound, unsound, all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--world", options.world, "mpi (under mpirun) or threads")
      ->check(CLI::IsMember({"mpi", "threads"}))
      ->capture_default_str();
  app.add_option("--ranks", options.ranks, "Threads of the threads world")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  const auto* acquisitions =
      app.add_option("--acquisitions", options.acquisitions,
                     "Of each lock, over all ranks [1000000, or with --seconds no limit]")
          ->check(CLI::PositiveNumber);
  const auto* time =
      app.add_option("--seconds", options.time, "At most, for all locks in equal shares [no limit]")
          ->check(CLI::Range(1e-3, longest));
  app.add_option("--topology", options.topology, "Tree to use in place of the machine's: 'node:2 core:1'");
  app.add_option("--stall-limit", options.stall_limit,
                 "Seconds without an acquisition of a rank after which the lock is taken to have stopped")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the pauses")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (acquisitions->empty() && time->empty()) options.acquisitions = 1'000'000;
  try {
    return nearfar::bench::run(options);
  } catch (const std::exception& fault) {
    fmt::print(stderr, "nearfar_soak: {}\n", fault.what());
    // Under MPI the launcher ends the other ranks.
    std::_Exit(EXIT_FAILURE);
  }
}
