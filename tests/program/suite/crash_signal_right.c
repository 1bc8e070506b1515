/* Rank 1 sends itself a signal for which it has a handler (2.9). */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t came = 0;
static void note(int number) { came = number; }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGTERM, note);
  if (rank == 1) raise(SIGTERM);
  printf("%d\n", (int)came);
  MPI_Finalize();
  return 0;
}
