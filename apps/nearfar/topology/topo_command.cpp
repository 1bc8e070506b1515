// nearfar topo: the machine, and the ranks of a world on it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/container_options.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/topology/rank_picture.hpp"
#include "bench/kinds/containers/loop_case.hpp"
#include "bench/openmp_threads.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/container/where.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/locality.hpp"
#include "nearfar/topology/pinning.hpp"
#include "nearfar/topology/spec.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

struct topo_options {
  std::string world;
  std::optional<int> ranks;
  std::optional<std::string> topology;
  std::optional<std::string> pin;
  std::optional<int> threads;
  bool as_json = false;
  bool as_picture = false;

  [[nodiscard]] std::optional<topology_spec> tree() const {
    return topology ? std::optional(topology_spec::parse(*topology)) : std::nullopt;
  }
};

/// The facts that a rank knows about itself; sent as they are.
struct seat {
  std::array<char, 128> host{};
  std::array<char, 128> binding{};
  std::array<char, 256> hardware{};
  mpi::processor_share processors{};
  bool oversubscribed = false;

  seat() = default;
  seat(const class hardware& here, const mpi::processor_share& share, bool yields)
      : processors(share), oversubscribed(yields) {
    host_name().copy(host.data(), host.size() - 1);
    here.binding_text().copy(binding.data(), binding.size() - 1);
    here.summary().copy(hardware.data(), hardware.size() - 1);
  }
};

/// The part of a world that is shown.
struct scene {
  const char* world;
  locality tree;
  std::vector<seat> seats;  // by rank
  std::string library;
  std::string transport;

  [[nodiscard]] std::string_view host_of(int rank) const {
    return seats[static_cast<std::size_t>(rank)].host.data();
  }
  /// The lowest rank of each host, in rank order.
  [[nodiscard]] std::vector<int> first_of_hosts() const {
    std::vector<int> firsts;
    for (int rank = 0; rank < tree.size(); ++rank)
      if (std::none_of(firsts.begin(), firsts.end(),
                       [&](int first) { return host_of(first) == host_of(rank); }))
        firsts.push_back(rank);
    return firsts;
  }
  /// A node of an override lies within one host, unless the hosts share a kernel.
  [[nodiscard]] std::vector<std::string_view> hosts_of_node(int node) const {
    std::vector<std::string_view> hosts;
    for (const int rank : tree.members(level::node, node))
      if (std::find(hosts.begin(), hosts.end(), host_of(rank)) == hosts.end()) hosts.push_back(host_of(rank));
    return hosts;
  }
};

std::string indented(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += fmt::format("  {}\n", text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

const char* waiting_of(const seat& at) { return at.oversubscribed ? "yield" : "spin"; }

std::string text_of(const scene& shown, const hardware& here) {
  std::string text;
  const seat& first = shown.seats.front();
  text += fmt::format("hardware of {}: {}\n{}", first.host.data(), first.hardware.data(),
                      indented(here.tree_text()));
  const std::vector<int> hosts = shown.first_of_hosts();
  for (const int rank : hosts)
    if (rank != 0)
      text += fmt::format("hardware of {}: {}\n", shown.host_of(rank),
                          shown.seats[static_cast<std::size_t>(rank)].hardware.data());

  text += fmt::format("\nworld: {}, {} rank{} on {} node{}\n{}", shown.world, shown.tree.size(),
                      shown.tree.size() == 1 ? "" : "s", shown.tree.groups(level::node),
                      shown.tree.groups(level::node) == 1 ? "" : "s", indented(shown.tree.tree_text()));
  for (int node = 0; node < shown.tree.groups(level::node); ++node)
    text += fmt::format("  host of rank {} and its node: {}\n", shown.tree.members(level::node, node).front(),
                        fmt::join(shown.hosts_of_node(node), ", "));

  text += "\nbinding:\n";
  for (int rank = 0; rank < shown.tree.size(); ++rank)
    text += fmt::format("  rank {}: {}\n", rank, shown.seats[static_cast<std::size_t>(rank)].binding.data());

  text += "\nprocessors:\n";
  for (const int rank : hosts) {
    const seat& at = shown.seats[static_cast<std::size_t>(rank)];
    text +=
        fmt::format("  {}: {} rank{} on {} processor{}, {}: waiting ranks {}\n", at.host.data(),
                    at.processors.ranks, at.processors.ranks == 1 ? "" : "s", at.processors.processors,
                    at.processors.processors == 1 ? "" : "s",
                    at.processors.oversubscribed() ? "oversubscribed" : "not oversubscribed", waiting_of(at));
  }
  text += fmt::format("\nMPI library: {}\ntransport: {}\n", shown.library, shown.transport);
  return text;
}

nlohmann::ordered_json json_of(const scene& shown, const hardware& here) {
  using json = nlohmann::ordered_json;
  json nodes = json::array();
  for (int node = 0; node < shown.tree.groups(level::node); ++node) {
    const auto members = shown.tree.members(level::node, node);
    nodes.push_back({{"node", node},
                     {"hosts", shown.hosts_of_node(node)},
                     {"ranks", std::vector<int>(members.begin(), members.end())}});
  }
  json ranks = json::array();
  for (int rank = 0; rank < shown.tree.size(); ++rank) {
    const seat& at = shown.seats[static_cast<std::size_t>(rank)];
    json groups = json::object();
    for (const level each : all_levels)
      if (shown.tree.known(each, rank)) groups[std::string(name(each))] = shown.tree.group(each, rank);
    ranks.push_back(
        {{"rank", rank}, {"host", at.host.data()}, {"binding", at.binding.data()}, {"groups", groups}});
  }
  json processors = json::array();
  for (const int rank : shown.first_of_hosts()) {
    const seat& at = shown.seats[static_cast<std::size_t>(rank)];
    processors.push_back({{"host", at.host.data()},
                          {"hardware", at.hardware.data()},
                          {"ranks", at.processors.ranks},
                          {"processors", at.processors.processors},
                          {"oversubscribed", at.processors.oversubscribed()},
                          {"waiting", waiting_of(at)}});
  }
  return {{"schema", "nearfar-topo-1"},
          {"version", version},
          {"commit", commit},
          {"world", shown.world},
          {"nodes", nodes},
          {"ranks", ranks},
          {"tree", shown.tree.tree_text()},
          {"hardware", {{"summary", here.summary()}, {"tree", here.tree_text()}}},
          {"processors", processors},
          {"mpi_library", shown.library},
          {"transport", shown.transport}};
}

std::string picture_of(const scene& shown, const hardware& here) {
  return rank_picture(
      here.parts(), shown.tree,
      {.machine = fmt::format("hardware of {}: {}", shown.host_of(0), shown.seats.front().hardware.data()),
       .ranks = fmt::format("{} rank{}, world {}", shown.tree.size(), shown.tree.size() == 1 ? "" : "s",
                            shown.world),
       .of_rank = [&](int rank) {
         const seat& at = shown.seats[static_cast<std::size_t>(rank)];
         return fmt::format("rank {} on {}: {}", rank, at.host.data(), at.binding.data());
       }});
}

void print(const scene& shown, const hardware& here, const topo_options& options) {
  using json = nlohmann::ordered_json;
  if (options.as_picture) {
    fmt::print("{}", picture_of(shown, here));
    return;
  }
  fmt::print("{}", options.as_json
                       ? json_of(shown, here).dump(2, ' ', false, json::error_handler_t::replace) + "\n"
                       : text_of(shown, here));
}

void show_mpi(const topo_options& options) {
  const std::optional<topology_spec> tree = options.tree();
  const hardware here;
  const mpi_session session;
  // As little memory as can be, and no test: this is to be seen on an installation that has faults, too.
  mpi::world w(MPI_COMM_WORLD,
               {.far_bytes = slot_bytes, .near_bytes = slot_bytes, .topology = tree, .self_test = false});
  if (options.ranks && *options.ranks != w.size())
    throw usage_error(fmt::format("--ranks {} differs from the {} ranks that MPI started; use mpirun -n {}",
                                  *options.ranks, w.size(), *options.ranks));
  const seat mine(here, w.processors(), w.oversubscribed());
  std::vector<seat> all(w.rank() == 0 ? static_cast<std::size_t>(w.size()) : 0);
  mpi::check(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD),
             "MPI_Gather");
  if (w.rank() == 0)
    print({"mpi", w.locality(), all, mpi::library_version(), mpi::transport_text()}, here, options);
}

void show_threads(const topo_options& options) {
  const std::optional<topology_spec> tree = options.tree();
  const hardware here;
  const int ranks = options.ranks.value_or(here.allowed_cpus());
  std::vector<seat> all(static_cast<std::size_t>(ranks));
  std::optional<locality> found;
  threads::run(ranks,
               [&](threads::world& w) {
                 if (w.rank() == 0) found = w.locality();
                 all[static_cast<std::size_t>(w.rank())] =
                     seat(here, {ranks, here.allowed_cpus()}, w.oversubscribed());
               },
               {.topology = tree, .bind = true});
  print({"threads", *found, all, mpi::library_version(), "memory of one process, without MPI"}, here,
        options);
}

/// A thread of a team: its CPUs by the rule, and its binding and domain as the system reports them
/// afterwards.
struct pinned_thread {
  std::vector<int> cpus;
  std::string binding;  // empty: not bound
  int domain;
};

std::string text_of(const std::vector<pinned_thread>& threads, const pinning& rule,
                    const std::string& problem) {
  std::string text = fmt::format("hardware of {}: {}\n{}", host_name(), this_machine().summary(),
                                 indented(this_machine().tree_text()));
  text += fmt::format("\npinning {} of {} thread{}:\n", rule.to_string(), threads.size(),
                      threads.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const pinned_thread& each = threads[i];
    text += fmt::format("  thread {}: ", i);
    if (!each.cpus.empty())
      text += fmt::format("CPU{} {}: ", each.cpus.size() == 1 ? "" : "s", fmt::join(each.cpus, ","));
    text += each.binding.empty() ? "not bound" : each.binding;
    if (each.domain != unknown_domain) text += fmt::format(", numa {}", each.domain);
    text += '\n';
  }
  if (!problem.empty()) text += fmt::format("{}\n", problem);
  return text;
}

nlohmann::ordered_json json_of(const std::vector<pinned_thread>& threads, const pinning& rule,
                               const std::string& problem) {
  using json = nlohmann::ordered_json;
  json shown = json::array();
  for (const pinned_thread& each : threads)
    shown.push_back({{"thread", shown.size()},
                     {"cpus", each.cpus},
                     {"binding", each.binding.empty() ? json(nullptr) : json(each.binding)},
                     {"numa", each.domain == unknown_domain ? json(nullptr) : json(each.domain)}});
  return {{"schema", "nearfar-topo-1"},
          {"version", version},
          {"commit", commit},
          {"hardware", {{"summary", this_machine().summary()}, {"tree", this_machine().tree_text()}}},
          {"pinning", rule.to_string()},
          {"threads", shown},
          {"problem", problem.empty() ? json(nullptr) : json(problem)}};
}

/// Binds the threads of a team and asks the system where they are.
void show_pinned(const topo_options& options) {
  const pinning rule = pinning::parse(options.pin.value_or("none"));
  const int asked = options.threads.value_or(this_machine().allowed_cpus());
  bench::expect_openmp_starts();
  const team all(asked);
  std::vector<pinned_thread> threads;
  for (std::vector<int>& cpus : rule.cpus(this_machine(), all.size()))
    threads.push_back({std::move(cpus), "", unknown_domain});
  std::string problem;
  if (all.size() < asked) problem = "built without OpenMP: there is 1 thread";
  if (rule.is_none() || this_machine().is_this_system()) {
    const std::vector<std::string> bindings = bench::pin_all(all.size(), rule);
    const std::vector<int> domains = domains_of(all);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      threads[i].binding = bindings[i];
      if (!rule.is_none()) threads[i].domain = domains[i];
    }
  } else {
    problem = "threads are not bound: " + other_machine_text();
  }
  using json = nlohmann::ordered_json;
  fmt::print("{}",
             options.as_json
                 ? json_of(threads, rule, problem).dump(2, ' ', false, json::error_handler_t::replace) + "\n"
                 : text_of(threads, rule, problem));
}

void run_topo(topo_options options) {
  const launch how = launch::from_environment();
  say_ignored_variables();
  if (options.pin || options.threads) {
    if (!options.world.empty() || options.ranks || options.topology)
      throw usage_error(
          "--pin and --threads show threads, not ranks; leave out --world, --ranks and --topology");
    if (options.as_picture)
      throw usage_error("--svg draws ranks, not threads; leave out --pin and --threads");
    if (options.threads) check_threads(*options.threads);
    if (how.rank == 0) show_pinned(options);
    return;
  }
  if (options.world.empty()) options.world = how.under_mpi ? "mpi" : "threads";
  if (options.world != "mpi" && options.world != "threads")
    throw usage_error(unknown_name("world", options.world, {"mpi", "threads"}));
  if (options.world == "mpi") return show_mpi(options);
  if (options.ranks) check_threads(*options.ranks, "--ranks");
  if (how.rank == 0) show_threads(options);
}

}  // namespace

void add_topo(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "topo", "Show the machine, its ranks or threads, their binding, and the MPI transport");
  command->footer("docs/numa.md explains pinning.");
  auto options = std::make_shared<topo_options>();
  command->add_option("--world", options->world,
                      "World: mpi or threads (default: mpi under mpirun, else threads)");
  command->add_option(
      "--ranks", options->ranks,
      "Number of ranks of the threads world, at most 4096 (default: one per allowed processor)");
  command->add_option("--topology", options->topology,
                      "Tree in place of the machine's, such as 'node:2 numa:2 core:4'");
  command->add_option("--pin", options->pin,
                      "Show threads, pinned by none, compact, scatter, cache, numa, or CPUs 0,2,4-7");
  command->add_option("--threads", options->threads,
                      "Number of pinned threads (default: one per allowed processor)");
  CLI::Option* json = command->add_flag("--json", options->as_json, "Print JSON");
  command
      ->add_flag("--svg", options->as_picture,
                 "Draw the machine with its caches, and the ranks: topo --svg > machine.svg")
      ->excludes(json);
  command->callback([options, &status] {
    status = success;
    run_topo(*options);
  });
}

}  // namespace nearfar::command
