/// \file
/// The benchmark suite in whatever world it is given: what `bench` and `sim` share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/shared/stall_guard.hpp"
#include "bench/catalogue.hpp"
#include "bench/ecsb.hpp"
#include "bench/results.hpp"
#include "bench/upb.hpp"

namespace nearfar::command {

/// What a benchmark is asked for in every world.
struct suite_options {
  std::string benchmark;
  std::vector<std::string> locks;
  double duration = 1.0;  ///< seconds
  int repetitions = 8;
  std::uint64_t seed = 1;
  std::string output;
  int lock_count = 1000;
  bench::lock_parameters parameters;
  std::int64_t backoff_min_ns = bench::lock_parameters{}.pause.shortest.count();
  std::int64_t backoff_max_ns = bench::lock_parameters{}.pause.longest.count();

  [[nodiscard]] bool is_ecsb() const { return benchmark == "ecsb"; }
};

/// The options of `suite_options` except the benchmark. `seeds` says what the seed decides.
void add_suite_options(CLI::App& command, suite_options& options, const std::string& seeds);

/// Throws `usage_error` for what no world can do; sets what follows from other options.
void complete(suite_options& options);

/// What comes out of a run of the suite, kept by the first rank alone: samples, results file, table. Any
/// thread may stop it while another records.
class suite_output {
 public:
  explicit suite_output(const suite_options& options) : options_(&options) {}

  /// Starts the results file. Here and in the other members what goes wrong is kept in `problem`, until all
  /// ranks can be told.
  void open(measurement of, const std::string& machine, const std::vector<const bench::lock_entry*>& locks,
            const locality& where);
  void step(const std::string& text);
  void record(bench::sample sample, const bench::lock_entry& entry);
  void close();
  /// Keeps what was measured, in place of what is to come: closes the file with a record of what stalled and
  /// why, and prints the table. Nothing if it was never opened, or is closed. Returns why the results cannot
  /// be written.
  [[nodiscard]] std::string stop(const std::string& what, const std::string& why);
  /// Why the results cannot be written; empty if nothing is wrong.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// Prints the table, and returns the command's status.
  int report() const;
  /// Ends the run if the results cannot be written, with the table of those that there are: throws
  /// `usage_error`.
  void end_if_lost() const;

 private:
  template <typename Action>
  void guarded(Action action);

  std::mutex busy_;
  const suite_options* options_;
  measurement of_;
  std::string machine_;
  std::optional<locality> where_;
  bool open_ = false;
  std::optional<progress_bar> bar_;
  std::optional<bench::results_file> file_;
  std::string problem_;
  std::vector<bench::sample> samples_;
};

/// A lock that cannot run in this world, and why.
template <world W>
std::optional<std::string> obstacle(const bench::lock_entry& entry, const locality& where) {
  if (!entry.exists_in<W>()) return "it does not exist in this world";
  const int nodes = where.groups(level::node);
  if (entry.one_node_only && nodes > 1)
    return fmt::format("it works on one node only, and there are {}", nodes);
  return std::nullopt;
}

/// The asked-for locks that can run, in the order of the names, where "all" stands for all that are sound.
/// What was named must run; of "all" and of the default what can. Throws `usage_error`; says what is left out
/// if `speaks`.
template <world W>
std::vector<const bench::lock_entry*> choose_locks(const suite_options& options, const locality& where,
                                                   bool speaks) {
  const bench::catalogue& all = bench::catalogue::instance();
  std::vector<const bench::lock_entry*> chosen;
  const auto choose = [&](const bench::lock_entry& entry) {
    if (std::find(chosen.begin(), chosen.end(), &entry) == chosen.end()) chosen.push_back(&entry);
  };
  const auto choose_from_group = [&](auto belongs) {
    for (const bench::lock_entry& entry : all.sound_entries()) {
      if (!belongs(entry)) continue;
      const auto why = obstacle<W>(entry, where);
      if (!why)
        choose(entry);
      else if (speaks)
        fmt::print(stderr, "nearfar: leaving out lock '{}': {}\n", entry.name, *why);
    }
  };
  if (options.locks.empty())
    choose_from_group([](const auto& entry) { return entry.name == entry.family(); });
  for (const std::string& name : options.locks) {
    if (name == "all") {
      choose_from_group([](const auto&) { return true; });
      continue;
    }
    const bench::lock_entry* entry = all.find(name);
    if (entry == nullptr)
      throw usage_error(
          fmt::format("unknown lock '{}'{}; 'nearfar list' shows all", name, suggestion(name, all.names())));
    if (const auto why = obstacle<W>(*entry, where))
      throw usage_error(fmt::format("cannot run lock '{}': {}", name, *why));
    choose(*entry);
  }
  if (chosen.empty()) throw usage_error("none of the locks can run here; 'nearfar list' says where each can");
  if (speaks)
    for (const bench::lock_entry* entry : chosen)
      if (!entry->is_sound())
        fmt::print(stderr, "nearfar: lock '{}' is unsound and may hang or let two ranks in: {}\n",
                   entry->name, entry->unsound);
  return chosen;
}

/// One rank's part in running the suite in a world.
template <world W>
class suite {
 public:
  /// `output` on the first rank, null on the others. `guard` is told what begins, if there is one.
  suite(W& w, const suite_options& options, suite_output* output, stall_guard* guard = nullptr)
      : world_(&w), options_(&options), output_(output), guard_(guard) {}

  /// All repetitions of the chosen locks, with their results file and table. Collective. Every rank of a
  /// world whose ranks are processes gets the same status.
  int run(const measurement& of, const std::string& machine) {
    const locality& where = world_->locality();
    const auto locks = choose_locks<W>(*options_, where, output_ != nullptr);
    if (output_ != nullptr && !options_->is_ecsb()) warn_of_missing_scenarios(where);
    if (output_ != nullptr) output_->open(of, machine, locks, where);
    agree_on_output();
    measure(locks, 0, options_->repetitions);
    if (output_ != nullptr) output_->close();
    agree_on_output();
    const int mine = output_ != nullptr ? output_->report() : success;
    return static_cast<int>(world_->sum_over_ranks({mine})[0]);
  }

  /// The repetitions `first` to `end` - 1. Collective.
  void measure(const std::vector<const bench::lock_entry*>& locks, int first, int end) {
    options_->is_ecsb() ? measure_ecsb(locks, first, end) : measure_upb(locks, first, end);
  }

 private:
  /// The others must not go on, nor wait, without the first, which is the one that writes. Collective.
  void agree_on_output() {
    const bool is_lost = output_ != nullptr && !output_->problem().empty();
    if (world_->sum_over_ranks({is_lost ? 1 : 0})[0] == 0) return;
    if (output_ != nullptr) output_->end_if_lost();
    throw usage_error("the first rank cannot write the results");
  }

  /// Repetitions of different locks take turns in a random order, so that a drift of the machine hits all
  /// alike.
  void measure_ecsb(const std::vector<const bench::lock_entry*>& locks, int first, int end) {
    std::mt19937_64 random(options_->seed);
    for (int repetition = first; repetition < end; ++repetition) {
      std::vector<const bench::lock_entry*> order = locks;
      std::shuffle(order.begin(), order.end(), random);
      for (const bench::lock_entry* entry : order) {
        step(*entry);
        record(bench::run_ecsb(*world_, *entry, options_->parameters,
                               std::chrono::duration<double>(options_->duration)),
               *entry, repetition);
      }
      agree_on_output();
    }
  }

  void measure_upb(const std::vector<const bench::lock_entry*>& locks, int first, int end) {
    std::mt19937_64 random(options_->seed);
    std::vector<const bench::lock_entry*> order = locks;
    std::shuffle(order.begin(), order.end(), random);
    for (const bench::lock_entry* entry : order) {
      watch(*entry);
      bench::upb<W> benchmark(*world_, *entry, options_->parameters, options_->lock_count, [this] {
        if (guard_ != nullptr) guard_->beat();
      });
      for (int repetition = first; repetition < end; ++repetition) {
        step(*entry);
        for (bench::sample& sample : benchmark.run()) record(std::move(sample), *entry, repetition);
      }
      agree_on_output();
    }
  }

  static void warn_of_missing_scenarios(const locality& where) {
    const std::size_t played = bench::upb_cast(where).scenarios().size();
    if (played < bench::upb_scenarios.size())
      fmt::print(stderr,
                 "nearfar: {} of the nine scenarios can be played here; all need two nodes of two ranks\n",
                 played);
  }

  void watch(const bench::lock_entry& entry) {
    if (guard_ != nullptr) guard_->begin(fmt::format("lock '{}'", entry.name));
  }

  void step(const bench::lock_entry& entry) {
    watch(entry);
    if (output_ != nullptr) output_->step(fmt::format("{} {}", options_->benchmark, entry.name));
  }

  void record(bench::sample sample, const bench::lock_entry& entry, int repetition) {
    if (output_ == nullptr) return;
    sample.nodes = world_->locality().groups(level::node);
    sample.ranks = world_->size();
    sample.repetition = repetition;
    output_->record(std::move(sample), entry);
  }

  W* world_;
  const suite_options* options_;
  suite_output* output_;
  stall_guard* guard_;
};

}  // namespace nearfar::command
