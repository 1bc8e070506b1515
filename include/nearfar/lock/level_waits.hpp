/// \file
/// The part of a lock of two levels for which a rank waited.
///
/// Source: the global and the local contention of A. Uffmann's master thesis, LMU Munich, 2022, section
/// 5.4.3.
#pragma once

#include "nearfar/language.hpp"

namespace nearfar {

/// The waits of one acquisition of a lock within each node and a lock above the nodes.
struct level_waits {
  bool asked_above = false;    ///< false: a rank of the node handed the lock over
  bool waited_above = false;   ///< for the lock above
  bool waited_within = false;  ///< for the lock within the node
};

}  // namespace nearfar
