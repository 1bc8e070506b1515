/* Rank 0 does not free its persistent request (3.9). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    MPI_Request request;
    MPI_Send_init(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* first */
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
