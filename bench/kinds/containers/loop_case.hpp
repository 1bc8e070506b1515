/// \file
/// The cases of the benchmarks of loops: which loop runs over which container, placed and worked on how.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/results/results.hpp"
#include "nearfar/container/streaming.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/pinning.hpp"

namespace nearfar::bench {

/// The loops over vectors, each element at its index: thesis section 1.6.1, and those of STREAM (J. D.
/// McCalpin, 1995), whose triad has two input vectors and a constant.
enum class vector_kernel {
  triad,         ///< a = b + c * d
  copy,          ///< a = b
  scale,         ///< a = s * b
  add,           ///< a = b + c
  stream_triad,  ///< a = b + s * c
};

enum class loop_container {
  array,               ///< double*: the baseline, a plain loop with an OpenMP pragma
  array_unaligned,     ///< the same, behind the beginning of a page as from `new[]`: thesis section 2.3
  object_array,        ///< objects that hold a double, allocated by new[]
  vector,              ///< std::vector<double>, by index
  vector_iterator,     ///< the same, by iterators that are taken before the loop: thesis section 3.2
  vector_numa,         ///< std::vector<double, numa_allocator<double, chunk>>
  numa_vector,         ///< numa_vector<double, ...>, vectors through nearfar::transform
  numa_expression,     ///< the same, vectors through its arithmetic
  segmented,           ///< segmented_array<double>, vectors through nearfar::transform
  segmented_index,     ///< the same, element by element with its `operator[]`
  segmented_iterator,  ///< the same, element by element with its iterators
  padded,              ///< segmented_array<double, padded_layout>, vectors through nearfar::transform
  padded_index,        ///< the same, element by element with its `operator[]`
  padded_iterator,     ///< the same, element by element with its iterators
  padded_pieces,       ///< the same, loops over nearfar::pieces
};

/// The thread that writes to the pages first.
enum class loop_initialisation {
  serial,     ///< one thread
  parallel,   ///< a parallel loop, divided like the one that is timed
  allocator,  ///< the container or its allocator, by its own team
};

/// Which way a grid is cut into the parts that threads work on.
enum class loop_decomposition {
  horizontal,  ///< blocks of rows
  vertical,    ///< blocks of columns
  by_row,      ///< the same, with a parallel region for each row, as published
};

/// A value and what users call it.
template <typename Value>
struct named {
  Value value;
  const char* name;
  const char* meaning;
};

inline constexpr std::array<named<vector_kernel>, 5> vector_kernels{{
    {vector_kernel::triad, "triad", "a = b + c * d"},
    {vector_kernel::copy, "copy", "a = b"},
    {vector_kernel::scale, "scale", "a = s * b"},
    {vector_kernel::add, "add", "a = b + c"},
    {vector_kernel::stream_triad, "stream-triad", "a = b + s * c"},
}};

inline constexpr std::array<named<loop_container>, 15> loop_containers{{
    {loop_container::array, "array",
     "double*, a plain loop with an OpenMP pragma: the reference of all others"},
    {loop_container::array_unaligned, "array.unaligned",
     "the same, 16 bytes behind the beginning of a page, as from new[]"},
    {loop_container::object_array, "object-array", "objects that hold a double, from new[] (numa_new)"},
    {loop_container::vector, "vector", "std::vector<double>"},
    {loop_container::vector_iterator, "vector.iterator",
     "the same, by iterators that are taken before the loop, where vector is indexed"},
    {loop_container::vector_numa, "vector-numa", "std::vector<double, numa_allocator<double, chunk>>"},
    {loop_container::numa_vector, "numa_vector", "numa_vector<double>, through nearfar::transform"},
    {loop_container::numa_expression, "numa_vector-expression", "the same, through its arithmetic"},
    {loop_container::segmented, "segmented", "segmented_array<double>, through nearfar::transform"},
    {loop_container::segmented_index, "segmented.index",
     "the same, element by element with operator[] of the array"},
    {loop_container::segmented_iterator, "segmented-iterator",
     "the same, element by element with its iterators"},
    {loop_container::padded, "padded", "segmented_array<double, padded_layout>, through nearfar::transform"},
    {loop_container::padded_index, "padded.index",
     "the same, element by element with operator[] of the array"},
    {loop_container::padded_iterator, "padded-iterator", "the same, element by element with its iterators"},
    {loop_container::padded_pieces, "padded-pieces", "the same, by loops over nearfar::pieces"},
}};

inline constexpr std::array<named<loop_initialisation>, 3> loop_initialisations{{
    {loop_initialisation::serial, "serial", "one thread"},
    {loop_initialisation::parallel, "parallel", "a parallel loop, divided like the timed one"},
    {loop_initialisation::allocator, "allocator", "the container or its allocator"},
}};

inline constexpr std::array<named<loop_decomposition>, 3> loop_decompositions{{
    {loop_decomposition::horizontal, "horizontal", "blocks of rows"},
    {loop_decomposition::vertical, "vertical", "blocks of columns"},
    {loop_decomposition::by_row, "vertical-by-row", "the same, with a parallel region for each row"},
}};

inline constexpr std::array<named<store_kind>, 3> store_kinds{{
    {store_kind::regular, "regular", "through the cache"},
    {store_kind::streaming, "streaming", "past the cache"},
    {store_kind::automatic, "automatic", "streaming above the size of the last-level cache"},
}};

template <typename Value, std::size_t Count>
[[nodiscard]] constexpr const char* name_of(const std::array<named<Value>, Count>& all, Value value) {
  for (const named<Value>& each : all)
    if (each.value == value) return each.name;
  return "";
}

/// Nothing if there is none of that name.
template <typename Value, std::size_t Count>
[[nodiscard]] constexpr std::optional<Value> value_of(const std::array<named<Value>, Count>& all,
                                                      std::string_view name) {
  for (const named<Value>& each : all)
    if (name == each.name) return each.value;
  return std::nullopt;
}

template <typename Value, std::size_t Count>
[[nodiscard]] std::vector<std::string> names_of(const std::array<named<Value>, Count>& all) {
  std::vector<std::string> names;
  for (const named<Value>& each : all) names.emplace_back(each.name);
  return names;
}

/// Whether the container asks for pages itself, and so chooses where they are.
[[nodiscard]] constexpr bool has_own_pages(loop_container of) noexcept {
  return of != loop_container::object_array && of != loop_container::vector &&
         of != loop_container::vector_iterator;
}

/// Settings of both kinds of cases.
struct loop_setting {
  loop_container container = loop_container::array;
  loop_initialisation initialisation = loop_initialisation::parallel;
  /// Of the containers that `has_own_pages` names.
  page_placement placement{};
  int threads = 1;
  pinning pin = pinning::parse("scatter");
};

/// A loop over vectors.
struct triad_case : loop_setting {
  vector_kernel kernel = vector_kernel::triad;
  std::size_t length = 0;
  /// Of the loop's static schedule, and of the allocator, for which it is one of `allocator_chunks`; 0 for
  /// one block a thread.
  std::size_t chunk = 0;
  std::size_t segments = 0;  ///< of a segmented array; 0 for as many as threads
  std::size_t padding = 0;   ///< bytes between segments of a padded array; 0 for pages of their own
  store_kind stores = store_kind::regular;

  [[nodiscard]] bool is_array() const noexcept {
    return container == loop_container::array || container == loop_container::array_unaligned;
  }
  [[nodiscard]] bool is_padded() const noexcept {
    return container == loop_container::padded || container == loop_container::padded_index ||
           container == loop_container::padded_iterator || container == loop_container::padded_pieces;
  }
  [[nodiscard]] bool is_segmented() const noexcept {
    return is_padded() || container == loop_container::segmented ||
           container == loop_container::segmented_index || container == loop_container::segmented_iterator;
  }
  /// Whether the loop is written by hand in one form, which stores as compilers do.
  [[nodiscard]] bool stores_as_compilers_do() const noexcept {
    return container == loop_container::object_array || container == loop_container::vector_iterator ||
           container == loop_container::numa_expression ||
           (is_segmented() && container != loop_container::segmented && container != loop_container::padded);
  }
  [[nodiscard]] std::size_t segments_used() const noexcept {
    return segments != 0 ? segments : static_cast<std::size_t>(threads);
  }
};

/// Sweeps over a grid: the mean of the four neighbours of each point into the other grid.
struct relax_case : loop_setting {
  std::size_t rows = 0;
  std::size_t columns = 0;
  loop_decomposition decomposition = loop_decomposition::horizontal;
  std::int64_t sweeps = 0;  ///< of a repetition; 0 for as many as last long enough
};

using loop_case = std::variant<triad_case, relax_case>;

/// Chunks known when containers are compiled.
inline constexpr std::array<std::size_t, 7> allocator_chunks{0, 8, 64, 512, 4096, 32768, 262144};

/// The initialisation that suits the container best.
[[nodiscard]] loop_initialisation best_initialisation(const loop_case& of);

/// Why there is no such case; empty if there is.
[[nodiscard]] std::string obstacle(const loop_case& to);

/// The place of each thread, as the case says. No thread is pinned if the environment describes another
/// machine (see `hardware`), on which threads cannot be bound.
[[nodiscard]] pinning pinning_used(const loop_setting& of);

/// Memory that a case needs; the largest number if it has no number.
[[nodiscard]] std::size_t bytes_of(const loop_case& of);
/// The same for one of its vectors.
[[nodiscard]] std::size_t bytes_of_vector(const triad_case& of);

/// The work of one pass of a loop over all elements, or of one sweep over the grid.
struct loop_work {
  double flops = 0;
  double bytes = 0;           ///< read and written by the program
  double bytes_with_rfo = 0;  ///< plus what the cache reads before the program overwrites it
  double points = 0;          ///< that a sweep updates
};

/// Work of one pass over the vectors.
[[nodiscard]] loop_work work_of(const triad_case& of);
/// Work of one sweep; of the bytes nothing is known, since it depends on the rows that a cache holds.
[[nodiscard]] loop_work work_of(const relax_case& of);

/// Whether the loop stores past the cache.
[[nodiscard]] bool stores_stream(const triad_case& of);

/// Pins a team by a rule and returns the place of each of its threads, after `expect_threads`
/// (bench/openmp_threads.hpp). Without OpenMP there is one thread.
std::vector<std::string> pin_all(int threads, const pinning& rule);

/// How long a case is run.
struct loop_times {
  std::chrono::nanoseconds shortest{};  ///< iterations double until they last that long
  std::int64_t first_guess = 1;         ///< of the number of iterations
  std::int64_t exactly = 0;             ///< iterations, however long they take; 0 for no such number
};

/// The rates of that much work, as fields of a record: `mflops`, `mbytes_per_s` and others. A rate is null
/// for an amount that the work lacks: a copy computes nothing.
[[nodiscard]] nlohmann::ordered_json rates_of(const loop_work& work, std::int64_t iterations,
                                              std::chrono::nanoseconds duration);

/// Runs one repetition on fresh memory, with threads pinned anew. The calling thread stays pinned. The sample
/// has the settings and rates as counts, null for one that does not apply. Throws `misuse` for a case that
/// has an obstacle, `std::bad_alloc`.
[[nodiscard]] sample run_triad(const triad_case& of, const loop_times& times);
[[nodiscard]] sample run_relax(const relax_case& of, const loop_times& times);

}  // namespace nearfar::bench
