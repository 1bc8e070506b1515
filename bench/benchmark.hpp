/// \file
/// What a benchmark states of itself, and the registry of all benchmarks that drive objects. The command
/// line, `list`, tables, records, sweeps, the report and the simulation come from the statement, so that a
/// benchmark is one header and one line in `benchmarks.cpp`; docs/adding-a-benchmark.md shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bench/axis.hpp"
#include "bench/object.hpp"
#include "bench/results.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

/// Where a column is seen, besides the records.
enum class standing : std::uint8_t {
  judged,   ///< in tables and pages; `nearfar compare` judges by it
  shown,    ///< in tables and pages
  recorded  ///< in pages' details
};

[[nodiscard]] const char* name_of(standing how) noexcept;

/// A measured quantity: a column of the table, and a field of `measured` in each record.
struct column {
  std::string name;           ///< of the field: "throughput"
  std::string head;           ///< of the column of the table: "Mio/s"
  std::string title;          ///< of an axis of a figure: "Throughput"
  std::string unit;           ///< "ns", "million/s", "%"; empty for a ratio
  std::string meaning;        ///< what follows the head in the table's legend
  int digits = 1;             ///< after the point
  bool has_interval = false;  ///< the table shows how sure its median is
  standing how = standing::judged;
  /// Nothing where the object cannot tell.
  std::function<std::optional<double>(const sample&)> of{};
};

// The columns that all benchmarks of acquisitions have.
inline const column time_per_acquisition{
    .name = "time",
    .head = "ns",
    .title = "Time",
    .unit = "ns",
    .meaning = "median time from one acquisition to the next over all ranks",
    .has_interval = true,
    .of = [](const sample& s) { return std::optional(s.ns_per_acquisition()); }};
/// Its median is not the inverse of the median time where that is a mean of two.
inline const column throughput{.name = "throughput",
                               .head = "Mio/s",
                               .title = "Throughput",
                               .unit = "million/s",
                               .meaning = "million acquisitions a second",
                               .digits = 3,
                               .of = [](const sample& s) {
                                 const double time = s.ns_per_acquisition();
                                 return std::optional(time > 0 ? 1000 / time : 0);
                               }};

/// A benchmark of which one repetition gives several samples says here what they are.
struct scenario_set {
  std::string meaning;             ///< the table's legend
  std::vector<std::string> names;  ///< all that there are
  std::string needs;               ///< what all of them take: "two nodes of two ranks"
  /// Those that can be played there.
  std::vector<std::string> (*playable)(const locality&) = nullptr;
};

/// What readers must know of figures where it happened.
struct remark {
  std::string name;     ///< of what the samples count: "refused"
  std::string meaning;  ///< of the count, in the table's notes: "inserts found no room"
};

/// Called, outside of what is timed, whenever all ranks have got on: a stalled run is told from a long one.
using heartbeat = std::function<void()>;

/// Runs one repetition in a world. Collective; the samples of rank 0 count. Names of the object and of
/// its parameters, and all else that the command knows, are filled in by the caller.
template <world W>
using runner = std::function<std::vector<sample>(W&, const object&, const point&, const heartbeat&)>;

/// One registered benchmark.
struct benchmark {
  std::string name;     ///< "ecsb"
  std::string title;    ///< "Empty critical section (ECSB)"
  std::string summary;  ///< a line of the help
  std::string source;   ///< paper, section
  const object_kind* kind = nullptr;
  std::vector<axis> axes;
  std::vector<column> columns;  ///< the one that objects are judged by first
  std::optional<scenario_set> scenarios{};
  std::vector<remark> remarks{};
  /// Seconds that a repetition takes by itself, if it goes on for a time and not until some work is done.
  double (*seconds)(const point&) = nullptr;
  /// Seconds for which ranks may wait because it has others pause: no stall, however soon one is to be told.
  /// None: 0.
  double (*pauses)(const point&) = nullptr;
  /// Objects that exist at once, for the memory that they take; none: 1.
  std::int64_t (*objects)(const point&) = nullptr;
  /// Why that object cannot be played there, at that point; empty: it can. None: all can be.
  std::string (*refuse)(const object&, const point&, const locality&) = nullptr;
  std::tuple<runner<mpi::world>, runner<threads::world>, runner<engine::world>> runners{};

  template <world W>
  [[nodiscard]] const runner<W>& runner_in() const {
    return std::get<runner<W>>(runners);
  }
  [[nodiscard]] std::size_t samples_per_repetition(const locality& where) const;
};

/// What a record of provenance says of a benchmark, for readers that know it not.
void to_json(nlohmann::ordered_json& to, const benchmark& from);

/// A benchmark that is a class: `B::statement()`, and `B::run<W>` as a `runner<W>`.
template <typename B>
[[nodiscard]] benchmark registered() {
  benchmark result = B::statement();
#ifdef NEARFAR_MPI_ONLY
  std::get<runner<mpi::world>>(result.runners) = B::template run<mpi::world>;
#else
  result.runners = {B::template run<mpi::world>, B::template run<threads::world>,
                    B::template run<engine::world>};
#endif
  return result;
}

/// All that this program has, in the order of the help.
[[nodiscard]] const std::vector<benchmark>& benchmarks();

/// Null if there is none of that name.
[[nodiscard]] const benchmark* find_benchmark(std::string_view name);

}  // namespace nearfar::bench
