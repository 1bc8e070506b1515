/* The root writes the buffer of its broadcast before the wait (6.12.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  MPI_Request request;
  MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); /* first */
  if (rank == 0) value = 5;                                    /* second */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d\n", value);
  MPI_Finalize();
  return 0;
}
