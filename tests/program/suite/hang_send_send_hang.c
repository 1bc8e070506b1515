/* Both ranks send first, which ends only if the library buffers the messages (3.5). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mine = rank, theirs = 0;
  const int other = 1 - rank;
  MPI_Send(&mine, 1, MPI_INT, other, 0, MPI_COMM_WORLD); /* first */
  MPI_Recv(&theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d\n", theirs);
  MPI_Finalize();
  return 0;
}
