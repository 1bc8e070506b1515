/// \file
/// A picture of ranks on a machine: boxes in boxes, as lstopo draws them.
#pragma once

#include <functional>
#include <string>

#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

/// The SVG document: each level that is known is a box, each rank one inside, with `title_of(rank)` as its
/// tooltip. Levels that hold all that the one around them does are left out, but for the nodes.
[[nodiscard]] std::string rank_picture(const locality& of, const std::string& title,
                                       const std::function<std::string(int)>& title_of);

}  // namespace nearfar::command
