/* Both ranks wait for their synchronous send before they receive (3.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mine = rank, theirs = 0;
  const int other = 1 - rank;
  MPI_Request request;
  MPI_Issend(&mine, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* first */
  MPI_Recv(&theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d\n", theirs);
  MPI_Finalize();
  return 0;
}
