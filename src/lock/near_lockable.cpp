#include "nearfar/lock/near_lockable.hpp"

#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

void detail::require_one_node(const locality& ranks) {
  if (ranks.groups(level::node) != 1)
    throw topology_error("this lock works on one node only, but the ranks are on " +
                         std::to_string(ranks.groups(level::node)) + " nodes: use cohort_lock or dash_lock");
}

}  // namespace nearfar
