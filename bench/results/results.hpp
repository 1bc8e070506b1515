/// \file
/// Results files: JSON Lines, with the provenance first and then one record for each repetition of each
/// configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/results/output_file.hpp"

namespace nearfar::bench {

/// Version of the format. A reader refuses any other.
inline constexpr const char* results_schema = "nearfar.results/1";

/// One repetition of one configuration.
struct sample {
  std::string benchmark;
  std::string kind = "lock";  ///< of the object
  std::string object;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();  ///< of the object
  nlohmann::ordered_json axes = nlohmann::ordered_json::object();        ///< of the benchmark: coordinates
  nlohmann::ordered_json effort = nlohmann::ordered_json::object();      ///< of the benchmark: efforts
  std::string world;
  std::string machine;
  int nodes = 1;
  int ranks = 1;
  int repetition = 0;
  std::chrono::nanoseconds duration{};  ///< of the measured part; the longest over ranks
  std::int64_t iterations = 0;          ///< over all ranks, in the measured part
  std::vector<std::int64_t> iterations_per_rank;
  /// Iterations in the first half of the measured time, if the benchmark runs for a time.
  std::optional<std::int64_t> in_first_half;
  /// Other counts of the benchmark, by name; null if the object cannot tell.
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  /// The benchmark's columns, by name.
  nlohmann::ordered_json measured = nlohmann::ordered_json::object();
  std::optional<std::string>
      scenario;           ///< which of the samples of one repetition this is, if there are several
  bool sound = true;      ///< of the object
  bool verified = false;  ///< the work that the benchmark measures was really done

  /// One of `counts`; nothing if it is unknown.
  [[nodiscard]] std::optional<double> count(const std::string& name) const;
  /// The same divided by the iterations, in percent.
  [[nodiscard]] std::optional<double> percent(const std::string& name) const;

  /// Time from one acquisition to the next over all ranks, the inverse of the total throughput.
  [[nodiscard]] double ns_per_acquisition() const {
    return iterations == 0 ? 0 : static_cast<double>(duration.count()) / static_cast<double>(iterations);
  }
  /// Throughput of the second half divided by that of the first; nothing if it is unknown.
  [[nodiscard]] std::optional<double> drift() const;
};

/// Whether the warm-up was long enough in these repetitions of one configuration. Queues form, and a lock
/// settles in its pattern of hand-overs, only after some turns of every rank, which a fixed warm-up may not
/// cover. The repetitions count as steady if the median of the `drift` is within `steady_drift` of 1, and
/// each rank had at least `steady_turns` iterations, and `steady_share` of the ranks' median; where ranks
/// have different tasks, their mean had `steady_turns`. True if the drift is unknown.
[[nodiscard]] bool is_steady(std::span<const sample* const> repetitions);
inline constexpr double steady_drift = 0.1;
inline constexpr std::int64_t steady_turns = 10;
inline constexpr double steady_share = 0.1;

void to_json(nlohmann::ordered_json& to, const sample& from);
/// Reads a record of this version. `counts` gets all fields of the record. Throws `nearfar::error` for other
/// versions.
[[nodiscard]] sample sample_of(const nlohmann::ordered_json& record);

/// A value that a record may lack, as JSON.
template <typename T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// A results file that appears under its name only when it is complete; "-" is standard output.
class results_file {
 public:
  /// Throws `nearfar::error` if the file cannot be written, or if the path holds anything but nearfar's
  /// results of this schema, in any version. Those it replaces only if `older` says so.
  explicit results_file(const std::filesystem::path& path, std::string_view schema = results_schema,
                        const older_output& older = {});

  /// Appends one record. Throws `std::system_error` if standard output takes no more.
  void write(const nlohmann::ordered_json& record);
  /// Moves the complete file to its place.
  void commit();
  /// As `output_file::keep`.
  std::string keep() { return file_ ? file_->keep() : "standard output"; }
  /// As `output_file::discard`.
  void discard() {
    if (file_) file_->discard();
  }
  /// As `output_file::leave`.
  std::string leave() { return file_ ? file_->leave() : "standard output"; }

 private:
  std::optional<output_file> file_;  // nothing: standard output
};

}  // namespace nearfar::bench
