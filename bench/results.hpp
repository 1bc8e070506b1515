/// \file
/// Results files: JSON Lines, provenance first, then one record for each repetition of each configuration.
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

#include "bench/output_file.hpp"

namespace nearfar::bench {

/// Version of the format; a reader refuses any other.
inline constexpr const char* results_schema = "nearfar.results/1";

/// One repetition of one configuration.
struct sample {
  std::string benchmark;
  std::string lock;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  std::string world;
  std::string machine;
  int nodes = 1;
  int ranks = 1;
  int repetition = 0;
  std::chrono::nanoseconds duration{};  ///< of the measured part, the longest over ranks
  std::int64_t iterations = 0;          ///< over all ranks, in the measured part
  std::vector<std::int64_t> iterations_per_rank;
  /// Of the iterations, those of the first half of the measured time; none in the UPB.
  std::optional<std::int64_t> in_first_half;
  std::optional<std::int64_t> contended;        ///< acquisitions that waited; none if the lock cannot tell
  std::optional<std::int64_t> local_handovers;  ///< acquisitions handed over by a rank of the same node
  /// Share of the warm-up's acquisitions that followed another rank's.
  std::optional<double> followed_other_share;
  std::optional<std::string> scenario;  ///< of the UPB
  bool sound = true;                    ///< `lock_entry::is_sound()`
  bool verified = false;                ///< the counters that the lock guarded came out right

  /// Time from one acquisition to the next over all ranks: the inverse of the total throughput.
  [[nodiscard]] double ns_per_acquisition() const {
    return iterations == 0 ? 0 : static_cast<double>(duration.count()) / static_cast<double>(iterations);
  }
  /// Throughput of the second half over that of the first; none if it is not known.
  [[nodiscard]] std::optional<double> drift() const;
};

/// Whether repetitions of one configuration were measured when the warm-up was over. Queues form, and a lock
/// settles in its pattern of hand-overs, only after some turns of every rank, which a fixed warm-up may not
/// cover. So: the median of the `drift` is within `steady_drift` of 1, and there were at least
/// `steady_turns` iterations for each rank. True if the drift is not known.
[[nodiscard]] bool is_steady(std::span<const sample* const> repetitions);
inline constexpr double steady_drift = 0.1;
inline constexpr std::int64_t steady_turns = 10;

void to_json(nlohmann::ordered_json& to, const sample& from);

/// A value that a record may lack.
template <typename T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// A results file that appears under its name only when it is complete.
class results_file {
 public:
  /// Throws `nearfar::error` if the file cannot be written, or if something other than nearfar's results of
  /// this schema, in any version, is there.
  explicit results_file(std::filesystem::path path, std::string_view schema = results_schema);

  /// Appends one record.
  void write(const nlohmann::ordered_json& record);
  /// Puts the file in its place.
  void commit();

 private:
  output_file file_;
};

}  // namespace nearfar::bench
