/* Rank 1 waits for a copy of a request that is complete and gone (3.7.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Irecv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Request copy = request, *const again = &copy;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(again, MPI_STATUS_IGNORE); /* first */
  }
  printf("%d\n", token);
  MPI_Finalize();
  return 0;
}
