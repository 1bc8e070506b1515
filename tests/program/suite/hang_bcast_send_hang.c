/* A broadcast may synchronise, and rank 0 sends before it what rank 1 receives after it (6.14). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank, value = 5;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* first */
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD); /* second */
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
