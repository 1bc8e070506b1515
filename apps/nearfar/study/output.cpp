#include "apps/nearfar/study/output.hpp"

#include <algorithm>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/study/sinks.hpp"

namespace nearfar::command {

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
  // The caller ends the process: until it has, nobody may add a sample behind the last record.
  [[maybe_unused]] const std::mutex* const for_ever = hold.release();
  bar_.reset();
  std::string known;
  try {
    with_sink([&](record_sink& to) {
      nlohmann::ordered_json record{{"schema", bench::results_schema}};
      record.update(why);
      known = "the completed repetitions are in '" + to.keep(record) + "'";
    });
  } catch (const std::exception& failed) {
    known = failed.what();
  }
  print_tables(results_, layout_);
  return known;
}

void study_output::print() {
  const std::scoped_lock hold(busy_);
  bar_.reset();
  open_ = false;
  print_tables(results_, layout_);
}

bool study_output::all_verified() const {
  return std::all_of(results_.begin(), results_.end(), [](const auto& each) { return each.sample.verified; });
}

}  // namespace nearfar::command
