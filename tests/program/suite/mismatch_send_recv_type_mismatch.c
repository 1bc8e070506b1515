/* Rank 0 sends an int, and rank 1 receives a float (3.3.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float number = 0;
  int token = rank;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* second */
  } else {
    MPI_Recv(&number, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* first */
  }
  printf("%d %g\n", token, number);
  MPI_Finalize();
  return 0;
}
