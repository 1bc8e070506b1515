/// \file
/// Where the records of a study go.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "bench/results/results.hpp"

namespace nearfar::command {

/// A results file. All members throw `nearfar::error` if it cannot be written.
class record_sink {
 public:
  record_sink() = default;
  record_sink(const record_sink&) = delete;
  record_sink& operator=(const record_sink&) = delete;
  virtual ~record_sink() = default;

  /// Samples that an earlier run left.
  [[nodiscard]] virtual std::vector<bench::sample> found() const { return {}; }
  /// Removes the last of those.
  virtual void drop_last(std::size_t /*count*/) {}
  /// `count` of those belong to no repetition of this run.
  virtual void expect_beside(std::size_t /*count*/) {}
  /// All of one repetition.
  virtual void write(const std::vector<nlohmann::ordered_json>& records) = 0;
  /// All is there.
  virtual void complete() = 0;
  /// Keeps the records so far, with a last record that says why some are missing. Returns the file's name.
  virtual std::string keep(const nlohmann::ordered_json& why) = 0;
};

/// Opens the file that the plan names.
[[nodiscard]] std::unique_ptr<record_sink> open_sink(const plan& what, const measurement& of);

}  // namespace nearfar::command
