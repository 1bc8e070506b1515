#include "bench/kinds/containers/loop_benchmarks.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/kinds/containers/page_placement_text.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/pinning.hpp"

namespace nearfar::bench {

namespace {

constexpr const char* best = "best";

triad_case with_container(loop_container of) {
  triad_case made;
  made.container = of;
  return made;
}

template <typename Value, std::size_t Count>
std::vector<axis_value> every(const std::array<named<Value>, Count>& all) {
  std::vector<axis_value> values;
  for (const named<Value>& each : all) values.emplace_back(std::string(each.name));
  return values;
}

/// A line of the help of an axis about one of its values.
std::string line_of_help(std::string_view value, std::string_view meaning) {
  constexpr std::size_t width = 26;
  std::string line = "\n  " + std::string(value);
  line.resize(std::max(line.size(), width) + 1, ' ');
  return line.append(meaning);
}

/// An axis whose values are names, each with a line in the help.
template <typename Value, std::size_t Count>
axis named_axis(std::string name, std::string meaning, const std::array<named<Value>, Count>& all,
                std::string standard) {
  meaning += ":";
  for (const named<Value>& each : all) meaning += line_of_help(each.name, each.meaning);
  meaning += line_of_help("all", "all of these");
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .standard = std::move(standard),
          .choices = names_of(all),
          .all = every(all)};
}

std::string why_no_pinning(std::string_view text) {
  try {
    (void)pinning::parse(std::string(text));
    return "";
  } catch (const error& wrong) {
    return wrong.what();
  }
}

std::string why_no_placement(std::string_view text) {
  try {
    (void)parse_page_placement(std::string(text));
    return "";
  } catch (const error& wrong) {
    return wrong.what();
  }
}

axis pinning_axis() {
  return {.name = "pinning",
          .meaning = "Pinning of threads",
          .standard = std::string("scatter"),
          .choices = {"none", "compact", "scatter", "cache", "numa"},
          .others = "CPUs such as 0,2,4-7",
          .refuse_other = why_no_pinning,
          .alias = "--pin",
          .is_single = true};
}

axis min_time_axis() {
  constexpr double shortest = 1e-9;
  constexpr double longest = 3600;
  return {.name = "min_time",
          .unit = "s",
          .meaning = "Shortest duration of a repetition; iterations double until then",
          .standard = 0.02,
          .least = shortest,
          .most = longest,
          .is_effort = true};
}

constexpr double most_elements = 1e12;  // beyond what fits into memory, so that nothing useful is refused
constexpr double most_of_grid = 1e9;
constexpr double most_sweeps = 1e9;

std::vector<axis> axes_of_vectors(std::vector<axis_value> lengths) {
  std::vector<axis_value> from_cache_to_memory;
  constexpr std::int64_t longest = 100'000'000;
  for (std::int64_t decade = 10; decade <= longest; decade *= 10)
    for (const std::int64_t step : {1, 2, 5})
      if (decade * step <= longest) from_cache_to_memory.emplace_back(decade * step);
  std::string chunks;
  for (const std::size_t chunk : allocator_chunks)
    chunks += (chunks.empty() ? "" : ", ") + std::to_string(chunk);
  return {
      {.name = "length",
       .meaning =
           "Elements of each vector, such as 2e7:" + line_of_help("all", "10 to 1e8 in steps of 1, 2, 5"),
       .standard = std::int64_t{10'000'000},
       .least = 1,
       .most = most_elements,
       .usual = std::move(lengths),
       .all = std::move(from_cache_to_memory),
       .alias = "--lengths"},
      {.name = "chunk",
       .meaning = "Elements that a thread takes at a time, 0 for one block per thread:\n  allocators take "
                  "one of " +
                  chunks,
       .standard = std::int64_t{0},
       .most = most_elements},
      {.name = "segments",
       .meaning = "Segments of each segmented array, 0 for one per thread",
       .standard = std::int64_t{0},
       .most = most_of_grid},
      pinning_axis(),
      min_time_axis()};
}

axis grid_axis(const char* name, const char* meaning) {
  return {.name = name, .meaning = meaning, .standard = std::int64_t{2000}, .least = 1, .most = most_of_grid};
}

axis sweeps_axis() {
  return {.name = "sweeps",
          .meaning = "Timed sweeps of a repetition; 0: as many as --min-time asks for",
          .standard = std::int64_t{0},
          .most = most_sweeps,
          .is_effort = true};
}

// ---------------------------------------------------------------------------------------------------- cases

std::size_t size_at(const point& at, std::string_view name) {
  return at.has(name) ? static_cast<std::size_t>(at.whole(name)) : 0;
}

template <typename Case>
Case set_up(Case made, const object& of, const point& at, int threads) {
  made.container = *value_of(loop_containers, of.name);
  made.threads = threads;
  made.pin = pinning::parse(at.text("pinning"));
  if (at.has("placement")) {
    made.placement = parse_page_placement(at.text("placement"));
    made.placement.huge_pages = at.flag("huge_pages");
  }
  return made;
}

template <typename Case>
Case with_initialisation(Case made, const point& at) {
  const std::string& name = at.text("initialisation");
  made.initialisation = name == best ? best_initialisation(made) : *value_of(loop_initialisations, name);
  return made;
}

triad_case vectors_at(const object& of, const point& at, int threads) {
  triad_case made = set_up(triad_case(), of, at, threads);
  if (at.has("loop")) made.kernel = *value_of(vector_kernels, at.text("loop"));
  made.length = size_at(at, "length");
  made.chunk = size_at(at, "chunk");
  made.segments = size_at(at, "segments");
  made.padding = size_at(at, "padding");
  if (at.has("stores")) made.stores = *value_of(store_kinds, at.text("stores"));
  return with_initialisation(made, at);
}

relax_case grid_at(const object& of, const point& at, int threads) {
  relax_case made = set_up(relax_case(), of, at, threads);
  made.rows = size_at(at, "rows");
  made.columns = size_at(at, "columns");
  made.decomposition = *value_of(loop_decompositions, at.text("decomposition"));
  made.sweeps = at.whole("sweeps");
  return with_initialisation(made, at);
}

point joined(const point& axes, const point& parameters) {
  point all = axes;
  for (const auto& [name, value] : parameters.values()) all.set(name, value);
  return all;
}

template <typename Case>
void name_settings(const Case& of, point& axes, point& parameters) {
  parameters.set("initialisation", std::string(name_of(loop_initialisations, of.initialisation)));
  axes.set("pinning", pinning_used(of).to_string());
}

void settle_vectors(const object& of, int ranks, point& axes, point& parameters) {
  const triad_case made = vectors_at(of, joined(axes, parameters), ranks);
  name_settings(made, axes, parameters);
  if (made.is_segmented()) {
    if (made.chunk == 0) axes.erase("chunk");
    if (made.segments == 0) axes.erase("segments");
  } else {
    axes.erase("segments");
  }
}

void settle_grid(const object& of, int ranks, point& axes, point& parameters) {
  name_settings(grid_at(of, joined(axes, parameters), ranks), axes, parameters);
}

loop_times times_at(const point& at, std::int64_t first_guess) {
  return {.shortest = std::chrono::duration_cast<std::chrono::nanoseconds>(
              std::chrono::duration<double>(at.real("min_time"))),
          .first_guess = first_guess};
}

benchmark of_vectors(std::string name) {
  return {.name = std::move(name),
          .title = "",
          .summary = "",
          .source = "",
          .kind = &containers(),
          .axes = {},
          .columns = {},
          .refuse = [](const object& of, const point& at,
                       const locality& where) { return obstacle(vectors_at(of, at, where.size())); },
          .settle = settle_vectors,
          .bytes = [](const object& of, const point& at,
                      int ranks) { return bytes_of(vectors_at(of, at, ranks)); },
          .in_team =
              [](const object& of, const point& at, int threads, std::int64_t first_guess) {
                return run_triad(vectors_at(of, at, threads), times_at(at, first_guess));
              }};
}

// ------------------------------------------------------------------------------------------- cases as points

axis_value whole(std::size_t value) { return static_cast<std::int64_t>(value); }

void name_axes(const triad_case& of, point& axes) {
  if (of.kernel != vector_kernel::triad) axes.set("loop", std::string(name_of(vector_kernels, of.kernel)));
  axes.set("length", whole(of.length));
  axes.set("chunk", whole(of.chunk));
  axes.set("segments", whole(of.segments));
}

void name_axes(const relax_case& of, point& axes) {
  axes.set("rows", whole(of.rows));
  axes.set("columns", whole(of.columns));
  axes.set("decomposition", std::string(name_of(loop_decompositions, of.decomposition)));
  axes.set("sweeps", of.sweeps);
}

std::map<std::string, axis_value> parameters_of(const loop_setting& of) {
  return {{"initialisation", std::string(name_of(loop_initialisations, of.initialisation))},
          {"placement", text_of(of.placement)},
          {"huge_pages", of.placement.huge_pages}};
}

std::map<std::string, axis_value> parameters_of(const triad_case& of) {
  auto all = parameters_of(static_cast<const loop_setting&>(of));
  all.emplace("padding", whole(of.padding));
  all.emplace("stores", std::string(name_of(store_kinds, of.stores)));
  return all;
}

const char* benchmark_of(const triad_case& of) {
  return of.kernel == vector_kernel::triad ? "triad" : "stream";
}
const char* benchmark_of(const relax_case& /*of*/) { return "relax"; }

template <typename Case>
loop_point as_point(const Case& of, double min_time) {
  loop_point result{.of = find_benchmark(benchmark_of(of)),
                    .container = containers().find(name_of(loop_containers, of.container)),
                    .axes = {},
                    .parameters = {},
                    .threads = of.threads};
  name_axes(of, result.axes);
  result.axes.set("pinning", of.pin.to_string());
  result.axes.set("min_time", min_time);
  const std::map<std::string, axis_value> known = parameters_of(of);
  for (const axis& each : result.of->parameters())
    if (result.container->takes(each.name)) result.parameters.set(each.name, known.at(each.name));
  result.of->settle(*result.container, of.threads, result.axes, result.parameters);
  return result;
}

// -------------------------------------------------------------------------------------------------- columns

column rate(std::string name, std::string head, std::string title, std::string unit, std::string meaning,
            int digits = 1) {
  auto of = [name](const sample& s) { return s.count(name); };
  return {.name = std::move(name),
          .head = std::move(head),
          .title = std::move(title),
          .unit = std::move(unit),
          .meaning = std::move(meaning),
          .digits = digits,
          .of = std::move(of)};
}

column judged_by(column of) {
  of.has_interval = true;
  return of;
}

column time_over_array(std::vector<std::string> alike) {
  return {.name = "ratio",
          .head = "x array",
          .title = "Time / time of array",
          .unit = "",
          .meaning = "time divided by that of the plain array in the same repetition",
          .digits = 3,
          .relative = relation{"array", std::move(alike)}};
}

column with_ownership() {
  column of = rate("gbytes_per_s_with_rfo", "+rfo", "Bandwidth with reads for ownership", "GB/s",
                   "also bytes that are read before they are overwritten", 2);
  of.how = standing::shown;
  return of;
}

}  // namespace

loop_point point_of(const loop_case& of, double min_time) {
  return std::visit([&](const auto& each) { return as_point(each, min_time); }, of);
}

benchmark triad() {
  benchmark result = of_vectors("triad");
  result.title = "Vector triad";
  result.summary = "vector triad a = b + c * d over arrays and containers, from cache to memory";
  result.source = "Stengel 2007, 1.6.1";
  result.axes = axes_of_vectors({std::int64_t{1000}, std::int64_t{10'000}, std::int64_t{100'000},
                                 std::int64_t{1'000'000}, std::int64_t{10'000'000}});
  result.columns = {
      judged_by(
          rate("mflops", "MFlop/s", "Performance", "MFlop/s", "million floating-point operations a second")),
      rate("gbytes_per_s", "GB/s", "Bandwidth", "GB/s", "bytes that the program reads and writes", 2),
      with_ownership(), time_over_array({"stores", "chunk", "placement", "huge_pages"})};
  result.figure = {"mflops", "gbytes_per_s", "ratio"};
  return result;
}

benchmark stream() {
  benchmark result = of_vectors("stream");
  result.title = "STREAM";
  result.summary = "copy, scale, add and triad (a = b + s * c) as STREAM names and counts them";
  result.source = "McCalpin 1995; Stengel 2007, 1.6.1";
  axis loop = named_axis("loop", "Loops", vector_kernels, "copy");
  loop.choices.erase(loop.choices.begin());  // which is the triad of three vectors
  loop.all.erase(loop.all.begin());
  loop.usual = loop.all;
  loop.meaning = "Loops";
  result.axes = axes_of_vectors({});
  result.axes.insert(result.axes.begin(), std::move(loop));
  result.usual = {"array", "vector-numa", "numa_vector", "numa_vector-expression", "segmented"};
  result.columns = {
      judged_by(rate("mbytes_per_s", "MB/s", "Bandwidth", "MB/s",
                     "million bytes a second that the loop reads and writes, as STREAM counts")),
      rate("gbytes_per_s", "GB/s", "Bandwidth", "GB/s", "the same in 10^9 bytes a second", 2),
      with_ownership(), time_over_array({"stores", "chunk", "placement", "huge_pages"})};
  result.columns[1].how = standing::shown;
  result.figure = {"mbytes_per_s", "ratio"};
  return result;
}

benchmark relax() {
  axis decomposition =
      named_axis("decomposition", "Division of the grid among threads", loop_decompositions, "horizontal");
  decomposition.usual = decomposition.all;
  return {
      .name = "relax",
      .title = "Relaxation",
      .summary = "relaxation: sweeps of the four-point mean over a grid of rows",
      .source = "Stengel 2007, chapter 4",
      .kind = &containers(),
      .axes = {grid_axis("rows", "Rows of the grid"), grid_axis("columns", "Columns of the grid"),
               std::move(decomposition), pinning_axis(), sweeps_axis(), min_time_axis()},
      .usual = {"array", "vector", "vector-numa", "numa_vector", "segmented"},
      .without = {"padding", "stores"},
      .columns = {judged_by(
                      rate("mlups", "MLup/s", "Performance", "MLup/s", "million points updated a second")),
                  time_over_array({"placement", "huge_pages"})},
      .figure = {"mlups", "ratio"},
      .refuse = [](const object& of, const point& at,
                   const locality& where) { return obstacle(grid_at(of, at, where.size())); },
      .settle = settle_grid,
      .bytes = [](const object& of, const point& at, int ranks) { return bytes_of(grid_at(of, at, ranks)); },
      .in_team =
          [](const object& of, const point& at, int threads, std::int64_t first_guess) {
            return run_relax(grid_at(of, at, threads), times_at(at, first_guess));
          }};
}

const object_kind& containers() {
  static const object_kind all = [] {
    axis initialisation =
        named_axis("initialisation", "First writers of the pages", loop_initialisations, best);
    initialisation.choices.emplace_back(best);
    initialisation.meaning += line_of_help(best, "what suits the container best");
    initialisation.alias = "--init";
    object_kind kind{
        .name = "container",
        .plural = "containers",
        .title = "container",
        .introduction = "Containers that divide loops among a team of threads, and place data near them.",
        .remarks = "'array' is the reference of all others. docs/numa.md explains the parameters.",
        .parameters = {std::move(initialisation),
                       {.name = "placement",
                        .meaning = "Placement of pages",
                        .standard = std::string("first-touch"),
                        .choices = {"first-touch", "interleave"},
                        .others = "bind:0 to NUMA domains",
                        .refuse_other = why_no_placement,
                        .is_single = true},
                       {.name = "huge_pages", .meaning = "Request pages of 2 MiB", .standard = false},
                       {.name = "padding",
                        .meaning = "Bytes between padded segments, which then share pages; 0: own pages",
                        .standard = std::int64_t{0},
                        .most = most_of_grid},
                       named_axis("stores", "Stores of the results", store_kinds, "regular")},
        .refuse = [](const point&) { return std::string(); },
        .objects = {}};
    for (const auto& each : loop_containers) {
      std::vector<std::string> parameters{"initialisation"};
      if (has_own_pages(each.value)) parameters.insert(parameters.end(), {"placement", "huge_pages"});
      if (with_container(each.value).is_padded()) parameters.emplace_back("padding");
      if (!with_container(each.value).stores_as_compilers_do()) parameters.emplace_back("stores");
      kind.objects.push_back({.name = each.name,
                              .summary = each.meaning,
                              .paper = "Stengel 2007",
                              .facts = {},
                              .parameters = std::move(parameters),
                              .worlds = {world_kind::team}});
    }
    return kind;
  }();
  return all;
}

}  // namespace nearfar::bench
