#include "apps/nearfar/shared/space_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "apps/nearfar/shared/xml_text.hpp"

namespace nearfar::command {

namespace {

// Sizes in pixels.
constexpr double row_height = 24;
constexpr double margin = 24;
constexpr double letter_width = 6.7;  // of the 11 px monospaced text
constexpr double wide_lane = 132;
constexpr double narrow_lane = 44;
constexpr int most_wide_lanes = 8;
constexpr double label_overhang = 60;
constexpr double least_width = 860;  // of the legend
constexpr double mark_radius = 5;

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

[[nodiscard]] std::string_view class_of(space_time::line as) {
  switch (as) {
    case space_time::line::rma:
      return "rma";
    case space_time::line::signal:
      return "signal";
    case space_time::line::near:
      break;
  }
  return "near";
}

class drawing {
 public:
  explicit drawing(const space_time& what)
      : what_(&what),
        ranks_(ranks_of(what)),
        lane_(ranks_ <= most_wide_lanes ? wide_lane : narrow_lane),
        text_at_(margin + lane_ * ranks_ + (has_labels() ? label_overhang : 8)),
        width_(std::max(text_at_ + letter_width * longest_row(what) + margin, least_width)),
        notes_(broken_notes()),
        lanes_top_(margin + 26 + 17 * static_cast<double>(notes_.size()) + 40),
        lanes_bottom_(y(static_cast<double>(what.steps.size()))),
        height_(lanes_bottom_ + 58) {
    width_ = std::max(width_, margin * 2 + 7 * static_cast<double>(what.title.size()));
  }

  [[nodiscard]] std::string draw() {
    begin();
    draw_nodes();
    draw_rows();
    for (const space_time::section& one : what_->sections)
      rectangle("inside", x(one.lane) - 9, y(one.from), 18, y(one.to) - y(one.from));
    draw_lanes();
    for (std::size_t i = 0; i < what_->steps.size(); ++i) draw_label(i);
    for (const space_time::arrow& one : what_->arrows) draw_arrow(one);
    for (std::size_t i = 0; i < what_->steps.size(); ++i) draw_mark(i);
    draw_legend();
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double x(int lane) const { return margin + lane_ * (lane + 0.5); }
  [[nodiscard]] double y(double row) const { return lanes_top_ + row_height * (row + 0.5); }
  [[nodiscard]] double y(std::size_t step) const { return y(static_cast<double>(step)); }
  [[nodiscard]] bool is_bad(std::size_t step) const { return what_->steps[step].is_bad; }
  [[nodiscard]] bool has_labels() const { return lane_ == wide_lane; }

  [[nodiscard]] static int ranks_of(const space_time& what) {
    int ranks = 0;
    for (const std::vector<int>& node : what.nodes) ranks += static_cast<int>(node.size());
    return ranks;
  }

  /// In letters.
  [[nodiscard]] static double longest_row(const space_time& what) {
    std::size_t longest = 40;
    for (const space_time::step& one : what.steps) longest = std::max(longest, one.row.size());
    return static_cast<double>(longest);
  }

  [[nodiscard]] std::vector<std::string> broken_notes() const {
    std::vector<std::string> lines;
    const auto most = static_cast<std::size_t>((width_ - 2 * margin) / 6.8);
    for (std::string rest : what_->notes) {
      const auto end_of_line = [&rest, most] {
        const std::size_t end = rest.find('\n');
        return end <= most || rest.size() <= most ? end : rest.rfind(' ', most);
      };
      for (std::size_t cut = end_of_line(); cut != std::string::npos && cut != 0; cut = end_of_line()) {
        lines.push_back(rest.substr(0, cut));
        rest.erase(0, cut + 1);
      }
      lines.push_back(rest);
    }
    return lines;
  }

  void begin() {
    out_ = fmt::format(
        "{5} xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n"
        "<style>{4}</style>\n",
        width_, height_, xml_escaped(what_->title), xml_escaped(fmt::format("{}", fmt::join(notes_, " "))),
        style, diagram_mark);
    for (const auto& [id, colour] : {std::pair("head", "#23527c"), std::pair("green", "#2c7a3d")})
      out_ += fmt::format(
          "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
          "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"{}\"/></marker>\n",
          id, colour);
    out_ += fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"white\"/>\n", width_, height_);
    text("title", margin, margin + 12, what_->title);
    for (std::size_t i = 0; i < notes_.size(); ++i)
      text(what_->has_fault ? "fault" : "note", margin, margin + 33 + 17 * static_cast<double>(i), notes_[i]);
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
  void circle(std::string_view kind, double at_x, double at_y) {
    out_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", kind, at_x, at_y,
                        mark_radius);
  }

  /// The ranks of a node on one ground.
  void draw_nodes() {
    for (std::size_t node = 0; node < what_->nodes.size(); ++node) {
      const std::vector<int>& members = what_->nodes[node];
      const double left = x(members.front()) - lane_ / 2 + 3;
      const double right = x(members.back()) + lane_ / 2 - 3;
      rectangle("node", left, lanes_top_ - 38, right - left, lanes_bottom_ - lanes_top_ + 42);
      text("note", (left + right) / 2, lanes_top_ - 24, fmt::format("node {}", node), "middle");
    }
  }

  void draw_rows() {
    for (std::size_t i = 0; i < what_->steps.size(); ++i) {
      if (is_bad(i)) rectangle("badrow", margin, y(i) - row_height / 2, width_ - 2 * margin, row_height);
      line("row", margin, y(i), text_at_ - 6, y(i));
      text(is_bad(i) ? "badlabel" : "plain", text_at_, y(i) + 4, what_->steps[i].row);
    }
  }

  void draw_lanes() {
    for (int rank = 0; rank < ranks_; ++rank) {
      line("lane", x(rank), lanes_top_, x(rank), lanes_bottom_);
      text("plain", x(rank), lanes_top_ - 6,
           has_labels() ? fmt::format("rank {}", rank) : std::to_string(rank), "middle");
    }
  }

  void draw_arrow(const space_time::arrow& one) {
    const double shortfall = one.ends_at_mark ? mark_radius : 0;
    if (one.from == one.to)  // to its own memory: a bow beside the line
      out_ += fmt::format(
          "<path class=\"{6}\" d=\"M{0:.1f} {1:.1f} C{2:.1f} {1:.1f} {2:.1f} {3:.1f} {4:.1f} "
          "{5:.1f}\"/>\n",
          x(one.from), y(one.from_row), x(one.from) - lane_ * 0.3, y(one.to_row), x(one.from) - mark_radius,
          y(one.to_row), class_of(one.as));
    else
      line(class_of(one.as), x(one.from), y(one.from_row),
           x(one.to) + (one.to > one.from ? -shortfall : shortfall), y(one.to_row));
  }

  void draw_mark(std::size_t i) {
    const space_time::step& step = what_->steps[i];
    const std::string_view kind = is_bad(i)                               ? "bad"
                                  : step.as == space_time::mark::delivery ? "delivery"
                                                                          : "step";
    out_ += fmt::format(
        "<circle class=\"{}\" id=\"step{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
        "r=\"{}\"><title>{}</title></circle>\n",
        kind, i + 1, x(step.lane), y(i), is_bad(i) ? mark_radius + 1 : mark_radius, xml_escaped(step.row));
  }

  /// Twice, since not every viewer knows `paint-order`.
  void draw_label(std::size_t i) {
    if (!has_labels()) return;
    const space_time::step& step = what_->steps[i];
    for (const std::string_view kind :
         {std::string_view("halo"), std::string_view(is_bad(i) ? "badlabel" : "plain")})
      text(kind, x(step.lane) + 9, y(i) - 3, step.label);
  }

  void draw_legend() {
    const double at = lanes_bottom_ + 26;
    double left = margin;
    for (const space_time::sample& one : what_->legend) {
      switch (one.what) {
        case space_time::sample::of::step:
          circle("step", left + 20, at);
          break;
        case space_time::sample::of::delivery:
          circle("delivery", left + 20, at);
          break;
        case space_time::sample::of::rma:
          line("rma", left + 4, at, left + 30, at);
          break;
        case space_time::sample::of::signal:
          line("signal", left + 4, at, left + 30, at);
          break;
        case space_time::sample::of::near:
          line("near", left + 4, at, left + 30, at);
          break;
        case space_time::sample::of::inside:
          rectangle("inside", left + 12, at - 8, 14, 16);
          break;
      }
      text("note", left + 34, at + 4, one.words);
      left += 34 + 7 * static_cast<double>(one.words.size()) + 12;
    }
  }

  const space_time* what_;
  int ranks_;
  double lane_;
  double text_at_;
  double width_;
  std::vector<std::string> notes_;
  double lanes_top_;
  double lanes_bottom_;
  double height_;
  std::string out_;
};

}  // namespace

std::string svg(const space_time& what) { return drawing(what).draw(); }

}  // namespace nearfar::command
