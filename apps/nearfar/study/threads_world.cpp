// Plans in the world of threads.

#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/study/conduct.hpp"
#include "apps/nearfar/study/hardware.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

/// A team for each repetition, of which the first thread is the conductor's own.
class threads_stage final : public stage {
 public:
  threads_stage(const plan& what, const std::vector<configuration>& all, stall_guard& guard)
      : plan_(&what), all_(&all), guard_(&guard), topology_(topology_of(what)) {
    if (const auto limits = limits_of(what, all)) longest_wait_ = limits->wait;
  }

  [[nodiscard]] bench::world_kind kind() const override { return bench::world_kind::threads; }
  [[nodiscard]] std::string machine() const override { return host_name(); }

  [[nodiscard]] placement place(const shape& of) override {
    std::optional<locality> where;
    std::vector<std::string> binding(static_cast<std::size_t>(of.ranks));
    bool oversubscribed = false;
    run(of.ranks, [&](threads::world& w) {
      binding[static_cast<std::size_t>(w.rank())] = hardware().binding_text();
      if (w.rank() != 0) return;
      where = w.locality();
      oversubscribed = w.oversubscribed();
    });
    return {.where = *where, .binding = std::move(binding), .oversubscribed = oversubscribed};
  }

  [[nodiscard]] std::vector<bench::sample> play(std::size_t index, int /*repetition*/) override {
    const configuration& of = (*all_)[index];
    guard_->begin(object_text(of));
    std::vector<bench::sample> samples;
    run(of.where.ranks, [&](threads::world& w) {
      const bool is_first = w.rank() == 0;
      try {
        auto mine = play_in(w, of, [&] {
          if (is_first) guard_->beat();
        });
        if (is_first) samples = std::move(mine);
      } catch (const stalled& stall) {
        guard_->end(stall, w.size());
      }
    });
    return samples;
  }

 private:
  template <typename Body>
  void run(int ranks, const Body& body) const {
    const hardware here;
    const bool bind = !plan_->hardware.no_bind && here.is_this_system() && ranks <= here.allowed_cores();
    threads::run(ranks, body,
                 {.ratios = plan_->hardware.ratios,
                  .topology = topology_,
                  .bind = bind,
                  .stall_limit = longest_wait_});
  }

  const plan* plan_;
  const std::vector<configuration>* all_;
  stall_guard* guard_;
  std::optional<topology_spec> topology_;
  std::optional<std::chrono::nanoseconds> longest_wait_;
};

}  // namespace

int run_in_threads(const plan& asked) {
  say_ignored_variables();
  if (!asked.hardware.no_bind && !hardware().is_this_system())
    remark("threads are not pinned: {}", other_machine_text());
  plan what = asked;
  for (benchmark_request& each : what.requests)
    if (each.shapes.empty()) each.shapes = {{.ranks = hardware().allowed_cpus()}};
  const std::vector<configuration> all = configurations_of(what);
  study_output output(what);
  const interruption by_signal(0, keeper_of(output));  // first, for what the threads of others inherit
  stall_guard guard = guard_over(output, what, limits_of(what, all), 0);
  threads_stage on(what, all, guard);
  return conduct(what, all, on, output);
}

}  // namespace nearfar::command
