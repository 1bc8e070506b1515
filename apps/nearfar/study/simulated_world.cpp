// Plans on a simulated cluster, in virtual time.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/free_memory.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/prediction_scope.hpp"
#include "apps/nearfar/study/conduct.hpp"
#include "apps/nearfar/study/hardware.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "nearfar/simulation/cluster.hpp"

namespace nearfar::command {

namespace {

/// A cluster for each repetition: no result depends on what else was asked for.
class simulated_stage final : public stage {
 public:
  simulated_stage(const plan& what, const std::vector<configuration>& all)
      : plan_(&what), all_(&all), machine_(find_machine(what.machine)) {}

  [[nodiscard]] bench::world_kind kind() const override { return bench::world_kind::engine; }
  [[nodiscard]] std::string machine() const override { return machine_.name; }
  [[nodiscard]] nlohmann::ordered_json description() const override { return to_json(machine_); }
  [[nodiscard]] placement place(const shape& of) override {
    placement result{.where = locality_of(machine_, cluster_of(of))};
    refuse_what_does_not_fit(of);
    return result;
  }

  [[nodiscard]] std::vector<bench::sample> play(std::size_t index, int repetition) override {
    const configuration& of = (*all_)[index];
    const std::int64_t objects = objects_of(of);
    std::vector<bench::sample> samples;
    simulation::run(
        machine_, locality_of(machine_, cluster_of(of.where)),
        [&](engine::world& w) {
          auto mine = play_in(w, of, [] {});
          if (w.rank() == 0) samples = std::move(mine);
        },
        {.seed = seed_of(plan_->seed, repetition), .bytes = bytes_for_locks(static_cast<int>(objects))});
    add_prediction(samples, of);
    return samples;
  }

 private:
  /// Between which times the real machine's probably is, as far as that is known: of exclusive locks alone.
  void add_prediction(std::vector<bench::sample>& to, const configuration& of) const {
    if (of.benchmark->kind->name != std::string_view("lock")) return;
    if (has_no_prediction(*of.benchmark, *of.object)) return;
    for (bench::sample& one : to) {
      const simulation::prediction_interval& measured =
          interval_of(machine_, scope_of(of.where.nodes, one.scenario.value_or("")));
      if (!measured.is_known()) continue;
      // The time of a run that has not settled, or that starved a rank, is none that a longer run would have.
      const bool is_settled = bench::is_steady(std::array<const bench::sample*, 1>{&one});
      // The factors are those of loops that only lock.
      const std::optional<double> beside = time_beside_lock(one);
      const double of_lock = one.ns_per_acquisition() - beside.value_or(0);
      const auto with = [&](double factor) {
        return is_settled && beside && of_lock > 0 ? std::optional(*beside + of_lock * factor) : std::nullopt;
      };
      one.counts["predicted_low"] = bench::or_null(with(measured.low));
      one.counts["predicted_high"] = bench::or_null(with(measured.high));
    }
  }

  /// Without this a run that is too large would be killed by the system, and say nothing.
  void refuse_what_does_not_fit(const shape& of) const {
    // The memory that runs of up to 65,520 ranks, and of 4,000 locks, have taken, and some more.
    constexpr std::size_t bytes_of_rank = std::size_t{24} << 10U;
    constexpr std::size_t bytes_of_object = 1024;
    std::int64_t objects = 1;
    for (const configuration& each : *all_)
      if (each.where == of) objects = std::max(objects, objects_of(each));
    const auto ranks = static_cast<std::size_t>(of.nodes) * static_cast<std::size_t>(of.ranks_per_node);
    const std::size_t needed = ranks * (bytes_of_rank + static_cast<std::size_t>(objects) * bytes_of_object);
    const std::optional<free_memory> memory = free_memory::now();
    if (memory && needed > memory->usable)
      throw usage_error(
          fmt::format("{} nodes of {} ranks need {}", of.nodes, of.ranks_per_node, memory->text_for(needed)));
  }

  static std::int64_t objects_of(const configuration& of) {
    return of.benchmark->objects == nullptr ? 1 : of.benchmark->objects(of.axes);
  }

  static cluster_shape cluster_of(const shape& of) {
    return {.nodes = of.nodes, .ranks_per_node = of.ranks_per_node};
  }

  const plan* plan_;
  const std::vector<configuration>* all_;
  simulation::machine machine_;
};

}  // namespace

int run_simulated(const plan& what) {
  const std::vector<configuration> all = configurations_of(what);
  study_output output(what);
  const interruption by_signal(0, keeper_of(output));
  simulated_stage on(what, all);
  return conduct(what, all, on, output);
}

}  // namespace nearfar::command
