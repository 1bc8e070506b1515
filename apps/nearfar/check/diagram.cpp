#include "apps/nearfar/check/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/nearfar/check/schedule.hpp"

namespace nearfar::command {

namespace {

using checker::shown_step;

/// Turns one schedule into what is drawn.
class translation {
 public:
  translation(const check_case& of, const checker::replayed& shown) : of_(&of), shown_(&shown) {}

  [[nodiscard]] space_time whole() {
    explain();
    const locality where = locality_of(*of_);
    for (int node = 0; node < where.groups(level::node); ++node) {
      const auto members = where.members(level::node, node);
      to_.nodes.emplace_back(members.begin(), members.end());
    }
    for (std::size_t i = 0; i < steps().size(); ++i) {
      to_.steps.push_back(
          {.lane = lane_of(steps()[i]),
           .as = steps()[i].taken.is_delivery() ? space_time::mark::delivery : space_time::mark::step,
           .label = label_of(steps()[i]),
           .row = row_text(i),
           .is_bad = shown_->found.has_value() && i + 1 == steps().size()});
      add_arrow(i);
    }
    add_sections();
    using enum space_time::sample::of;
    to_.legend = {{step, "step of a rank"}, {delivery, "delivery of RMA"},   {rma, "RMA, from its issue"},
                  {signal, "signal"},       {near, "another's near memory"}, {inside, "inside"}};
    return std::move(to_);
  }

 private:
  [[nodiscard]] const std::vector<shown_step>& steps() const { return shown_->steps; }
  /// Where the step takes effect.
  [[nodiscard]] static int lane_of(const shown_step& step) {
    return step.taken.is_delivery() ? step.acts_on : step.taken.rank;
  }

  [[nodiscard]] std::string row_text(std::size_t i) const {
    const shown_step& step = steps()[i];
    std::string text = fmt::format("{:>3}  rank {}  {}", i + 1, step.taken.rank, step.operation);
    if (!step.word.empty()) text += "  " + step.word;
    if (!step.detail.empty()) text += ": " + step.detail;
    return text;
  }

  void explain() {
    to_.title = fmt::format("{}: {}, mode {}, near cells {}", of_->object, shape_text(*of_),
                            name_in(mode_names, of_->mode), name_in(near_names, of_->near));
    to_.has_fault = shown_->found.has_value();
    if (!shown_->found) {
      to_.notes.emplace_back("No fault under this schedule.");
      return;
    }
    to_.notes = {fmt::format("{}: {}", name(shown_->found->what), shown_->found->text),
                 fmt::format("That is: {}.", meaning(shown_->found->what))};
  }

  void add_sections() {
    std::vector<std::ptrdiff_t> entered(static_cast<std::size_t>(of_->ranks), -1);
    const auto shade = [&](int rank, double from, double to) { to_.sections.push_back({rank, from, to}); };
    for (std::size_t i = 0; i < steps().size(); ++i) {
      const int rank = steps()[i].taken.rank;
      auto& since = entered[static_cast<std::size_t>(rank)];
      if (steps()[i].operation == "ENTER") since = static_cast<std::ptrdiff_t>(i);
      if (steps()[i].operation != "LEAVE" || since < 0) continue;
      shade(rank, static_cast<double>(since), static_cast<double>(i));
      since = -1;
    }
    for (int rank = 0; rank < of_->ranks; ++rank)
      if (const auto since = entered[static_cast<std::size_t>(rank)]; since >= 0)
        shade(rank, static_cast<double>(since), static_cast<double>(steps().size()) - 0.2);
  }

  /// From where something was issued to where it arrives, or to the memory that is used.
  void add_arrow(std::size_t i) {
    const shown_step& step = steps()[i];
    const int from = step.taken.rank;
    const auto row = static_cast<double>(i);
    if (step.operation.starts_with("signal to")) {
      add_signal(i);
    } else if (step.taken.is_delivery()) {
      to_.arrows.push_back({.as = space_time::line::rma,
                            .from = from,
                            .from_row = static_cast<double>(step.issued_after) + 0.5,
                            .to = step.acts_on,
                            .to_row = row,
                            .ends_at_mark = true});
    } else if (step.acts_on != from && !step.word.empty()) {
      to_.arrows.push_back(
          {.as = is_rma_text(step.operation) ? space_time::line::rma : space_time::line::near,
           .from = from,
           .from_row = row,
           .to = step.acts_on,
           .to_row = row});
    }
  }

  /// To the step that takes it up: the first that can and has no other, which the substrate also takes.
  void add_signal(std::size_t i) {
    const shown_step& step = steps()[i];
    const int to = step.acts_on;
    const std::string from_it = fmt::format("await signal of rank {}", step.taken.rank);
    space_time::arrow sent{.as = space_time::line::signal,
                           .from = step.taken.rank,
                           .from_row = static_cast<double>(i),
                           .to = to,
                           .to_row = static_cast<double>(steps().size()) - 0.3};
    for (std::size_t j = i + 1; j < steps().size(); ++j) {
      if (steps()[j].taken.rank != to || std::find(taken_up_.begin(), taken_up_.end(), j) != taken_up_.end())
        continue;
      if (steps()[j].operation != from_it && steps()[j].operation != "await signal") continue;
      taken_up_.push_back(j);
      sent.to_row = static_cast<double>(j);
      sent.ends_at_mark = true;
      break;
    }
    to_.arrows.push_back(sent);
  }

  /// Whether the operation goes through MPI rather than through the node's memory.
  [[nodiscard]] static bool is_rma_text(std::string_view operation) {
    if (operation.starts_with("await ")) operation.remove_prefix(6);
    for (const engine::action what :
         {engine::action::put, engine::action::get, engine::action::fetch, engine::action::swap,
          engine::action::fetch_add, engine::action::compare_and_swap, engine::action::replace,
          engine::action::sum})
      if (operation == engine::name(what)) return true;
    return false;
  }

  /// The operation alone; the whole is beside the diagram.
  [[nodiscard]] static std::string label_of(const shown_step& step) {
    std::string text = step.operation;
    if (text.starts_with("deliver ")) text.erase(0, 8);
    for (const std::string_view tail : {" to rank", " of rank", "(replace)", "(sum)"})
      if (const std::size_t at = text.find(tail); at != std::string::npos) text.erase(at);
    return text;
  }

  const check_case* of_;
  const checker::replayed* shown_;
  space_time to_;
  std::vector<std::size_t> taken_up_;
};

}  // namespace

std::string diagram(const check_case& of, const checker::replayed& shown) {
  return svg(translation(of, shown).whole());
}

}  // namespace nearfar::command
