/* All ranks of a ring send first, which ends only if the library buffers (3.5). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mine = rank, left = 0;
  const int to = (rank + 1) % 3, from = (rank + 2) % 3;
  MPI_Send(&mine, 1, MPI_INT, to, 0, MPI_COMM_WORLD); /* first */
  MPI_Recv(&left, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d\n", left);
  MPI_Finalize();
  return 0;
}
