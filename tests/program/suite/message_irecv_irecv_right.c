/* Two receives that are pending together fill two variables (3.7.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int tokens[2] = {rank, rank};
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Send(&tokens[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&tokens[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&tokens[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&tokens[1], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  printf("%d\n", tokens[0]);
  MPI_Finalize();
  return 0;
}
