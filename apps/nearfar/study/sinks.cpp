#include "apps/nearfar/study/sinks.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "bench/journal.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::command {

namespace {

/// Appears when it is complete.
class whole_file final : public record_sink {
 public:
  whole_file(const std::string& path, const nlohmann::ordered_json& header) : file_(path) {
    file_.write(header);
  }

  void write(const std::vector<nlohmann::ordered_json>& records) override {
    try {
      for (const auto& each : records) file_.write(each);
    } catch (const error& full) {
      throw error(fmt::format("{}; '{}' has the earlier measurements", full.what(), file_.leave()));
    }
  }
  void complete() override { file_.commit(); }
  std::string keep(const nlohmann::ordered_json& why) override {
    file_.write(why);
    return file_.keep();
  }

 private:
  bench::results_file file_;
};

/// Is appended to, also by later runs.
class growing_file final : public record_sink {
 public:
  growing_file(const std::string& path, const measurement& of)
      : path_(path), header_(provenance(of)), expected_(of.records_expected), file_(path, header_) {
    if (file_.was_torn())
      fmt::print(stderr, "nearfar: the last record of '{}' was cut off and is measured again\n", path_);
    read_samples();
    written_ = samples_.size();
    warn_of_differences();
  }

  [[nodiscard]] std::vector<bench::sample> found() const override { return samples_; }

  void drop_last(std::size_t count) override {
    // Records between and behind the samples say how earlier runs ended.
    std::size_t records = 0;
    std::size_t left = count;
    for (std::size_t i = file_.found().size(); left > 0 && i-- > 0; ++records)
      if (file_.found()[i].value("record", "") == "sample") --left;
    file_.drop_last(records);
    written_ -= count;
  }

  void write(const std::vector<nlohmann::ordered_json>& records) override {
    go_on();
    file_.append(records);
    written_ += records.size();
  }

  void complete() override {
    const bool says_so =
        !goes_on_ && !file_.found().empty() && file_.found().back().value("record", "") == "end";
    if (says_so) return;
    go_on();
    file_.append(std::array{
        nlohmann::ordered_json{{"schema", bench::results_schema}, {"record", "end"}, {"samples", written_}}});
  }

  std::string keep(const nlohmann::ordered_json& why) override {
    // If this run has added nothing, the file of an earlier run stays as it is.
    if (goes_on_ || file_.is_new()) file_.append(std::array{why});
    return path_;
  }

 private:
  void read_samples() {
    try {
      for (const auto& record : file_.found())
        if (record.value("record", "") == "sample") samples_.push_back(bench::sample_of(record));
    } catch (const error& other) {
      throw error(fmt::format("cannot go on from '{}': {}; choose another --output", path_, other.what()));
    }
  }

  /// The first sample of a later run follows a record that says where it comes from.
  void go_on() {
    if (goes_on_) return;
    goes_on_ = true;
    if (file_.is_new()) return;
    nlohmann::ordered_json record{{"schema", bench::results_schema}, {"record", "resumed"}};
    for (const char* field : {"commit", "host", "seed", "argv", "start_time"}) record[field] = header_[field];
    record["records_expected"] = expected_;
    file_.append(std::array{record});
  }

  void warn_of_differences() const {
    if (file_.is_new()) return;
    for (const char* field : {"commit", "host", "flags", "mpi_library"})
      if (const auto before = file_.header().value(field, nlohmann::ordered_json()); before != header_[field])
        fmt::print(stderr, "nearfar: '{}' was begun with another {}: {}, now {}\n", path_, field,
                   before.dump(), header_[field].dump());
  }

  std::string path_;
  nlohmann::ordered_json header_;
  std::size_t expected_;
  bench::journal file_;
  std::vector<bench::sample> samples_;
  std::size_t written_ = 0;
  bool goes_on_ = false;
};

}  // namespace

std::unique_ptr<record_sink> open_sink(const plan& what, const measurement& of) {
  if (what.mode == output_mode::growing) return std::make_unique<growing_file>(what.output, of);
  return std::make_unique<whole_file>(what.output, provenance(of));
}

}  // namespace nearfar::command
