/* Two sums meet in a cell by the same window (12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[1];
  int value = rank;
  MPI_Win windows[2];
  for (int i = 0; i < 2; ++i)
    MPI_Win_create(cells, sizeof(cells), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
  for (int i = 0; i < 2; ++i) MPI_Win_fence(0, windows[i]);
  if (rank == 0) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, windows[0]);
  if (rank == 2) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, windows[0]);
  for (int i = 0; i < 2; ++i) MPI_Win_fence(0, windows[i]);
  printf("%d\n", cells[0]);
  for (int i = 0; i < 2; ++i) MPI_Win_free(&windows[i]);
  MPI_Finalize();
  return 0;
}
