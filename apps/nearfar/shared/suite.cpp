#include "apps/nearfar/shared/suite.hpp"

#include <cstdio>
#include <utility>

#include "apps/nearfar/shared/result_table.hpp"

namespace nearfar::command {

namespace {

nlohmann::ordered_json parameters_of(const bench::lock_entry& entry, const suite_options& options) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const std::string& name : entry.parameters) {
    if (name == "max_local_passes") result[name] = options.parameters.max_local_passes;
    if (name == "backoff_min_ns") result[name] = options.backoff_min_ns;
    if (name == "backoff_max_ns") result[name] = options.backoff_max_ns;
  }
  return result;
}

}  // namespace

void add_suite_options(CLI::App& command, suite_options& options, const std::string& seeds) {
  command
      .add_option("--locks", options.locks,
                  "Names as 'nearfar list' shows, separated by commas, or 'all' that are sound; "
                  "default: each family's recommended setting")
      ->delimiter(',');
  command.add_option("--duration", options.duration, "Seconds of one ECSB repetition, of which 10 % warm up")
      ->capture_default_str();
  command.add_option("--repetitions", options.repetitions, "Repetitions of each configuration")
      ->capture_default_str();
  command.add_option("--seed", options.seed, seeds)->capture_default_str();
  command.add_option("--output", options.output, "Results file (JSON Lines) for 'nearfar report'");
  command.add_option("--lock-count", options.lock_count, "Locks of the UPB")->capture_default_str();
  command
      .add_option("--max-local-passes", options.parameters.max_local_passes,
                  "Passes within a node before another node's turn (cohort, rma_mcs)")
      ->check(CLI::Range(0, 254))
      ->capture_default_str();
  command.add_option("--backoff-min-ns", options.backoff_min_ns, "First pause of tas")->capture_default_str();
  command.add_option("--backoff-max-ns", options.backoff_max_ns, "Longest pause of tas")
      ->capture_default_str();
}

void complete(suite_options& options) {
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw usage_error(text);
  };
  constexpr double shortest = 1e-6;
  constexpr double longest = 86400;
  require(options.duration >= shortest && options.duration <= longest,
          fmt::format("--duration must be a number of seconds from {} to {}, not {}", shortest, longest,
                      options.duration));
  require(options.repetitions > 0,
          fmt::format("--repetitions must be 1 or more, not {}", options.repetitions));
  require(options.lock_count > 0, fmt::format("--lock-count must be 1 or more, not {}", options.lock_count));
  require(options.backoff_min_ns > 0 && options.backoff_min_ns <= options.backoff_max_ns,
          "--backoff-min-ns must be 1 or more and at most --backoff-max-ns");
  options.parameters.pause = {std::chrono::nanoseconds(options.backoff_min_ns),
                              std::chrono::nanoseconds(options.backoff_max_ns)};
}

template <typename Action>
void suite_output::guarded(Action action) {
  try {
    action();
  } catch (const std::exception& failed) {
    problem_ = failed.what();
    file_.reset();
  }
}

void suite_output::open(measurement of, const std::string& machine,
                        const std::vector<const bench::lock_entry*>& locks, const locality& where) {
  const std::scoped_lock hold(busy_);
  open_ = true;
  where_ = where;
  machine_ = machine;
  const std::size_t steps = locks.size() * static_cast<std::size_t>(options_->repetitions);
  bar_.emplace(steps);
  of.records_expected = options_->is_ecsb() ? steps : steps * bench::upb_cast(where).scenarios().size();
  for (const bench::lock_entry* lock : locks) of.locks.push_back(lock->name);
  of_ = std::move(of);
  if (options_->output.empty()) return;
  guarded([&] {
    file_.emplace(options_->output);
    file_->write(provenance(of_));
  });
}

void suite_output::step(const std::string& text) {
  const std::scoped_lock hold(busy_);
  if (bar_) bar_->step(text);
}

void suite_output::record(bench::sample sample, const bench::lock_entry& entry) {
  sample.parameters = parameters_of(entry, *options_);
  sample.world = of_.world;
  sample.machine = machine_;
  sample.sound = entry.is_sound();
  const std::scoped_lock hold(busy_);
  if (file_) guarded([&] { file_->write(sample); });
  samples_.push_back(std::move(sample));
}

void suite_output::close() {
  const std::scoped_lock hold(busy_);
  open_ = false;
  bar_.reset();
  if (file_) guarded([&] { file_->commit(); });
}

std::string suite_output::stop(const std::string& what, const std::string& why) {
  const std::scoped_lock hold(busy_);
  if (!std::exchange(open_, false)) return problem_;
  bar_.reset();
  if (file_)
    guarded([&] {
      file_->write({{"schema", bench::results_schema}, {"record", "stall"}, {"what", what}, {"why", why}});
      file_->commit();
    });
  file_.reset();
  print_table(samples_, of_, *where_);
  return problem_;
}

void suite_output::end_if_lost() const {
  if (problem_.empty()) return;
  print_table(samples_, of_, *where_);
  throw usage_error(problem_);
}

int suite_output::report() const {
  print_table(samples_, of_, *where_);
  const bool all_verified =
      std::all_of(samples_.begin(), samples_.end(), [](const auto& s) { return s.verified; });
  if (!all_verified)
    fmt::print(stderr, "nearfar: a lock did not exclude: its results are void (marked in the table)\n");
  return all_verified ? success : failure;
}

}  // namespace nearfar::command
