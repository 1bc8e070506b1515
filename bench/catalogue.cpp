#include "bench/catalogue.hpp"

namespace nearfar::bench {

const catalogue& catalogue::instance() {
  static const catalogue all;
  return all;
}

catalogue::catalogue() {
  add_mpi_win(*this);
  add_d_mcs(*this);
  add_dash(*this);
  add_rma_mcs(*this);
  add_tas(*this);
  add_mcs(*this);
  add_cohort(*this);
}

}  // namespace nearfar::bench
