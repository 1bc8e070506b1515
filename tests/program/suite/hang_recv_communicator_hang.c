/* Rank 1 receives on another communicator than that of the send (3.2.4, 7.1). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, copy);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* first */
  }
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
