#include "apps/nearfar/study/sinks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>

#include "apps/nearfar/shared/command.hpp"
#include "bench/results/journal.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::command {

namespace {

/// Appears when it is complete.
class whole_file final : public record_sink {
 public:
  whole_file(const std::string& path, const nlohmann::ordered_json& header, const bench::older_output& older)
      : file_(path, bench::results_schema, older) {
    file_.write(header);
  }

  void write(const std::vector<nlohmann::ordered_json>& records) override {
    try {
      for (const auto& each : records) file_.write(each);
    } catch (const error& full) {
      throw bench::lost_file(
          fmt::format("{}; '{}' has the earlier measurements", full.what(), file_.leave()));
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
  growing_file(const std::string& path, const measurement& of, bool anew)
      : path_(path), header_(provenance(of)), expected_(of.records_expected), file_(path, header_, anew) {
    refuse_other_benchmarks();
    if (file_.was_torn()) remark("the last record of '{}' was cut off and is measured again", path_);
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

  void expect_beside(std::size_t count) override { expected_ += count; }

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
  /// The header states the columns of each benchmark, which readers need.
  void refuse_other_benchmarks() const {
    const auto known = file_.header().find("statements");
    if (known == file_.header().end() || header_["benchmark"] == "sweep") return;
    for (const auto& [name, statement] : header_["statements"].items())
      if (!known->contains(name))
        throw error(fmt::format("cannot add to '{}': it holds no results of {}; choose another --output",
                                path_, name));
  }

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
        remark("'{}' was begun with another {}: {}, now {}", path_, field, before.dump(),
               header_[field].dump());
  }

  std::string path_;
  nlohmann::ordered_json header_;
  std::size_t expected_;
  bench::journal file_;
  std::vector<bench::sample> samples_;
  std::size_t written_ = 0;
  bool goes_on_ = false;
};

/// A run that SIGKILL ended could not put its file in its place. Of a name that another run still writes, the
/// caller has been refused before.
void tell_of_killed_runs(const std::string& output) {
  const std::filesystem::path path(output);
  const std::string begin = bench::output_file::partial_name(path.filename().string(), "");
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = each.path().filename().string();
    if (!name.starts_with(begin) || name.starts_with(begin + std::to_string(getpid()))) continue;
    remark("an earlier run was killed: what it measured is in '{}'; report or remove that file",
           path.has_parent_path() ? each.path().string() : name);
  }
}

}  // namespace

std::unique_ptr<record_sink> open_sink(const plan& what, const measurement& of) {
  if (what.mode == output_mode::growing)
    return std::make_unique<growing_file>(what.output, of, what.older.is_replaced);
  auto file = std::make_unique<whole_file>(what.output, provenance(of), what.older);
  tell_of_killed_runs(what.output);
  return file;
}

}  // namespace nearfar::command
