/// \file
/// The claims of H. Stengel's thesis on its figures.
#pragma once

#include <vector>

#include "apps/nearfar/figures/claims.hpp"
#include "apps/nearfar/figures/stengel2007.hpp"

namespace nearfar::command {

/// A claim on a figure. Its places have the figure's number as analysis, the curve as object, and the
/// position on the figure's axis. A machine with one NUMA domain decides nothing about claims that need
/// several.
struct loop_claim {
  claim what;
  bool needs_domains = false;
};

/// The claims, for a machine whose figures have these curves.
[[nodiscard]] std::vector<loop_claim> stengel2007_claims(const figure_machine& on);

}  // namespace nearfar::command
