/* The communicator of a collective among neighbours has no topology (8.6). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int sizes[1] = {2}, periods[1] = {1};
  MPI_Comm grid;
  int got[2] = {0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &grid);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD); /* first */
  printf("%d\n", got[0]);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
