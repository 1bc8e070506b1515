/// \file
/// How a word of far memory refers to a cell of `distributed_map`.
#pragma once

#include "nearfar/memory/tagged_link.hpp"

namespace nearfar::detail {

/// A rank has up to 2^23 - 1 cells with 2^20 generations, and a link has a mark.
using cell_link = tagged_link<23, 20>;

}  // namespace nearfar::detail
