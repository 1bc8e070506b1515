#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/mpi_win_lock.hpp"

// docs/locks.md: `mpi_win_lock` | the MPI library's own | comparison

namespace nearfar::bench {

void add_mpi_win(catalogue& to) {
  to.add({.name = "mpi_win",
          .summary = "MPI_Win_lock in exclusive mode, with a completed read so that it blocks",
          .paper = "MPI 3.1, 11.5.3; Uffmann 2022, 3.1",
          .fairness = "as the MPI library has it",
          .cost = "the MPI library's; at least 3 at home",
          .parameters = {},
          .can_try = false,
          .alike = alike_ranks::of_the_world},
         []<has_lock_epochs W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<mpi_win_lock<W>>(w, home);
         });
}

}  // namespace nearfar::bench
