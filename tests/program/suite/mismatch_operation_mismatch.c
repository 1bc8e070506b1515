/* Rank 0 reduces by sum, and rank 1 by maximum (6.9.6). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, result = 0;
  const MPI_Op operation = rank == 0 ? MPI_SUM : MPI_MAX;
  MPI_Allreduce(&value, &result, 1, MPI_INT, operation, MPI_COMM_WORLD); /* first */
  printf("%d\n", result);
  MPI_Finalize();
  return 0;
}
