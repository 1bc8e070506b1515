/* Two windows lie one behind the other in the same array (12.2.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[4];
  int value = rank;
  MPI_Win low, high;
  int* const begin = cells + 2;
  MPI_Win_create(cells, 2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &low);
  MPI_Win_create(begin, 2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &high);
  MPI_Win_fence(0, low);
  MPI_Win_fence(0, high);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, low);
  if (rank == 2) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, high);
  MPI_Win_fence(0, low);
  MPI_Win_fence(0, high);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d\n", cells[1]);
  MPI_Win_free(&low);
  MPI_Win_free(&high);
  MPI_Finalize();
  return 0;
}
