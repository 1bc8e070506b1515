/* A nonblocking buffered send does not free its buffer when it returns (3.7.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    static char space[MPI_BSEND_OVERHEAD + 100];
    MPI_Buffer_attach(space, sizeof(space));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibsend(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* first */
    token = 5;                                                      /* second */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    void* detached;
    int size;
    MPI_Buffer_detach(&detached, &size);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%d\n", token);
  MPI_Finalize();
  return 0;
}
