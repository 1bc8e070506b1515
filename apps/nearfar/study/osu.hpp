/// \file
/// Results in the columns of the OSU micro-benchmarks, for programs that read those.
#pragma once

#include <string>
#include <vector>

#include "apps/nearfar/study/table.hpp"

namespace nearfar::command {

/// A block for each object, kind of operation and whatever else tells lines apart but one number: that is the
/// first column. The others are latencies in us, two digits after the point, or where none was measured the
/// first time that the benchmark is judged by. Lines of words begin with '#'.
[[nodiscard]] std::string osu_text(const std::vector<result>& results, const table_layout& layout);

}  // namespace nearfar::command
