#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/mpi_rw_lock.hpp"

namespace nearfar::bench {

void add_mpi_rw(rw_catalogue& to) {
  to.add({.name = "mpi_rw",
          .summary = "MPI's own: MPI_Win_lock, shared and exclusive",
          .paper = "MPI 3.1, 11.5.3",
          .fairness = "the library's",
          .bypass = {},
          .cost = "the library's, at home, and 1; the same",
          .parameters = {},
          .can_try = false},
         []<has_lock_epochs W>(W& w, int home, const rw_lock_parameters&) {
           return make_any_rw_lock<mpi_rw_lock<W>>(w, home);
         });
}

}  // namespace nearfar::bench
