/// \file
/// A picture of a machine and of ranks: boxes in boxes, as lstopo draws them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

struct titles {
  std::string machine;
  std::string ranks;
  std::function<std::string(int)> of_rank;  ///< the tooltip of a rank
};

/// The SVG document. The upper part has a box for each part of the machine; of many equal neighbours it shows
/// three, and the number of the others. In the lower part each level that is known is a box, each rank one
/// inside. Levels that hold all that the one around them does are left out, but for the nodes.
[[nodiscard]] std::string rank_picture(std::span<const machine_part> machine, const locality& of,
                                       const titles& said);

}  // namespace nearfar::command
