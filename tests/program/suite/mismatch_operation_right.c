/* Both ranks reduce with the same operation (6.9.6). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, result = 0;
  const MPI_Op operation = MPI_SUM;
  MPI_Allreduce(&value, &result, 1, MPI_INT, operation, MPI_COMM_WORLD);
  printf("%d\n", result);
  MPI_Finalize();
  return 0;
}
