#include "apps/nearfar/figures/stengel2007.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace nearfar::command {

// Of its own, as all sources of the command may be compiled as one.
namespace stengel {
namespace {

using namespace bench;

void add(std::vector<figure_case>& cases, std::string series, const loop_case& what) {
  cases.push_back({std::move(series), what});
}

/// Vector lengths from cache to memory, the given number in each decade.
std::vector<std::size_t> lengths(const figure_machine& on, std::initializer_list<std::size_t> in_decade) {
  if (on.quick) return {100, 10'000, 100'000};
  constexpr std::size_t longest = 10'000'000;
  std::vector<std::size_t> result;
  for (std::size_t decade = 10; decade <= longest; decade *= 10)
    for (const std::size_t step : in_decade)
      if (decade * step <= longest) result.push_back(decade * step);
  return result;
}

std::vector<std::size_t> lengths(const figure_machine& on) { return lengths(on, {1, 3}); }

/// The thesis' length, whose vectors exceed every cache of its time and most of today's.
std::size_t length_in_memory(const figure_machine& on, std::size_t of_thesis) {
  return on.quick ? 100'000 : of_thesis;
}

std::string counted(int threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

triad_case triad(loop_container container, int threads, std::size_t length,
                 loop_initialisation initialisation = loop_initialisation::parallel) {
  triad_case result;
  result.container = container;
  result.initialisation = initialisation;
  result.threads = threads;
  result.length = length;
  return result;
}

/// A triad with the initialisation that suits the container.
triad_case best_triad(loop_container container, int threads, std::size_t length) {
  triad_case result = triad(container, threads, length);
  result.initialisation = best_initialisation(result);
  return result;
}

const char* name_of(loop_container container) { return bench::name_of(loop_containers, container); }

std::vector<figure_case> figure_1_7(const figure_machine& on) {
  std::vector<figure_case> cases;
  for (const std::size_t length : lengths(on, {1, 2, 5}))
    add(cases, "array, 1 thread", triad(loop_container::array, 1, length));
  return cases;
}

std::vector<figure_case> figure_1_8(const figure_machine& on) {
  std::vector<figure_case> cases;
  for (const named<store_kind>& stores : store_kinds)
    for (const std::size_t length : lengths(on)) {
      triad_case of = triad(loop_container::array, 1, length);
      of.stores = stores.value;
      add(cases, fmt::format("{} stores", stores.name), of);
    }
  return cases;
}

std::vector<figure_case> figure_2_2(const figure_machine& on) {
  std::vector<figure_case> cases;
  const int other = (on.domain + 1) % on.domains;
  for (const auto& [whose, domain] : {std::pair("its own", on.domain), std::pair("another", other)})
    for (const std::size_t length : lengths(on)) {
      triad_case of = triad(loop_container::array, 1, length);
      of.pin = pinning::parse("compact");
      of.placement = {.policy = page_policy::bind, .domains = {domain}};
      add(cases, fmt::format("memory of {} domain ({})", whose, domain), of);
    }
  return cases;
}

std::vector<figure_case> figure_2_4(const figure_machine& on) {
  std::vector<figure_case> cases;
  for (const int threads : on.threads)
    for (const loop_initialisation by : {loop_initialisation::serial, loop_initialisation::parallel}) {
      if (threads == 1 && by == loop_initialisation::serial) continue;  // the same as in parallel
      const std::string how =
          threads == 1 ? "" : fmt::format(", {} initialisation", bench::name_of(loop_initialisations, by));
      for (const std::size_t length : lengths(on))
        add(cases, counted(threads) + how, triad(loop_container::array, threads, length, by));
    }
  return cases;
}

/// At most `count` of `all`, evenly spread, including the first and the last.
std::vector<int> some_of(const std::vector<int>& all, std::size_t count) {
  if (all.size() <= count) return all;
  std::vector<int> result;
  for (std::size_t k = 0; k < count; ++k) result.push_back(all[k * (all.size() - 1) / (count - 1)]);
  return result;
}

std::vector<figure_case> figure_2_6(const figure_machine& on) {
  // All ordered pairs of up to six CPUs are 30 points. One CPU gives one point, with one thread.
  constexpr std::size_t most_cpus = 6;
  constexpr std::size_t of_thesis = 9'000'000;
  const int threads = std::min(2, on.threads.back());
  const std::vector<int> cpus = some_of(on.cpus, on.quick ? 2 : most_cpus);
  std::vector<figure_case> cases;
  for (const int first : cpus)
    for (const int second : cpus) {
      if (first == second && cpus.size() > 1) continue;
      for (const loop_initialisation by : {loop_initialisation::serial, loop_initialisation::parallel}) {
        triad_case of = triad(loop_container::array, threads, length_in_memory(on, of_thesis), by);
        of.pin = pinning::parse(fmt::format("{},{}", first, second));
        add(cases, fmt::format("{} initialisation", bench::name_of(loop_initialisations, by)), of);
      }
    }
  return cases;
}

/// The largest number of threads that does not exceed the thesis'.
int threads_up_to(const figure_machine& on, int of_thesis) {
  int result = on.threads.front();
  for (const int threads : on.threads)
    if (threads <= of_thesis) result = std::max(result, threads);
  return result;
}

std::vector<figure_case> figure_2_7(const figure_machine& on) {
  constexpr std::array<std::size_t, 12> chunks{8, 16, 32, 64, 128, 256, 512, 1024, 4096, 32768, 262144, 0};
  constexpr int of_thesis = 4;
  const int threads = threads_up_to(on, of_thesis);
  const std::size_t length = length_in_memory(on, 10'000'000);
  const auto has_allocator = [](std::size_t chunk) {
    return std::find(allocator_chunks.begin(), allocator_chunks.end(), chunk) != allocator_chunks.end();
  };
  std::vector<figure_case> cases;
  for (const std::size_t chunk : chunks)
    for (const loop_container container :
         {loop_container::array, loop_container::array_unaligned, loop_container::vector_numa}) {
      triad_case of = best_triad(container, threads, length);
      of.chunk = chunk;
      if (of.is_array() || has_allocator(chunk))
        add(cases, fmt::format("{}, {}", name_of(container), counted(threads)), of);
    }
  return cases;
}

/// One curve for each number of threads and each container, with the initialisation that is best for the
/// container.
std::vector<figure_case> over_lengths(const figure_machine& on,
                                      std::initializer_list<loop_container> containers) {
  std::vector<figure_case> cases;
  for (const int threads : on.threads)
    for (const loop_container container : containers)
      for (const std::size_t length : lengths(on))
        add(cases, fmt::format("{}, {}", name_of(container), counted(threads)),
            best_triad(container, threads, length));
  return cases;
}

std::vector<figure_case> figure_3_2(const figure_machine& on) {
  std::vector<figure_case> cases;
  for (const int threads : on.threads)
    for (const auto& [by, what] : {std::pair(loop_initialisation::serial, "standard new[]"),
                                   std::pair(loop_initialisation::allocator, "numa_new")})
      for (const std::size_t length : lengths(on))
        add(cases, fmt::format("{}, {}", what, counted(threads)),
            triad(loop_container::object_array, threads, length, by));
  return cases;
}

std::vector<figure_case> figure_3_3(const figure_machine& on) {
  return over_lengths(on, {loop_container::array, loop_container::vector, loop_container::vector_iterator,
                           loop_container::vector_numa});
}

std::vector<figure_case> figure_3_4(const figure_machine& on) {
  return over_lengths(on, {loop_container::array, loop_container::vector_numa, loop_container::numa_vector});
}

std::vector<figure_case> figure_3_7(const figure_machine& on) {
  // The thesis' naive loop is that of padded_iterator on one thread: its iterator tests for the end of its
  // segment, and has one segment.
  std::vector<figure_case> cases =
      over_lengths(on, {loop_container::array, loop_container::segmented, loop_container::segmented_index,
                        loop_container::segmented_iterator, loop_container::padded_index,
                        loop_container::padded_iterator});
  // Behind the first segment an index needs a division.
  constexpr std::size_t segments = 8;
  for (const loop_container container : {loop_container::padded_index, loop_container::padded_iterator})
    for (const std::size_t length : lengths(on)) {
      triad_case of = best_triad(container, 1, length);
      of.segments = segments;
      add(cases, fmt::format("{}, 1 thread, {} segments", name_of(container), segments), of);
    }
  return cases;
}

std::vector<figure_case> figure_3_8(const figure_machine& on) {
  constexpr std::size_t of_thesis = 14'348'907;  // 3^15, which every number of segments divides
  constexpr std::size_t quick = 59'049;          // 3^10
  const std::size_t length = on.quick ? quick : of_thesis;
  const int threads = on.threads.back();
  // A segment on pages of its own is at least a page long. Shorter segments would take more memory than there
  // is.
  constexpr std::size_t page_of_elements = 512;
  constexpr std::size_t shortest = 27;
  constexpr std::size_t line = 64;
  std::vector<figure_case> cases;
  for (const auto& [container, padding, least, how] :
       {std::tuple(loop_container::segmented, std::size_t{0}, page_of_elements, "on pages of their own"),
        std::tuple(loop_container::padded, line, shortest, "64 bytes apart")})
    for (std::size_t segments = 1; length / segments >= least; segments *= 3) {
      triad_case of = best_triad(container, threads, length);
      of.segments = segments;
      of.padding = padding;
      add(cases, fmt::format("segments {}, {}", how, counted(threads)), of);
    }
  return cases;
}

/// The side of the thesis' grids is 8000. Two grids of side 2000 take 64 MB, which also exceeds the caches of
/// most machines.
std::size_t side_of_grid(const figure_machine& on) {
  if (on.full) return 8000;
  return on.quick ? 200 : 2000;
}

/// The thesis' sweeps, with its grid; otherwise as many as take the shortest time of a repetition.
std::int64_t sweeps_of_grid(const figure_machine& on) { return on.full ? 300 : 0; }

relax_case relaxation(const figure_machine& on, loop_container container, int threads,
                      loop_decomposition decomposition) {
  relax_case of;
  of.container = container;
  of.threads = threads;
  of.rows = of.columns = side_of_grid(on);
  of.sweeps = sweeps_of_grid(on);
  of.decomposition = decomposition;
  of.initialisation = best_initialisation(of);
  return of;
}

std::vector<figure_case> relaxations(const figure_machine& on, loop_decomposition decomposition) {
  std::vector<figure_case> cases;
  for (const loop_container container :
       {loop_container::array, loop_container::vector, loop_container::vector_numa,
        loop_container::numa_vector, loop_container::segmented})
    for (const int threads : on.threads)
      add(cases, name_of(container), relaxation(on, container, threads, decomposition));
  return cases;
}

std::vector<figure_case> figure_4_2(const figure_machine& on) {
  std::vector<figure_case> cases = relaxations(on, loop_decomposition::vertical);
  for (figure_case& each : relaxations(on, loop_decomposition::by_row)) {
    each.series += ", region for each row";
    cases.push_back(std::move(each));
  }
  return cases;
}
std::vector<figure_case> figure_4_3(const figure_machine& on) {
  std::vector<figure_case> cases = relaxations(on, loop_decomposition::horizontal);
  for (const int threads : on.threads) {
    if (threads == 1) continue;  // which allocates all rows in either case
    relax_case of = relaxation(on, loop_container::array, threads, loop_decomposition::horizontal);
    of.initialisation = loop_initialisation::serial;
    add(cases, "array, rows of one thread", of);
  }
  return cases;
}

constexpr const char* shared_bandwidth =
    "all threads share its bandwidth: how the loop scales over domains cannot be seen";

constexpr std::array<figure_definition, 13> figures{{
    {"1.7", "The triad over the length of its vectors, one thread", figure_axis::length, false, "",
     figure_1_7},
    {"1.8", "The triad with and without streaming stores", figure_axis::length, false, "", figure_1_8},
    {"2.2", "Local and nonlocal memory", figure_axis::length, true,
     "no memory is nonlocal: both curves are of the same memory", figure_2_2},
    {"2.4", "Serial and parallel initialisation", figure_axis::length, true,
     "the pages are in the same memory, whichever thread initialises them: the gain of parallel "
     "initialisation does not show",
     figure_2_4},
    {"2.6", "Two threads on every pair of CPUs", figure_axis::pinning, true,
     "no pair of CPUs is of two domains, and no page is in a wrong place: pairs differ by the cores and "
     "caches "
     "they share, and no more",
     figure_2_6},
    {"2.7", "Chunks of the static schedule, in aligned and unaligned arrays", figure_axis::chunk, true,
     "small chunks cause no nonlocal accesses here: their cost is short loops and shared cache lines",
     figure_2_7},
    {"3.2", "Arrays of objects from standard new[] and from numa_new", figure_axis::length, true,
     "both put the pages into the same memory, so the gain of the placement does not show", figure_3_2},
    {"3.3", "std::vector with standard allocator, by index and iterator, and with numa_allocator",
     figure_axis::length, true,
     "both put the pages into the same memory, so the gain of the placement does not show", figure_3_3},
    {"3.4", "numa_vector, std::vector with numa_allocator, and the array", figure_axis::length, false,
     shared_bandwidth, figure_3_4},
    {"3.7", "segmented_array through algorithms, iterators and indices, and the array", figure_axis::length,
     false, shared_bandwidth, figure_3_7},
    {"3.8", "The number of segments at a fixed length of the vectors", figure_axis::segments, false, "",
     figure_3_8},
    {"4.2", "Relaxation, vertical decomposition", figure_axis::threads, false, shared_bandwidth, figure_4_2},
    {"4.3", "Relaxation, horizontal decomposition", figure_axis::threads, false, shared_bandwidth,
     figure_4_3},
}};

}  // namespace
}  // namespace stengel

const char* name_of(figure_axis axis) noexcept {
  switch (axis) {
    case figure_axis::length:
      return "length";
    case figure_axis::chunk:
      return "chunk";
    case figure_axis::segments:
      return "segments";
    case figure_axis::threads:
      return "ranks";
    case figure_axis::pinning:
      return "pinning";
  }
  return "";
}

std::span<const figure_definition> stengel2007() { return stengel::figures; }

}  // namespace nearfar::command
