/// \file
/// Space-time diagrams: what ranks do under one schedule, as an SVG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearfar::command {

/// How the first line of every diagram begins.
inline constexpr const char* diagram_mark = "<svg id=\"nearfar-schedule\"";

/// A schedule as it is drawn. Ranks are vertical lines, and steps are rows from the top. Rows count from 0; a
/// fraction lies between two of them.
struct space_time {
  enum class mark : std::uint8_t { step, delivery };
  enum class line : std::uint8_t { rma, signal, near };

  struct step {
    int lane = 0;  ///< the rank beside whose line the mark stands: where the step takes effect
    mark as = mark::step;
    std::string label;    ///< beside the mark
    std::string row;      ///< the whole text, beside the diagram
    bool is_bad = false;  ///< shows a fault
  };
  struct arrow {
    line as = line::rma;
    int from = 0;
    double from_row = 0;
    int to = 0;
    double to_row = 0;
    bool ends_at_mark = false;  ///< its head must not hide there
  };
  struct section {  ///< a part of a rank's line that is shaded
    int lane = 0;
    double from = 0;
    double to = 0;
  };
  struct sample {  ///< a line of the legend
    enum class of : std::uint8_t { step, delivery, rma, signal, near, inside } what = of::step;
    std::string words;
  };

  std::string title;
  /// Under the title, broken where they are wider than the picture.
  std::vector<std::string> notes;
  bool has_fault = false;               ///< which the notes describe
  std::vector<std::vector<int>> nodes;  ///< the ranks of each, in the order of their numbers
  std::vector<step> steps;
  std::vector<arrow> arrows;
  std::vector<section> sections;
  std::vector<sample> legend;
};

/// The diagram: a whole SVG file without anything outside it. With more than eight ranks the marks have no
/// labels.
[[nodiscard]] std::string svg(const space_time& what);

}  // namespace nearfar::command
