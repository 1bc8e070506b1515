/* Rank 1 calls exit between MPI_Init and MPI_Finalize (11.2.2). */
#include <mpi.h>
#include <stdlib.h>

static void leave(int rank) {
  if (rank == 1) exit(0); /* first */
  MPI_Finalize();
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  leave(rank);
  return 0;
}
