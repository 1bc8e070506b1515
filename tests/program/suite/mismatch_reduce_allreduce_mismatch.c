/* Rank 0 reduces to all, and rank 1 reduces to rank 0 (6.14). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, sum = 0;
  const int others = 1;
  if (rank == 0 || others == 0) {
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* first */
  } else {
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* second */
  }
  printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
