/* Rank 1 receives the message and then probes for it (3.8.1). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* first */
  }
  MPI_Finalize();
  return 0;
}
