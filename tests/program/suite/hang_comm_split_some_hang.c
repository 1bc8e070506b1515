/* Rank 1 does not call MPI_Comm_split (7.4.2). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  if (rank == 0) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part); /* first */
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Finalize();
  return 0;
}
