/// \file
/// A schedule of an object as a picture.
#pragma once

#include <string>

#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/shared/space_time.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// The schedule as a space-time diagram. An arrow leads from the step that issues an RMA operation or a
/// signal to the step at which it arrives. Critical sections are shaded. The step at which a fault was found
/// is red.
[[nodiscard]] std::string diagram(const check_case& of, const checker::replayed& shown);

}  // namespace nearfar::command
