#include "apps/nearfar/check/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/nearfar/check/schedule.hpp"
#include "apps/nearfar/shared/xml_text.hpp"

namespace nearfar::command {

namespace {

using checker::shown_step;

// Sizes in pixels.
constexpr double row_height = 24;
constexpr double margin = 24;
constexpr double letter_width = 6.7;  // of the 11 px monospaced text
constexpr double wide_lane = 132;
constexpr double narrow_lane = 44;
constexpr int most_wide_lanes = 8;
constexpr double label_overhang = 60;
constexpr double legend_width = 860;

constexpr std::string_view style = R"(
 text { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #222 }
 .title { font: bold 15px sans-serif }
 .note { font: 12px sans-serif; fill: #444 }
 .fault { font: bold 12px sans-serif; fill: #b00020 }
 .lane { stroke: #999; stroke-width: 1.5 }
 .node { fill: #f3f5f8 }
 .inside { fill: #f5c469; fill-opacity: .55 }
 .row { stroke: #e6e6e6 }
 .step { fill: #23527c; stroke: white; stroke-width: 1 }
 .delivery { fill: white; stroke: #23527c; stroke-width: 2 }
 .bad { fill: #d3122a; stroke: white; stroke-width: 1 }
 .badrow { fill: #fde4e7 }
 .rma { stroke: #23527c; stroke-width: 1.6; fill: none; marker-end: url(#head) }
 .signal { stroke: #2c7a3d; stroke-width: 1.6; fill: none; stroke-dasharray: 6 3; marker-end: url(#green) }
 .near { stroke: #888; stroke-width: 1.2; stroke-dasharray: 1.5 3 }
 .halo { fill: white; stroke: white; stroke-width: 3px; stroke-linejoin: round }
 .badlabel { fill: #b00020 }
)";

/// Draws one schedule.
class drawing {
 public:
  drawing(const check_case& of, const checker::replayed& shown)
      : of_(&of), shown_(&shown), lane_(of.ranks <= most_wide_lanes ? wide_lane : narrow_lane) {
    for (std::size_t i = 0; i < steps().size(); ++i) rows_.push_back(row_text(i));
    std::size_t longest = 40;
    for (const std::string& row : rows_) longest = std::max(longest, row.size());
    text_at_ = margin + lane_ * of.ranks + (has_labels() ? label_overhang : 8);
    width_ = text_at_ + letter_width * static_cast<double>(longest) + margin;
    width_ = std::max(width_, legend_width);
    explain();
    width_ = std::max(width_, margin * 2 + 7 * static_cast<double>(title_.size()));
    lanes_top_ = margin + 26 + 17 * static_cast<double>(explanation_.size()) + 40;
    lanes_bottom_ = y(static_cast<double>(steps().size()));
    height_ = lanes_bottom_ + 58;
  }

  [[nodiscard]] std::string draw() {
    begin();
    draw_nodes();
    draw_rows();
    draw_sections();
    draw_lanes();
    for (std::size_t i = 0; i < steps().size(); ++i) draw_label(i);
    for (std::size_t i = 0; i < steps().size(); ++i) draw_arrow(i);
    for (std::size_t i = 0; i < steps().size(); ++i) draw_step(i);
    draw_legend();
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] const std::vector<shown_step>& steps() const { return shown_->steps; }
  [[nodiscard]] double x(int rank) const { return margin + lane_ * (rank + 0.5); }
  [[nodiscard]] double y(double row) const { return lanes_top_ + row_height * (row + 0.5); }
  [[nodiscard]] double y(std::size_t step) const { return y(static_cast<double>(step)); }
  [[nodiscard]] bool is_bad(std::size_t step) const {
    return shown_->found.has_value() && step + 1 == steps().size();
  }
  /// The line that the step's dot is on: where it takes effect.
  [[nodiscard]] static int lane_of(const shown_step& step) {
    return step.taken.is_delivery() ? step.acts_on : step.taken.rank;
  }
  [[nodiscard]] bool has_labels() const { return lane_ == wide_lane; }

  [[nodiscard]] std::string row_text(std::size_t i) const {
    const shown_step& step = steps()[i];
    std::string text = fmt::format("{:>3}  rank {}  {}", i + 1, step.taken.rank, step.operation);
    if (!step.word.empty()) text += "  " + step.word;
    if (!step.detail.empty()) text += ": " + step.detail;
    return text;
  }

  /// Title and the lines under it, as wide as the picture.
  void explain() {
    title_ = fmt::format("{}: {}, mode {}, near cells {}", of_->object, shape_text(*of_),
                         name_in(mode_names, of_->mode), name_in(near_names, of_->near));
    if (!shown_->found) {
      explanation_.emplace_back("No fault under this schedule.");
      return;
    }
    const auto most = static_cast<std::size_t>((width_ - 2 * margin) / 6.8);
    for (const std::string& whole : {fmt::format("{}: {}", name(shown_->found->what), shown_->found->text),
                                     fmt::format("That is: {}.", meaning(shown_->found->what))}) {
      std::string rest = whole;
      const auto end_of_line = [&rest, most] {
        const std::size_t end = rest.find('\n');
        return end <= most || rest.size() <= most ? end : rest.rfind(' ', most);
      };
      for (std::size_t cut = end_of_line(); cut != std::string::npos && cut != 0; cut = end_of_line()) {
        explanation_.push_back(rest.substr(0, cut));
        rest.erase(0, cut + 1);
      }
      explanation_.push_back(rest);
    }
  }

  void begin() {
    out_ = fmt::format(
        "{5} xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n"
        "<style>{4}</style>\n",
        width_, height_, xml_escaped(title_), xml_escaped(fmt::format("{}", fmt::join(explanation_, " "))),
        style, diagram_mark);
    for (const auto& [id, colour] : {std::pair("head", "#23527c"), std::pair("green", "#2c7a3d")})
      out_ += fmt::format(
          "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
          "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"{}\"/></marker>\n",
          id, colour);
    out_ += fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"white\"/>\n", width_, height_);
    text("title", margin, margin + 12, title_);
    for (std::size_t i = 0; i < explanation_.size(); ++i)
      text(shown_->found ? "fault" : "note", margin, margin + 33 + 17 * static_cast<double>(i),
           explanation_[i]);
  }

  void text(std::string_view kind, double at_x, double at_y, std::string_view what,
            std::string_view anchor = "start") {
    out_ += fmt::format(
        "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" "
        "xml:space=\"preserve\">{}</text>\n",
        kind, at_x, at_y, anchor, xml_escaped(what));
  }
  void line(std::string_view kind, double from_x, double from_y, double to_x, double to_y) {
    out_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                        kind, from_x, from_y, to_x, to_y);
  }
  void rectangle(std::string_view kind, double at_x, double at_y, double wide, double high) {
    out_ += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                        kind, at_x, at_y, wide, high);
  }

  /// The ranks of a node on one ground.
  void draw_nodes() {
    const locality where = locality_of(*of_);
    for (int node = 0; node < where.groups(level::node); ++node) {
      const auto members = where.members(level::node, node);
      const double left = x(members.front()) - lane_ / 2 + 3;
      const double right = x(members.back()) + lane_ / 2 - 3;
      rectangle("node", left, lanes_top_ - 38, right - left, lanes_bottom_ - lanes_top_ + 42);
      text("note", (left + right) / 2, lanes_top_ - 24, fmt::format("node {}", node), "middle");
    }
  }

  void draw_rows() {
    for (std::size_t i = 0; i < steps().size(); ++i) {
      if (is_bad(i)) rectangle("badrow", margin, y(i) - row_height / 2, width_ - 2 * margin, row_height);
      line("row", margin, y(i), text_at_ - 6, y(i));
      text(is_bad(i) ? "badlabel" : "plain", text_at_, y(i) + 4, rows_[i]);
    }
  }

  void draw_sections() {
    std::vector<std::ptrdiff_t> entered(static_cast<std::size_t>(of_->ranks), -1);
    const auto shade = [&](int rank, double from, double to) {
      rectangle("inside", x(rank) - 9, y(from), 18, y(to) - y(from));
    };
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

  void draw_lanes() {
    for (int rank = 0; rank < of_->ranks; ++rank) {
      line("lane", x(rank), lanes_top_, x(rank), lanes_bottom_);
      text("plain", x(rank), lanes_top_ - 6,
           has_labels() ? fmt::format("rank {}", rank) : std::to_string(rank), "middle");
    }
  }

  /// From where something was issued to where it arrives, or to the memory that is used.
  void draw_arrow(std::size_t i) {
    const shown_step& step = steps()[i];
    const int from = step.taken.rank;
    if (step.operation.starts_with("signal to")) {
      draw_signal(i);
    } else if (step.taken.is_delivery()) {
      const double issued = y(static_cast<double>(step.issued_after) + 0.5);
      if (from == step.acts_on)  // to its own memory: a bow beside the line
        out_ += fmt::format(
            "<path class=\"rma\" d=\"M{0:.1f} {1:.1f} C{2:.1f} {1:.1f} {2:.1f} {3:.1f} {4:.1f} "
            "{3:.1f}\"/>\n",
            x(from), issued, x(from) - lane_ * 0.3, y(i), x(from) - 5);
      else
        line("rma", x(from), issued, x(step.acts_on) + (step.acts_on > from ? -5 : 5), y(i));
    } else if (step.acts_on != from && !step.word.empty()) {
      line(is_rma_text(step.operation) ? "rma" : "near", x(from), y(i), x(step.acts_on), y(i));
    }
  }

  /// To the step that takes it up: the first that can and has no other, which the substrate also takes.
  void draw_signal(std::size_t i) {
    const shown_step& step = steps()[i];
    const int to = step.acts_on;
    const std::string from_it = fmt::format("await signal of rank {}", step.taken.rank);
    double arrives = y(static_cast<double>(steps().size()) - 0.3);
    double shortfall = 0;
    for (std::size_t j = i + 1; j < steps().size(); ++j) {
      if (steps()[j].taken.rank != to || std::find(taken_up_.begin(), taken_up_.end(), j) != taken_up_.end())
        continue;
      if (steps()[j].operation != from_it && steps()[j].operation != "await signal") continue;
      taken_up_.push_back(j);
      arrives = y(j);
      shortfall = 5;
      break;
    }
    line("signal", x(step.taken.rank), y(i), x(to) + (to > step.taken.rank ? -shortfall : shortfall),
         arrives);
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

  void draw_step(std::size_t i) {
    const shown_step& step = steps()[i];
    const int lane = lane_of(step);
    const std::string_view kind = is_bad(i) ? "bad" : step.taken.is_delivery() ? "delivery" : "step";
    out_ += fmt::format(
        "<circle class=\"{}\" id=\"step{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
        "r=\"{}\"><title>{}</title></circle>\n",
        kind, i + 1, x(lane), y(i), is_bad(i) ? 6 : 5, xml_escaped(rows_[i]));
  }

  /// Twice, since not every viewer knows `paint-order`.
  void draw_label(std::size_t i) {
    if (!has_labels()) return;
    const shown_step& step = steps()[i];
    for (const std::string_view kind :
         {std::string_view("halo"), std::string_view(is_bad(i) ? "badlabel" : "plain")})
      text(kind, x(lane_of(step)) + 9, y(i) - 3, label_of(step));
  }

  /// The operation alone; the whole is beside the diagram.
  [[nodiscard]] static std::string label_of(const shown_step& step) {
    std::string text = step.operation;
    if (text.starts_with("deliver ")) text.erase(0, 8);
    for (const std::string_view tail : {" to rank", " of rank", "(replace)", "(sum)"})
      if (const std::size_t at = text.find(tail); at != std::string::npos) text.erase(at);
    return text;
  }

  void draw_legend() {
    const double at = lanes_bottom_ + 26;
    double left = margin;
    const auto entry = [&](std::string_view words) {
      text("note", left + 34, at + 4, words);
      left += 34 + 7 * static_cast<double>(words.size()) + 12;
    };
    out_ += fmt::format("<circle class=\"step\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>\n", left + 20, at);
    entry("step of a rank");
    out_ += fmt::format("<circle class=\"delivery\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>\n", left + 20, at);
    entry("delivery of RMA");
    line("rma", left + 4, at, left + 30, at);
    entry("RMA, from its issue");
    line("signal", left + 4, at, left + 30, at);
    entry("signal");
    line("near", left + 4, at, left + 30, at);
    entry("another's near memory");
    rectangle("inside", left + 12, at - 8, 14, 16);
    entry("inside");
  }

  const check_case* of_;
  const checker::replayed* shown_;
  double lane_ = 0;
  double text_at_ = 0;
  double width_ = 0;
  double height_ = 0;
  double lanes_top_ = 0;
  double lanes_bottom_ = 0;
  std::string title_;
  std::vector<std::string> explanation_;
  std::vector<std::string> rows_;
  std::vector<std::size_t> taken_up_;
  std::string out_;
};

}  // namespace

std::string diagram(const check_case& of, const checker::replayed& shown) {
  return drawing(of, shown).draw();
}

}  // namespace nearfar::command
