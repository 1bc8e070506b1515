/// \file
/// A schedule as a picture.
#pragma once

#include <string>

#include "apps/nearfar/check/case.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// How the first line of every diagram begins.
inline constexpr const char* diagram_mark = "<svg id=\"nearfar-schedule\"";

/// The schedule as a space-time diagram: a whole SVG file without anything outside it. Ranks are vertical
/// lines, and steps are rows from the top. An arrow leads from the step that issues an RMA operation or a
/// signal to the step at which it arrives. Critical sections are shaded. The step at which a fault was found
/// is red.
[[nodiscard]] std::string diagram(const check_case& of, const checker::replayed& shown);

}  // namespace nearfar::command
