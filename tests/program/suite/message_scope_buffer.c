/* The function returns, and its buffer is out of scope while the send is pending (3.7.2). */
#include <mpi.h>
#include <stdio.h>

static MPI_Request send_square(int number) {
  MPI_Request request;
  int square = number * number;
  MPI_Isend(&square, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* first */
  return request;                                                 /* second */
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    MPI_Request request = send_square(3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%d\n", token);
  MPI_Finalize();
  return 0;
}
