/* Send buffer and receive buffer of a reduction are the same variable (6.9.6). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank + 1;
  MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* first */
  printf("%d\n", value);
  MPI_Finalize();
  return 0;
}
