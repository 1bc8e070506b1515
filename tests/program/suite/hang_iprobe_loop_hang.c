/* Rank 1 probes in a loop with a tag that nobody sends (3.8.1). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank, there = 0;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else {
    while (!there) MPI_Iprobe(0, 6, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE); /* first */
    MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
