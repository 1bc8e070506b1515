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
  add_ticket(*this);
  add_clh(*this);
  add_hclh(*this);
  add_rh(*this);
  add_shfl(*this);
  add_mcs(*this);
  add_near_tts(*this);
  add_near_ticket(*this);
  add_near_clh(*this);
  add_hemlock(*this);
  add_cna(*this);
  add_fissile(*this);
  add_near_hmcs(*this);
  add_cohort(*this);
  add_hmcs(*this);
  add_cst(*this);
}

}  // namespace nearfar::bench
