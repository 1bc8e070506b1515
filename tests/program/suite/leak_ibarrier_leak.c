/* Neither rank completes the request of the nonblocking barrier (6.12, 11.2.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request); /* first */
  printf("rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
