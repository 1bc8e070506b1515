#include "bench/kinds/containers/loop_case.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/kinds/containers/page_placement_text.hpp"
#include "bench/kinds/containers/relax_loop.hpp"
#include "bench/kinds/containers/vector_loop.hpp"
#include "bench/openmp_threads.hpp"
#include "nearfar/container/pin_team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::bench {

namespace {

using container = loop_container;
using initialisation = loop_initialisation;

std::size_t inputs_of(vector_kernel kernel) {
  switch (kernel) {
    case vector_kernel::triad:
      return triad_kernel::inputs;
    case vector_kernel::add:
    case vector_kernel::stream_triad:
      return add_kernel::inputs;
    default:
      return copy_kernel::inputs;
  }
}

double flops_of(vector_kernel kernel) {
  switch (kernel) {
    case vector_kernel::copy:
      return 0;
    case vector_kernel::scale:
    case vector_kernel::add:
      return 1;
    default:
      return 2;
  }
}

std::string text_of(initialisation value) { return name_of(loop_initialisations, value); }

constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();

// Sums and products, capped at the largest number.
std::size_t sum_of(std::size_t a, std::size_t b) { return b > largest - a ? largest : a + b; }
std::size_t product_of(std::size_t a, std::size_t b) { return a != 0 && b > largest / a ? largest : a * b; }

/// `ways` are the case's initialisations. `circumstance`, if it is not empty, says what they depend on.
std::string common_obstacle(const loop_setting& to, const std::vector<initialisation>& ways,
                            const std::string& circumstance = "") {
  if (to.threads < 1) return "a loop needs at least 1 thread";
  if (std::find(ways.begin(), ways.end(), to.initialisation) == ways.end()) {
    std::string known;
    for (const initialisation way : ways) known += (known.empty() ? "" : ", ") + text_of(way);
    return std::string(name_of(loop_containers, to.container)) + " has no initialisation '" +
           text_of(to.initialisation) + "'" + circumstance + ", only: " + known;
  }
  if (to.placement != page_placement{} && !has_own_pages(to.container))
    return std::string(name_of(loop_containers, to.container)) + " does not choose where its pages are";
  return "";
}

std::vector<initialisation> initialisations_of(const triad_case& of) {
  switch (of.container) {
    case container::array:
    case container::array_unaligned:
      return {initialisation::parallel, initialisation::serial};
    case container::vector:
    case container::vector_iterator:
      return {initialisation::serial};
    case container::numa_expression:  // its owners, who initialise the elements, also do the work
      return {initialisation::allocator};
    default:
      return {initialisation::allocator, initialisation::serial};
  }
}

std::vector<initialisation> initialisations_of(const relax_case& of) {
  const bool by_rows = of.decomposition == loop_decomposition::horizontal;
  switch (of.container) {
    case container::array:
      return {initialisation::parallel, initialisation::serial};
    case container::vector:
      if (by_rows) return {initialisation::parallel, initialisation::serial};
      return {initialisation::serial};
    case container::vector_numa:
    case container::numa_vector:
      if (by_rows) return {initialisation::parallel, initialisation::serial};
      return {initialisation::allocator, initialisation::serial};
    default:
      return {initialisation::allocator, initialisation::serial};
  }
}

std::string obstacle_of(const triad_case& to) {
  const std::string name = name_of(loop_containers, to.container);
  if (std::string why = common_obstacle(to, initialisations_of(to)); !why.empty()) return why;
  if (to.length == 0) return "vectors must have at least 1 element";
  if (to.stores != store_kind::regular && to.stores_as_compilers_do())
    return name + " has regular stores only";
  if (!to.is_segmented() && to.segments != 0) return name + " has no segments";
  if (!to.is_padded() && to.padding != 0) return name + " has no padding: only padded containers have";
  if (to.padding % sizeof(double) != 0) return "padding must be a multiple of 8 bytes";
  if (to.chunk == 0) return "";
  if (to.is_segmented()) return name + " has segments in place of chunks";
  if (to.is_array() || to.initialisation == initialisation::serial) return "";
  if (std::find(allocator_chunks.begin(), allocator_chunks.end(), to.chunk) == allocator_chunks.end()) {
    std::string known;
    for (const std::size_t chunk : allocator_chunks)
      known += (known.empty() ? "" : ", ") + std::to_string(chunk);
    return name + " is compiled for these chunks only: " + known;
  }
  if (to.kernel != vector_kernel::triad) return name + " has chunks for the vector triad only";
  return "";
}

std::string obstacle_of(const relax_case& to) {
  constexpr std::array grids{container::array, container::vector, container::vector_numa,
                             container::numa_vector, container::segmented};
  if (std::find(grids.begin(), grids.end(), to.container) == grids.end())
    return std::string("there is no grid of ") + name_of(loop_containers, to.container);
  if (to.rows < 3 || to.columns < 3) return "a grid with inner points has at least 3 rows and 3 columns";
  constexpr std::size_t most_points = 1'000'000'000'000;
  if (product_of(to.rows, to.columns) > most_points) return "a grid has at most 1e12 points";
  return common_obstacle(
      to, initialisations_of(to),
      std::string(" in ") + name_of(loop_decompositions, to.decomposition) + " decomposition");
}

/// As records have it.
std::string text_with_pages(const page_placement& placement) {
  return bench::text_of(placement) + (placement.huge_pages ? " huge-pages" : "");
}

/// While an object of this class lives, teams without a number of threads, such as those of numa_new, have
/// this size.
class default_team_size {
 public:
#ifdef _OPENMP
  explicit default_team_size(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~default_team_size() { omp_set_num_threads(before_); }
#else
  explicit default_team_size(int) {}
#endif
  default_team_size(const default_team_size&) = delete;
  default_team_size& operator=(const default_team_size&) = delete;

#ifdef _OPENMP
 private:
  int before_;
#endif
};

/// Begins every repetition: pins the threads, and returns free pages to the system, which malloc would
/// otherwise hand out again in their old place.
void prepare(const loop_setting& of) {
  pin_all(of.threads, pinning_used(of));
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Doubles the number of iterations until the loop runs long enough, unless their number is given.
template <typename Loop>
void measure(Loop& loop, const loop_times& times, sample& into) {
  std::int64_t iterations = std::max<std::int64_t>(times.exactly != 0 ? times.exactly : times.first_guess, 1);
  loop.run(1 + iterations / 10);
  for (;; iterations *= 2) {
    const auto start = std::chrono::steady_clock::now();
    loop.run(iterations);
    into.duration = std::chrono::steady_clock::now() - start;
    into.iterations = iterations;
    if (times.exactly != 0 || (into.duration >= times.shortest && into.duration.count() > 0)) return;
  }
}

/// The settings of a case as fields of its records.
nlohmann::ordered_json settings_of(const loop_setting& of) {
  nlohmann::ordered_json all{{"initialisation", text_of(of.initialisation)},
                             {"placement", text_with_pages(of.placement)},
                             {"threads", of.threads},
                             {"pinning", pinning_used(of).to_string()}};
  for (const char* field :
       {"chunk", "segments", "padding", "stores", "length", "rows", "columns", "decomposition", "sweeps"})
    all[field] = nullptr;
  return all;
}

nlohmann::ordered_json settings_of(const triad_case& of) {
  nlohmann::ordered_json all = settings_of(static_cast<const loop_setting&>(of));
  all["length"] = of.length;
  all["stores"] = name_of(store_kinds, of.stores);
  if (of.is_segmented()) {
    all["segments"] = of.segments_used();
    all["padding"] = of.padding;
  } else {
    all["chunk"] = of.chunk;
  }
  return all;
}

nlohmann::ordered_json settings_of(const relax_case& of) {
  nlohmann::ordered_json all = settings_of(static_cast<const loop_setting&>(of));
  all["rows"] = of.rows;
  all["columns"] = of.columns;
  all["decomposition"] = name_of(loop_decompositions, of.decomposition);
  if (of.container == container::segmented) all["segments"] = of.rows;
  return all;
}

std::unique_ptr<vector_loop> make_vector_loop(const triad_case& of) {
  switch (of.container) {
    case container::array:
    case container::array_unaligned:
      return make_array_loop(of);
    case container::object_array:
      return make_object_array_loop(of);
    case container::vector:
    case container::vector_iterator:
    case container::vector_numa:
      return make_std_vector_loop(of);
    case container::numa_vector:
    case container::numa_expression:
      return make_numa_vector_loop(of);
    case container::segmented:
    case container::segmented_index:
    case container::segmented_iterator:
      return make_segmented_loop(of);
    case container::padded:
    case container::padded_index:
    case container::padded_iterator:
    case container::padded_pieces:
      return make_padded_loop(of);
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> pin_all(int threads, const pinning& rule) {
  expect_threads(threads);
  std::vector<std::string> bindings = pin_team(team(threads), rule);
  expect_given_threads(static_cast<int>(bindings.size()), threads);
  return bindings;
}

loop_initialisation best_initialisation(const loop_case& of) {
  return std::visit([](const auto& each) { return initialisations_of(each).front(); }, of);
}

std::string obstacle(const loop_case& to) {
  return std::visit([](const auto& each) { return obstacle_of(each); }, to);
}

pinning pinning_used(const loop_setting& of) { return this_machine().is_this_system() ? of.pin : pinning(); }

std::size_t bytes_of(const loop_case& of) {
  if (const auto* grid = std::get_if<relax_case>(&of))  // two grids, and as many to verify
    return product_of(product_of(4 * sizeof(double), grid->rows), grid->columns);
  const auto& loop = std::get<triad_case>(of);
  return product_of(inputs_of(loop.kernel) + 1, bytes_of_vector(loop));
}

std::size_t bytes_of_vector(const triad_case& of) {
  const std::size_t elements = product_of(of.length, sizeof(double));
  if (!of.is_padded()) return elements;
  return sum_of(elements, product_of(of.segments_used(), sum_of(of.padding, page_size())));
}

loop_work work_of(const triad_case& of) {
  const auto length = static_cast<double>(of.length);
  const double bytes = static_cast<double>((inputs_of(of.kernel) + 1) * sizeof(double)) * length;
  const double rfo = stores_stream(of) ? 0 : static_cast<double>(sizeof(double)) * length;
  return {.flops = flops_of(of.kernel) * length, .bytes = bytes, .bytes_with_rfo = bytes + rfo};
}

loop_work work_of(const relax_case& of) {
  constexpr double flops = 4;
  const auto points = static_cast<double>((of.rows - 2) * (of.columns - 2));
  return {.flops = flops * points, .points = points};
}

bool stores_stream(const triad_case& of) {
  return store_choice(of.stores).streams((inputs_of(of.kernel) + 1) * of.length * sizeof(double));
}

nlohmann::ordered_json rates_of(const loop_work& work, std::int64_t iterations,
                                std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  const auto rate = [&](double amount, double unit) -> nlohmann::ordered_json {
    if (amount == 0 || seconds == 0) return nullptr;
    return amount * static_cast<double>(iterations) / seconds / unit;
  };
  constexpr double mega = 1e6;
  constexpr double giga = 1e9;
  return {{"mflops", rate(work.flops, mega)},
          {"mbytes_per_s", rate(work.bytes, mega)},
          {"gbytes_per_s", rate(work.bytes, giga)},
          {"gbytes_per_s_with_rfo", rate(work.bytes_with_rfo, giga)},
          {"mlups", rate(work.points, mega)}};
}

sample run_triad(const triad_case& of, const loop_times& times) {
  if (const std::string why = obstacle(of); !why.empty()) throw misuse(why);
  const default_team_size threads(of.threads);
  prepare(of);
  const std::unique_ptr<vector_loop> loop = make_vector_loop(of);
  sample result;
  measure(*loop, times, result);
  result.verified = loop->verify();
  result.counts = settings_of(of);
  result.counts.update(rates_of(work_of(of), result.iterations, result.duration));
  return result;
}

sample run_relax(const relax_case& of, const loop_times& times) {
  if (const std::string why = obstacle(of); !why.empty()) throw misuse(why);
  const default_team_size threads(of.threads);
  prepare(of);
  const std::unique_ptr<relax_loop> loop = make_relax_loop(of);
  const bool begins_right = loop->verify();
  loop_times of_sweeps = times;
  of_sweeps.exactly = of.sweeps;
  sample result;
  measure(*loop, of_sweeps, result);
  result.verified = loop->verify() && begins_right;
  result.counts = settings_of(of);
  result.counts["sweeps"] = result.iterations;
  result.counts.update(rates_of(work_of(of), result.iterations, result.duration));
  return result;
}

}  // namespace nearfar::bench
