/* Rank 1 calls the broadcast and then the barrier (6.14). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD); /* first */
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); /* second */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("%d\n", value);
  MPI_Finalize();
  return 0;
}
