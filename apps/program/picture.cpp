#include "picture.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../src/program/report.hpp"
#include "apps/nearfar/shared/space_time.hpp"

namespace nearfar::program {

namespace {

using command::space_time;

/// Turns of a waiting loop that are drawn; the others are one row.
constexpr std::size_t drawn_turns = 2;
constexpr std::size_t most_steps_of_turn = 64;

/// The innermost line of the program, or an empty text.
[[nodiscard]] std::string line_of(execution& in, const site& where) {
  const std::vector<std::string> lines = lines_of(in, where);
  return lines.empty() ? std::string() : lines.front();
}

/// The function of MPI, or the kind of the access or the operation.
[[nodiscard]] std::string label_of(const event& step) {
  std::string text = step.shown.text;
  if (step.by.flight == 0 && step.shown.where.call != nullptr) return step.shown.where.call;
  for (const char* const begin : {"delivery of ", "arrival of the "})
    if (text.starts_with(begin)) text.erase(0, std::char_traits<char>::length(begin));
  for (const char* const end : {" of window memory", " to rank", " with tag", " in a loop"})
    if (const std::size_t at = text.find(end); at != std::string::npos) text.erase(at);
  return text;
}

class translation {
 public:
  translation(execution& from, const result& found) : from_(&from), found_(&found) {
    for (std::size_t i = 0; i < from.size(); ++i) texts_.push_back(text_of_step(i));
  }

  [[nodiscard]] space_time whole() {
    add_title();
    add_notes();
    rows_.resize(texts_.size());
    for (std::size_t i = 0; i < texts_.size();) i = add_steps(i);
    for (const shown_event& one : from_->undelivered()) add_undelivered(one);
    if (found_->found)
      for (const involved& one : found_->found->places) add_place(one);
    using enum space_time::sample::of;
    to_.legend = {{step, "step of a rank"},
                  {delivery, "delivery of an operation or a message"},
                  {rma, "RMA, from its issue"},
                  {signal, "message, from its send"},
                  {near, "not delivered"}};
    return std::move(to_);
  }

 private:
  void add_title() {
    const settings& how = from_->how();
    to_.title = how.program;
    for (const std::string& argument : how.arguments) to_.title += " " + argument;
    to_.title += ": " + std::to_string(how.ranks) + (how.ranks == 1 ? " rank" : " ranks") +
                 ", standard sends " +
                 (found_->under.sends_wait ? "wait for their receives" : "are buffered");
    const int on_a_node = how.ranks_per_node > 0 ? how.ranks_per_node : how.ranks;
    for (int rank = 0; rank < how.ranks; ++rank) {
      if (rank % on_a_node == 0) to_.nodes.emplace_back();
      to_.nodes.back().push_back(rank);
    }
  }

  void add_notes() {
    to_.has_fault = found_->found.has_value();
    if (!to_.has_fault) {
      to_.notes.emplace_back("No fault under this schedule.");
      return;
    }
    std::string text = text_of(*from_, *found_->found);
    text.pop_back();  // the end of its last line
    to_.notes.push_back(std::move(text));
  }

  [[nodiscard]] std::string text_of_step(std::size_t i) const {
    const event& step = from_->at(i);
    std::string text = "rank " + std::to_string(step.by.rank) + "  " + program::text_of(step.shown);
    if (const std::string line = line_of(*from_, step.shown.where); !line.empty()) text += "  " + line;
    return text;
  }

  /// The turns, each of `steps` steps, that begin at step `i` and are alike.
  [[nodiscard]] std::size_t turns_at(std::size_t i, std::size_t steps) const {
    std::size_t turns = 1;
    const auto first = texts_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto length = static_cast<std::ptrdiff_t>(steps);
    for (auto next = first + length; texts_.end() - next >= length && std::equal(first, first + length, next);
         next += length)
      ++turns;
    return turns;
  }

  /// Adds the step, or the turns of a waiting loop that it begins. Returns the step behind them.
  std::size_t add_steps(std::size_t i) {
    for (std::size_t steps = 1; steps <= most_steps_of_turn && i + steps < texts_.size(); ++steps) {
      const std::size_t turns = turns_at(i, steps);
      if (turns <= drawn_turns + 1) continue;
      for (std::size_t k = 0; k < drawn_turns * steps; ++k) add_step(i + k);
      const std::size_t end = i + turns * steps;
      for (std::size_t k = i + drawn_turns * steps; k < end; ++k) rows_[k] = to_.steps.size();
      to_.steps.push_back({.lane = from_->at(i).by.rank,
                           .label = "...",
                           .row = "     and so on, " + std::to_string(turns - drawn_turns) + " more turns"});
      return end;
    }
    add_step(i);
    return i + 1;
  }

  void add_step(std::size_t i) {
    const event& step = from_->at(i);
    const bool is_flight = step.by.flight != 0;
    const int lane = step.shown.to.rank >= 0 ? step.shown.to.rank : step.by.rank;
    rows_[i] = to_.steps.size();
    if (is_flight) {
      to_.arrows.push_back({.as = step.shown.to.is_message ? space_time::line::signal : space_time::line::rma,
                            .from = step.by.rank,
                            .from_row = row_behind(step.shown.issued_after),
                            .to = lane,
                            .to_row = static_cast<double>(rows_[i]),
                            .ends_at_mark = true});
    }
    std::string number = std::to_string(i + 1);
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, ' ');
    to_.steps.push_back({.lane = lane,
                         .as = is_flight ? space_time::mark::delivery : space_time::mark::step,
                         .label = label_of(step),
                         .row = number + "  " + texts_[i]});
  }

  /// An operation that is in flight at the end.
  void add_undelivered(const shown_event& one) {
    const int by = one.by;
    std::string row = "     rank " + std::to_string(by) + "  not done: " + one.text;
    if (const std::string line = line_of(*from_, one.where); !line.empty()) row += "  " + line;
    to_.arrows.push_back({.as = space_time::line::near,
                          .from = by,
                          .from_row = row_behind(one.issued_after),
                          .to = one.to.rank,
                          .to_row = static_cast<double>(to_.steps.size()),
                          .ends_at_mark = true});
    to_.steps.push_back(
        {.lane = one.to.rank, .as = space_time::mark::delivery, .label = "not done", .row = std::move(row)});
  }

  [[nodiscard]] double row_behind(int event) const {
    return event < 0 ? 0 : static_cast<double>(rows_[static_cast<std::size_t>(event)]) + 0.5;
  }

  /// Where a rank is that takes part in the fault.
  void add_place(const involved& one) {
    std::string row =
        "     rank " + std::to_string(one.rank) + "  " + (one.what.empty() ? "is here" : one.what);
    if (const std::string line = line_of(*from_, one.where); !line.empty()) row += "  " + line;
    to_.steps.push_back({.lane = one.rank, .label = "fault", .row = std::move(row), .is_bad = true});
  }

  execution* from_;
  const result* found_;
  std::vector<std::string> texts_;  ///< of each step
  std::vector<std::size_t> rows_;   ///< of each step, in the picture
  space_time to_;
};

}  // namespace

std::string picture_of(execution& what, const result& found) {
  return command::svg(translation(what, found).whole());
}

}  // namespace nearfar::program
