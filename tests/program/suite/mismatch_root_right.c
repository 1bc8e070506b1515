/* Both ranks name the same root of the broadcast (6.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  const int root = 0;
  MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  printf("%d\n", value);
  MPI_Finalize();
  return 0;
}
