#include "apps/nearfar/study/output.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/study/sinks.hpp"

namespace nearfar::command {

namespace {

/// At once, so that whoever reads a pipe sees it.
void print_text(std::FILE* to, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() || std::fflush(to) != 0)
    throw std::system_error(errno, std::generic_category(), "the table");
}

}  // namespace

template <typename Action>
void study_output::with_sink(Action action) {
  if (!sink_) return;
  try {
    action(*sink_);
  } catch (...) {
    sink_.reset();
    throw;
  }
}

void study_output::open(const measurement& of, table_layout layout, std::size_t repetitions) {
  const std::scoped_lock hold(busy_);
  open_ = true;
  layout_ = std::move(layout);
  bar_.emplace(repetitions);
  if (plan_->output.empty()) return;
  sink_ = open_sink(*plan_, of);
  found_ = sink_->found();
}

void study_output::adopt(std::size_t index, bench::sample sample) {
  const std::scoped_lock hold(busy_);
  results_.push_back({index, std::move(sample)});
}

void study_output::expect_beside(std::size_t count) {
  const std::scoped_lock hold(busy_);
  with_sink([&](record_sink& to) { to.expect_beside(count); });
}

void study_output::print_as_measured(const std::vector<result>& all, std::size_t repetitions) {
  const std::scoped_lock hold(busy_);
  tables_.emplace(all, layout_, repetitions);
}

void study_output::drop_last(std::size_t count) {
  const std::scoped_lock hold(busy_);
  with_sink([&](record_sink& to) { to.drop_last(count); });
}

void study_output::step(const std::string& text) {
  const std::scoped_lock hold(busy_);
  if (bar_) bar_->step(text);
}

void study_output::skip(std::size_t count) {
  const std::scoped_lock hold(busy_);
  if (bar_) bar_->skip(count);
}

void study_output::record(std::size_t index, std::vector<bench::sample> samples) {
  const std::scoped_lock hold(busy_);
  std::vector<nlohmann::ordered_json> records;
  for (const bench::sample& each : samples) records.emplace_back(each);
  for (bench::sample& each : samples) results_.push_back({index, std::move(each)});
  with_sink([&](record_sink& to) { to.write(records); });
  print_ready_lines();
}

/// A study whose records are kept goes on where its table is lost.
void study_output::print_ready_lines() {
  if (!tables_ || lost_) return;
  const std::string lines = tables_->ready_lines(results_);
  if (lines.empty()) return;
  if (bar_) bar_->clear();
  try {
    print_text(table_stream(), lines);
  } catch (const std::system_error&) {
    if (!sink_) throw;
    lost_ = std::current_exception();
  }
}

void study_output::print_rest() {
  if (lost_) std::rethrow_exception(lost_);
  auto tables = std::exchange(tables_, std::nullopt);
  print_text(table_stream(), tables ? tables->rest(results_) : tables_text(results_, layout_));
}

void study_output::close() {
  const std::scoped_lock hold(busy_);
  open_ = false;
  bar_.reset();
  with_sink([](record_sink& to) { to.complete(); });
}

std::string study_output::stop(nlohmann::ordered_json why) {
  std::unique_lock hold(busy_);
  if (!std::exchange(open_, false)) return {};
  // Nothing is worth to be kept, and a file would be in the way of the next run.
  if (results_.empty() && plan_->mode == output_mode::whole && why.value("record", "") == "interrupted")
    sink_.reset();
  // The caller ends the process: until it has, nobody may add a sample behind the last record.
  [[maybe_unused]] const std::mutex* const for_ever = hold.release();
  bar_.reset();
  std::string known;
  try {
    with_sink([&](record_sink& to) {
      nlohmann::ordered_json record{{"schema", bench::results_schema}};
      record.update(why);
      const std::string kept = to.keep(record);
      if (!plan_->prints_records()) known = "the completed repetitions are in '" + kept + "'";
    });
  } catch (const std::exception& failed) {
    known = failed.what();
  }
  try {
    print_rest();
  } catch (const std::system_error&) {
    // The stream's state tells the end of the command, which reports it.
  }
  return known;
}

void study_output::print() {
  const std::scoped_lock hold(busy_);
  bar_.reset();
  open_ = false;
  print_rest();
}

bool study_output::all_verified() const {
  return std::all_of(results_.begin(), results_.end(), [](const auto& each) { return each.sample.verified; });
}

}  // namespace nearfar::command
