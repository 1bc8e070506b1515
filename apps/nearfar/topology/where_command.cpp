// nearfar where: asks the kernel on which NUMA domain each page of a container is.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/container_options.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/free_memory.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "bench/kinds/containers/loop_case.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/container/where.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/pinning.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

using bench::loop_container;

constexpr std::array<bench::named<loop_container>, 5> shown_containers{{
    {loop_container::array, "array", "double*, fresh pages"},
    {loop_container::vector, "vector", "std::vector<double>, which one thread always initialises"},
    {loop_container::vector_numa, "vector-numa", "std::vector<double, numa_allocator<double, chunk>>"},
    {loop_container::numa_vector, "numa_vector", "numa_vector<double, numa_allocator<double, chunk>>"},
    {loop_container::segmented, "segmented", "segmented_array<double>"},
}};

struct where_options {
  std::vector<std::string> containers{"all"};
  std::string length = "1000000";
  std::optional<int> threads;
  std::string pin = "scatter";
  std::string chunk = "0";
  std::string segments;
  std::string placement = "first-touch";
  bool huge_pages = false;
  std::string initialisation = "parallel";
  bool as_json = false;
};

/// The user's request, read and checked.
struct where_plan {
  std::vector<loop_container> containers;
  std::size_t length;
  int threads;
  pinning pin;
  std::size_t chunk;
  std::size_t segments;  ///< 0: one for each thread
  page_placement placement;
  std::string placement_text;
  bool serial;

  [[nodiscard]] team workers() const { return team(threads); }
  /// The threads that write to the pages first.
  [[nodiscard]] team initialisers() const { return serial ? team::serial() : workers(); }
};

struct container_finding {
  loop_container container;
  bool serial;
  page_report report;
};

struct array_of_pages {
  array_of_pages(std::size_t length, const page_placement& placement)
      : elements(static_cast<double*>(map_pages(length * sizeof(double), placement)), length) {}
  array_of_pages(const array_of_pages&) = delete;
  array_of_pages& operator=(const array_of_pages&) = delete;
  ~array_of_pages() { unmap_pages(elements.data(), elements.size_bytes()); }

  std::span<double> elements;
};

page_report look_at_array(const where_plan& plan) {
  const array_of_pages array(plan.length, plan.placement);
  plan.initialisers().for_each_block(plan.length, plan.serial ? 0 : plan.chunk, [&](index_range block) {
    std::fill(&array.elements[block.first], array.elements.data() + block.last, 1.0);
  });
  return where(array.elements, plan.workers(), plan.chunk);
}

/// A container with `numa_allocator`, whose chunk is one of those known at compile time.
template <template <typename, typename> class Container>
page_report look_at_placed(const where_plan& plan) {
  page_report report;
  const auto look = [&]<std::size_t Chunk>() {
    using allocator = numa_allocator<double, Chunk>;
    const Container<double, allocator> vector(plan.length, allocator(plan.initialisers(), plan.placement));
    report = where(vector, plan.workers(), Chunk);
  };
  [&]<std::size_t... Each>(std::index_sequence<Each...>) {
    constexpr auto& chunks = bench::allocator_chunks;
    ((plan.chunk == chunks[Each] ? look.template operator()<chunks[Each]>() : void()), ...);
  }(std::make_index_sequence<bench::allocator_chunks.size()>());
  return report;
}

page_report look_at_segments(const where_plan& plan) {
  const std::size_t segments = plan.segments != 0 ? plan.segments : static_cast<std::size_t>(plan.threads);
  const segmented_array<double> array(segments, plan.length, {}, plan.initialisers(), plan.placement);
  return where(array, plan.workers());
}

container_finding look_at(loop_container container, const where_plan& plan) {
  switch (container) {
    case loop_container::array:
      return {container, plan.serial, look_at_array(plan)};
    case loop_container::vector:
      return {container, true, where(std::vector<double>(plan.length), plan.workers(), plan.chunk)};
    case loop_container::vector_numa:
      return {container, plan.serial, look_at_placed<std::vector>(plan)};
    case loop_container::numa_vector:
      return {container, plan.serial, look_at_placed<numa_vector>(plan)};
    default:
      return {container, plan.serial, look_at_segments(plan)};
  }
}

/// Throws `usage_error` if a container needs more memory than there is.
void check_memory(const where_plan& plan) {
  const std::optional<free_memory> memory = free_memory::now();
  if (!memory) return;
  for (const loop_container container : plan.containers) {
    bench::triad_case of;
    of.container = container;
    of.length = plan.length;
    of.threads = plan.threads;
    if (of.is_segmented()) of.segments = plan.segments;
    if (const std::size_t needed = bench::bytes_of_vector(of); needed > memory->usable)
      throw usage_error(
          fmt::format("{} needs {}", bench::name_of(shown_containers, container), memory->text_for(needed)));
  }
}

where_plan plan_of(const where_options& options) {
  const std::vector<std::string> ways{"parallel", "serial"};
  if (std::find(ways.begin(), ways.end(), options.initialisation) == ways.end())
    throw usage_error(unknown_name("initialisation", options.initialisation, ways));
  if (options.threads) check_threads(*options.threads);
  where_plan plan{.containers = values_of(options.containers, shown_containers, "container"),
                  .length = parse_length("--length", options.length),
                  .threads = options.threads.value_or(this_machine().allowed_cpus()),
                  .pin = pinning::parse(options.pin),
                  .chunk = parse_length("--chunk", options.chunk, chunks_of_loops),
                  .segments = options.segments.empty()
                                  ? 0
                                  : parse_length("--segments", options.segments, counts_of_segments),
                  .placement = parse_placement(options.placement, options.huge_pages),
                  .placement_text = options.placement + (options.huge_pages ? ", huge pages" : ""),
                  .serial = options.initialisation == "serial"};
  const auto& chunks = bench::allocator_chunks;
  if (std::find(chunks.begin(), chunks.end(), plan.chunk) == chunks.end())
    throw usage_error(fmt::format("--chunk {} is not compiled into the allocators; choose one of: {}",
                                  plan.chunk, fmt::join(chunks, ", ")));
  if (!openmp_available()) plan.threads = 1;
  check_memory(plan);
  return plan;
}

std::string name_of(loop_container container) { return bench::name_of(shown_containers, container); }

std::string count_of(const page_report& report, std::size_t count) {
  return report.located ? fmt::format("{}", count) : "-";
}

std::string share_of(const page_report& report) {
  constexpr double percent = 100;
  const std::optional<double> share = report.share();
  return share ? fmt::format("{:.1f} %", percent * *share) : "-";
}

/// The facts that limit the meaning of the numbers.
std::vector<std::string> remarks_on(const where_plan& plan, const std::vector<container_finding>& found) {
  std::vector<std::string> remarks;
  const auto told = [](const container_finding& each) { return each.report.located; };
  if (!openmp_available()) remarks.emplace_back("built without OpenMP: there is 1 thread");
  if (std::none_of(found.begin(), found.end(), told))
    remarks.emplace_back("the kernel does not say where pages are");
  else if (!this_machine().is_this_system())
    remarks.emplace_back(other_machine_text() + ": the domains of pages are not known");
  else if (this_machine().numa_domains() == 1)
    remarks.emplace_back("the machine has 1 NUMA domain, so every page is on the right one");
  else if (plan.pin.is_none())
    remarks.emplace_back("threads are not pinned: a right place may be wrong a moment later");
  return remarks;
}

void print_text(const where_plan& plan, const std::vector<std::string>& bound,
                const std::vector<container_finding>& found) {
  fmt::print("# nearfar where, {} elements of {} bytes, chunk {}, placement {}\n", plan.length,
             sizeof(double), plan.chunk, plan.placement_text);
  fmt::print("# {} thread{}, pinning {}: {}\n", plan.threads, plan.threads == 1 ? "" : "s",
             plan.pin.to_string(), fmt::join(bound, ", "));
  fmt::print("# pages of {} bytes; right: of those touched, on the domain of a thread that works on them\n",
             page_size());
  for (const std::string& remark : remarks_on(plan, found)) fmt::print("# {}\n", remark);
  const int domains = this_machine().numa_domains();
  fmt::print("{:<14}{:<10}{:>10}{:>11}{:>10}{:>10}", "# container", "init", "pages", "untouched", "unknown",
             "right");
  for (int domain = 0; domain < domains; ++domain) fmt::print("{:>11}", fmt::format("domain {}", domain));
  fmt::print("\n");
  for (const container_finding& each : found) {
    const page_report& report = each.report;
    fmt::print("{:<14}{:<10}{:>10}{:>11}{:>10}{:>10}", name_of(each.container),
               each.serial ? "serial" : "parallel", report.pages, count_of(report, report.untouched),
               count_of(report, report.unknown), share_of(report));
    for (std::size_t domain = 0; domain < static_cast<std::size_t>(domains); ++domain)
      fmt::print("{:>11}", report.located ? count_of(report, report.on_domain[domain]) : "-");
    fmt::print("\n");
  }
}

nlohmann::ordered_json json_of(const container_finding& found) {
  using json = nlohmann::ordered_json;
  const page_report& report = found.report;
  json shown{{"container", name_of(found.container)},
             {"init", found.serial ? "serial" : "parallel"},
             {"pages", report.pages}};
  const auto counted = [&](std::size_t count) { return report.located ? json(count) : json(nullptr); };
  shown["untouched"] = counted(report.untouched);
  shown["unknown"] = counted(report.unknown);
  shown["on_domain"] = report.located ? json(report.on_domain) : json(nullptr);
  shown["judged"] = counted(report.judged);
  shown["right"] = counted(report.right);
  const std::optional<double> share = report.share();
  shown["share"] = share ? json(*share) : json(nullptr);
  return shown;
}

void print_json(const where_plan& plan, const std::vector<std::string>& bound,
                const std::vector<container_finding>& found) {
  using json = nlohmann::ordered_json;
  json containers = json::array();
  for (const container_finding& each : found) containers.push_back(json_of(each));
  const json shown{{"schema", "nearfar-where-1"},
                   {"version", version},
                   {"commit", commit},
                   {"hardware", this_machine().summary()},
                   {"domains", this_machine().numa_domains()},
                   {"page_bytes", page_size()},
                   {"threads", plan.threads},
                   {"pinning", plan.pin.to_string()},
                   {"binding", bound},
                   {"length", plan.length},
                   {"element_bytes", sizeof(double)},
                   {"chunk", plan.chunk},
                   {"placement", plan.placement_text},
                   {"containers", containers},
                   {"remarks", remarks_on(plan, found)},
                   {"problems", placement_problems()}};
  fmt::print("{}\n", shown.dump(2, ' ', false, json::error_handler_t::replace));
}

void run_where(const where_options& options) {
  if (launch::from_environment().rank != 0) return;
  say_ignored_variables();
  where_plan plan = plan_of(options);
  if (!this_machine().is_this_system() && !plan.pin.is_none()) {
    remark("threads are not pinned: {}", other_machine_text());
    plan.pin = pinning();
  }
  const std::vector<std::string> bound = bench::pin_all(plan.threads, plan.pin);
  std::vector<container_finding> found;
  for (const loop_container container : plan.containers) found.push_back(look_at(container, plan));
  options.as_json ? print_json(plan, bound, found) : print_text(plan, bound, found);
  report_placement_problems();
}

}  // namespace

void add_where(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "where", "Show the NUMA domains of containers' pages, and how many are on the right one");
  command->footer("docs/numa.md explains the output.");
  auto options = std::make_shared<where_options>();
  command
      ->add_option("--containers,--container", options->containers,
                   "Containers, or 'all':" + help_of(shown_containers))
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--length", options->length, "Number of elements of 8 bytes, such as 1000 or 2e7")
      ->capture_default_str();
  command->add_option("--threads", options->threads,
                      "Number of threads that work on them (default: one per allowed CPU)");
  command->add_option("--pin", options->pin, pin_help)->capture_default_str();
  command
      ->add_option("--chunk", options->chunk,
                   fmt::format("Elements that a thread takes at a time, 0 for one block per thread:\n"
                               "  one of {}",
                               fmt::join(bench::allocator_chunks, ", ")))
      ->capture_default_str();
  command->add_option("--segments", options->segments,
                      "Number of segments of segmented arrays (default: one per thread)");
  command->add_option("--placement", options->placement, placement_help)->capture_default_str();
  command->add_flag("--huge-pages,--huge", options->huge_pages, "Request pages of 2 MiB");
  command->add_option("--init", options->initialisation, "First writers of the pages: parallel or serial")
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([options, &status] {
    status = success;
    run_where(*options);
  });
}

}  // namespace nearfar::command
