/// \file
/// The description of a benchmark, and the registry of all benchmarks that drive objects. The command line,
/// `list`, tables, records, sweeps, the report and the simulation use this description. So a benchmark is one
/// header and one line in `benchmarks.cpp`; docs/adding-a-benchmark.md shows how.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/axis.hpp"
#include "bench/compiled_worlds.hpp"
#include "bench/object.hpp"
#include "bench/results/results.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

/// Where a column appears, besides the records.
enum class standing : std::uint8_t {
  judged,   ///< in tables and pages; `nearfar compare` judges by it
  shown,    ///< in tables and pages
  recorded  ///< in the details of pages
};

[[nodiscard]] const char* name_of(standing how) noexcept;

/// The reference of a ratio of times: a sample of `object` in the same repetition and at the same place. Axes
/// that only one of the two has do not count. Among several, the reference is the one that agrees in most of
/// the settings `alike`, the first of which counts most.
struct relation {
  std::string object;
  std::vector<std::string> alike;
};

/// A measured quantity: a column of the table, and a field of `measured` in each record.
struct column {
  std::string name;           ///< of the field of records: "throughput"
  std::string head;           ///< of the table's column: "Mio/s"
  std::string title;          ///< of a figure's axis: "Throughput"
  std::string unit;           ///< "ns", "million/s", "%"; empty for a ratio
  std::string meaning;        ///< follows the head in the table's legend
  int digits = 1;             ///< after the point
  bool has_interval = false;  ///< the table shows an interval around its median
  standing how = standing::judged;
  /// Returns nothing if the object cannot tell. Null for a column that is `relative`.
  std::function<std::optional<double>(const sample&)> of{};
  /// The column is the sample's time divided by that of its reference.
  std::optional<relation> relative{};

  [[nodiscard]] std::optional<double> value_of(const sample& measured) const {
    return of ? of(measured) : std::nullopt;
  }
};

// The columns of all benchmarks of acquisitions.
inline const column time_per_acquisition{
    .name = "time",
    .head = "ns",
    .title = "Time",
    .unit = "ns",
    .meaning = "median time from one acquisition to the next over all ranks",
    .has_interval = true,
    .of = [](const sample& s) { return std::optional(s.ns_per_acquisition()); }};
/// Its median differs from the inverse of the median time if the latter is the mean of two values.
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

/// The samples of a benchmark in which one repetition gives several.
struct scenario_set {
  std::string meaning;             ///< the table's legend
  std::vector<std::string> names;  ///< of all scenarios
  std::string needs;               ///< of all scenarios together: "two nodes of two ranks"
  /// Scenarios that the ranks of a locality can play.
  std::vector<std::string> (*playable)(const locality&) = nullptr;
  // If names have two characters that stand for two choices, what these are: pages draw a group of bars for
  // the first choice, and a column for the second.
  std::string part{};                                        ///< the first choice: "last holder"
  std::string column{};                                      ///< the second
  std::vector<std::pair<std::string, std::string>> parts{};  ///< each character with its meaning
  std::vector<std::pair<std::string, std::string>> columns{};
};

/// An event that readers of the figures must know about if it happened.
struct remark {
  std::string name;     ///< of a count in the samples: "refused"
  std::string meaning;  ///< in the table's notes: "inserts found no room"
};

/// Called outside the timed part whenever all ranks have made progress. It distinguishes a stalled run from a
/// long one.
using heartbeat = std::function<void()>;

/// Runs one repetition in a world. Collective; rank 0's samples count. The caller fills in the names of the
/// object and its parameters, and everything else that the command knows.
template <world W>
using runner = std::function<std::vector<sample>(W&, const object&, const point&, const heartbeat&)>;

/// Runs one repetition in a team of threads, which the containers of the library make themselves. Iterations
/// double from `first_guess` on until the repetition lasts long enough.
using team_runner = std::function<sample(const object&, const point&, int threads, std::int64_t first_guess)>;

/// One registered benchmark.
struct benchmark {
  std::string name;     ///< "ecsb"
  std::string title;    ///< "Empty critical section (ECSB)"
  std::string summary;  ///< one line of the help
  std::string source;   ///< paper, section
  const object_kind* kind = nullptr;
  std::vector<axis> axes;
  /// Names of the objects that are measured by default. Empty: each family's recommended setting.
  std::vector<std::string> usual{};
  /// Names of its kind's parameters that it does not use.
  std::vector<std::string> without{};
  std::vector<column> columns;  ///< the first is the one that objects are compared by
  /// Names of the columns that share a picture. Empty: the picture shows the first column.
  std::vector<std::string> figure{};
  std::vector<std::string> notes{};  ///< sentences below the pictures
  /// Whether pages choose objects by this benchmark: by the time, and by the variation of the ranks'
  /// progress.
  bool chooses = false;
  std::optional<scenario_set> scenarios{};
  std::vector<remark> remarks{};
  /// Seconds that a repetition takes by itself, if it runs for a time instead of until some work is done.
  double (*seconds)(const point&) = nullptr;
  /// Seconds for which ranks may wait because the benchmark makes others pause. Such a wait is no stall,
  /// however soon stalls are to be reported. Null: 0.
  double (*pauses)(const point&) = nullptr;
  /// Number of objects that exist at once, for the memory that they take. Null: 1.
  std::int64_t (*objects)(const point&) = nullptr;
  /// Why the benchmark cannot run with that object, at that point and place; empty if it can. Null: it always
  /// can.
  std::string (*refuse)(const object&, const point&, const locality&) = nullptr;
  /// Gives values that stand for others their meaning with that object and number of ranks, and removes axes
  /// that mean nothing to the object, so that equal points are one. Null: nothing does.
  void (*settle)(const object&, int ranks, point& axes, point& parameters) = nullptr;
  /// Memory that a repetition needs. Null: not worth a check.
  std::size_t (*bytes)(const object&, const point&, int ranks) = nullptr;
  team_runner in_team{};
  std::tuple<runner<mpi::world>, runner<threads::world>, runner<engine::world>> runners{};

  template <world W>
  [[nodiscard]] const runner<W>& runner_in() const {
    return std::get<runner<W>>(runners);
  }
  [[nodiscard]] std::size_t samples_per_repetition(const locality& where) const;
  /// Whether it runs in teams of threads, and in no world of ranks.
  [[nodiscard]] bool is_of_teams() const noexcept { return static_cast<bool>(in_team); }
  /// The parameters of its kind that it uses.
  [[nodiscard]] std::vector<axis> parameters() const;
};

/// Writes a benchmark into the provenance record, for readers that do not know the benchmark.
void to_json(nlohmann::ordered_json& to, const benchmark& from);

/// Registers a benchmark that is a class with `B::statement()`, and `B::run<W>` as a `runner<W>`.
template <typename B>
[[nodiscard]] benchmark registered() {
  benchmark result = B::statement();
  const auto add = [&]<typename W>(runner<W>& to) {
    if constexpr (is_compiled<W>) to = B::template run<W>;
  };
  std::apply([&](auto&... each) { (add(each), ...); }, result.runners);
  return result;
}

/// All benchmarks of this program, in the order of the help.
[[nodiscard]] const std::vector<benchmark>& benchmarks();

/// Null if no benchmark has that name.
[[nodiscard]] const benchmark* find_benchmark(std::string_view name);

}  // namespace nearfar::bench
