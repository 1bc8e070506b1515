/* Both ranks broadcast two elements (6.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int values[2] = {rank, rank};
  const int count = 2;
  MPI_Bcast(values, count, MPI_INT, 0, MPI_COMM_WORLD);
  printf("%d\n", values[1]);
  MPI_Finalize();
  return 0;
}
