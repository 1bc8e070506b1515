/* The message is longer than the receive allows (3.2.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int values[4] = {rank, rank, rank, rank};
  if (rank == 0) {
    MPI_Send(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD); /* second */
  } else {
    MPI_Recv(values, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* first */
  }
  printf("%d\n", values[3]);
  MPI_Finalize();
  return 0;
}
