/// \file
/// A schedule of somebody's program as a picture.
#pragma once

#include <string>

#include "../../src/program/search.hpp"

namespace nearfar::program {

/// The steps of the last execution, which told them (`execution::tell_steps`), as a space-time diagram: an
/// SVG file. An arrow leads from the issue of an RMA operation or a message to the step at which it arrives.
/// Each step has its line in the program. The places of a fault are red rows at the end.
[[nodiscard]] std::string picture_of(execution& what, const result& found);

}  // namespace nearfar::program
