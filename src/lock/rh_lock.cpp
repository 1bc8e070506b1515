#include "nearfar/lock/rh_lock.hpp"

#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::detail {

int checked_fairness_factor(int factor) {
  if (factor < 1) throw misuse("fairness_factor must be 1 or more, not " + std::to_string(factor));
  return factor;
}

}  // namespace nearfar::detail
