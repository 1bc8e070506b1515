#include "bench/kinds/locks/lock_catalogue.hpp"

#include "bench/families/locks.hpp"

namespace nearfar::bench {

const catalogue& catalogue::instance() {
  static const catalogue all;
  return all;
}

catalogue::catalogue() {
  for (const auto add_family : families_of_locks) add_family(*this);
  // Alike ones beside each other. Families that this list lacks come after the others, by name of their
  // files.
  arrange({"mpi_win",   "d_mcs",    "dash",     "rma_mcs", "tas",     "tts",       "ticket",   "clh",
           "clh_craig", "hclh",     "rh",       "shfl",    "mcs",     "near_tts",  "near_tas", "near_ticket",
           "twa",       "near_clh", "hemlock",  "cna",     "fissile", "near_hmcs", "cohort",   "hmcs",
           "ahmcs",     "clof",     "near_cst", "cst",     "fc_mcs"});
}

}  // namespace nearfar::bench
