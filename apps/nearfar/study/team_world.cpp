#include "apps/nearfar/study/team_world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/study/conduct.hpp"
#include "apps/nearfar/study/hardware.hpp"
#include "bench/openmp_threads.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/pinning.hpp"

namespace nearfar::command {

namespace {

/// The CPUs of each thread of a team that is pinned so.
std::vector<std::string> binding_of(const pinning& rule, int threads) {
  std::vector<std::string> binding;
  for (const std::vector<int>& cpus : rule.cpus(this_machine(), threads))
    binding.push_back(cpus.empty() ? "none" : fmt::format("CPU {}", fmt::join(cpus, ",")));
  return binding;
}

/// One thread and all CPUs, if the user names no number. Without OpenMP there is one thread.
std::vector<shape> shapes_of(const std::vector<shape>& asked) {
  const int all = this_machine().allowed_cpus();
  std::vector<shape> shapes = asked;
  if (shapes.empty()) shapes.push_back({.ranks = 1});
  if (asked.empty() && all > 1) shapes.push_back({.ranks = all});
  if (openmp_available() || shapes == std::vector<shape>{{.ranks = 1}}) return shapes;
  remark("built without OpenMP: all loops run on one thread");
  return {{.ranks = 1}};
}

}  // namespace

placement team_stage::place(const shape& of) {
  placement result{.where = locality::single_node(of.ranks),
                   .topology = this_machine().tree_text(),
                   .oversubscribed = of.ranks > this_machine().allowed_cpus()};
  for (const configuration& each : *all_)
    if (each.where == of && each.axes.has("pinning")) {
      result.binding = binding_of(pinning::parse(each.axes.text("pinning")), of.ranks);
      break;
    }
  return result;
}

std::string team_stage::machine() const { return host_name(); }

std::string team_stage::obstacle(const configuration& to) const {
  if (!memory_ || to.benchmark->bytes == nullptr) return {};
  const std::size_t needed = to.benchmark->bytes(*to.object, to.at(), to.where.ranks);
  return needed <= memory_->usable ? "" : "it needs " + memory_->text_for(needed);
}

std::vector<bench::sample> team_stage::play(std::size_t index, int /*repetition*/) {
  const configuration& of = (*all_)[index];
  bench::sample measured = of.benchmark->in_team(*of.object, of.at(), of.where.ranks, guesses_[index]);
  guesses_[index] = measured.iterations;
  return {std::move(measured)};
}

int run_in_team(const plan& asked) {
  if (launch::from_environment().under_mpi)
    remark("loops run in the threads of one process: only rank 0 measures");
  say_ignored_variables();
  if (!this_machine().is_this_system()) remark("threads are not pinned: {}", other_machine_text());
  plan what = asked;
  for (benchmark_request& each : what.requests) {
    each.shapes = shapes_of(each.shapes);
    for (const shape& one : each.shapes) bench::expect_threads(one.ranks);
  }
  const std::vector<configuration> all = configurations_of(what);
  study_output output(what);
  const interruption by_signal(0, keeper_of(output));  // first, for what the threads of others inherit
  team_stage on(all);
  const int status = conduct(what, all, on, output);
  for (const std::string& problem : placement_problems()) remark("{}", problem);
  return status;
}

}  // namespace nearfar::command
